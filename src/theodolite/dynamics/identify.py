"""Identification of inertial and drive parameters from torques.

Ordinary least squares first; then each joint weighs by its own residual [Renaud2006, eqs. 23-27],
as often as it takes. Residuals of different joints may be correlated, and single samples may be
wrong: then whole samples are made white together, or weigh less the further off they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.base_parameters import base_values
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.torque import LinearModel, TorqueProblem
from theodolite.dynamics.torque_noise import TorqueNoise
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.linear import solve_linear, without
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.reduction import triangle
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics, statistics
from theodolite.estimation.threads import single_thread

FRICTION = (Drive.ROTOR, Drive.VISCOUS, Drive.COULOMB, Drive.OFFSET)
#: Rounds of weighing, and when the weights are settled.
ROUNDS = 20
SETTLED = 1e-3
#: Equations for each parameter, at least.
FEWEST = 4
#: A base parameter whose relative standard deviation is above this is not supported by the data.
ESSENTIAL = 0.3


class Way(Enum):
    """How torques weigh against each other."""

    ORDINARY = "ordinary"
    WEIGHTED = "weighted"
    CORRELATED = "correlated"
    ROBUST = "robust"


@dataclass(frozen=True, eq=False)
class IdentifiedDynamics:
    """Identified dynamics."""

    problem: TorqueProblem
    solution: Solution
    #: All columns; parameters that are regrouped are zero, unless whole bodies were identified.
    values: FloatArray
    noise: TorqueNoise
    #: Of the base parameters by least squares.
    statistics: Statistics
    #: Are the values those of whole bodies, not of base parameters alone? They have no intervals.
    whole: bool = False
    #: And could bodies have them?
    consistent: bool = False

    @property
    def identifiability(self) -> Identifiability:
        return self.solution.identifiability

    @property
    def dynamics(self) -> Tree:
        return self.problem.dynamics

    @property
    def rows(self) -> int:
        """Samples, each with a torque of every motor."""
        return sum(run.rows for run in self.problem.runs)

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
        """Values of all columns by name."""
        names = [parameter.name for parameter in self.problem.parameters]
        return dict(zip(names, self.values.tolist(), strict=True))


def identify_dynamics(
    dynamics: Tree,
    runs: Run | Sequence[Run],
    *,
    drives: Sequence[Drive] = FRICTION,
    way: Way = Way.WEIGHTED,
    payload: bool = False,
    only: Sequence[str] | None = None,
) -> IdentifiedDynamics:
    """Base parameters by least squares; ``only`` limits the model to some columns."""
    problem = TorqueProblem(dynamics, runs, drives=drives, payload=payload, only=only)
    check_length(problem, dynamics.motors)
    loss = Loss(Shape.HUBER) if way is Way.ROBUST else Loss()
    solution = solve_linear(problem)
    noise = _noise(problem, solution, way)
    if way is Way.ORDINARY:
        return IdentifiedDynamics(
            problem, solution, solution.values, noise, _sandwich(problem, solution, noise)
        )
    for _ in range(ROUNDS):
        problem = problem.weighted(noise.whitening)
        solution = solve_linear(problem, loss=loss)
        found = _noise(problem, solution, way)
        change = np.abs(found.long_run / noise.long_run - 1.0).max()
        noise = found
        if change < SETTLED:
            break
    return _known(problem, solution, noise)


def check_length(problem: LinearModel, each: int) -> None:
    """Refuse runs that are too short for the parameters, with so many equations per sample."""
    rows = sum(run.rows for run in problem.runs) * each
    needed = FEWEST * len(problem.parameters)
    if rows < needed:
        raise InputError(
            f"{rows} equations are left after the low-pass, too short for "
            f"{len(problem.parameters)} parameters",
            where=problem.runs[0].name,
            allowed=f"{needed} or more",
            remedy="Record for longer, or raise --cutoff",
        )


def _noise(problem: TorqueProblem, solution: Solution, way: Way) -> TorqueNoise:
    off = problem.predicted(solution.values) - problem.measured()
    # Unbiased for each joint by itself: it sees about its part of the parameters.
    share = solution.identifiability.rank / problem.dynamics.motors
    return TorqueNoise.of(
        off,
        share,
        between_joints=way in (Way.CORRELATED, Way.ROBUST),
        robust=way is Way.ROBUST,
    )


def _sandwich(problem: TorqueProblem, solution: Solution, noise: TorqueNoise) -> Statistics:
    """Uncertainty of unweighted least squares whose joints have noise of their own.

    ``A^-1 (sum of s_j^2 W_j'W_j) A^-1`` with ``A = W'W``, from triangular factors.
    """
    base = solution.identifiability.base
    size, motors = len(problem.parameters), problem.dynamics.motors
    factors: list[FloatArray] = [np.zeros((0, size)) for _ in range(motors)]
    with single_thread():
        for block in problem.blocks(np.zeros(size)):
            rows = block.jacobian.reshape(motors, -1, size)
            factors = [
                triangle([factor, part], size) for factor, part in zip(factors, rows, strict=True)
            ]
        inverse = np.linalg.pinv(solution.reduction.R[:, base])
        spread = np.concatenate(
            [s * factor[:, base] for s, factor in zip(noise.long_run, factors, strict=True)]
        )
        half = inverse @ inverse.T @ spread.T
    plain = statistics(solution, noise_known=False)
    return replace(plain, covariance=half @ half.T)


def _known(problem: TorqueProblem, solution: Solution, noise: TorqueNoise) -> IdentifiedDynamics:
    """A result whose noise is that of its residuals."""
    return IdentifiedDynamics(
        problem, solution, solution.values, noise, statistics(solution, noise_known=True)
    )


def essential(found: IdentifiedDynamics) -> IdentifiedDynamics:
    """Without parameters that the data do not support, the worst first.

    For weighted results. Intervals do not know of the choice.
    """
    solution = found.solution
    while True:
        base = solution.identifiability.base
        errors = statistics(solution, noise_known=True).standard_errors
        relative = errors / np.maximum(np.abs(solution.values[base]), 1e-300)
        worst = int(np.argmax(relative))
        if relative[worst] <= ESSENTIAL or len(base) <= 1:
            break
        solution = without(solution, int(base[worst]))
    return replace(
        found,
        solution=solution,
        values=solution.values,
        statistics=statistics(solution, noise_known=True),
    )
