"""Levenberg-Marquardt on data and prior together, in all parameters.

With whitened residuals r of noise s and a prior of factor F about mean m, the sum

    |r(x)|^2 + s^2 |F (x - m)|^2

is minimised. Nothing is dropped and no threshold compares metres with radians: a parameter that the
data hardly see stays near its nominal value. Where the noise is not known, s is what the linear
model says will be left of the residuals; it starts large and falls with them.

The base parameters are for people. They are found once, at the solution. A robot in which only they
have changed is found by a few more steps from there, with the prior of what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InfeasibleError
from theodolite.estimation.identifiability import Identifiability, analyse
from theodolite.estimation.loss import Loss
from theodolite.estimation.prior import Prior
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import Reduction, reduce, triangle
from theodolite.estimation.step import (
    Step,
    against_gradient,
    linear_step,
    noise_left,
    widened,
)
from theodolite.estimation.threads import single_thread

#: A step of less than this part of every tolerance is none.
STEP_TOLERANCE = 1e-12
#: Over a step of this part of the tolerances the residual is linear to rounding, so the problem
#: need not be seen again: what is neglected is of the order of its square.
LINEAR_STEP = 5e-6
#: A step that moves every parameter by less than this part of its standard error is none.
#: The decrease that a step promises is the square of its size in standard errors.
ERROR_TOLERANCE = 1e-6
MAX_ITERATIONS = 50
#: A step is taken if it gives this part of the decrease that the linear model promises, ...
TRUSTED = 0.05
#: ... or if what a further step would promise falls to this part.
APPROACHING = 0.25
#: A step that gives this part of the promised decrease shows that damping is no longer needed.
WELL_PREDICTED = 0.5
#: The first damping tried, relative to unit columns.
FIRST_DAMPING = 1e-8
#: How far along the step its curvature is probed.
PROBE = 0.1
#: Steps (of a tolerance) and decreases (of the cost) this small drown in rounding.
NEGLIGIBLE_STEP = 1e-7
NEGLIGIBLE_DECREASE = 1e-6
#: A step of this part of the standard errors that does not help is not worth another try.
NEGLIGIBLE_ERROR = 0.1
#: Before going on with base parameters alone, a last step of this part of the tolerances will do:
#: the relations between parameters are no more exact than that.
NEAR = 0.3
#: The noise that residuals show has fallen noticeably when it is below this part of the last one.
FALLEN = 0.9
#: In the end it is estimated anew until it changes by less, or so many times.
NOISE_TOLERANCE = 1e-8
SETTLING = 20
#: Damping gives up here: no decrease along any direction.
MAX_DAMPING = 1e8
#: Residuals this small, in standard deviations, are exact: there are no outliers.
NEGLIGIBLE_SCALE = 1e-9
#: Reweighting ends when the robust scale changes by less, or after so many rounds.
SCALE_TOLERANCE = 1e-3
REWEIGHTINGS = 10


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


class Change(Enum):
    """Which parameters of the robot an identification changes."""

    #: The base parameters alone, chosen by priority: what a controller can take.
    BASE = "base"
    #: All that have an effect, in proportion to their tolerances.
    ALL = "all"


@dataclass(frozen=True)
class Iteration:
    """One line of the trace."""

    number: int
    cost: float
    #: Largest change of a parameter, in tolerances.
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
    #: Indices of the parameters that were free to change; None: the base parameters.
    free: IntArray | None = None
    #: What was known of them before.
    prior: Prior | None = None
    #: Cost near the minimum over all parameters; base parameters alone reach it where relations are
    #: exact.
    cost_of_all: float | None = None

    @property
    def iterations(self) -> int:
        return len(self.trace) - 1

    @property
    def changed(self) -> IntArray:
        """Indices of the parameters that were free to change."""
        return self.identifiability.base if self.free is None else self.free


Progress = Callable[[Iteration], None]


def solve(
    problem: Problem,
    *,
    loss: Loss | None = None,
    start: FloatArray | None = None,
    noise_known: bool = False,
    change: Change = Change.BASE,
    free: IntArray | None = None,
    max_iterations: int = MAX_ITERATIONS,
    progress: Progress | None = None,
) -> Solution:
    """Minimise the problem's loss from the values its parameters have, or from other ones.

    ``free`` restricts the parameters that may change at all.
    """
    with single_thread():
        if start is None:
            # A warm start would change parameters that are not free.
            start = _first_values(problem) if free is None else _given_values(problem)
        free = np.arange(len(problem.parameters)) if free is None else free
        prior = Prior.of([problem.parameters[index] for index in free])
        everything = len(free) == len(problem.parameters)
        search = _Search(
            problem,
            free,
            prior,
            loss or Loss(),
            noise_known,
            max_iterations,
            progress,
            near=NEAR if change is Change.BASE and everything else 0.0,
        )
        end = search.run(start)
        noise = 1.0 if noise_known else noise_left(end.point.reduction, prior, free)
        wider = widened(end.point.reduction, end.point.values, prior, free, noise)
        if wider is not prior:
            prior = wider
            search = replace(search, prior=prior)
            if not search.near:
                end = replace(search.continued(end.point, end), first=end.first)
        known = examine(
            problem,
            end.point.values,
            end.point.reduction,
            before=examine(problem, end.first.values, end.first.reduction),
        )
        cost_of_all = end.point.cost
        status = end.status if known.rank else Status.NOT_IDENTIFIABLE
        if change is Change.BASE and everything and known.rank:
            search, end = _base_only(search, end, known)
            status = end.status
            there = examine(problem, end.point.values, end.point.reduction, before=known)
            known = settle(known, there)
            prior = prior.regrouped(known.base, known.regrouped, known.relations)
            free = known.base
        reduction = end.point.reduction
        if not end.loss.is_squared:
            # The covariance of a robust estimate needs the factor without weights.
            reduction = reduce(problem, end.point.values, Loss())
        return Solution(
            end.point.values,
            status,
            end.trace,
            reduction,
            known,
            end.loss,
            free,
            prior,
            cost_of_all,
        )


def examine(
    problem: Problem,
    values: FloatArray,
    reduction: Reduction,
    *,
    before: Identifiability | None = None,
) -> Identifiability:
    """What is identifiable at given values, staying with an earlier base set where it can."""
    R = _deciding(problem, values, reduction)
    return analyse(R, problem.parameters, problem.priorities, reduction.rows, before=before)


def settle(chosen: Identifiability, there: Identifiability) -> Identifiability:
    """Identifiability at the solution, for base parameters that were chosen a little before it."""
    if set(chosen.base) == set(there.base):
        return there
    return replace(chosen, R=there.R)


def _deciding(problem: Problem, values: FloatArray, reduction: Reduction) -> FloatArray:
    """The factor that decides what is identifiable: the Jacobian's, or the problem's own."""
    structure = problem.structure(values)
    return reduction.R if structure is None else triangle(structure, len(problem.parameters))


def _given_values(problem: Problem) -> FloatArray:
    return np.array([parameter.value for parameter in problem.parameters])


def _first_values(problem: Problem) -> FloatArray:
    """Where to start: what a better behaved problem finds, or the parameters' own values."""
    given = _given_values(problem)
    if problem.warm_start is None:
        return given
    found = solve(problem.warm_start, change=Change.ALL)
    usable = found.status.good and _at(problem, found.values, Loss()) is not None
    return found.values if usable else given


def _base_only(search: _Search, end: _End, known: Identifiability) -> tuple[_Search, _End]:
    """Go on with the base parameters alone, all others back at their nominal values."""
    mean, there = search.prior.mean, end.point.values
    start = mean.copy()
    moved = (there - mean)[known.regrouped]
    start[known.base] = there[known.base] + known.relations @ moved
    prior = search.prior.regrouped(known.base, known.regrouped, known.relations)
    narrowed = replace(search, free=known.base, prior=prior, near=0.0)
    first = _at(search.problem, start, end.loss)
    if first is None or first.cost > end.trace[0].cost:
        # The relations do not reach that far: start where everything started.
        first = _at(search.problem, mean, end.loss)
    if first is None:
        return search, end
    return narrowed, narrowed.continued(first, end)


@dataclass(frozen=True, eq=False)
class _Point:
    """Parameter values with the problem reduced there."""

    values: FloatArray
    reduction: Reduction

    @property
    def cost(self) -> float:
        return self.reduction.cost


@dataclass(frozen=True, eq=False)
class _End:
    """Where a search ended."""

    point: _Point
    status: Status
    trace: tuple[Iteration, ...]
    loss: Loss
    #: Where it began.
    first: _Point


@dataclass(frozen=True, eq=False)
class _Search:
    """A minimisation over some of the parameters."""

    problem: Problem
    free: IntArray
    prior: Prior
    loss: Loss
    noise_known: bool
    max_iterations: int
    progress: Progress | None
    #: A step of this part of the tolerances ends the search: it goes on with base parameters.
    near: float = 0.0

    def run(self, start: FloatArray) -> _End:
        """Plain least squares first; then the robust loss, its scale from the residuals."""
        end = self._descend(_Point(start, reduce(self.problem, start, Loss())), Loss(), ())
        return self._reweighted(end)

    def continued(self, point: _Point, before: _End) -> _End:
        """Go on from another point with the loss that an earlier search ended with."""
        return self._descend(point, before.loss, before.trace)

    def _reweighted(self, end: _End) -> _End:
        if self.loss.is_squared:
            return end
        previous = np.inf
        for _ in range(REWEIGHTINGS):
            scaled = self.loss.scaled_to(end.point.reduction.sizes, end.point.reduction.widths)
            if scaled.scale < NEGLIGIBLE_SCALE:
                break
            point = _Point(end.point.values, reduce(self.problem, end.point.values, scaled))
            end = replace(self._descend(point, scaled, end.trace), first=end.first)
            if abs(scaled.scale / previous - 1) < SCALE_TOLERANCE:
                break
            previous = scaled.scale
        return end

    def _descend(self, here: _Point, loss: Loss, before: tuple[Iteration, ...]) -> _End:
        first = here
        trace = list(before) or [Iteration(0, here.cost, 0.0, 0.0)]
        status = Status.ITERATION_LIMIT
        damping, noise, settling = 0.0, np.inf, 0
        for _ in range(self.max_iterations):
            noise = self._noise(here.reduction, noise)
            outcome = self._advance(here, damping, loss, noise)
            if outcome is Status.CONVERGED and settling < SETTLING:
                # Where a search ends, the noise is estimated anew, until it agrees with itself.
                now = self._noise(here.reduction, np.inf)
                if abs(now - noise) > NOISE_TOLERANCE * noise:
                    noise, settling = now, settling + 1
                    continue
            if isinstance(outcome, Status):
                status = outcome
                break
            here = outcome.point
            trace.append(Iteration(len(trace), here.cost, outcome.size, outcome.damping))
            damping = 0.0 if outcome.gain > WELL_PREDICTED else outcome.damping / 10
            if self.progress is not None:
                self.progress(trace[-1])
            if outcome.size <= self.near and outcome.gain > WELL_PREDICTED:
                status = Status.CONVERGED
                break
        return _End(here, status, tuple(trace), loss, first)

    def _noise(self, here: Reduction, before: float) -> float:
        """The noise, as stated or as what will be left; kept unless it falls noticeably.

        Every change of it changes what is minimised, and would keep the search from ending.
        """
        if self.noise_known:
            return 1.0
        left = noise_left(here, self.prior, self.free)
        return left if left < FALLEN * before else before

    def _advance(self, here: _Point, damping: float, loss: Loss, noise: float) -> _Advance | Status:
        """One step that lowers the cost, or why there is none."""
        while damping <= MAX_DAMPING:
            ahead = self._step(here, damping, noise)
            if ahead.size <= STEP_TOLERANCE or ahead.decrease <= (ERROR_TOLERANCE * noise) ** 2:
                return Status.CONVERGED
            if ahead.size <= LINEAR_STEP and loss.is_squared and not damping:
                moved = _Point(here.values + ahead.step, here.reduction.moved(ahead.step))
                return _Advance(moved, ahead.size, damping, gain=1.0)
            there = _at(self.problem, here.values + ahead.step, loss)
            if there is None:
                damping = max(FIRST_DAMPING, 10 * damping)
                continue
            before = self._merit(here, noise)
            gain = (before - self._merit(there, noise)) / ahead.decrease
            if gain < WELL_PREDICTED and ahead.size > NEGLIGIBLE_STEP:
                # The cost is curved along the step. The second-order path costs one more pass, and
                # follows the curved valleys of nearly dependent parameters in few iterations.
                bent = self._bent(here, ahead.step, damping, loss, noise)
                if bent is not None and self._merit(bent, noise) < self._merit(there, noise):
                    there = bent
                    gain = (before - self._merit(there, noise)) / ahead.decrease
            if gain > TRUSTED or self._approaches(there, ahead, damping, noise, gain):
                return _Advance(there, ahead.size, damping, gain)
            negligible = max(NEGLIGIBLE_DECREASE * before, (NEGLIGIBLE_ERROR * noise) ** 2)
            if ahead.decrease <= negligible or ahead.size <= NEGLIGIBLE_STEP:
                return Status.CONVERGED
            damping = max(FIRST_DAMPING, 10 * damping)
        return Status.STALLED

    def _approaches(
        self, there: _Point, ahead: Step, damping: float, noise: float, gain: float
    ) -> bool:
        """Is a step that does not lower the cost nevertheless one towards the solution?

        Where the derivative is that of the residual without its noise (`problem.py`), the solution
        is where no parameter is pulled any more, which is not quite where the cost is smallest.
        """
        if not self.problem.constraint:
            return False
        return gain > -1.0 and self._step(there, damping, noise).decrease < (
            APPROACHING * ahead.decrease
        )

    def _merit(self, point: _Point, noise: float) -> float:
        known = self.prior.residual(point.values[self.free])
        return point.cost + noise**2 * float(known @ known)

    def _step(self, here: _Point, damping: float, noise: float) -> Step:
        return linear_step(here.reduction, here.values, self.prior, self.free, noise, damping)

    def _bent(
        self, here: _Point, step: FloatArray, damping: float, loss: Loss, noise: float
    ) -> _Point | None:
        """Where the second-order path leads, if the machine can exist there.

        Geodesic acceleration [Transtrum & Sethna 2012]: the second derivative of the residual along
        the step is a difference of the residual and its exact derivative; the acceleration makes
        the linear model cancel it.
        """
        gradient = np.zeros(len(self.free))
        try:
            for block, ahead in zip(
                self.problem.blocks(here.values),
                self.problem.blocks(here.values + PROBE * step),
                strict=True,
            ):
                slope = (ahead.residual - block.residual) / PROBE
                curvature = 2.0 / PROBE * (slope - block.jacobian @ step)
                gradient += block.jacobian[:, self.free].T @ curvature
        except InfeasibleError:
            return None
        bend = np.zeros(len(step))
        bend[self.free] = -against_gradient(
            here.reduction, self.prior, self.free, noise, damping, gradient
        )
        return _at(self.problem, here.values + step + bend / 2, loss)


@dataclass(frozen=True, eq=False)
class _Advance:
    """A step that was taken."""

    point: _Point
    size: float
    damping: float
    #: Decrease of the cost relative to what the linear model promised.
    gain: float


def _at(problem: Problem, values: FloatArray, loss: Loss) -> _Point | None:
    """The problem at other values, or None where the machine could not exist."""
    try:
        return _Point(values, reduce(problem, values, loss))
    except InfeasibleError:
        return None
