"""Identification without accelerations: by the energy model, or by its rate, the power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

import numpy as np

from theodolite.dynamics.drives import Drive
from theodolite.dynamics.energy import EnergyProblem, PowerProblem
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.identify import FRICTION, IdentifiedDynamics, check_length
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_noise import TorqueNoise, correlation_factor
from theodolite.dynamics.tree import Tree
from theodolite.estimation.linear import solve_linear
from theodolite.estimation.statistics import statistics


class Model(Enum):
    """What is compared: one equation per sample, of all motors together."""

    ENERGY = "energy"
    POWER = "power"


def identify_by_energy(
    dynamics: Tree,
    runs: Run | Sequence[Run],
    model: Model,
    *,
    drives: Sequence[Drive] = FRICTION,
) -> IdentifiedDynamics:
    """Base parameters by least squares on work or power of all motors together."""
    kind = EnergyProblem if model is Model.ENERGY else PowerProblem
    # Offsets do work only along the way between two ends; where these meet, they show by nothing.
    rows = kind(dynamics, runs, drives=drives)
    check_length(rows, 1)
    solution = solve_linear(rows)
    problem = TorqueProblem(dynamics, runs, drives=drives)
    off = problem.predicted(solution.values) - problem.measured()
    noise = TorqueNoise.of(off, between_joints=False)
    found = statistics(solution, noise_known=False)
    left = np.concatenate([block.residual for block in rows.blocks(solution.values)])
    widened = replace(found, covariance=found.covariance * correlation_factor(left))
    return IdentifiedDynamics(problem, solution, solution.values, noise, widened)
