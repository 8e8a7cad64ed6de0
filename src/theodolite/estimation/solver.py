"""Gauss-Newton with damping on the base parameters, which are found anew at every step.

The base set is recomputed because it changes: at exactly parallel nominal axes a SCARA has
fewer identifiable parameters than a millimetre away, and a set computed once would stall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InfeasibleError
from theodolite.estimation.identifiability import STRONG, Identifiability, analyse
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import Reduction, reduce, triangle
from theodolite.estimation.threads import single_thread

#: A step this small in every parameter (metres, radians, relative) is none.
STEP_TOLERANCE = 1e-13
#: Over a step this small the residual is linear to rounding, so the problem need not be seen
#: again: what is neglected is of the order of its square.
LINEAR_STEP = 1e-7
#: A step that moves every parameter by less than this part of its standard error is none.
#: The decrease that a step promises is the square of its size in standard errors.
ERROR_TOLERANCE = 1e-3
MAX_ITERATIONS = 50
#: A step is taken if it gives this part of the decrease that the linear model promises.
TRUSTED = 0.05
#: A step that gives this part shows that damping is no longer needed.
WELL_PREDICTED = 0.5
#: The first damping tried, relative to unit columns.
FIRST_DAMPING = 1e-8
#: How far along the step its curvature is probed.
PROBE = 0.1
#: Steps and promised decreases this small drown in rounding if they do not help.
NEGLIGIBLE_STEP = 1e-9
NEGLIGIBLE_DECREASE = 1e-6
#: Diagonal of a triangular factor of unit columns that counts as zero.
SINGULAR = 1e-13
#: Damping gives up here: no decrease along any direction.
MAX_DAMPING = 1e8
#: Beyond this condition number of the scaled base columns, intervals span orders of magnitude.
ILL_CONDITIONED = 1e5
#: A doubtful parameter is identified if its standard error is below this (m, rad, gain).
USEFUL = 5e-3
#: Parameters that seemed out of reach are taken after all if the cost falls to this part.
YIELDS = 0.1
#: They have this many iterations to show it.
CHANCE = 10
#: Residuals this small, in standard deviations, are exact: there is nothing to bear.
NEGLIGIBLE_SCALE = 1e-9
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
    start: FloatArray | None = None,
    max_iterations: int = MAX_ITERATIONS,
    progress: Progress | None = None,
) -> Solution:
    """Minimise the problem's loss from the values its parameters have, or from other ones."""
    loss = loss or Loss()
    if start is None:
        start = _first_values(problem)
    with single_thread():
        solution = _descend(problem, start, Loss(), max_iterations, progress)
        solution = _with_unsupported(problem, solution, max_iterations, progress)
        if loss.is_squared:
            return solution
        trace = list(solution.trace)
        previous = np.inf
        for _ in range(10):
            scaled = loss.scaled_to(solution.reduction.sizes)
            if scaled.scale < NEGLIGIBLE_SCALE:
                break
            solution = _descend(problem, solution.values, scaled, max_iterations, progress)
            trace += [
                replace(step, number=len(trace) + number)
                for number, step in enumerate(solution.trace[1:])
            ]
            if abs(scaled.scale / previous - 1) < SCALE_TOLERANCE:
                break
            previous = scaled.scale
        return replace(solution, trace=tuple(trace))


def _first_values(problem: Problem) -> FloatArray:
    """Where to start: what a tamer problem finds, or the parameters' own values."""
    given = np.array([parameter.value for parameter in problem.parameters])
    if problem.forerunner is None:
        return given
    found = solve(problem.forerunner)
    usable = found.status.good and _at(problem, found.values, Loss()) is not None
    return found.values if usable else given


def _with_unsupported(
    problem: Problem, solution: Solution, max_iterations: int, progress: Progress | None
) -> Solution:
    """Give parameters that seemed out of reach a chance, if they were what kept the error large.

    Noise never yields to them by a factor of ten; an error that they alone explain does. Not where
    the residual shrinks with the robot: there everything yields.
    """
    known = solution.identifiability
    if known.rank == known.clear_rank or solution.status is Status.NOT_IDENTIFIABLE:
        return solution
    if problem.shrinks:
        return solution
    bolder = _descend(
        problem,
        solution.values,
        Loss(),
        min(max_iterations, CHANCE),
        progress,
        only_supported=False,
    )
    if bolder.reduction.cost > YIELDS * solution.reduction.cost:
        return solution
    steps = [
        replace(step, number=len(solution.trace) + number)
        for number, step in enumerate(bolder.trace[1:])
    ]
    return replace(bolder, trace=(*solution.trace, *steps))


def examine(
    problem: Problem,
    values: FloatArray,
    reduction: Reduction,
    before: Identifiability | None = None,
) -> Identifiability:
    """What is identifiable at given values, staying with an earlier base set where it can."""
    structure = problem.structure(values)
    R = reduction.R if structure is None else triangle(structure, len(problem.parameters))
    return analyse(R, problem.parameters, problem.priorities, reduction.rows, before=before)


def _determined(
    problem: Problem, here: _Point, before: Identifiability | None = None
) -> Identifiability:
    """What is identifiable at a point, less what the noise leaves out of reach."""
    known = examine(problem, here.values, here.reduction, before)
    return supported(known, here.reduction, shrinks=problem.shrinks)


def _structural(
    problem: Problem, here: _Point, before: Identifiability | None = None
) -> Identifiability:
    """What is identifiable at a point, whatever the noise."""
    return examine(problem, here.values, here.reduction, before)


def supported(known: Identifiability, reduction: Reduction, *, shrinks: bool) -> Identifiability:
    """Without parameters that the data would determine to no use, the worst first.

    Along the axes of a SCARA that are almost parallel, nearly dependent parameters exist, but lie
    far below ordinary noise. And a link or plane residual shrinks with the robot (``shrinks``), so
    there any parameter that is hardly seen does not only blur the robot, it shrinks it. Standard
    errors are therefore taken from the structure, which has no residual in it.
    """
    degrees = reduction.rows - known.rank
    sigma: float | None = None
    while known.rank > 1 and degrees > 0:
        base = known.R[:, known.base]
        scale = np.linalg.norm(base, axis=0)
        R = np.asarray(np.linalg.qr(base / scale, mode="r"))
        diagonal = np.abs(np.diag(R))
        doubtful = np.full(known.rank, shrinks) | (diagonal < STRONG)
        if not doubtful.any() or diagonal.min() < SINGULAR:
            break
        if sigma is None:
            explained = _step(reduction, known, 0.0)[1]
            sigma = float(np.sqrt(max(reduction.squares - explained, 0.0) / degrees))
        errors = sigma * np.linalg.norm(np.linalg.inv(R), axis=1) / scale
        errors[~doubtful] = 0.0
        worst = int(np.argmax(errors))
        if errors[worst] <= USEFUL:
            break
        known = known.without(known.base[[worst]])
    return known


def _descend(
    problem: Problem,
    start: FloatArray,
    loss: Loss,
    max_iterations: int,
    progress: Progress | None,
    *,
    only_supported: bool = True,
) -> Solution:
    determined = _determined if only_supported else _structural
    here = _Point(start, reduce(problem, start, loss))
    known = determined(problem, here)
    trace = [Iteration(0, here.cost, known.rank, 0.0, 0.0)]
    status = Status.ITERATION_LIMIT if known.rank else Status.NOT_IDENTIFIABLE
    damping = 0.0
    while status is Status.ITERATION_LIMIT and len(trace) <= max_iterations:
        outcome = _advance(problem, here, known, damping, loss)
        if isinstance(outcome, Status):
            status = outcome
            break
        here = outcome.point
        known = determined(problem, here, known)
        trace.append(Iteration(len(trace), here.cost, known.rank, outcome.size, outcome.damping))
        damping = 0.0 if outcome.gain > WELL_PREDICTED else outcome.damping / 10
        if progress is not None:
            progress(trace[-1])
    if status is Status.CONVERGED and known.condition_number > ILL_CONDITIONED:
        status = Status.ILL_CONDITIONED
    return Solution(here.values, status, tuple(trace), here.reduction, known, loss)


@dataclass(frozen=True, eq=False)
class _Point:
    """Parameter values with the problem reduced there."""

    values: FloatArray
    reduction: Reduction

    @property
    def cost(self) -> float:
        return self.reduction.cost

    def moved(self, step: FloatArray) -> _Point:
        """Where a step leads that is too small for another look at the problem."""
        return _Point(self.values + step, self.reduction.moved(step))


@dataclass(frozen=True, eq=False)
class _Advance:
    """A step that was taken."""

    point: _Point
    #: Largest relative change of a parameter.
    size: float
    damping: float
    #: Decrease of the cost relative to what the linear model promised.
    gain: float


def _advance(
    problem: Problem, here: _Point, known: Identifiability, damping: float, loss: Loss
) -> _Advance | Status:
    """One step that lowers the cost, or why there is none."""
    while damping <= MAX_DAMPING:
        step, decrease = _step(here.reduction, known, damping)
        size = float(np.abs(step / (1.0 + np.abs(here.values))).max())
        variance = here.cost / max(here.reduction.rows, 1)
        if size <= STEP_TOLERANCE or decrease <= ERROR_TOLERANCE**2 * variance:
            return Status.CONVERGED
        if size <= LINEAR_STEP and loss.is_squared:
            return _Advance(here.moved(step), size, damping, gain=1.0)
        there = _at(problem, here.values + step, loss)
        if there is None:
            damping = max(FIRST_DAMPING, 10 * damping)
            continue
        if there.cost > here.cost - WELL_PREDICTED * decrease and size > NEGLIGIBLE_STEP:
            # The cost is curved along the step. The second-order path costs one more pass, and
            # follows the curved valleys of nearly dependent parameters in few iterations.
            bent = _bent(problem, here, step, known, damping, loss)
            if bent is not None and bent.cost < there.cost:
                there = bent
        gain = (here.cost - there.cost) / decrease
        if gain > TRUSTED:
            return _Advance(there, size, damping, gain)
        if decrease <= NEGLIGIBLE_DECREASE * here.cost or size <= NEGLIGIBLE_STEP:
            return Status.CONVERGED
        damping = max(FIRST_DAMPING, 10 * damping)
    return Status.STALLED


def _at(problem: Problem, values: FloatArray, loss: Loss) -> _Point | None:
    """The problem at other values, or None where the machine could not exist."""
    try:
        return _Point(values, reduce(problem, values, loss))
    except InfeasibleError:
        return None


def _step(here: Reduction, known: Identifiability, damping: float) -> tuple[FloatArray, float]:
    """The damped step, and by how much the linear model says it lowers the sum of squares."""
    scaled, scale = _scaled(here, known, damping)
    Q, R = np.linalg.qr(scaled)
    wanted = Q[: len(here.z)].T @ here.z
    step = np.zeros(len(known.parameters))
    step[known.base] = -_solved(R, wanted) / scale
    return step, float(wanted @ wanted)


def _bent(
    problem: Problem,
    here: _Point,
    step: FloatArray,
    known: Identifiability,
    damping: float,
    loss: Loss,
) -> _Point | None:
    """Where the second-order path leads, if the machine can exist there."""
    try:
        bend = _acceleration(problem, here, step, known, damping)
    except InfeasibleError:
        return None
    return _at(problem, here.values + step + bend / 2, loss)


def _acceleration(
    problem: Problem, here: _Point, step: FloatArray, known: Identifiability, damping: float
) -> FloatArray:
    """Geodesic acceleration [Transtrum & Sethna 2012]: the second-order term of the path.

    The second derivative of the residual along the step is a difference of the residual and
    its exact derivative; the acceleration makes the linear model cancel it.
    """
    gradient = np.zeros(len(known.base))
    pairs = zip(
        problem.blocks(here.values), problem.blocks(here.values + PROBE * step), strict=True
    )
    for block, ahead in pairs:
        slope = (ahead.residual - block.residual) / PROBE
        curvature = 2.0 / PROBE * (slope - block.jacobian @ step)
        gradient += block.jacobian[:, known.base].T @ curvature
    scaled, scale = _scaled(here.reduction, known, damping)
    R = np.asarray(np.linalg.qr(scaled, mode="r"))
    bend = np.zeros(len(step))
    bend[known.base] = -_solved(R, _solved(R.T, gradient / scale)) / scale
    return bend


def _scaled(
    here: Reduction, known: Identifiability, damping: float
) -> tuple[FloatArray, FloatArray]:
    """Base columns of unit length with rows for the damping, and their lengths."""
    columns = here.R[:, known.base]
    scale = np.linalg.norm(columns, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    scaled = columns / scale
    if damping:
        scaled = np.concatenate([scaled, np.sqrt(damping) * np.eye(len(scale))])
    return scaled, scale


def _solved(R: FloatArray, wanted: FloatArray) -> FloatArray:
    """R x = wanted for a triangular R; the shortest x where R is singular to rounding."""
    if np.abs(np.diag(R)).min() > SINGULAR:
        return np.linalg.solve(R, wanted)
    return np.linalg.lstsq(R, wanted, rcond=SINGULAR)[0]
