"""Base parameters without accelerations: by the energy model, or by its rate, the power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theodolite.dynamics.drives import FRICTION, Drives
from theodolite.dynamics.energy import EnergyProblem, PowerProblem
from theodolite.dynamics.estimators import Estimator, Model
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.least_squares import check_length
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_noise import correlation_factor, estimate_noise
from theodolite.dynamics.tree import Tree
from theodolite.estimation.linear import solve_linear
from theodolite.estimation.statistics import statistics


def fit_energy(
    dynamics: Tree,
    runs: Run | Sequence[Run],
    model: Model,
    *,
    drives: Drives = FRICTION,
    only: Sequence[str] | None = None,
    prefer: Sequence[str] = (),
) -> IdentifiedDynamics:
    """Base parameters by least squares on the work or power of all motors together."""
    kind = EnergyProblem if model is Model.ENERGY else PowerProblem
    # A constant torque does work only between two different ends; where these meet, it has no
    # effect and is not identified.
    equations = kind(dynamics, runs, drives=drives, only=only, prefer=prefer)
    check_length(equations, 1)
    solution = solve_linear(equations)
    problem = TorqueProblem(dynamics, runs, drives=drives, only=only, prefer=prefer)
    measured = problem.measured()
    noise = estimate_noise(problem.predict(solution.values) - measured, measured)
    spread = statistics(solution, noise_known=False)
    residuals = np.concatenate([block.residual for block in equations.blocks(solution.values)])
    widened = replace(spread, covariance=spread.covariance * correlation_factor(residuals))
    return IdentifiedDynamics(
        problem, solution, solution.values, noise, widened, Estimator.ORDINARY, model
    )
