"""Least squares of a problem that is linear in its parameters: one pass gives the answer.

Identifiability, reduction and losses are those of every method; only the iteration is not needed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import Reduction, reduce
from theodolite.estimation.solver import (
    NEGLIGIBLE_SCALE,
    SCALE_TOLERANCE,
    Iteration,
    Solution,
    Status,
    examine,
)
from theodolite.estimation.threads import single_thread

#: Beyond this condition number of the scaled base columns, intervals span orders of magnitude.
ILL_CONDITIONED = 1e5
#: Rounds of a loss whose weights depend on the residual.
ROUNDS = 30


def solve_linear(problem: Problem, *, loss: Loss | None = None) -> Solution:
    """The base parameters; regrouped ones are zero."""
    loss = loss or Loss()
    with single_thread():
        start = np.zeros(len(problem.parameters))
        solution = best(reduce(problem, start, Loss()), problem, Loss())
        previous = np.inf
        for _ in range(0 if loss.is_squared else ROUNDS):
            plain = reduce(problem, solution.values, Loss())
            scaled = loss.scaled_to(plain.sizes, plain.widths)
            if scaled.scale < NEGLIGIBLE_SCALE:
                break
            weighted = reduce(problem, solution.values, scaled).moved(-solution.values)
            solution = best(weighted, problem, scaled)
            if abs(scaled.scale / previous - 1) < SCALE_TOLERANCE:
                break
            previous = scaled.scale
    return solution


def best(origin: Reduction, problem: Problem, loss: Loss) -> Solution:
    """The best values, given the problem folded at zero."""
    known = examine(problem, np.zeros(len(problem.parameters)), origin)
    return fitted(origin, known, loss)


def fitted(origin: Reduction, known: Identifiability, loss: Loss) -> Solution:
    """The best values of some base parameters, all others zero."""
    values = np.zeros(len(known.parameters))
    if known.rank:
        base = origin.R[:, known.base]
        scale = np.linalg.norm(base, axis=0)
        values[known.base] = np.linalg.lstsq(base / scale, -origin.z, rcond=None)[0] / scale
    status = Status.CONVERGED if known.rank else Status.NOT_IDENTIFIABLE
    if known.condition_number > ILL_CONDITIONED:
        status = Status.ILL_CONDITIONED
    there = origin.moved(values)
    trace = (Iteration(0, there.cost, 0.0, 0.0),)
    return Solution(values, status, trace, there, known, loss)


def without(solution: Solution, index: int) -> Solution:
    """The same with one base parameter left out of the model."""
    origin = solution.reduction.moved(-solution.values)
    dropped = np.array([index], dtype=np.intp)
    return replace(
        fitted(origin, solution.identifiability.without(dropped), solution.loss),
        status=solution.status,
    )
