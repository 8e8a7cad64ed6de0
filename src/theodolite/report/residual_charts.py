"""What a robot leaves of measurements, as charts: spread, over joints, in space and time, noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from theodolite.arrays import FloatArray, IntArray, seen
from theodolite.calibration.visits import Visits
from theodolite.estimation.residual_checks import ResidualChecks
from theodolite.io.units import shown_in
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.report import charts
from theodolite.report.page import Block, Text

#: Below this chance residuals are said not to look like independent normal noise.
UNLIKELY = 1e-3


class Left(Protocol):
    """A calibration or a validation: errors by quantity, their rows, and where the robot was."""

    @property
    def residuals(self) -> Mapping[str, FloatArray]: ...

    @property
    def residual_rows(self) -> Mapping[str, IntArray]: ...

    @property
    def visits(self) -> Visits | None: ...


def residuals(left: Left, robot: Machine) -> Iterator[Block]:
    """How errors spread, and over joints, space and time."""
    for name, errors in left.residuals.items():
        if not len(errors):
            continue
        unit, factor = shown_in(name)
        label = f"{name} error ({unit})"
        shown = factor * errors
        yield charts.histogram(shown, label, f"Spread of the {name} error.")
        visits, rows = left.visits, left.residual_rows[name]
        if visits is None or len(rows) != len(errors):
            continue
        joints = {
            f"{joint} ({unit})": scale * visits.readings[rows, place]
            for place, (joint, unit, scale) in enumerate(_joints(robot))
        }
        yield charts.over_axes(
            joints, shown, label, f"The {name} error over each joint; the line is a running mean."
        )
        yield from _in_space_and_time(visits, name, shown, rows, label)


def _in_space_and_time(
    visits: Visits, name: str, shown: FloatArray, rows: IntArray, label: str
) -> Iterator[Block]:
    places = visits.places[rows]
    there = seen(places)
    if there.any():
        yield charts.over_space(
            places[there], shown[there], label, f"The {name} error over the workspace."
        )
    clock = rows + 1.0 if visits.times is None else visits.times[rows]
    title = "row" if visits.times is None else visits.clock.replace("_", " ")
    yield charts.over_axes(
        {title: clock}, shown, label, f"The {name} error in the order of measuring."
    )


def _joints(robot: Machine) -> list[tuple[str, str, float]]:
    """Name, unit and factor from SI of each joint."""
    return [
        (name, *(("deg", 180 / np.pi) if kind is Joint.REVOLUTE else ("mm", 1e3)))
        for name, kind in zip(robot.joint_names, robot.joint_types, strict=True)
    ]


def noise(checks: ResidualChecks | None) -> Iterator[Block]:
    """Does it look like independent normal noise?"""
    if checks is None:
        return
    normal = (
        "are not normal" if checks.normal_chance < UNLIKELY else "are compatible with normal noise"
    )
    alike = (
        "Neighbouring rows are alike: something drifts, or the model lacks something"
        if checks.neighbours_chance < UNLIKELY and checks.neighbours > 0
        else "Neighbouring rows are independent: no drift is seen"
    )
    yield Text(
        (
            f"The {checks.count} residuals {normal}: skewness {checks.skewness:+.2f}, excess "
            f"kurtosis {checks.kurtosis:+.2f} (chance {checks.normal_chance:.2g}).",
            f"{alike} (correlation {checks.neighbours:+.2f}, chance "
            f"{checks.neighbours_chance:.2g}).",
        )
    )
    yield charts.normal_plot(
        checks.levels,
        checks.quantiles,
        "Residuals over a normal distribution: noise lies on the line, outliers leave it at the "
        "ends.",
    )
