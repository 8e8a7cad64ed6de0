"""Least squares of a problem that is linear in its parameters: one pass gives the answer.

Identifiability, reduction and losses are those of every method; only the iteration is not needed.
"""

from __future__ import annotations

import numpy as np

from theodolite.estimation.descent import NEGLIGIBLE_SCALE, SCALE_TOLERANCE, Iteration, Status
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import Reduction, reduce
from theodolite.estimation.scaling import unit_columns
from theodolite.estimation.solver import Solution, examine
from theodolite.estimation.threads import single_thread

#: Beyond this condition number of the columns at unit length, an error of 0.1 % of all measurements
#: may move some combination of parameters by all of its size.
ILL_CONDITIONED = 1e3
#: Rounds of a loss whose weights depend on the residual.
ROUNDS = 30


def solve_linear(problem: Problem, *, loss: Loss | None = None) -> Solution:
    """The base parameters; regrouped ones are zero."""
    loss = loss or Loss()
    with single_thread():
        start = np.zeros(len(problem.parameters))
        solution = solve_at_zero(reduce(problem, start, Loss()), problem, Loss())
        previous = np.inf
        for _ in range(0 if loss.is_squared else ROUNDS):
            plain = reduce(problem, solution.values, Loss())
            scaled = loss.scaled_to(plain.sizes, plain.widths)
            if scaled.scale < NEGLIGIBLE_SCALE:
                break
            weighted = reduce(problem, solution.values, scaled).moved(-solution.values)
            solution = solve_at_zero(weighted, problem, scaled)
            if abs(scaled.scale / previous - 1) < SCALE_TOLERANCE:
                break
            previous = scaled.scale
    return solution


def without(solution: Solution, index: int) -> Solution:
    """The same solution with one base parameter left out of the model."""
    origin = solution.reduction.moved(-solution.values)
    dropped = np.array([index], dtype=np.intp)
    return fitted(origin, solution.identifiability.without(dropped), solution.loss)


def solve_at_zero(origin: Reduction, problem: Problem, loss: Loss) -> Solution:
    """The best values, given the problem folded at zero."""
    identifiability = examine(problem, np.zeros(len(problem.parameters)), origin)
    return fitted(origin, identifiability, loss)


def fitted(origin: Reduction, identifiability: Identifiability, loss: Loss) -> Solution:
    """The best values of some base parameters, all others zero."""
    values = np.zeros(len(identifiability.parameters))
    if identifiability.rank:
        unit, lengths = unit_columns(origin.R[:, identifiability.base])
        scaled_values = np.linalg.lstsq(unit, -origin.z, rcond=None)[0]
        values[identifiability.base] = scaled_values / lengths
    status = Status.CONVERGED
    if not identifiability.rank:
        status = Status.NOT_IDENTIFIABLE
    elif identifiability.condition_number > ILL_CONDITIONED:
        status = Status.ILL_CONDITIONED
    there = origin.moved(values)
    trace = (Iteration(0, there.cost, 0.0, 0.0),)
    return Solution(values, status, trace, there, identifiability, loss)
