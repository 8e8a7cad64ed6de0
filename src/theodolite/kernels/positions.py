"""Positions against a chain's tip, folded into R while they are in the cache.

The twin of `theodolite.calibration.position`: residual, Jacobian, whitening and fold in one pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from theodolite.arrays import FloatArray
from theodolite.kernels.chain_sweep import (
    FRAMES,
    SPARE,
    WORK,
    columns_at,
    frames,
    joint_row,
    position_columns,
    rows_of,
)
from theodolite.kernels.rows import FEW, SUMS, add, add_product, constant
from theodolite.kernels.switch import caching
from theodolite.kernels.triangle import fold

KEEP = caching()
#: Part of its size that keeps a covariance positive despite rounding, as in `geometric.py`.
ROUNDING = 1e-14


@njit(nogil=True, fastmath=SUMS)
def _whiten(A: FloatArray, tape: Any, sigma: float, levers: FloatArray) -> None:
    """Multiply residuals and columns by the inverse root of their noise.

    ``levers`` say how far an error of each motor turns each joint, (joints, motors).
    """
    size, at = len(tape.begin), columns_at(tape)
    if levers.shape[1] == 0:
        # The columns were whitened with the tape.
        for i in range(3):
            row = at + (i + 1) * size - 1
            for s in range(FEW):
                A[row, s] *= 1.0 / sigma
        return
    # The covariance's lower half: xx, xy, yy, xz, yz, zz.
    for row in range(6):
        constant(A, WORK + row, sigma**2 if row in (0, 2, 5) else 0.0)
    for motor in range(levers.shape[1]):
        for i in range(3):
            constant(A, SPARE + i, 0.0)
            for joint in range(len(levers)):
                if levers[joint, motor] != 0.0:
                    add(A, SPARE + i, levers[joint, motor], joint_row(tape, joint, i))
        row = WORK
        for i in range(3):
            for j in range(i + 1):
                add_product(A, row, 1.0, SPARE + i, SPARE + j)
                row += 1
    xx, xy, yy, xz, yz, zz = WORK, WORK + 1, WORK + 2, WORK + 3, WORK + 4, WORK + 5
    for s in range(FEW):
        more = ROUNDING * (A[xx, s] + A[yy, s] + A[zz, s])
        a = np.sqrt(A[xx, s] + more)
        b, d = A[xy, s] / a, A[xz, s] / a
        c = np.sqrt(A[yy, s] + more - b * b)
        e = (A[yz, s] - b * d) / c
        f = np.sqrt(A[zz, s] + more - d * d - e * e)
        # The inverse of the root, row by row.
        A[xx, s], A[yy, s], A[zz, s] = 1.0 / a, 1.0 / c, 1.0 / f
        A[xy, s] = -b / (a * c)
        A[yz, s] = -e / (c * f)
        A[xz, s] = (b * e / c - d) / (a * f)
    for column in range(size):
        x, y, z = at + column, at + size + column, at + 2 * size + column
        for s in range(FEW):
            A[z, s] = A[xz, s] * A[x, s] + A[yz, s] * A[y, s] + A[zz, s] * A[z, s]
        for s in range(FEW):
            A[y, s] = A[xy, s] * A[x, s] + A[yy, s] * A[y, s]
        for s in range(FEW):
            A[x, s] *= A[xx, s]


@njit(nogil=True, fastmath=SUMS, cache=KEEP)
def fold_positions(
    R: FloatArray,
    sizes: FloatArray,
    start: int,
    end: int,
    tape: Any,
    basis: FloatArray,
    measured: FloatArray,
    sigma: float,
    levers: FloatArray,
) -> float:
    """Fold samples from ``start`` to ``end`` into R; returns the sum of squared residuals.

    ``basis`` is (functions, samples), ``measured`` (samples, 3); ``sizes`` takes the size of every
    sample's residual. Without ``levers`` the screws of the tape are in units of ``sigma``.
    """
    A = rows_of(tape, 3)
    size, at = len(tape.begin), columns_at(tape)
    tip = FRAMES + 12 * len(tape.rotations) + 9
    squares = 0.0
    for first in range(start, end, FEW):
        n = min(FEW, end - first)
        frames(A, tape, basis, first, n)
        position_columns(A, tape, basis, first, n)
        for i in range(3):
            residual = at + (i + 1) * size - 1
            for s in range(FEW):
                A[residual, s] = A[tip + i, s] - measured[first + min(s, n - 1), i]
        _whiten(A, tape, sigma, levers)
        if n < FEW:
            # Beyond the last sample nothing is counted.
            A[at:, n:] = 0.0
        for s in range(n):
            total = 0.0
            for i in range(3):
                total += A[at + (i + 1) * size - 1, s] ** 2
            squares += total
            sizes[first + s] = np.sqrt(total / 3.0)
        for i in range(3):
            fold(R, A[at + i * size : at + (i + 1) * size], 0)
    return squares
