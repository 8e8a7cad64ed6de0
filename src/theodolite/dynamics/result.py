"""Identified dynamics: values, their uncertainty, and how they came about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.base_parameters import base_values
from theodolite.dynamics.estimators import Estimator, Model
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_noise import TorqueNoise
from theodolite.dynamics.tree import Tree
from theodolite.estimation.choice import Choice
from theodolite.estimation.descent import Status
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics


class BodyStatus(Enum):
    """How the search for physically consistent bodies ended."""

    SOLVED = "The identified bodies are physically consistent."
    INACCURATE = (
        "The identified bodies are physically consistent, but the search ended before it settled."
    )
    SOLVER_FAILED = "No bodies were found; the weighted base parameters are given instead."

    @property
    def good(self) -> bool:
        return self is not BodyStatus.SOLVER_FAILED

    @property
    def advice(self) -> str:
        """What to do next; nothing where all is well."""
        return {
            BodyStatus.SOLVED: "",
            BodyStatus.INACCURATE: "Compare its torque error with that of the weighted fit.",
            BodyStatus.SOLVER_FAILED: "Check the units of the torques, and that every joint moves "
            "and has a torque; a prior with roughly the right masses helps.",
        }[self]


@dataclass(frozen=True, eq=False)
class IdentifiedDynamics:
    """Identified dynamics."""

    problem: TorqueProblem
    solution: Solution
    #: All columns; regrouped parameters are zero, unless all standard ones were identified.
    values: FloatArray
    noise: TorqueNoise
    #: Of the base parameters.
    statistics: Statistics
    estimator: Estimator = Estimator.WEIGHTED
    model: Model = Model.TORQUE
    #: Are all standard parameters identified, not the base ones alone?
    standard: bool = False
    #: Could bodies have them?
    consistent: bool = False
    #: How the search for consistent bodies ended, if there was one.
    body_status: BodyStatus | None = None
    #: Weight of the prior against the data, if there was one.
    prior_weight: float | None = None
    #: Friction models and weights that were compared, where they were not given.
    friction: Choice | None = None
    weights: Choice | None = None
    #: Samples of a long recording, of which the problem holds excerpts only.
    all_rows: int | None = None

    @property
    def identifiability(self) -> Identifiability:
        return self.solution.identifiability

    @property
    def status(self) -> Status | BodyStatus:
        """How the identification ended."""
        if self.body_status is BodyStatus.SOLVER_FAILED:
            return self.body_status
        return self.solution.status

    @property
    def dynamics(self) -> Tree:
        return self.problem.dynamics

    @property
    def rows(self) -> int:
        """Samples, each with a torque of every motor."""
        return self.problem.rows if self.all_rows is None else self.all_rows

    @property
    def base_values(self) -> FloatArray:
        """Values of the base parameters, in the order of ``identifiability.base``."""
        return base_values(self.identifiability, self.values)

    @property
    def relative_deviations(self) -> FloatArray:
        """Relative standard deviation of each base parameter, percent."""
        values = self.base_values
        safe = np.where(values == 0, np.nan, np.abs(values))
        return 100.0 * self.statistics.standard_errors / safe

    def named(self) -> dict[str, float]:
        """Values of all columns by name; zero for those that were left out of the model."""
        every = dict.fromkeys(self.dynamics.names(self.problem.drives), 0.0)
        return every | dict(zip(self.problem.names, self.values.tolist(), strict=True))

    @property
    def parameters(self) -> DynamicParameters:
        """The values with all that is needed to predict torques with them again."""
        x, y, z = map(float, self.dynamics.gravity)
        return DynamicParameters(
            self.named(),
            self.problem.drives,
            self.dynamics.name,
            self.dynamics.frames,
            self.dynamics.stribeck_speed,
            (x, y, z),
            self.problem.runs[0].cutoff or None,
            self.standard,
            "the identified dynamics",
            tuple(map(float, self.dynamics.transition_speeds))
            if self.dynamics.transition_speeds.any()
            else (),
            tuple(self.identifiability.identifiable),
            self.statistics.covariance,
            tuple(self._torque_deviations().tolist()),
            tuple(self.dynamics.presliding_distances.tolist())
            if self.dynamics.presliding_distances.any()
            else (),
        )

    def _torque_deviations(self) -> FloatArray:
        """What is left of each motor's torques as they were recorded, before any low-pass."""
        runs = self.problem.runs
        if not any(run.cutoff for run in runs):
            return self.noise.sigmas
        predicted = self.problem.predict_samples(self.values)
        left = np.concatenate([run.torques - own for run, own in zip(runs, predicted, strict=True)])
        return np.asarray(np.sqrt((left**2).mean(axis=0)))
