"""Everett's calibration of closed loops with Lagrange multipliers [Everett1988, 2.3.3].

Unknowns are the constants, the passive joints of every measurement and the multipliers of every
closure. Gauss-Newton on eq. 38: the bilinear terms are left out, as in the report. The arrow is
eliminated measurement by measurement, so the cost is linear in their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.identification.identifiability import Identifiability, analyse
from theodolite.identification.reduction import triangle
from theodolite.measure.problem import Block, Linearized
from theodolite.model.parameters import Parameter

#: A step this small in every unknown is none.
STEP_TOLERANCE = 1e-12
MAX_ITERATIONS = 60
#: A step may raise the sum of error and gap by this factor: Newton's often do, and come back.
TOLERATED = 1.5
#: Steps are halved this often before they are taken all the same.
HALVINGS = 6


class ConstrainedProblem(Protocol):
    """What the multipliers need of a problem with closures."""

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...

    @property
    def priorities(self) -> tuple[int, ...]: ...

    def linearized(self, values: FloatArray, passive: FloatArray) -> Linearized: ...

    def reduced(self, at: Linearized) -> Block: ...


@dataclass(frozen=True, eq=False)
class MultiplierSolution:
    """Constants, passive joints and multipliers where the Lagrangian is stationary."""

    values: FloatArray
    passive: FloatArray
    #: (n, closures), in units of the whitened objective per metre or radian.
    multipliers: FloatArray
    #: Half the sum of squared errors.
    objective: float
    #: Largest gap of a loop.
    gap: float
    iterations: int
    converged: bool
    identifiability: Identifiability


def solve_with_multipliers(
    problem: ConstrainedProblem, passive: FloatArray, *, max_iterations: int = MAX_ITERATIONS
) -> MultiplierSolution:
    """Minimise the error subject to closed loops, from the problem's values and given joints."""
    values = np.array([parameter.value for parameter in problem.parameters])
    at = problem.linearized(values, passive)
    known: Identifiability | None = None
    converged = False
    multipliers = np.zeros_like(at.G)
    iterations = 0
    while not converged and iterations < max_iterations:
        block = problem.reduced(at)
        factor = triangle([block.columns.T], len(values) + 1)
        R, z = factor[:-1, :-1], factor[:-1, -1]
        known = analyse(
            R, problem.parameters, problem.priorities, block.residual.size, before=known
        )
        step = np.zeros(len(values))
        step[known.base] = -np.linalg.lstsq(R[:, known.base], z, rcond=1e-12)[0]
        inverse = np.linalg.pinv(at.G_a, rcond=1e-9)
        turn = -np.einsum("nij,nj->ni", inverse, at.G + at.G_C @ step)
        # F_a' (F + F_C dC + F_a da) + G_a' lambda = 0
        error = at.F + at.F_C @ step + np.einsum("nij,nj->ni", at.F_a, turn)
        gradient = np.einsum("nij,ni->nj", at.F_a, error)
        multipliers = -np.einsum("nji,nj->ni", inverse, gradient)
        length = _length(problem, values, passive, step, turn, at)
        values, passive = values + length * step, passive + length * turn
        at = problem.linearized(values, passive)
        iterations += 1
        largest = max(np.abs(step).max(), np.abs(turn).max(initial=0.0))
        converged = bool(length == 1.0 and largest < STEP_TOLERANCE * (1 + np.abs(values).max()))
    if known is None:
        raise ValueError("max_iterations must be positive")
    return MultiplierSolution(
        values,
        passive,
        multipliers,
        0.5 * float((at.F**2).sum()),
        float(np.abs(at.G).max()),
        iterations,
        converged,
        known,
    )


def _length(
    problem: ConstrainedProblem,
    values: FloatArray,
    passive: FloatArray,
    step: FloatArray,
    turn: FloatArray,
    at: Linearized,
) -> float:
    """The longest of 1, 1/2, 1/4 ... that does not raise error and gap much."""
    weight = 1.0 / max(float(np.abs(at.G).max()), 1e-12)

    def merit(here: Linearized) -> float:
        return float(np.sqrt((here.F**2).sum())) + weight * float(np.abs(here.G).sum())

    now = merit(at)
    length = 1.0
    for _ in range(HALVINGS):
        there = problem.linearized(values + length * step, passive + length * turn)
        if merit(there) <= TOLERATED * now:
            return length
        length /= 2
    return 1.0
