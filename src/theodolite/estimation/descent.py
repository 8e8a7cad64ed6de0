"""Levenberg-Marquardt on data and prior together, over some of the parameters.

With whitened residuals r of noise s and a prior of factor F about mean m, the sum

    |r(x)|^2 + s^2 |F (x - m)|^2

is minimised. Nothing is dropped and no threshold compares metres with radians: a parameter that the
data hardly see stays near its nominal value. Where the noise is not known, s is what the linear
model says will be left of the residuals; it starts large and falls with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InfeasibleError
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss
from theodolite.estimation.prior import Prior
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import Reduction, reduce
from theodolite.estimation.step import (
    Step,
    against_gradient,
    as_shown,
    leans,
    linear_step,
    noise_left,
    widened,
)

#: A step of less than this part of every tolerance is none.
STEP_TOLERANCE = 1e-12
#: Over a step of this part of the tolerances the residual is linear to rounding, so the problem
#: need not be seen again: what is neglected is of the order of its square.
LINEAR_STEP = 5e-6
#: A step that moves every parameter by less than this part of its standard error is none.
#: The decrease that a step promises is the square of its size in standard errors.
ERROR_TOLERANCE = 1e-3
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
#: The noise that residuals show has fallen noticeably when it is below this part of the last one.
FALLEN = 0.9
#: In the end it is estimated anew until it changes by less.
NOISE_TOLERANCE = 1e-8
#: Residuals of this part of the noise that is guessed or known are exact; a search that no longer
#: makes them this much smaller at each step follows a valley that no data show.
EXACT_RESIDUAL = 1e-3
CRAWLING = 0.25
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


@dataclass(frozen=True)
class Iteration:
    """One line of the trace."""

    number: int
    cost: float
    #: Largest change of a parameter, in tolerances.
    step: float
    damping: float


Progress = Callable[[Iteration], None]


@dataclass(frozen=True, eq=False)
class Point:
    """Parameter values with the problem reduced there."""

    values: FloatArray
    reduction: Reduction

    @property
    def cost(self) -> float:
        return self.reduction.cost


@dataclass(frozen=True, eq=False)
class End:
    """Where a search ended."""

    point: Point
    status: Status
    trace: tuple[Iteration, ...]
    loss: Loss
    #: Where it began.
    first: Point
    #: The noise that the data showed there.
    noise: float


@dataclass(frozen=True, eq=False)
class Search:
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
    #: Are guessed tolerances judged by the data?
    judges: bool = False

    def narrowed_to(self, known: Identifiability) -> Search:
        """The same over base parameters alone, with the prior of all that they stand for."""
        prior = self.prior.regrouped(known.base, known.regrouped, known.relations)
        return replace(self, free=known.base, prior=prior, near=0.0)

    def wider_prior(self, end: End) -> Prior:
        """The prior, wider where a search left it far behind; itself where it did not."""
        here = end.point
        noise = self.noise_at(here)
        return widened(here.reduction, here.values, self.prior, self.free, noise)

    def with_prior(self, prior: Prior) -> Search:
        return replace(self, prior=prior)

    def judging(self, here: Point, known: Identifiability) -> Search:
        """The same, that judges guessed tolerances if data leave a good part to them.

        That is decided once, where a search begins: a few steps later it could be decided anew.
        """
        if self.judges or len(self.free) < len(here.values):
            return self
        noise = self.noise_at(here)
        return replace(self, judges=leans(here.reduction, self.prior, known, noise))

    def as_shown(self, here: Point) -> Search:
        """The same with guessed tolerances as small as the data show errors to be."""
        if not self.judges:
            return self
        noise = self.noise_at(here)
        return self.with_prior(as_shown(here.reduction, here.values, self.prior, noise))

    def run(self, start: Point) -> End:
        """Plain least squares first; then the robust loss, its scale from the residuals."""
        return self._reweighted(self._descend(start, Loss(), ()))

    def continued(self, point: Point, before: End) -> End:
        """Go on from another point with the loss that an earlier search ended with."""
        return self._descend(point, before.loss, before.trace)

    def _reweighted(self, end: End) -> End:
        if self.loss.is_squared:
            return end
        previous = np.inf
        for _ in range(REWEIGHTINGS):
            scaled = self.loss.scaled_to(end.point.reduction.sizes, end.point.reduction.widths)
            if scaled.scale < NEGLIGIBLE_SCALE:
                break
            point = Point(end.point.values, reduce(self.problem, end.point.values, scaled))
            end = replace(self._descend(point, scaled, end.trace), first=end.first)
            if abs(scaled.scale / previous - 1) < SCALE_TOLERANCE:
                break
            previous = scaled.scale
        return end

    def _descend(self, here: Point, loss: Loss, before: tuple[Iteration, ...]) -> End:
        first = here
        trace = list(before) or [Iteration(0, here.cost, 0.0, 0.0)]
        status = Status.ITERATION_LIMIT
        damping, noise = 0.0, np.inf
        for _ in range(self.max_iterations):
            # Every change of the noise changes what is minimised, and would keep the search from
            # ending: it is kept unless it falls noticeably.
            now = self.noise_at(here)
            noise = now if now < FALLEN * noise else noise
            outcome = self._advance(here, damping, loss, noise)
            unsettled = abs(now - noise) > NOISE_TOLERANCE * noise
            if outcome is Status.CONVERGED and unsettled:
                # Where a search ends, the noise is estimated anew, until it agrees with itself.
                noise = now
                continue
            if isinstance(outcome, Status):
                status = outcome
                break
            crawls = outcome.point.cost > CRAWLING * here.cost
            here = outcome.point
            trace.append(Iteration(len(trace), here.cost, outcome.size, outcome.damping))
            damping = outcome.damping / (100 if outcome.gain > WELL_PREDICTED else 10)
            damping = damping if damping > FIRST_DAMPING else 0.0
            if self.progress is not None:
                self.progress(trace[-1])
            exact = here.cost < EXACT_RESIDUAL**2 * here.reduction.rows
            near = outcome.size <= self.near and outcome.gain > WELL_PREDICTED
            if near or (exact and crawls):
                status = Status.CONVERGED
                break
        return End(here, status, tuple(trace), loss, first, noise)

    def noise_at(self, here: Point) -> float:
        """The noise, as stated or as what will be left of the residuals."""
        return 1.0 if self.noise_known else noise_left(here.reduction, self.prior, self.free)

    def _advance(self, here: Point, damping: float, loss: Loss, noise: float) -> Advance | Status:
        """One step that lowers the cost, or why there is none."""
        while damping <= MAX_DAMPING:
            ahead = self._step(here, damping, noise)
            if ahead.size <= STEP_TOLERANCE or ahead.decrease <= (ERROR_TOLERANCE * noise) ** 2:
                return Status.CONVERGED
            if ahead.size <= LINEAR_STEP and loss.is_squared and not damping:
                moved = Point(here.values + ahead.step, here.reduction.moved(ahead.step))
                return Advance(moved, ahead.size, damping, gain=1.0)
            there = point_at(self.problem, here.values + ahead.step, loss)
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
                return Advance(there, ahead.size, damping, gain)
            negligible = max(NEGLIGIBLE_DECREASE * before, (NEGLIGIBLE_ERROR * noise) ** 2)
            if ahead.decrease <= negligible or ahead.size <= NEGLIGIBLE_STEP:
                return Status.CONVERGED
            damping = max(FIRST_DAMPING, 10 * damping)
        return Status.STALLED

    def _approaches(
        self, there: Point, ahead: Step, damping: float, noise: float, gain: float
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

    def _merit(self, point: Point, noise: float) -> float:
        known = self.prior.residual(point.values[self.free])
        return point.cost + noise**2 * float(known @ known)

    def _step(self, here: Point, damping: float, noise: float) -> Step:
        return linear_step(here.reduction, here.values, self.prior, self.free, noise, damping)

    def _bent(
        self, here: Point, step: FloatArray, damping: float, loss: Loss, noise: float
    ) -> Point | None:
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
        return point_at(self.problem, here.values + step + bend / 2, loss)


@dataclass(frozen=True, eq=False)
class Advance:
    """A step that was taken."""

    point: Point
    size: float
    damping: float
    #: Decrease of the cost relative to what the linear model promised.
    gain: float


def point_at(problem: Problem, values: FloatArray, loss: Loss) -> Point | None:
    """The problem at other values, or None where the machine could not exist."""
    try:
        return Point(values, reduce(problem, values, loss))
    except InfeasibleError:
        return None
