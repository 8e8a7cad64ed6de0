"""Standard parameters that bodies can have: the nearest to the data, and less so to a prior.

Base parameters say all that torques show, but a simulator wants every link's mass, centre and
inertia. Physically consistent ones minimise

    1/2 |R x - t|^2 + weight * distance(x)

with the triangular factor of the whitened torques and the distance to a prior (`body_prior`), which
is infinite where a body could not exist. The sum is convex and smooth inside, so a damped Newton
method ends at its only minimum; every step is a least-squares problem on triangular factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.body_prior import BodyPrior, body_columns
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.inertia import is_body
from theodolite.dynamics.prior_weight import choose_weight
from theodolite.dynamics.result import BodyStatus, IdentifiedDynamics
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.reduction import Reduction, reduce
from theodolite.estimation.scaling import unit_columns
from theodolite.estimation.statistics import Statistics
from theodolite.estimation.threads import single_thread

#: Weights of the prior against the data to choose from, in squares of standard deviations.
WEIGHTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: Rounds in which bodies and the friction that they load the gears to settle.
ROUNDS = 3
#: Torques count for at most this many standard deviations each, in the mean: of exact data the
#: prior would otherwise be rounding.
MOST_DEVIATIONS = 1e5
#: The search ends where a step would gain less than this, in squares of standard deviations, or at
#: this many steps.
SETTLED, MOST_STEPS = 1e-9, 30
#: Steps straight to the minimum before it is approached in levels, steps on each level, and the
#: factor between levels.
DIRECT, PER_LEVEL, LEVELS = 15, 5, 10.0
#: A step is halved until it gains this part of what its slope promises, at most so many times.
GAINED, HALVINGS = 0.1, 50
#: The part of the way to the boundary that a step may go.
INSIDE = 0.9


@dataclass(frozen=True, eq=False)
class Posterior:
    """Parameters nearest to data and prior, and how certain they are."""

    values: FloatArray
    #: A root A of the precision A'A, (rows, columns).
    root: FloatArray
    settled: bool


def nearest_bodies(
    R: FloatArray,
    target: FloatArray,
    prior: BodyPrior,
    weight: float = 1.0,
    start: FloatArray | None = None,
) -> Posterior:
    """The minimum of ``1/2 |R x - target|^2 + weight * distance(x)``, from a start inside.

    Usually Newton's method goes straight there. Data that no bodies fit lead it along the boundary
    of what can exist, where it crawls; then the prior first outweighs the data, and less and less.
    """
    found = _descend(R, target, prior, weight, prior.centre if start is None else start, DIRECT)
    if found.settled:
        return found
    x = prior.centre
    level = 0.5 * float(np.sum((R @ x - target) ** 2))
    while level > weight:
        x = _descend(R, target, prior, level, x, PER_LEVEL, enough=level).values
        level /= LEVELS
    return _descend(R, target, prior, weight, x, MOST_STEPS)


def _descend(
    R: FloatArray,
    target: FloatArray,
    prior: BodyPrior,
    weight: float,
    x: FloatArray,
    most: int,
    *,
    enough: float = SETTLED,
) -> Posterior:
    """Damped Newton steps until one would gain less than ``enough``."""

    def cost(x: FloatArray) -> float:
        return 0.5 * float(np.sum((R @ x - target) ** 2)) + weight * prior.distance(x)

    value = cost(x)
    for _ in range(most):
        step, root, gain = _newton_step(R, target, prior, weight, x)
        if gain < enough:
            return Posterior(x, root, settled=True)
        # Close to the boundary every further step is short: none goes all the way there.
        part = min(1.0, INSIDE * prior.room(x, step))
        for _ in range(HALVINGS):
            tried = cost(x + part * step)
            if tried <= value - GAINED * part * gain:
                break
            part *= 0.5
        else:
            # Rounding: what is left of the gain is too small to be seen in the cost.
            return Posterior(x, root, settled=gain < 1e-6 * (1.0 + abs(value)))
        x, value = x + part * step, tried
    return Posterior(x, root, settled=False)


def _newton_step(
    R: FloatArray, target: FloatArray, prior: BodyPrior, weight: float, x: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """The step, a root of the Hessian, and the gain that the step promises."""
    curved = np.sqrt(weight) * prior.curvature_root(x)
    # The gradient of the prior as a residual: A' r = w g.
    scale = np.sqrt(np.maximum((curved**2).sum(axis=0), np.finfo(float).tiny))
    pull = np.linalg.solve((curved / scale).T, weight * prior.slope(x) / scale)
    root = np.concatenate([R, curved])
    unit, lengths = unit_columns(root)
    Q, triangle = np.linalg.qr(unit)
    projected = Q.T @ np.concatenate([R @ x - target, pull])
    step = -np.linalg.solve(triangle, projected) / lengths
    return step, root, float(projected @ projected)


def fit_consistent(
    result: IdentifiedDynamics, prior: FloatArray | None = None, weight: float | None = None
) -> IdentifiedDynamics:
    """Parameters that bodies can have, near to the data and, much less, to a prior.

    The ``weight`` of the prior is by default the largest that predicts unseen torques as well as
    any. Where the search ends early the ``body_status`` says so; where it fails, the result stays
    what it was.
    """
    knowledge = BodyPrior.of(result.problem, prior)

    def fit(
        R: FloatArray, target: FloatArray, weight: float, start: FloatArray | None
    ) -> FloatArray:
        return nearest_bodies(R, target, knowledge, weight, start).values

    choice = None
    if weight is None:
        weight, choice = choose_weight(result.problem, fit, WEIGHTS)
    problem, reduction, at = result.problem, result.solution.reduction, result.solution.values
    found = None
    with single_thread():
        for _ in range(ROUNDS if problem.loaded else 1):
            if found is not None:
                # The bodies load the gears a little differently than the base parameters do.
                problem, at = problem.under_load(found.values), np.zeros_like(at)
                reduction = reduce(problem, at, result.solution.loss)
            found = nearest_bodies(*weighted_data(reduction, at), knowledge, weight)
    assert found is not None
    failed = replace(result, estimator=Estimator.CONSISTENT, body_status=BodyStatus.SOLVER_FAILED)
    values = found.values
    if not np.isfinite(values).all() or impossible_bodies(values, result.problem.symbols):
        return failed
    return replace(
        failed,
        problem=problem,
        values=values,
        standard=True,
        consistent=True,
        prior_weight=weight,
        weights=choice,
        # Balls that stand for unknown bodies carry no information, so they narrow no interval.
        statistics=result.statistics
        if prior is None
        else posterior_statistics(result.statistics, result.identifiability, found.root),
        body_status=BodyStatus.SOLVED if found.settled else BodyStatus.INACCURATE,
    )


def posterior_statistics(
    plain: Statistics, identifiability: Identifiability, root: FloatArray
) -> Statistics:
    """Uncertainty of the base parameters, given the precision of all: ``B (A'A)^-1 B'``."""
    combined = np.zeros((identifiability.rank, root.shape[1]))
    combined[np.arange(identifiability.rank), identifiability.base] = 1.0
    combined[:, identifiability.regrouped] = identifiability.relations
    unit, lengths = unit_columns(root)
    triangle: FloatArray = np.asarray(np.linalg.qr(unit, mode="r"))
    half = np.linalg.solve(triangle.T, (combined / lengths).T)
    return replace(plain, covariance=half.T @ half)


def weighted_data(reduction: Reduction, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Triangular factor and right-hand side, weakened where the data are all but exact.

    ``values`` are those that the reduction was taken at.
    """
    target = reduction.R @ values - reduction.z
    deviations = float(np.linalg.norm(target)) / np.sqrt(reduction.rows)
    weaker = min(1.0, MOST_DEVIATIONS / deviations) if deviations else 1.0
    return weaker * reduction.R, weaker * target


def is_consistent(result: IdentifiedDynamics) -> bool:
    """Could bodies have these parameters?"""
    return not impossible_bodies(result.values, result.problem.symbols)


def impossible_bodies(values: FloatArray, symbols: Sequence[tuple[str, str]]) -> list[str]:
    """Suffixes of the bodies that could not exist, of values with their symbols and suffixes."""
    return [
        symbols[first][1]
        for first in body_columns(symbols)
        if not is_body(values[first : first + 10])
    ]


#: The earlier name.
consistent = fit_consistent
