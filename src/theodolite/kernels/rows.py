"""Arithmetic on rows of one array, which the compiler turns into vector instructions.

Rows are given by their numbers: a view of a row costs more than the work on it. Each function
touches few rows, because a loop is vectorised only if it is cheap to check that none overlap.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from theodolite.arrays import FloatArray

#: Sums may be taken in any order, and products joined with them: neither costs accuracy.
SUMS = {"reassoc", "contract", "nsz"}
#: Samples in a row. With half as many a fold takes a tenth longer, with twice as many about a tenth
#: less; but rows are always computed whole, so that short jobs would wait for samples they lack.
FEW = 128
#: Quarter turns as sums of numbers with few bits, so that whole multiples of the first are exact.
TURN_1, TURN_2, TURN_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
#: Beyond so many radians multiples of a quarter turn lose digits.
FAR = 1e5
#: Coefficients of sin(x) / x - 1 and cos(x) - 1 by powers of x^2, from the second and the first on.
SINE = tuple((-1.0) ** n / math.factorial(2 * n + 1) for n in range(1, 9))
COSINE = tuple((-1.0) ** n / math.factorial(2 * n) for n in range(1, 9))


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


@njit(nogil=True, fastmath={"contract"})
def cosine_and_sine(A: FloatArray, cos: int, sin: int, angle: int) -> None:
    """Both of a row of angles, to rounding: polynomials, because library calls are no vectors.

    An angle is a whole number of quarter turns and a rest of at most an eighth of a turn, whose
    Taylor series to the 17th and 16th power leave less than rounding.
    """
    far = False
    for s in range(FEW):
        x = A[angle, s]
        far |= not abs(x) < FAR
        count = np.rint(x * (2.0 / math.pi))
        rest = ((x - count * TURN_1) - count * TURN_2) - count * TURN_3
        z = rest * rest
        a = SINE[7]
        a = a * z + SINE[6]
        a = a * z + SINE[5]
        a = a * z + SINE[4]
        a = a * z + SINE[3]
        a = a * z + SINE[2]
        a = a * z + SINE[1]
        a = a * z + SINE[0]
        b = COSINE[7]
        b = b * z + COSINE[6]
        b = b * z + COSINE[5]
        b = b * z + COSINE[4]
        b = b * z + COSINE[3]
        b = b * z + COSINE[2]
        b = b * z + COSINE[1]
        b = b * z + COSINE[0]
        of_sine = rest + rest * (z * a)
        of_cosine = 1.0 + z * b
        # Of the number of quarter turns, what is left of whole ones: 0, 1, 2 or 3.
        left = count - 4.0 * np.floor(0.25 * count)
        odd = left == 1.0 or left == 3.0
        c = of_sine if odd else of_cosine
        d = of_cosine if odd else of_sine
        A[cos, s] = -c if left == 1.0 or left == 2.0 else c
        A[sin, s] = -d if left >= 2.0 else d
    if far:
        for s in range(FEW):
            A[cos, s] = math.cos(A[angle, s])
            A[sin, s] = math.sin(A[angle, s])
