"""Base inertial parameters [Gautier1991]: which there are, how the others are regrouped, values."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import ROTORS, Drives, State
from theodolite.dynamics.energy import EnergyProblem
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.grouping import group_parameters
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.identifiability import Identifiability, analyse_by_svd
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import examine
from theodolite.estimation.threads import single_thread

#: Random samples for each motor: several times as many equations as a motor has parameters. The
#: energy model has one equation for all motors together, so it takes that many for each of them.
SAMPLES_PER_MOTOR = 40


class Analysis(Enum):
    """How base parameters are found."""

    #: From samples, by QR with the rank from the singular values.
    QR = "qr"
    #: From samples, by the null space of the singular value decomposition.
    SVD = "svd"
    #: Without samples, by the closed-form rules for trees.
    RULES = "rules"


class Samples(Enum):
    """What random samples are taken of."""

    TORQUE = "torque"
    #: Torques without velocities.
    REST = "rest"
    ENERGY = "energy"


def find_base_parameters(
    dynamics: Tree,
    *,
    drives: Drives = ROTORS,
    analysis: Analysis = Analysis.QR,
    samples: Samples = Samples.TORQUE,
    only: Sequence[str] | None = None,
    rng: np.random.Generator | None = None,
) -> Identifiability:
    """The base parameters of a robot, independent of any recording.

    Random samples come from ``rng``, by default always the same; ``only`` keeps some columns.
    """
    if analysis is Analysis.RULES:
        if samples is not Samples.TORQUE:
            raise InputError(
                f"the closed-form rules use no samples: {samples.value!r} cannot be chosen"
            )
        return group_parameters(dynamics, drives)
    energy = samples is Samples.ENERGY
    count = SAMPLES_PER_MOTOR * dynamics.motors * (dynamics.motors if energy else 1)
    # Random samples do not follow each other.
    dynamics = dynamics.without_memory()
    state = random_state(dynamics, count, np.random.default_rng(0) if rng is None else rng)
    if samples is Samples.REST:
        state = State(state.q, np.zeros_like(state.qd), state.qdd)
    kind = EnergyProblem if energy else TorqueProblem
    by_qr = base_parameters(kind(dynamics, Run.of(state), drives=drives, only=only))
    if analysis is Analysis.SVD:
        return analyse_by_svd(by_qr.R, by_qr.parameters, by_qr.priorities, by_qr.rows)
    return by_qr


def base_parameters(problem: Problem) -> Identifiability:
    """Base parameters of a linear problem, from its samples."""
    values = np.zeros(len(problem.parameters))
    with single_thread():
        return examine(problem, values, reduce(problem, values, Loss()))


def base_values(identifiability: Identifiability, standard: FloatArray) -> FloatArray:
    """Values of the base parameters from standard ones: X1 + beta X2 [Gautier1991, eq. 20]."""
    return (
        standard[identifiability.base]
        + identifiability.relations @ standard[identifiability.regrouped]
    )
