"""The complete outcome of an identification, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.identification.identifiability import Identifiability
from theodolite.identification.solver import Iteration, Status
from theodolite.identification.statistics import Statistics
from theodolite.model.parameters import Unit
from theodolite.model.robot import Robot


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
        """Is the calibrated robot better than the nominal one there?"""
        return all(
            self.calibrated[quantity].rms < self.nominal[quantity].rms for quantity in self.nominal
        )


@dataclass(frozen=True, eq=False)
class Result:
    """What was identified, how sure it is, and what it is worth."""

    method: str
    status: Status
    robot: Robot
    nominal: Robot
    estimates: tuple[Estimate, ...]
    identifiability: Identifiability
    statistics: Statistics
    trace: tuple[Iteration, ...]
    rows: int
    before: Errors
    after: Errors
    held_out: HeldOut | None
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
        """Converged, well determined, and better than nominal on unseen data."""
        return self.status.good and (self.held_out is None or self.held_out.better)

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
