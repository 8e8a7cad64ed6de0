"""One step of least squares with a prior: the linear problem, its solution and its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.prior import Prior
from theodolite.estimation.reduction import Reduction
from theodolite.estimation.scaling import unit_columns

#: Smallest noise, relative to the largest effect of a tolerance: below are only rounding errors.
SMALLEST_NOISE = 1e-11
#: A parameter that moved by more than so many tolerances, and is determined to this part of one,
#: had too narrow a tolerance.
BEYOND = 2.0
WELL_DETERMINED = 0.5
#: Guessed tolerances are judged where so many parameters of their kind are seen; they are not made
#: smaller than this part, and settled when they change by less.
SEEN_ENOUGH = 5.0
SMALLEST_PART = 0.02
SETTLED, ROUNDS = 1e-6, 200
#: Data that determine a base parameter to this part of its tolerance have no need of it. Where
#: more than this part of them is left to guesses, these are judged by the others.
LEANS, LEFT = 0.3, 0.2
#: Equations for each base parameter that this takes.
MANY_ROWS = 5


@dataclass(frozen=True, eq=False)
class Step:
    """A step of all parameters, and what the linear model promises of it."""

    step: FloatArray
    #: By how much the sum of squares falls.
    decrease: float
    #: Largest change of a parameter, in tolerances.
    size: float


def noise_left(here: Reduction, prior: Prior, free: IntArray) -> float:
    """Standard deviation of the whitened residuals once the linear model has explained its part.

    Parameters that do exactly the same explain nothing twice: what they share is told from
    rounding by a prior that is as weak as rounding errors are.
    """
    known = np.isfinite(prior.tolerances)
    effects = np.linalg.norm(here.R[:, free[known]], axis=0) * prior.tolerances[known]
    smallest = SMALLEST_NOISE * float(effects.max(initial=0.0))
    scaled, _ = _system(here, prior, free, smallest, 0.0)
    Q = np.linalg.qr(scaled)[0][: len(here.z)]
    explained = Q.T @ here.z
    left = max(here.squares - float(explained @ explained), 0.0)
    spare = here.rows - float(np.sum(Q**2))
    noise = float(np.sqrt(left / spare)) if spare > 0.5 else 1.0
    return max(noise, smallest)


def linear_step(
    here: Reduction,
    values: FloatArray,
    prior: Prior,
    free: IntArray,
    noise: float,
    damping: float = 0.0,
) -> Step:
    """The step that makes data, prior and damping together smallest."""
    scaled, scale = _system(here, prior, free, noise, damping)
    augmented = np.zeros((len(scaled), len(free) + 1))
    augmented[:, :-1] = scaled
    augmented[: len(here.z), -1] = here.z
    augmented[len(here.z) :, -1][: len(prior.factor)] = noise * prior.residual(values[free])
    factor = np.asarray(np.linalg.qr(augmented, mode="r"))[: len(free)]
    R, wanted = factor[:, :-1], factor[:, -1]
    step = np.zeros(len(values))
    step[free] = -_solved(R, wanted) / scale
    unit = np.where(np.isfinite(prior.tolerances), prior.tolerances, 1.0 + np.abs(values[free]))
    size = float(np.abs(step[free] / unit).max(initial=0.0))
    return Step(step, float(wanted @ wanted), size)


def against_gradient(
    here: Reduction,
    prior: Prior,
    free: IntArray,
    noise: float,
    damping: float,
    gradient: FloatArray,
) -> FloatArray:
    """The same linear problem solved for a gradient by the free parameters, (free,)."""
    scaled, scale = _system(here, prior, free, noise, damping)
    R = np.asarray(np.linalg.qr(scaled, mode="r"))
    return _solved(R, _solved(R.T, gradient / scale)) / scale


def widened(
    here: Reduction, values: FloatArray, prior: Prior, free: IntArray, noise: float
) -> Prior:
    """The prior, wider where well determined parameters left their tolerances far behind.

    A tolerance is a judgement; data that contradict it are believed.
    """
    moved = np.abs(values[free] - prior.mean)
    if not (moved > BEYOND * prior.tolerances).any():
        return prior
    deviations = _deviations(here, prior, free, noise)
    narrow = (moved > BEYOND * prior.tolerances) & (deviations < WELL_DETERMINED * prior.tolerances)
    if not narrow.any():
        return prior
    return prior.with_tolerances(np.where(narrow, moved, prior.tolerances))


def leans(here: Reduction, prior: Prior, known: Identifiability, noise: float) -> bool:
    """Do data leave a good part of the base parameters to guesses?"""
    # Few equations show neither how large the noise is nor how large errors are.
    if here.rows < MANY_ROWS * known.rank:
        return False
    narrowed = prior.regrouped(known.base, known.regrouped, known.relations)
    own = narrowed.guesses >= 0
    if not own.any():
        return False
    left = _deviations(here, narrowed, known.base, noise) > LEANS * narrowed.tolerances
    return float(np.mean(left[own])) > LEFT


def as_shown(here: Reduction, values: FloatArray, guessed: Prior, noise: float) -> Prior:
    """The prior with guessed tolerances as small as the data show errors to be.

    Guesses are wide on purpose. Where data leave a good part of the parameters to them, as those of
    an arm that no sensor sees, the others tell how far off these may be: by one factor for each
    kind of guess, for which the data are most likely. It is what parameters moved over how many of
    them are seen [MacKay1992]. Where that holds for several factors, the smallest are meant.
    """
    free, seen = np.arange(len(values)), _seen(here, guessed, noise)
    kinds = [np.flatnonzero(guessed.guesses == kind) for kind in range(guessed.guesses.max() + 1)]
    kinds = [own for own in kinds if seen[own].sum() >= SEEN_ENOUGH]
    parts = np.full(len(kinds), SMALLEST_PART)
    for _ in range(ROUNDS):
        tolerances = guessed.tolerances.copy()
        for own, part in zip(kinds, parts.tolist(), strict=True):
            tolerances[own] *= part
        shown = guessed.with_tolerances(tolerances)
        step, seen = linear_step(here, values, shown, free, noise).step, _seen(here, shown, noise)
        moved = (values + step - guessed.mean) / guessed.tolerances
        sizes = [float(np.sqrt(np.sum(moved[own] ** 2) / seen[own].sum())) for own in kinds]
        before, parts = parts, np.clip(sizes, SMALLEST_PART, 1.0)
        if (np.abs(parts - before) <= SETTLED * before).all():
            break
    return shown


def _seen(here: Reduction, prior: Prior, noise: float) -> FloatArray:
    """How much of each parameter the data show, from none (0) to all (1)."""
    free = np.arange(len(prior.mean))
    unseen = _deviations(here, prior, free, noise) / prior.tolerances
    # Of what is hardly seen rounding may leave less than nothing.
    seen: FloatArray = np.maximum(1.0 - unseen**2, np.finfo(float).eps)
    return seen


def _deviations(here: Reduction, prior: Prior, free: IntArray, noise: float) -> FloatArray:
    """Standard deviation of each free parameter, data and prior together."""
    scaled, scale = _system(here, prior, free, noise, 0.0)
    R = np.asarray(np.linalg.qr(scaled, mode="r"))
    rounding = np.finfo(float).eps
    regular = np.abs(np.diag(R)).min(initial=np.inf) > rounding
    inverse = np.linalg.inv(R) if regular else np.linalg.pinv(R, rcond=rounding)
    return noise * np.linalg.norm(inverse, axis=1) / scale


def _system(
    here: Reduction, prior: Prior, free: IntArray, noise: float, damping: float
) -> tuple[FloatArray, FloatArray]:
    """Data, prior and damping over unit columns, and the lengths of the columns."""
    scaled, scale = unit_columns(np.concatenate([here.R[:, free], noise * prior.factor]))
    if damping:
        scaled = np.concatenate([scaled, np.sqrt(damping) * np.eye(len(scale))])
    return scaled, scale


def _solved(R: FloatArray, wanted: FloatArray) -> FloatArray:
    """R x = wanted for a triangular R; the shortest x where R is singular to rounding."""
    rounding = np.finfo(float).eps
    if np.abs(np.diag(R)).min(initial=np.inf) > rounding:
        return np.linalg.solve(R, wanted)
    return np.linalg.lstsq(R, wanted, rcond=rounding)[0]
