"""Gauss-Newton with damping on the base parameters, which are found anew at every step.

The base set is recomputed because it changes: at exactly parallel nominal axes a SCARA has
fewer identifiable parameters than a millimetre away, and a set computed once would stall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.identification.identifiability import Identifiability, analyse
from theodolite.identification.loss import Loss
from theodolite.identification.reduction import Reduction, reduce, triangle
from theodolite.measure.problem import Problem

#: A step this small in every parameter (metres, radians, relative) is none.
STEP_TOLERANCE = 1e-13
#: A predicted decrease of the cost by this part is none.
COST_TOLERANCE = 1e-13
MAX_ITERATIONS = 50
#: A step is taken if it gives this part of the decrease that the linear model promises.
TRUSTED = 0.25
#: A step that gives this part shows that damping is no longer needed.
WELL_PREDICTED = 0.75
#: The first damping tried, relative to unit columns.
FIRST_DAMPING = 1e-8
#: Damping gives up here: no decrease along any direction.
MAX_DAMPING = 1e8
#: Beyond this condition number of the scaled base columns, intervals span orders of magnitude.
ILL_CONDITIONED = 1e5
#: Reweighting ends when the robust scale changes by less.
SCALE_TOLERANCE = 1e-3


class Status(Enum):
    """How an identification ended."""

    CONVERGED = "The identification converged."
    ILL_CONDITIONED = "Converged, but the data barely determine some parameters."
    NOT_IDENTIFIABLE = "The data determine none of the parameters."
    STALLED = "No step reduces the error any more, although the gradient is not zero."
    ITERATION_LIMIT = "The iteration limit was reached before convergence."

    @property
    def good(self) -> bool:
        return self is Status.CONVERGED


@dataclass(frozen=True)
class Iteration:
    """One line of the trace."""

    number: int
    cost: float
    rank: int
    step: float
    damping: float


@dataclass(frozen=True, eq=False)
class Solution:
    """Where the solver ended, with everything needed to judge it."""

    values: FloatArray
    status: Status
    trace: tuple[Iteration, ...]
    reduction: Reduction
    identifiability: Identifiability
    loss: Loss

    @property
    def iterations(self) -> int:
        return len(self.trace) - 1


Progress = Callable[[Iteration], None]


def solve(
    problem: Problem,
    *,
    loss: Loss | None = None,
    max_iterations: int = MAX_ITERATIONS,
    progress: Progress | None = None,
) -> Solution:
    """Minimise the problem's loss from the values its parameters have."""
    loss = loss or Loss()
    start = np.array([parameter.value for parameter in problem.parameters])
    solution = _descend(problem, start, Loss(), max_iterations, progress)
    if loss.is_squared:
        return solution
    for _ in range(10):
        scaled = loss.scaled_to(solution.reduction.sizes)
        previous = solution.loss.scale if not solution.loss.is_squared else np.inf
        solution = _descend(problem, solution.values, scaled, max_iterations, progress)
        if abs(scaled.scale / previous - 1) < SCALE_TOLERANCE:
            break
    return solution


def examine(
    problem: Problem,
    values: FloatArray,
    reduction: Reduction,
    before: Identifiability | None = None,
) -> Identifiability:
    """What is identifiable at given values, staying with an earlier base set where it can."""
    structure = problem.structure(values)
    R = reduction.R if structure is None else triangle(structure, len(problem.parameters))
    keep = () if before is None else tuple(before.base)
    return analyse(R, problem.parameters, problem.priorities, reduction.rows, keep=keep)


def _descend(
    problem: Problem,
    start: FloatArray,
    loss: Loss,
    max_iterations: int,
    progress: Progress | None,
) -> Solution:
    values = start
    here = reduce(problem, values, loss)
    known = examine(problem, values, here)
    trace = [Iteration(0, here.cost, known.rank, 0.0, 0.0)]
    status = Status.ITERATION_LIMIT
    damping = 0.0
    for number in range(1, max_iterations + 1):
        if not known.rank:
            status = Status.NOT_IDENTIFIABLE
            break
        moved = None
        while moved is None and damping <= MAX_DAMPING:
            step, decrease = _step(here, known, damping)
            size = float(np.abs(step / (1.0 + np.abs(values))).max())
            if size <= STEP_TOLERANCE or decrease <= COST_TOLERANCE * here.cost:
                status = Status.CONVERGED
                break
            trial = reduce(problem, values + step, loss)
            gain = (here.cost - trial.cost) / decrease
            if gain > TRUSTED:
                moved = trial
            elif decrease <= 1e-6 * here.cost or size <= 1e-9:
                # The model promises next to nothing and even that drowns in rounding.
                status = Status.CONVERGED
                break
            else:
                damping = max(FIRST_DAMPING, 10 * damping)
        if moved is None:
            status = Status.STALLED if damping > MAX_DAMPING else status
            break
        used, damping = damping, (0.0 if gain > WELL_PREDICTED else damping / 10)
        values, here = values + step, moved
        known = examine(problem, values, here, known)
        trace.append(Iteration(number, here.cost, known.rank, size, used))
        if progress is not None:
            progress(trace[-1])
    if status is Status.CONVERGED and known.condition_number > ILL_CONDITIONED:
        status = Status.ILL_CONDITIONED
    return Solution(values, status, tuple(trace), here, known, loss)


def _step(here: Reduction, known: Identifiability, damping: float) -> tuple[FloatArray, float]:
    """The damped step, and by how much the linear model says it lowers the sum of squares."""
    columns = here.R[:, known.base]
    scale = np.linalg.norm(columns, axis=0)
    scaled, rest = columns / np.where(scale > 0, scale, 1.0), here.z
    if damping:
        size = len(known.base)
        scaled = np.concatenate([scaled, np.sqrt(damping) * np.eye(size)])
        rest = np.concatenate([rest, np.zeros(size)])
    Q, R = np.linalg.qr(scaled)
    wanted = Q.T @ rest
    inner = -np.linalg.solve(R, wanted)
    step = np.zeros(len(known.parameters))
    step[known.base] = inner / np.where(scale > 0, scale, 1.0)
    return step, float(wanted @ wanted)
