"""Closing loops: gaps with exact derivatives, and Newton's method for all samples at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.matrices import SINGULAR, pseudo_inverse
from theodolite.model.chain import Motion
from theodolite.model.rotations import left_inverse, log

#: A loop is closed when its gap is not larger (parts of the reach, radians).
CLOSED = 1e-11
#: Newton steps before a loop is given up; loops that close need three to eight.
STEPS = 60
#: Halvings of a step that does not shorten the gap.
HALVINGS = 5
#: A step that leaves more than this part of the gap is slow; after so many a loop is given up.
HARDLY = 0.9
PATIENCE = 4
#: Longest way of any measured joint between two looks at a branch (radians, parts of the reach).
STRIDE = 0.15
MAX_STRIDES = 400
#: No passive joint moves by more in one step, so that the branch stays the guess's (radians, parts
#: of the reach).
LONGEST_STEP = 0.5
#: A configuration is singular if its smallest singular value is below this part of the largest.
NEARLY_SINGULAR = 1e-3


class Gap(NamedTuple):
    """By how much loops are open (n, m), and the derivatives (n, m, .)."""

    gap: FloatArray
    by_values: FloatArray
    by_active: FloatArray
    by_passive: FloatArray


def frame_gap(
    motion: Motion, rows: tuple[int, ...], columns: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Some components of a frame that should be the identity, as shift and rotation vector."""
    turn = log(motion.rotation)
    bend = left_inverse(turn)
    gap = np.concatenate([motion.position, turn], axis=1)
    jacobians = motion.twist_jacobian(columns), motion.twist_basis_jacobian()
    for jacobian in jacobians:
        jacobian[:, 3:] = np.einsum("nij,njk->nik", bend, jacobian[:, 3:])
    by_values, by_basis = jacobians
    return gap[:, rows], by_values[:, rows], by_basis[:, rows]


def rod_gap(
    motion: Motion, length: Motion, columns: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distance of two points less the rod's length, a shift along x that may be driven."""
    distance = np.linalg.norm(motion.position, axis=1)
    along = motion.position / np.where(distance > 0, distance, 1.0)[:, None]
    by_values = np.einsum("ni,nip->np", along, motion.position_jacobian(columns))[:, None]
    by_values -= length.position_jacobian(columns)[:, :1]
    by_basis = np.einsum("ni,nib->nb", along, motion.position_basis_jacobian())[:, None]
    by_basis -= length.position_basis_jacobian()[:, :1]
    return distance[:, None] - length.position[:, :1], by_values, by_basis


def singular(by_passive: FloatArray, limit: float) -> BoolArray:
    """Where the smallest singular value is below a part of the largest, (n,).

    Idle joints, which no closure ever feels, do not count.
    """
    sizes = np.linalg.svd(by_passive, compute_uv=False)
    if not sizes.size:
        return np.zeros(len(by_passive), dtype=bool)
    rank = int((np.median(sizes, axis=0) > SINGULAR * sizes.max()).sum())
    return np.asarray(sizes[:, rank - 1] < limit * sizes[:, 0])


def close(
    gap_at: Callable[[FloatArray], Gap],
    active: FloatArray,
    guess: FloatArray,
    units: FloatArray | float = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Passive joints that close the loops, nearest to a guess; and the gaps that remain, (n,).

    ``units`` are how far each passive joint goes at all: the reach for one that slides. Newton with
    bounded steps, halved until the gap shrinks, so that a guess stays on its branch. Where loops
    cannot close, the smallest gap in reach remains.
    """
    passive = guess.copy()
    here = gap_at(np.concatenate([active, passive], axis=1))
    size = np.linalg.norm(here.gap, axis=1)
    rows = np.flatnonzero(size > CLOSED / 10)
    gap, slope = here.gap[rows], here.by_passive[rows]
    slow = np.zeros(len(passive), dtype=np.intp)
    for _ in range(STEPS):
        if not len(rows):
            break
        step = np.einsum("nij,nj->ni", pseudo_inverse(slope), gap)
        longest = np.abs(step / units).max(axis=1)
        step *= np.minimum(1.0, LONGEST_STEP / np.where(longest > 0, longest, 1.0))[:, None]
        best, before = passive[rows], size[rows]
        better = np.zeros(len(rows), dtype=bool)
        for _ in range(HALVINGS):
            left = np.flatnonzero(~better)
            trial = passive[rows[left]] - step[left]
            moved = gap_at(np.concatenate([active[rows[left]], trial], axis=1))
            reached = np.linalg.norm(moved.gap, axis=1)
            good = reached < size[rows[left]]
            chosen = left[good]
            best[chosen], better[chosen] = trial[good], True
            gap[chosen], slope[chosen] = moved.gap[good], moved.by_passive[good]
            size[rows[chosen]] = reached[good]
            if better.all():
                break
            step /= 2
        passive[rows] = best
        slow[rows] += size[rows] > HARDLY * before
        # A loop that is closed already and does not get any better is done; so is a stuck one.
        go_on = better & (size[rows] > CLOSED / 10) & (slow[rows] < PATIENCE)
        rows, gap, slope = rows[go_on], gap[go_on], slope[go_on]
    return passive, size


def follow(
    gap_at: Callable[[FloatArray], Gap],
    start: FloatArray,
    guess: FloatArray,
    active: FloatArray,
    units: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Passive joints on the branch of a closed assembly, and the gaps that remain, (n,).

    All samples go from the start to their measured joints on straight lines, in equal strides,
    along the tangent and back onto the branch. One that cannot go on tries the end from there.
    ``units`` are those of measured and passive joints, as in `close`.
    """
    way = active - start
    of_active, of_passive = units
    longest = float(np.abs(way / of_active).max(initial=0.0))
    strides = int(np.clip(np.ceil(longest / STRIDE), 1, MAX_STRIDES))
    passive = np.tile(guess, (len(active), 1))
    size: FloatArray = np.zeros(len(active))
    going = np.arange(len(active))
    for stride in range(strides):
        if not len(going):
            break
        step = way[going] / strides
        at = gap_at(np.concatenate([start + stride * step, passive[going]], axis=1))
        push = at.gap + np.einsum("nij,nj->ni", at.by_active, step)
        turn = np.einsum("nij,nj->ni", pseudo_inverse(at.by_passive), push)
        limit = LONGEST_STEP * of_passive
        predicted = passive[going] - np.clip(turn, -limit, limit)
        arrived = start + (stride + 1) * step
        passive[going], size[going] = close(gap_at, arrived, predicted, of_passive)
        going = going[size[going] <= CLOSED]
    lost = np.flatnonzero(size > CLOSED)
    if len(lost):
        passive[lost], size[lost] = close(gap_at, active[lost], passive[lost], of_passive)
    return passive, size
