"""The torque regressor of a tree of links: stored, or folded into R while it is in the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from theodolite.arrays import FloatArray, IntArray
from theodolite.kernels.link_sweep import (
    TORQUES,
    VECTORS,
    advance,
    first_row,
    results_of,
    rows_of,
    torques,
)
from theodolite.kernels.rows import FEW, SUMS, constant
from theodolite.kernels.streaming import LARGE, stream
from theodolite.kernels.switch import caching
from theodolite.kernels.triangle import fold

#: Whether compiled code is kept is known when this file is loaded.
KEEP = caching()


@njit(nogil=True, fastmath=SUMS)
def _some(
    out: FloatArray,
    to: int,
    first: int,
    n: int,
    links: Any,
    state: FloatArray,
    F: FloatArray,
    A: FloatArray,
    T: FloatArray,
    large: bool,
) -> None:
    """The columns of all links at ``n`` samples from ``first`` on, into ``out`` from ``to`` on."""
    for axis in range(3):
        constant(A, VECTORS + 6 + axis, links.acceleration[axis])
    coupled = F.shape[0] > 0
    for number in range(len(links.parent)):
        advance(A, T, number, links, state, first, n)
        place = links.place[number]
        if place < 0:
            continue
        V = first_row(links, number)
        if coupled or not links.simple[number]:
            out[place : place + TORQUES, :, to : to + n] = 0.0
        for at in range(links.length[number]):
            joint = links.path[number, at]
            torques(A, T, V, at)
            for c in range(TORQUES):
                if not links.wanted[place + c]:
                    continue
                torque = T[c * FEW : (c + 1) * FEW]
                if coupled:
                    for motor in range(F.shape[2]):
                        for s in range(n):
                            lever = F[first + s, joint, motor]
                            out[place + c, motor, to + s] += torque[s] * lever
                    continue
                row = out[place + c, joint]
                if links.simple[number] and large:
                    for s in range(n):
                        stream(row, to + s, torque[s])
                elif links.simple[number]:
                    for s in range(n):
                        row[to + s] = torque[s]
                else:
                    for s in range(n):
                        row[to + s] += torque[s]


@njit(nogil=True, fastmath=SUMS, cache=KEEP)
def fill(
    out: FloatArray, start: int, end: int, links: Any, state: FloatArray, F: FloatArray
) -> None:
    """The columns of all links at samples from ``start`` to ``end``, (columns, motors, samples).

    ``state`` holds q, q' and q'', (3, samples, joints); F is (samples, joints, motors) or empty.
    """
    A, T = rows_of(links), results_of(links)
    large = out.nbytes > LARGE
    for first in range(start, end, FEW):
        _some(out, first, first, min(FEW, end - first), links, state, F, A, T, large)


@njit(nogil=True, fastmath=SUMS, cache=KEEP)
def fold_samples(
    R: FloatArray,
    sizes: FloatArray,
    start: int,
    end: int,
    links: Any,
    state: FloatArray,
    F: FloatArray,
    drives: FloatArray,
    places: IntArray,
    last: FloatArray,
    whitening: FloatArray,
    values: FloatArray,
    chosen: IntArray,
    seen: IntArray,
) -> float:
    """Fold samples from ``start`` to ``end`` into R; returns the sum of squared residuals.

    ``drives`` (terms, samples) belong to columns and motors in ``places`` (terms, 2); ``last``
    (samples, motors) is the residual without any parameters. Columns ``chosen`` are folded, of
    which each motor sees those from ``seen`` on. ``whitening`` is empty where there is none.
    """
    A, T = rows_of(links), results_of(links)
    motors = last.shape[1]
    table = np.zeros((len(values), motors, FEW))
    size = len(chosen)
    rows = np.zeros((size + 1, FEW))
    residual = np.zeros((motors, FEW))
    white = np.zeros((motors, FEW))
    squares = 0.0
    for first in range(start, end, FEW):
        n = min(FEW, end - first)
        if n < FEW:
            # Beyond the last sample nothing is counted.
            table[:] = 0.0
        _some(table, 0, first, n, links, state, F, A, T, False)
        for term in range(len(places)):
            table[places[term, 0], places[term, 1], :n] = drives[term, first : first + n]
        for motor in range(motors):
            for s in range(FEW):
                residual[motor, s] = last[first + s, motor] if s < n else 0.0
        for c in range(len(values)):
            if values[c] != 0.0:
                for motor in range(motors):
                    for s in range(FEW):
                        residual[motor, s] += values[c] * table[c, motor, s]
        for motor in range(motors):
            _whitened(rows, motor, table, residual, whitening, chosen, seen[motor])
            for s in range(FEW):
                white[motor, s] = rows[size, s]
            fold(R, rows, seen[motor])
        for s in range(n):
            total = 0.0
            for motor in range(motors):
                total += white[motor, s] ** 2
            squares += total
            sizes[first + s] = np.sqrt(total / motors)
    return squares


@njit(nogil=True, fastmath=SUMS)
def _whitened(
    rows: FloatArray,
    motor: int,
    table: FloatArray,
    residual: FloatArray,
    whitening: FloatArray,
    chosen: IntArray,
    begin: int,
) -> None:
    """The chosen columns of one motor, and last its residual."""
    size = len(chosen)
    if len(whitening) == 0:
        for c in range(begin, size):
            for s in range(FEW):
                rows[c, s] = table[chosen[c], motor, s]
        for s in range(FEW):
            rows[size, s] = residual[motor, s]
        return
    for c in range(begin, size + 1):
        for s in range(FEW):
            rows[c, s] = 0.0
    for other in range(len(whitening)):
        factor = whitening[motor, other]
        if factor == 0.0:
            continue
        for c in range(begin, size):
            for s in range(FEW):
                rows[c, s] += factor * table[chosen[c], other, s]
        for s in range(FEW):
            rows[size, s] += factor * residual[other, s]
