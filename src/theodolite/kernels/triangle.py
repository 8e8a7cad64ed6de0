"""Rows folded into a triangular factor by Householder's reflections, four columns at a time.

The rows of a block are eliminated column by column, as LAPACK's dtpqrt does it. Rows lie last in
memory and are few enough for the block to stay in the cache.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from theodolite.arrays import FloatArray
from theodolite.kernels.rows import SUMS


@njit(nogil=True, fastmath=SUMS)
def _reflect(R: FloatArray, A: FloatArray, k: int, row: int) -> float:
    """Make column k of A vanish: A[k] becomes the reflection's vector; its factor is returned."""
    squares = 0.0
    for s in range(A.shape[1]):
        squares += A[k, s] * A[k, s]
    if squares == 0.0:
        return 0.0
    alpha = R[row, row]
    beta = -np.copysign(np.sqrt(alpha * alpha + squares), alpha)
    scale = 1.0 / (alpha - beta)
    for s in range(A.shape[1]):
        A[k, s] *= scale
    R[row, row] = beta
    return (beta - alpha) / beta


@njit(nogil=True, fastmath=SUMS)
def _apply(R: FloatArray, A: FloatArray, k: int, row: int, tau: float, c: int, at: int) -> None:
    """One reflection of one column."""
    dot = R[row, at]
    for s in range(A.shape[1]):
        dot += A[k, s] * A[c, s]
    dot *= tau
    R[row, at] -= dot
    for s in range(A.shape[1]):
        A[c, s] -= dot * A[k, s]


@njit(nogil=True, fastmath=SUMS)
def fold(R: FloatArray, A: FloatArray, first: int) -> None:
    """Fold rows A, (columns, rows), that are zero before column ``first``, into R; A is lost."""
    size, n = A.shape
    taus = np.empty(4)
    k = first
    while k < size:
        wide = min(4, size - k)
        for i in range(wide):
            taus[i] = _reflect(R, A, k + i, k + i)
            for c in range(k + i + 1, k + wide):
                _apply(R, A, k + i, k + i, taus[i], c, c)
        if wide < 4:
            break
        # The four together: each later column is read twice instead of eight times.
        g10 = g20 = g21 = g30 = g31 = g32 = 0.0
        for s in range(n):
            v0, v1, v2, v3 = A[k, s], A[k + 1, s], A[k + 2, s], A[k + 3, s]
            g10 += v1 * v0
            g20 += v2 * v0
            g21 += v2 * v1
            g30 += v3 * v0
            g31 += v3 * v1
            g32 += v3 * v2
        t0, t1, t2, t3 = taus[0], taus[1], taus[2], taus[3]
        row = k
        for c in range(k + 4, size):
            at = c
            d0, d1, d2, d3 = R[row, at], R[row + 1, at], R[row + 2, at], R[row + 3, at]
            for s in range(n):
                x = A[c, s]
                d0 += A[k, s] * x
                d1 += A[k + 1, s] * x
                d2 += A[k + 2, s] * x
                d3 += A[k + 3, s] * x
            d0 *= t0
            d1 = t1 * (d1 - g10 * d0)
            d2 = t2 * (d2 - g20 * d0 - g21 * d1)
            d3 = t3 * (d3 - g30 * d0 - g31 * d1 - g32 * d2)
            R[row, at] -= d0
            R[row + 1, at] -= d1
            R[row + 2, at] -= d2
            R[row + 3, at] -= d3
            for s in range(n):
                A[c, s] -= d0 * A[k, s] + d1 * A[k + 1, s] + d2 * A[k + 2, s] + d3 * A[k + 3, s]
        k += 4
