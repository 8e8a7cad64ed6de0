"""A method: GECARO's three functions for one way of seeing a robot."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, Protocol

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.noise import Noise
from theodolite.estimation.problem import ConstrainedProblem, Problem
from theodolite.model.machine import Machine


class Gauge(Enum):
    """What a method can never determine about the robot, whatever the data."""

    NONE = "nothing"
    SIMILARITY = "where the robot stands and how large it is"
    SIMILARITY_AND_TOOL = "where the robot stands, how large it is and where its tool is"


class CalibrationProblem(Problem, Protocol):
    """A problem that can hand back the robot it has calibrated."""

    def full_values(self, values: FloatArray) -> FloatArray: ...

    @property
    def noise(self) -> Noise:
        """What its weights come from."""
        ...

    def constrained(self) -> ConstrainedProblem:
        """With passive joints as unknowns of their own."""
        ...

    def calibrated(self, values: FloatArray) -> Machine: ...

    def found(self, values: FloatArray) -> dict[str, Any]:
        """What was found besides the robot, in words and SI."""
        ...


class Method(Protocol):
    """One way of seeing a robot."""

    name: ClassVar[str]
    title: ClassVar[str]
    gauge: ClassVar[Gauge]

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> CalibrationProblem:
        """The least-squares problem that the data pose about the robot."""
        ...

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 4
    ) -> Dataset:
        """Exact measurements of the given robot at random configurations within its limits.

        ``points`` counts measurements; for link methods, sets of ``per_set`` configurations.
        """
        ...

    def points_for(self, robot: Machine) -> int:
        """How many random points show everything that can be identified."""
        ...
