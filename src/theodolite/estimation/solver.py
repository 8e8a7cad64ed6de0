"""What least squares finds: all parameters, or the base parameters alone.

The base parameters are for people. They are moved alone from the start where that loses nothing.
Otherwise all parameters are moved first, the base parameters found where that ends, and a robot in
which only they have changed is found by a few more steps, with the prior of what they stand for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.descent import (
    MAX_ITERATIONS,
    NEGLIGIBLE_ERROR,
    End,
    Iteration,
    Point,
    Progress,
    Search,
    Status,
    point_at,
)
from theodolite.estimation.identifiability import Identifiability, analyse
from theodolite.estimation.loss import Loss
from theodolite.estimation.prior import Prior
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import Reduction, reduce, triangle
from theodolite.estimation.step import linear_step
from theodolite.estimation.threads import single_thread

#: Before going on with base parameters alone, a last step of this part of the tolerances will do:
#: the relations between parameters are no more exact than that.
NEAR = 0.3
#: Base parameters that would leave their tolerances by such a factor, to make up for others, do not
#: replace these.
FAR = 1e3


class Change(Enum):
    """Which parameters of the robot an identification changes."""

    #: The base parameters alone, chosen by priority: what a controller can take.
    BASE = "base"
    #: All that have an effect, in proportion to their tolerances.
    ALL = "all"


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
    #: Were guessed tolerances judged by the data?
    judged: bool = False

    @property
    def iterations(self) -> int:
        return len(self.trace) - 1

    @property
    def changed(self) -> IntArray:
        """Indices of the parameters that were free to change."""
        return self.identifiability.base if self.free is None else self.free


def solve(
    problem: Problem,
    *,
    loss: Loss | None = None,
    start: FloatArray | None = None,
    noise_known: bool = False,
    change: Change = Change.BASE,
    free: IntArray | None = None,
    prior: Prior | None = None,
    before: Solution | None = None,
    max_iterations: int = MAX_ITERATIONS,
    progress: Progress | None = None,
) -> Solution:
    """Minimise the problem's loss from the values its parameters have, or from other ones.

    ``free`` restricts the parameters that may change at all; ``prior`` is what is known of those,
    if not their tolerances. A solution ``before`` of the same problem with other weights is the
    start, and which parameters change was decided there.
    """
    with single_thread():
        if before is not None:
            start = before.values
        if start is None:
            # A warm start would change parameters that are not free.
            start = _first_values(problem) if free is None else _given_values(problem)
        free = np.arange(len(problem.parameters)) if free is None else free
        prior = prior or Prior.of([problem.parameters[index] for index in free])
        everything = len(free) == len(problem.parameters)
        search = Search(
            problem,
            free,
            prior,
            loss or Loss(),
            noise_known,
            max_iterations,
            progress,
            near=NEAR if change is Change.BASE and everything else 0.0,
            judges=before is not None and before.judged,
        )
        base_wanted = change is Change.BASE and everything
        first = Point(start, reduce(problem, start, Loss()))
        found = None
        if base_wanted:
            found = _directly(search, first) if before is None else _again(search, first, before)
        if found is None:
            found = _by_way_of_all(search, first, base_wanted=base_wanted)
        end, known = found.end, found.known
        prior, free = found.search.prior, found.search.free
        reduction = end.point.reduction
        if not end.loss.is_squared:
            # The covariance of a robust estimate needs the factor without weights.
            reduction = reduce(problem, end.point.values, Loss())
        return Solution(
            end.point.values,
            end.status if known.rank else Status.NOT_IDENTIFIABLE,
            end.trace,
            reduction,
            known,
            end.loss,
            free,
            prior,
            found.cost_of_all,
            found.search.judges,
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
    usable = found.status.good and point_at(problem, found.values, Loss()) is not None
    return found.values if usable else given


@dataclass(frozen=True, eq=False)
class _Found:
    """Where a way to the solution ended, and what it knows of the parameters there."""

    search: Search
    end: End
    known: Identifiability
    cost_of_all: float


def _directly(guessed: Search, first: Point) -> _Found | None:
    """Move base parameters alone from the start, where that loses nothing; otherwise None."""
    problem, start = guessed.problem, first.values
    known = examine(problem, start, first.reduction)
    others = np.delete(np.arange(len(start)), known.base)
    moved = not np.array_equal(start[others], guessed.prior.mean[others])
    if moved or not known.rank or not known.clear:
        return None
    guessed, search = _judging(guessed, first, known)
    narrowed = search.narrowed_to(known)
    end = narrowed.run(first)
    there = examine(problem, end.point.values, end.point.reduction, before=known)
    promised = _promised(search, end)
    given = guessed.narrowed_to(known)
    same = np.array_equal(there.base, known.base) and given.wider_prior(end) is given.prior
    lost = end.point.cost - promised > (NEGLIGIBLE_ERROR * end.noise) ** 2
    if end.status is not Status.CONVERGED or lost or not same:
        return None
    # The relations, and with them the prior, are those of the solution.
    search = guessed.as_shown(end.point)
    settled = search.narrowed_to(there)
    return _Found(settled, settled.continued(end.point, end), there, promised)


def _judging(guessed: Search, here: Point, known: Identifiability) -> tuple[Search, Search]:
    """The search with guesses that are judged if need be, and with the tolerances to begin with.

    That is decided at the nominal robot: a start that is far off would show its own errors.
    """
    if not guessed.prior.guessed:
        return guessed, guessed
    nominal = _nominal_point(guessed.problem, here)
    if nominal is not here:
        known = examine(guessed.problem, nominal.values, nominal.reduction)
    guessed = guessed.judging(nominal, known)
    return guessed, guessed.as_shown(nominal)


def _again(guessed: Search, first: Point, before: Solution) -> _Found | None:
    """Move what a solution with other weights moved; None if that does not lead to an end."""
    if len(before.changed) != before.identifiability.rank or not before.status.good:
        return None
    problem = guessed.problem
    there = examine(problem, first.values, first.reduction, before=before.identifiability)
    known = settle(before.identifiability, there)
    # Other weights may show other errors.
    search = guessed.as_shown(first)
    narrowed = search.narrowed_to(known)
    end = narrowed.run(first)
    if end.status is not Status.CONVERGED:
        return None
    cost_of_all = min(end.point.cost, _promised(search, end))
    return _Found(narrowed, end, known, cost_of_all)


def _promised(search: Search, end: End) -> float:
    """The cost that the linear model promises if all parameters move on from there."""
    here = end.point
    ahead = linear_step(here.reduction, here.values, search.prior, search.free, end.noise)
    return here.reduction.moved(ahead.step).cost


def _by_way_of_all(guessed: Search, first: Point, *, base_wanted: bool) -> _Found:
    """Move all parameters first; then, if wanted, the base parameters that are found there."""
    problem = guessed.problem
    # Small terms tell apart a little what geometry cannot: axes that bend are not quite parallel.
    # That is too little to be of use to anybody, so that the nominal geometry decides.
    with_terms = any(parameter.term for parameter in problem.parameters)
    begun = _nominal_point(problem, first) if with_terms else first
    before = examine(problem, begun.values, begun.reduction)
    guessed, search = _judging(guessed, begun, before)
    end = search.run(first)
    guessed = guessed.with_prior(guessed.wider_prior(end))
    known = examine(problem, end.point.values, end.point.reduction, before=before)
    if with_terms and known.rank > before.rank:
        known = settle(before, known)
    narrow = base_wanted and known.rank > 0 and _stands_for_itself(guessed, known)
    shown = guessed.as_shown(end.point)
    if not narrow and (shown.prior is not search.prior or search.near):
        shown = replace(shown, near=0.0)
        end = shown.continued(end.point, end)
    search = shown
    cost_of_all = end.point.cost
    if narrow:
        regrouped = _regrouped_start(search, end, known)
        if regrouped is not None:
            end = search.narrowed_to(known).continued(regrouped, end)
        there = examine(problem, end.point.values, end.point.reduction, before=known)
        known = settle(known, there)
        shown = guessed.as_shown(end.point)
        narrowed = shown.narrowed_to(known)
        if shown.prior is not search.prior:
            end = narrowed.continued(end.point, end)
            cost_of_all = min(end.point.cost, _promised(shown, end))
        search = narrowed
    return _Found(search, replace(end, first=first), known, cost_of_all)


def _stands_for_itself(guessed: Search, known: Identifiability) -> bool:
    """Can base parameters take over what they stand for, and stay near their tolerances?

    Terms that do nearly the same where the data are have relations in the thousands; these hold
    nowhere else.
    """
    own = guessed.prior.tolerances[known.base]
    taken = guessed.narrowed_to(known).prior.tolerances
    # Of what has no tolerance nothing is known anyway.
    told = np.isfinite(own) & np.isfinite(taken)
    return bool((taken[told] <= FAR * own[told]).all())


def _nominal_point(problem: Problem, first: Point) -> Point:
    """The nominal values; where a search began, if these are impossible."""
    given = _given_values(problem)
    if np.array_equal(given, first.values):
        return first
    return point_at(problem, given, Loss()) or first


def _regrouped_start(search: Search, end: End, known: Identifiability) -> Point | None:
    """The same machine by base parameters alone, all others back at their nominal values."""
    mean, there = search.prior.mean, end.point.values
    start = mean.copy()
    moved = (there - mean)[known.regrouped]
    start[known.base] = there[known.base] + known.relations @ moved
    first = point_at(search.problem, start, end.loss)
    if first is None or first.cost > end.trace[0].cost:
        # The relations do not reach that far: start where everything started.
        first = point_at(search.problem, mean, end.loss)
    return first
