"""The complete outcome of an identification, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.solver import Iteration, Status
from theodolite.estimation.statistics import Statistics
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group, Unit

#: Errors below this are rounding, metres and radians.
NEGLIGIBLE_ERROR = 1e-10
#: A length that changes by more than this part of the reach, or an angle by more than this many
#: radians, means that the data are of another robot or of another kind than was said.
IMPLAUSIBLE_LENGTH = 0.1
IMPLAUSIBLE_ANGLE = 0.5


@dataclass(frozen=True)
class Estimate:
    """One candidate after the identification."""

    name: str
    nominal: float
    identified: float
    #: None where the parameter was kept at its nominal value.
    stderr: float | None
    #: Half-width of the 95 % interval.
    interval: float | None
    unit: Unit


@dataclass(frozen=True)
class ErrorSummary:
    """Size of some errors of one quantity, SI."""

    mean: float
    rms: float
    maximum: float
    count: int

    @staticmethod
    def of(errors: FloatArray) -> ErrorSummary:
        if not len(errors):
            return ErrorSummary(float("nan"), float("nan"), float("nan"), 0)
        return ErrorSummary(
            float(errors.mean()),
            float(np.sqrt(np.mean(errors**2))),
            float(errors.max()),
            len(errors),
        )


Errors = Mapping[str, ErrorSummary]


@dataclass(frozen=True)
class HeldOut:
    """Errors on measurements that the fit has not seen."""

    groups: int
    nominal: Errors
    calibrated: Errors

    @property
    def better(self) -> bool:
        """Is the calibrated robot better than the nominal one there, or both exact?"""
        return all(
            self.calibrated[quantity].rms < max(self.nominal[quantity].rms, NEGLIGIBLE_ERROR)
            for quantity in self.nominal
        )


@dataclass(frozen=True, eq=False)
class Result:
    """What was identified, how sure it is, and what it is worth."""

    method: str
    status: Status
    robot: Machine
    nominal: Machine
    estimates: tuple[Estimate, ...]
    identifiability: Identifiability
    statistics: Statistics
    trace: tuple[Iteration, ...]
    rows: int
    before: Errors
    after: Errors
    held_out: HeldOut | None
    #: Size of every observation's error after the fit, by quantity, SI.
    residuals: Mapping[str, FloatArray]
    #: How many parameters the method determines, given any data it wants; None if unknown.
    expected_rank: int | None = None
    #: What the method found besides the robot, such as the plane.
    found: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def iterations(self) -> int:
        return len(self.trace) - 1

    @property
    def rank(self) -> int:
        return self.identifiability.rank

    @property
    def good(self) -> bool:
        """Converged, well determined, plausible, and better than nominal on unseen data."""
        return self.status.good and not self.doubts()

    def doubts(self) -> list[str]:
        """In words, every reason not to trust a result that has converged."""
        found = []
        seen = self.identifiability.clear_rank
        if self.expected_rank is not None and seen < self.expected_rank:
            found.append(
                f"The data determine only {seen} of {self.expected_rank} parameters: they are "
                "not exciting enough. See: theodolite identifiable --data"
            )
        if self.statistics.degrees_of_freedom < 1:
            found.append("There are no more equations than parameters, so nothing checks the fit.")
        changed = self._implausible()
        if changed:
            found.append(
                f"{', '.join(changed)} changed more than any error of a real robot: the data may "
                "be of another robot, or the plane or the sets not what they should be."
            )
        if self.held_out is not None and not self.held_out.better:
            found.append(
                "The calibrated robot is not better than the nominal one on held-out data."
            )
        return found

    def _implausible(self) -> list[str]:
        limits = {
            Unit.METRE: IMPLAUSIBLE_LENGTH * self.nominal.reach(),
            Unit.RADIAN: IMPLAUSIBLE_ANGLE,
            Unit.ONE: IMPLAUSIBLE_ANGLE,
        }
        # Base and tool may well be elsewhere; links are not.
        links = {p.name for p in self.nominal.parameters if p.group is Group.ARM}
        return [
            estimate.name
            for estimate in self.estimates
            if estimate.name in links
            and abs(estimate.identified - estimate.nominal) > limits.get(estimate.unit, np.inf)
        ]

    def estimate(self, name: str) -> Estimate:
        return next(estimate for estimate in self.estimates if estimate.name == name)

    def strongest_correlations(self, count: int = 5) -> list[tuple[str, str, float]]:
        """Pairs of base parameters that the data tell apart worst."""
        names = self.identifiability.identifiable
        matrix = self.statistics.correlations
        rows, columns = np.triu_indices(len(names), 1)
        order = np.argsort(-np.abs(matrix[rows, columns]))[:count]
        return [
            (names[rows[i]], names[columns[i]], float(matrix[rows[i], columns[i]])) for i in order
        ]
