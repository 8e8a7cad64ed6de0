"""Was the sensor moved, or did the target slip on the tool, while the robot was being measured?

After that, what is left of every measurement changes from one row to the next by

    e = t + w x p        a small rigid motion of the sensor, or of the robot's base
    e = R u              a shift u of the target in the frame of the tool

For each place in the order of the rows, the errors before and after it are fitted by such changes;
the best place is taken if two fit better than one by an F test. Neighbours that are alike, as
errors of a model are along a path, count for fewer measurements, and a slip is sudden: along the
change, the rows right before and right after it differ by far more than neighbours do elsewhere. A
change that comes gradually, as where a robot warms up, must not explain it as well. Both must
have been measured in the same region: elsewhere the model may be wrong in another way.
The two parts are then looked at in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray

#: Rows between two moves, at least.
SHORTEST = 8
#: Chance of taking any place for a move where there was none.
CHANCE = 1e-4
#: A move that is smaller than what is left besides, as a factor, is not worth a word.
NOTICEABLE = 1.0
#: Rows on either side that show whether a change is sudden, and how many times as large as
#: elsewhere it has to be.
NEXT, SUDDEN = 6, 3.0
#: Rows next to a place, and how far they may be from the others on the other side, in distances to
#: the nearest of all.
NEIGHBOURHOOD, APART = 30, 3.0
#: How fast a change that is no move may die away, in parts of the rows.
DECAYS = (0.08, 0.25)
#: Errors beyond so many times the usual one are outliers: they count no more than that.
USUAL = 4.0
#: Unknowns: of a small rigid motion, and of that with a shift of the target.
MOTION, CHANGE = 6, 9


@dataclass(frozen=True)
class Move:
    """A row from which on the sensor stood, or the target sat, elsewhere."""

    #: The first row after it, and its line in the file.
    row: int
    line: int
    #: How far measurements shifted there, metres, rms.
    size: float
    #: Did the target slip on the tool? Otherwise the sensor, or the base, was moved.
    slipped: bool = False


def find_moves(
    places: FloatArray, turned: FloatArray, errors: FloatArray, lines: IntArray
) -> tuple[Move, ...]:
    """Moves in the order of the rows, from places (n, 3), orientations (n, 3, 3) and errors.

    Errors are NaN where nothing was seen.
    """
    seen = np.flatnonzero(np.isfinite(places).all(axis=1) & np.isfinite(errors).all(axis=1))
    if len(seen) < 2 * SHORTEST:
        return ()
    centre = places[seen].mean(axis=0)
    rows = np.concatenate([_rows(places[seen] - centre), turned[seen]], axis=2)
    found = sorted(_split(places[seen], rows, _limited(errors[seen]), 0, len(seen), len(seen)))
    return tuple(
        Move(int(seen[at]), int(lines[seen[at]]), size, slipped) for at, size, slipped in found
    )


def sessions_between(moves: Sequence[Move], rows: int) -> IntArray:
    """The number of the session of every row; the sensor stays where a target slips."""
    places = [move.row for move in moves if not move.slipped]
    return np.searchsorted(places, np.arange(rows), side="right")


def _limited(errors: FloatArray) -> FloatArray:
    """Errors about their middle, none beyond what is usual."""
    about = errors - np.median(errors, axis=0)
    sizes = np.linalg.norm(about, axis=1)
    most = USUAL * max(float(np.median(sizes)), np.finfo(float).tiny)
    return about * np.minimum(1.0, most / np.maximum(sizes, most))[:, None]


def _rows(places: FloatArray) -> FloatArray:
    """How a small rigid motion displaces each place, (n, 3, 6); turns count by the spread."""
    spread = max(float(np.sqrt(np.mean(places**2))), np.finfo(float).tiny)
    x, y, z = (places / spread).T
    A = np.zeros((len(places), 3, MOTION))
    A[:, range(3), range(3)] = 1.0
    A[:, 0, 4], A[:, 0, 5] = z, -y
    A[:, 1, 3], A[:, 1, 5] = -z, x
    A[:, 2, 3], A[:, 2, 4] = y, -x
    return A


def _split(
    places: FloatArray, A: FloatArray, e: FloatArray, start: int, end: int, everything: int
) -> Iterator[tuple[int, float, bool]]:
    """Moves between two rows: the first row after each, its size, and did the target slip?"""
    from scipy.special import fdtrc

    n = end - start
    if n < 2 * SHORTEST:
        return
    here, left = A[start:end], e[start:end]
    place, whole, rest = _best_place(here, left)
    parts = slice(place), slice(place, n)
    changes = [_change(here[part], left[part]) for part in parts]
    shift = np.einsum("nij,j->ni", here, changes[1] - changes[0])
    size = float(np.sqrt(np.mean(np.sum(shift**2, axis=1))))
    unexplained = [left[part] - here[part] @ c for part, c in zip(parts, changes, strict=True)]
    spare = _independent(np.concatenate(unexplained)) - 2 * CHANGE
    if spare < 1 or rest <= 0.0:
        return
    ratio = (whole - rest) / CHANGE / (rest / (3 * n - 2 * CHANGE))
    likely = everything * float(fdtrc(CHANGE, spare, ratio)) < CHANCE
    if not likely or size < NOTICEABLE * np.sqrt(rest / n) or not _sudden(left, shift, place):
        return
    if not _same_region(places[start:end], place) or rest >= _left_by_drift(here, left):
        return
    yield start + place, size, _slips(here, left, place)
    yield from _split(places, A, e, start, start + place, everything)
    yield from _split(places, A, e, start + place, end, everything)


def _best_place(A: FloatArray, e: FloatArray) -> tuple[int, float, float]:
    """The best place to divide some rows; sums of squares that are left without and with it."""
    normal = np.cumsum(np.einsum("nij,nik->njk", A, A), axis=0)
    right = np.cumsum(np.einsum("nij,ni->nj", A, e), axis=0)
    squares = np.cumsum(np.sum(e**2, axis=1))
    tried = np.arange(SHORTEST, len(e) - SHORTEST + 1)
    whole = _left(normal[-1:], right[-1:], squares[-1:])[0]
    before = _left(normal[tried - 1], right[tried - 1], squares[tried - 1])
    after = _left(
        normal[-1] - normal[tried - 1],
        right[-1] - right[tried - 1],
        squares[-1] - squares[tried - 1],
    )
    best = int(np.argmin(before + after))
    return int(tried[best]), float(whole), float(before[best] + after[best])


def _left_by_drift(A: FloatArray, e: FloatArray) -> float:
    """Sum of squares that a change leaves which comes gradually: who warms up is not moved.

    It grows steadily, or dies away; each has as many unknowns as a move.
    """
    rows = np.linspace(0.0, 1.0, len(e))
    left = []
    for shape in (rows, *(np.exp(-rows / decay) for decay in DECAYS)):
        both = np.concatenate([A, shape[:, None, None] * A], axis=2).reshape(3 * len(e), -1)
        found = np.linalg.lstsq(both, e.ravel(), rcond=1e-9)[0]
        left.append(float(np.sum((e.ravel() - both @ found) ** 2)))
    return min(left)


def _slips(A: FloatArray, e: FloatArray, place: int) -> bool:
    """Does a shift of the target explain the difference better than a motion of the sensor?"""
    later = (np.arange(len(e)) >= place)[:, None, None]
    left = []
    for columns in (slice(0, MOTION), slice(MOTION, CHANGE)):
        both = np.concatenate([A, np.where(later, A[:, :, columns], 0.0)], axis=2)
        found = np.linalg.lstsq(both.reshape(3 * len(e), -1), e.ravel(), rcond=1e-9)[0]
        left.append(float(np.sum((e - both @ found) ** 2)))
    return left[1] < left[0]


def _same_region(places: FloatArray, place: int) -> bool:
    """Are the rows after a place near rows before it, as near as rows are to each other?"""
    from scipy.spatial import cKDTree

    usual = np.median(cKDTree(places).query(places, k=2)[0][:, 1])
    across = cKDTree(places[:place]).query(places[place : place + NEIGHBOURHOOD])[0]
    # Of fewer rows the nearest is farther away.
    usual = usual * (len(places) / place) ** (1.0 / 3.0)
    return bool(np.median(across) <= APART * usual)


def _sudden(errors: FloatArray, shift: FloatArray, place: int) -> bool:
    """Do the rows next to a place differ along a shift by more than neighbours do elsewhere?"""
    along = np.sum(errors * shift, axis=1) / np.maximum(np.sum(shift**2, axis=1), 1e-300)
    weight = np.sum(shift**2, axis=1)
    # Where the shift is small, little is said of it.
    sums = np.concatenate([[0.0], np.cumsum(weight * along)])
    weights = np.concatenate([[0.0], np.cumsum(weight)])
    middles = np.arange(NEXT, len(errors) - NEXT + 1)

    def mean(first: IntArray, last: IntArray) -> FloatArray:
        return (sums[last] - sums[first]) / np.maximum(weights[last] - weights[first], 1e-300)

    jumps = np.abs(mean(middles, middles + NEXT) - mean(middles - NEXT, middles))
    far = np.abs(middles - place) >= NEXT
    return not far.any() or bool(
        jumps[middles == place][0] > SUDDEN * np.sqrt(np.mean(jumps[far] ** 2))
    )


def _left(normal: FloatArray, right: FloatArray, squares: FloatArray) -> FloatArray:
    """Sums of squares that a change leaves, (splits,)."""
    # Rows on a line do not show every turn.
    inverse = np.linalg.pinv(normal, rcond=1e-9, hermitian=True)
    return np.maximum(squares - np.einsum("ni,nij,nj->n", right, inverse, right), 0.0)


def _change(A: FloatArray, e: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(A.reshape(-1, CHANGE), e.ravel(), rcond=1e-9)[0])


def _independent(errors: FloatArray) -> float:
    """How many independent components errors in a row are worth."""
    squares = float(np.sum(errors**2))
    alike = float(np.sum(errors[:-1] * errors[1:])) / squares if squares > 0.0 else 0.0
    alike = min(max(alike, 0.0), 0.99)
    return errors.size * (1.0 - alike) / (1.0 + alike)
