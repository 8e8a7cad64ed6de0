"""Arithmetic on rows of one array, which the compiler turns into vector instructions.

Rows are given by their numbers: a view of a row costs more than the work on it. Each function
touches few rows, because a loop is vectorised only if it is cheap to check that none overlap.
"""

from __future__ import annotations

from numba import njit

from theodolite.arrays import FloatArray

#: Sums may be taken in any order, and products joined with them: neither costs accuracy.
SUMS = {"reassoc", "contract", "nsz"}
#: Samples in a row. With half as many a fold takes a tenth longer, with twice as many about a tenth
#: less; but rows are always computed whole, so that short jobs would wait for samples they lack.
FEW = 128


@njit(nogil=True, fastmath=SUMS)
def constant(A: FloatArray, out: int, a: float) -> None:
    """out = a, a number."""
    for s in range(FEW):
        A[out, s] = a


@njit(nogil=True, fastmath=SUMS)
def product(A: FloatArray, out: int, x: int, y: int) -> None:
    """out = x y."""
    for s in range(FEW):
        A[out, s] = A[x, s] * A[y, s]


@njit(nogil=True, fastmath=SUMS)
def blend(A: FloatArray, out: int, a: float, x: int, b: float, y: int) -> None:
    """out = a x + b y, with numbers a and b."""
    for s in range(FEW):
        A[out, s] = a * A[x, s] + b * A[y, s]


@njit(nogil=True, fastmath=SUMS)
def add(A: FloatArray, out: int, a: float, x: int) -> None:
    """out += a x, with a number a."""
    for s in range(FEW):
        A[out, s] += a * A[x, s]


@njit(nogil=True, fastmath=SUMS)
def add_product(A: FloatArray, out: int, a: float, x: int, y: int) -> None:
    """out += a x y, with a number a."""
    for s in range(FEW):
        A[out, s] += a * A[x, s] * A[y, s]


@njit(nogil=True, fastmath=SUMS)
def add_cross(A: FloatArray, out: int, x: int, p: int, y: int, q: int) -> None:
    """out += x p - y q."""
    for s in range(FEW):
        A[out, s] += A[x, s] * A[p, s] - A[y, s] * A[q, s]


@njit(nogil=True, fastmath=SUMS)
def dot2(A: FloatArray, out: int, x: int, p: int, y: int, q: int) -> None:
    """out = x p + y q."""
    for s in range(FEW):
        A[out, s] = A[x, s] * A[p, s] + A[y, s] * A[q, s]


@njit(nogil=True, fastmath=SUMS)
def dot3(A: FloatArray, out: int, a: int, b: int, c: int, x: int) -> None:
    """out = a x + b y + c z, where the rows y and z follow x."""
    for s in range(FEW):
        A[out, s] = A[a, s] * A[x, s] + A[b, s] * A[x + 1, s] + A[c, s] * A[x + 2, s]


@njit(nogil=True, fastmath=SUMS)
def add_dot3(A: FloatArray, out: int, a: int, b: int, c: int, x: int) -> None:
    """out += a x + b y + c z, where the rows y and z follow x."""
    for s in range(FEW):
        A[out, s] += A[a, s] * A[x, s] + A[b, s] * A[x + 1, s] + A[c, s] * A[x + 2, s]
