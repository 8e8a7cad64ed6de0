"""How well a robot predicts measurements it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.cross_validation import (
    all_displacements,
    is_exact,
    judging,
    nominal_placed,
    nominal_values,
    summarise,
    summary,
)
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method, Start
from theodolite.calibration.noise import Noise
from theodolite.calibration.placement import ELSEWHERE, place
from theodolite.calibration.quantities import Displacements
from theodolite.calibration.result import NAMED, Errors
from theodolite.calibration.screening import WRONG
from theodolite.calibration.visits import Visits, visits_of
from theodolite.errors import InputError
from theodolite.estimation.residual_checks import ResidualChecks, check_residuals
from theodolite.model.machine import Machine


@dataclass(frozen=True)
class Validation:
    """Errors of a robot on given measurements, and of a nominal one fitted to them."""

    errors: Errors
    nominal: Errors | None = None
    #: Is all that is left rounding?
    exact: bool = False
    #: Reasons to look at the data first, in words.
    doubts: tuple[str, ...] = ()
    #: Size of every observation's error, by quantity, SI.
    residuals: Mapping[str, FloatArray] = field(default_factory=dict)
    #: The row that each of them comes from, and which way those point that are displacements.
    residual_rows: Mapping[str, IntArray] = field(default_factory=dict)
    displacements: Mapping[str, Displacements] = field(default_factory=dict)
    #: Where the robot was, and whether what is left looks like noise.
    visits: Visits | None = None
    checks: ResidualChecks | None = None

    @property
    def good(self) -> bool:
        """Neither doubtful nor worse than the nominal robot."""
        return not self.doubts and self.better is not False

    @property
    def better(self) -> bool | None:
        """Is it better than the nominal robot in every quantity, or exact? None without one."""
        if self.nominal is None:
            return None
        return self.exact or all(
            self.errors[name].rms < self.nominal[name].rms for name in self.errors
        )


def validate(
    robot: Machine, data: Dataset, method: Method, *, nominal: Machine | None = None
) -> Validation:
    """The robot's errors, and those of ``nominal`` with base and tool fitted to the data."""
    problem, rows = judging(robot, data, method)
    values = nominal_values(problem)
    each = problem.errors(values)
    errors = summary(each)
    details: dict[str, Any] = {
        "residuals": each,
        "residual_rows": {name: rows[problem.error_rows(name)] for name in each},
        "displacements": all_displacements(problem, each, values),
        "visits": visits_of(problem.calibrated(values), data),
        "checks": None if is_exact(errors, robot) else check_residuals(problem, values),
    }
    doubts = () if data.pixels is None else tuple(_picture_doubts(data, each["pixel"]))
    if nominal is None:
        return Validation(errors, doubts=doubts, **details)
    if nominal.joint_types != robot.joint_types:
        raise InputError(f"'{nominal.name}' has different joints from '{robot.name}'")
    if data.pixels is not None:
        before = _placed_by_pictures(nominal, data, method)
    else:
        before = summarise(place(nominal, data, method), data, method)
    exact = is_exact(errors, robot)
    return Validation(errors, before, exact=exact, doubts=doubts, **details)


def _placed_by_pictures(nominal: Machine, data: Dataset, method: Method) -> Errors:
    """Errors of a robot whose base and tool, and the lens, are fitted to pictures."""
    placed = method.start(nominal, data, Start.AUTO).robot
    problem = method.problem(placed, data, noise=Noise.guess(placed.reach()))
    return summary(problem.errors(nominal_placed(problem)))


def _picture_doubts(data: Dataset, errors: FloatArray) -> Iterator[str]:
    """Pictures that are off as a whole: all of them, or some."""
    assert data.pixels is not None
    if len(errors) != len(data) or not len(data):
        return
    picture = data.configurations()
    sizes = np.array([np.median(errors[picture == n]) for n in range(int(picture.max()) + 1)])
    usual = float(np.median(sizes))
    if usual > ELSEWHERE * float(np.ptp(data.pixels, axis=0).max()):
        yield (
            f"Marks are typically missed by {usual:.0f} px: camera and target are not where the "
            "robot file has them, or the camera is mounted the other way."
        )
        return
    wrong = np.flatnonzero(sizes > WRONG * max(usual, 1.0))
    if len(wrong):
        rows = [int(np.argmax(picture == number)) for number in wrong[:NAMED]]
        named = ", ".join(f"{data.picture(r)} ({sizes[picture[r]]:.0f} px)" for r in rows)
        more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        yield f"{named}{more} do not fit the other pictures, which are off by {usual:.2g} px."
