"""Everett's calibration of closed loops with Lagrange multipliers [Everett1988, 2.3.3].

Unknowns are the constants C, the passive joints a of every measurement and the multipliers of
every closure. Gauss-Newton on eq. 38, its bilinear terms left out as in the report. The arrow
system falls apart: for given dC the gaps G + G_C dC + G_a da = 0 determine da, so what is left is

    F - F_a G_a^+ G  +  (F_C - F_a G_a^+ G_C) dC

one measurement at a time, in time linear in their number. The multipliers follow from
F_a' (F + F_C dC + F_a da) + G_a' lambda = 0. Where closures are redundant, as six equations of a
planar loop, the multipliers are not unique: the shortest are taken. Constants that would open such
a loop for good are held (`Mechanism.held_by_closures`).

The penalty method of the report's eq. 32 is here for comparison: gaps are errors with a weight, so
that loops stay open by an amount that the weight decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.descent import Iteration, Status
from theodolite.estimation.identifiability import Identifiability, analyse
from theodolite.estimation.loss import Loss
from theodolite.estimation.prior import Prior
from theodolite.estimation.problem import Block, ConstrainedProblem, Linearized
from theodolite.estimation.reduction import Reduction, reduce
from theodolite.estimation.solver import Solution, settle
from theodolite.estimation.step import as_shown, leans, linear_step, noise_left, widened
from theodolite.estimation.threads import single_thread
from theodolite.matrices import pseudo_inverse
from theodolite.model.parameters import Parameter

#: A step this small in every unknown is none (tolerances; passive joints in metres, radians); a
#: coarse one will do before going on with base parameters.
STEP_TOLERANCE = 1e-11
NEAR = 0.05
MAX_ITERATIONS = 60
#: A step that moves every constant by less than this part of its standard error is none.
ERROR_TOLERANCE = 1e-9
#: After so many steps that promise no less, one of this part of the standard errors will do.
PATIENCE = 5
HARDLY = 0.3
#: How often the prior of the base parameters is taken from the relations where they ended.
REGROUPINGS = 2
#: A step may raise the sum of error and gap by this factor: Newton's often do, and come back.
TOLERATED = 1.5
#: A stationary point with a larger gap has open loops (metres, radians).
OPEN = 1e-8
#: Steps are halved this often before they are taken all the same.
HALVINGS = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class MultiplierSolution(Solution):
    """Constants, passive joints and multipliers where the Lagrangian is stationary."""

    passive: FloatArray
    #: (n, closures), in units of the whitened objective per metre or radian.
    multipliers: FloatArray
    #: Largest gap of a loop, metres or radians.
    gap: float

    @property
    def objective(self) -> float:
        """Half the sum of squared whitened errors."""
        return 0.5 * self.reduction.cost


def solve_with_multipliers(
    problem: ConstrainedProblem,
    *,
    noise_known: bool = False,
    max_iterations: int = MAX_ITERATIONS,
) -> MultiplierSolution:
    """Minimise the error subject to closed loops, from the problem's values and joints."""
    return _solve(problem, Exact(), _known_noise if noise_known else noise_left, max_iterations)


def solve_with_penalty(
    problem: ConstrainedProblem, weight: float, *, max_iterations: int = MAX_ITERATIONS
) -> MultiplierSolution:
    """Minimise the error plus ``weight`` times the squared gaps; the loops stay a little open."""
    return _solve(problem, Penalty(weight), noise_left, max_iterations)


class Elimination(Protocol):
    """How the passive joints of one measurement are taken out of the linear problem."""

    def block(self, at: Linearized) -> Block:
        """What is left of errors and gaps in the constants alone."""
        ...

    def passive_step(self, at: Linearized, step: FloatArray) -> FloatArray:
        """How the passive joints move with the constants, (n, passive)."""
        ...

    def multipliers(self, at: Linearized, step: FloatArray, turn: FloatArray) -> FloatArray:
        """Forces that hold the loops closed, (n, closures)."""
        ...


class Exact:
    """The gaps determine the passive joints."""

    def block(self, at: Linearized) -> Block:
        inverse = pseudo_inverse(at.G_a)
        through = at.F_a @ inverse
        residual = at.F - np.einsum("nij,nj->ni", through, at.G)
        jacobian = at.F_C - through @ at.G_C
        return _block(residual, jacobian)

    def passive_step(self, at: Linearized, step: FloatArray) -> FloatArray:
        return -np.einsum("nij,nj->ni", pseudo_inverse(at.G_a), at.G + at.G_C @ step)

    def multipliers(self, at: Linearized, step: FloatArray, turn: FloatArray) -> FloatArray:
        error = at.F + at.F_C @ step + np.einsum("nij,nj->ni", at.F_a, turn)
        gradient = np.einsum("nij,ni->nj", at.F_a, error)
        return -np.einsum("nji,nj->ni", pseudo_inverse(at.G_a), gradient)


@dataclass(frozen=True)
class Penalty:
    """Gaps are errors with a weight; the passive joints make the weighted sum smallest."""

    weight: float

    def _stacked(self, at: Linearized) -> tuple[FloatArray, FloatArray, FloatArray]:
        scale = np.sqrt(2.0 * self.weight)
        residual = np.concatenate([at.F, scale * at.G], axis=1)
        by_constants = np.concatenate([at.F_C, scale * at.G_C], axis=1)
        return residual, by_constants, np.concatenate([at.F_a, scale * at.G_a], axis=1)

    def block(self, at: Linearized) -> Block:
        residual, by_constants, by_passive = self._stacked(at)
        Q = np.linalg.qr(by_passive, mode="complete")[0][:, :, by_passive.shape[2] :]
        return _block(np.einsum("nij,ni->nj", Q, residual), Q.transpose(0, 2, 1) @ by_constants)

    def passive_step(self, at: Linearized, step: FloatArray) -> FloatArray:
        residual, by_constants, by_passive = self._stacked(at)
        return -np.einsum(
            "nij,nj->ni", np.linalg.pinv(by_passive, rcond=1e-12), residual + by_constants @ step
        )

    def multipliers(self, at: Linearized, step: FloatArray, turn: FloatArray) -> FloatArray:
        gap = at.G + at.G_C @ step + np.einsum("nij,nj->ni", at.G_a, turn)
        return 2.0 * self.weight * gap


def _block(residual: FloatArray, jacobian: FloatArray) -> Block:
    rows = np.concatenate([jacobian.transpose(2, 1, 0), residual.T[None]])
    return Block(rows.reshape(len(rows), -1), residual.shape[1])


@dataclass(frozen=True, eq=False)
class _Fixed:
    """The linear problem in the constants, the passive joints being somewhere."""

    problem: ConstrainedProblem
    passive: FloatArray
    elimination: Elimination
    warm_start: None = None
    constraint: bool = False

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.problem.parameters

    @property
    def priorities(self) -> tuple[int, ...]:
        return self.problem.priorities

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for rows in self.problem.slices():
            yield self.elimination.block(self.problem.linearized(values, self.passive, rows))

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {}


#: The noise that weighs the prior, stated or from what will be left of the residuals.
Noise = Callable[[Reduction, Prior, IntArray], float]


def _known_noise(here: Reduction, prior: Prior, free: IntArray) -> float:
    return 1.0


def _solve(
    problem: ConstrainedProblem,
    elimination: Elimination,
    noise_of: Noise,
    max_iterations: int,
) -> MultiplierSolution:
    values = np.array([parameter.value for parameter in problem.parameters])
    prior = Prior.of(problem.parameters)
    with single_thread():
        first = _descended(
            problem,
            elimination,
            _Unknowns(values, problem.passive.copy()),
            np.arange(len(values)),
            prior,
            noise_of,
            max_iterations,
            (),
            tolerance=NEAR,
        )
        reduction = reduce(_Fixed(problem, first.at.passive, elimination), first.at.values, Loss())
        everything = np.arange(len(values))
        noise = noise_of(reduction, prior, everything)
        prior = widened(reduction, first.at.values, prior, everything, noise)
        known = analyse(reduction.R, problem.parameters, problem.priorities, reduction.rows)
        if not known.rank:
            return _ended(problem, elimination, first, reduction, known, np.arange(0), prior)
        # As everywhere, only the base parameters change in the end.
        start = prior.mean.copy()
        moved = (first.at.values - prior.mean)[known.regrouped]
        start[known.base] = first.at.values[known.base] + known.relations @ moved
        last = replace(first, at=_Unknowns(start, first.at.passive))
        judged = leans(reduction, prior, known, noise)
        shown = prior
        for _ in range(REGROUPINGS):
            narrowed = shown.regrouped(known.base, known.regrouped, known.relations)
            last = _descended(
                problem,
                elimination,
                last.at,
                known.base,
                narrowed,
                noise_of,
                max_iterations,
                last.trace,
                tolerance=STEP_TOLERANCE,
            )
            reduction = reduce(
                _Fixed(problem, last.at.passive, elimination), last.at.values, Loss()
            )
            there = analyse(
                reduction.R, problem.parameters, problem.priorities, reduction.rows, before=known
            )
            known = settle(known, there)
            if judged:
                shown = as_shown(reduction, last.at.values, prior, noise)
        return _ended(problem, elimination, last, reduction, known, known.base, narrowed)


@dataclass(frozen=True, eq=False)
class _Unknowns:
    """Constants and passive joints."""

    values: FloatArray
    passive: FloatArray


@dataclass(frozen=True, eq=False)
class _Descent:
    """Where a search ended, with the multipliers there."""

    at: _Unknowns
    multipliers: FloatArray
    status: Status
    trace: tuple[Iteration, ...]


def _descended(
    problem: ConstrainedProblem,
    elimination: Elimination,
    start: _Unknowns,
    free: IntArray,
    prior: Prior,
    noise_of: Noise,
    max_iterations: int,
    before: tuple[Iteration, ...],
    *,
    tolerance: float,
) -> _Descent:
    """Gauss-Newton over some of the constants and all passive joints."""
    values, passive = start.values, start.passive
    multipliers: FloatArray = np.zeros((0, 0))
    trace = list(before)
    promised, waiting = np.inf, 0
    for _ in range(max_iterations):
        reduction = reduce(_Fixed(problem, passive, elimination), values, Loss())
        if not trace:
            trace.append(Iteration(0, reduction.cost, 0.0, 0.0))
        noise = noise_of(reduction, prior, free)
        ahead = linear_step(reduction, values, prior, free, noise)
        turn, multipliers = _followed(problem, values, passive, ahead.step, elimination)
        size = max(ahead.size, float(np.abs(turn).max(initial=0.0)))
        length = _length(problem, values, passive, ahead.step, turn)
        values, passive = values + length * ahead.step, passive + length * turn
        waiting = 0 if ahead.decrease < promised / 4 else waiting + 1
        promised = min(promised, ahead.decrease)
        # Constants that the data hardly determine move to and fro within their errors.
        to_and_fro = waiting > PATIENCE and ahead.decrease <= (HARDLY * noise) ** 2
        small = size < tolerance or to_and_fro or ahead.decrease <= (ERROR_TOLERANCE * noise) ** 2
        if length == 1.0 and small:
            return _Descent(_Unknowns(values, passive), multipliers, Status.CONVERGED, tuple(trace))
        trace.append(Iteration(len(trace), reduction.cost, size, 0.0))
    return _Descent(_Unknowns(values, passive), multipliers, Status.ITERATION_LIMIT, tuple(trace))


def _ended(
    problem: ConstrainedProblem,
    elimination: Elimination,
    descent: _Descent,
    reduction: Reduction,
    known: Identifiability,
    free: IntArray,
    prior: Prior,
) -> MultiplierSolution:
    at, status = descent.at, descent.status
    gap = _largest_gap(problem, at.values, at.passive)
    if not known.rank:
        status = Status.NOT_IDENTIFIABLE
    if status is Status.CONVERGED and isinstance(elimination, Exact) and gap > OPEN:
        # A stationary point with open loops: no position of the passive joints closes them.
        status = Status.STALLED
    return MultiplierSolution(
        at.values,
        status,
        descent.trace,
        reduction,
        known,
        Loss(),
        free,
        prior,
        passive=at.passive,
        multipliers=descent.multipliers,
        gap=gap,
    )


def _followed(
    problem: ConstrainedProblem,
    values: FloatArray,
    passive: FloatArray,
    step: FloatArray,
    elimination: Elimination,
) -> tuple[FloatArray, FloatArray]:
    """The passive joints' part of a step, and the multipliers after it."""
    turns, forces = [], []
    for rows in problem.slices():
        at = problem.linearized(values, passive, rows)
        turns.append(elimination.passive_step(at, step))
        forces.append(elimination.multipliers(at, step, turns[-1]))
    return np.concatenate(turns), np.concatenate(forces)


def _length(
    problem: ConstrainedProblem,
    values: FloatArray,
    passive: FloatArray,
    step: FloatArray,
    turn: FloatArray,
) -> float:
    """The longest of 1, 1/2, 1/4 ... that does not raise error and gap much."""
    gap = _largest_gap(problem, values, passive)
    weight = 1.0 / max(gap, 1e-12)

    def merit(length: float) -> float:
        there, turned = values + length * step, passive + length * turn
        squares = gaps = 0.0
        for rows in problem.slices():
            at = problem.linearized(there, turned, rows)
            squares += float((at.F**2).sum())
            gaps += float(np.abs(at.G).sum())
        return float(np.sqrt(squares)) + weight * gaps

    now = merit(0.0)
    length = 1.0
    for _ in range(HALVINGS):
        if merit(length) <= TOLERATED * now:
            return length
        length /= 2
    return 1.0


def _largest_gap(problem: ConstrainedProblem, values: FloatArray, passive: FloatArray) -> float:
    return max(
        float(np.abs(problem.linearized(values, passive, rows).G).max(initial=0.0))
        for rows in problem.slices()
    )
