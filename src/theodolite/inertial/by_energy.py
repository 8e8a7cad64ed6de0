"""Identification without accelerations: by the energy model, or by its rate, the power."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from theodolite.identification.statistics import statistics
from theodolite.inertial.identify import FRICTION, Dynamic
from theodolite.inertial.linear import solve_linear
from theodolite.inertial.noise import TorqueNoise
from theodolite.measure.energy import EnergyProblem, PowerProblem
from theodolite.measure.filtering import Run
from theodolite.measure.torque import TorqueProblem
from theodolite.model.drives import Drive
from theodolite.model.tree import Tree


class Model(Enum):
    """What is compared."""

    TORQUE = "torque"
    ENERGY = "energy"
    POWER = "power"


def identify_by_energy(
    dynamics: Tree,
    runs: Run | Sequence[Run],
    model: Model,
    *,
    drives: Sequence[Drive] = FRICTION,
) -> Dynamic:
    """Base parameters by least squares on work or power of all motors together."""
    kind = EnergyProblem if model is Model.ENERGY else PowerProblem
    # Offsets do work only along the way between two ends; where these meet, they show by nothing.
    solution = solve_linear(kind(dynamics, runs, drives=drives))
    problem = TorqueProblem(dynamics, runs, drives=drives)
    off = problem.predicted(solution.values) - problem.measured()
    noise = TorqueNoise.of(off, between_joints=False)
    found = statistics(solution, noise_known=False)
    return Dynamic(problem, solution, solution.values, noise, found)
