"""The motion of links and their torques, a few samples at a time: the twin of `LinkMotion`.

Every link keeps its vectors in its own frame as rows of one array: w, w', a, then an axis and a
moment for each joint of its path, three components each.

What costs most is written as one loop over the samples that reads rows of this array and writes to
another one: only so can the compiler know that nothing it reads is overwritten, and keep all that
is in between in registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from theodolite.arrays import FloatArray
from theodolite.kernels.rows import (
    FEW,
    SUMS,
    add,
    add_cross,
    add_product,
    blend,
    constant,
    cosine_and_sine,
    product,
)

#: Rows to work in, before the links' own: the turn C (9), the way P of the origin, six more and one
#: result.
C, P, TMP, RESULT, VECTORS = 0, 9, 12, 18, 19
#: Torques by the parameters of a link.
TORQUES = 10


@njit(nogil=True, fastmath=SUMS)
def rows_of(links: Any, times: int = 1) -> Any:
    """Memory for the world and all links, so many times."""
    size = VECTORS + 3 * (5 + 2 * links.depth) * (len(links.parent) + 1)
    return np.zeros((times * size, FEW))


@njit(nogil=True, fastmath=SUMS)
def results_of(links: Any) -> Any:
    """Memory for what is made of the rows of one link."""
    return np.zeros(max(3 * (5 + 2 * links.depth), TORQUES) * FEW)


@njit(nogil=True, fastmath=SUMS)
def first_row(links: Any, number: int) -> int:
    """Where the vectors of a link begin; the world is number -1."""
    return VECTORS + 3 * (5 + 2 * links.depth) * (number + 1)


@njit(nogil=True, fastmath=SUMS)
def _shift(A: FloatArray, V: int, joints: int, p: int) -> None:
    """Move the origin by the rows p in the frame of the vectors V."""
    w, wd, a = V, V + 3, V + 6
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        # w x p, to be crossed with w once more.
        product(A, TMP + i, w + j, p + k)
        add_product(A, TMP + i, -1.0, w + k, p + j)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        add_cross(A, a + i, wd + j, p + k, wd + k, p + j)
        add_cross(A, a + i, w + j, TMP + k, w + k, TMP + j)
        for joint in range(joints):
            axis = V + 9 + 6 * joint
            add_cross(A, axis + 3 + i, axis + j, p + k, axis + k, p + j)


@njit(nogil=True, fastmath=SUMS)
def turn_across(
    A: FloatArray, number: int, links: Any, state: FloatArray, first: int, n: int
) -> None:
    """The turn from a link's frame to its parent's, into C, and how far the joint is.

    In the array the three components of each of its columns follow each other.
    """
    joint, sign, revolute = links.joint[number], links.sign[number], links.revolute[number]
    amount, cos, sin = RESULT, TMP + 3, TMP + 4
    for s in range(FEW):
        A[amount, s] = links.offset[number] + sign * state[0, first + min(s, n - 1), joint]
    if revolute:
        cosine_and_sine(A, cos, sin, amount)
    for row in range(3):
        for column in range(3):
            to = C + 3 * column + row
            constant(A, to, links.still[number, row, column])
            if revolute:
                add(A, to, links.by_cos[number, row, column], cos)
                add(A, to, links.by_sin[number, row, column], sin)


@njit(nogil=True, fastmath=SUMS)
def position_across(A: FloatArray, out: int, number: int, links: Any) -> None:
    """From the parent's origin to that of the joint, in the link's frame, after `turn_across`."""
    x, y, z = links.position[number, 0], links.position[number, 1], links.position[number, 2]
    for row in range(3):
        blend(A, out + row, x, C + 3 * row, y, C + 3 * row + 1)
        add(A, out + row, z, C + 3 * row + 2)
        if not links.revolute[number]:
            add(A, out + row, links.along[number, row], RESULT)


@njit(nogil=True, fastmath=SUMS)
def _carry_motion(A: FloatArray, T: FloatArray, before: int) -> None:
    """w, w' and a of the parent, turned by C and moved by P, into the results."""
    flat = A.reshape(A.size)
    turn, way = flat[C * FEW : (C + 9) * FEW], flat[P * FEW : (P + 3) * FEW]
    old = flat[before * FEW : (before + 9) * FEW]
    for s in range(FEW):
        a, b, c = turn[s], turn[FEW + s], turn[2 * FEW + s]
        d, e, f = turn[3 * FEW + s], turn[4 * FEW + s], turn[5 * FEW + s]
        g, h, i = turn[6 * FEW + s], turn[7 * FEW + s], turn[8 * FEW + s]
        x, y, z = way[s], way[FEW + s], way[2 * FEW + s]
        p, q, r = old[s], old[FEW + s], old[2 * FEW + s]
        w0, w1, w2 = a * p + b * q + c * r, d * p + e * q + f * r, g * p + h * q + i * r
        p, q, r = old[3 * FEW + s], old[4 * FEW + s], old[5 * FEW + s]
        v0, v1, v2 = a * p + b * q + c * r, d * p + e * q + f * r, g * p + h * q + i * r
        p, q, r = old[6 * FEW + s], old[7 * FEW + s], old[8 * FEW + s]
        u0, u1, u2 = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
        T[s], T[FEW + s], T[2 * FEW + s] = w0, w1, w2
        T[3 * FEW + s], T[4 * FEW + s], T[5 * FEW + s] = v0, v1, v2
        # a + w' x P + w x (w x P)
        T[6 * FEW + s] = a * p + b * q + c * r + (v1 * z - v2 * y) + (w1 * u2 - w2 * u1)
        T[7 * FEW + s] = d * p + e * q + f * r + (v2 * x - v0 * z) + (w2 * u0 - w0 * u2)
        T[8 * FEW + s] = g * p + h * q + i * r + (v0 * y - v1 * x) + (w0 * u1 - w1 * u0)


@njit(nogil=True, fastmath=SUMS)
def _carry_joint(A: FloatArray, T: FloatArray, before: int) -> None:
    """A joint's axis and moment in the parent, turned by C and moved by P, into the results."""
    flat = A.reshape(A.size)
    turn, way = flat[C * FEW : (C + 9) * FEW], flat[P * FEW : (P + 3) * FEW]
    old = flat[before * FEW : (before + 6) * FEW]
    for s in range(FEW):
        a, b, c = turn[s], turn[FEW + s], turn[2 * FEW + s]
        d, e, f = turn[3 * FEW + s], turn[4 * FEW + s], turn[5 * FEW + s]
        g, h, i = turn[6 * FEW + s], turn[7 * FEW + s], turn[8 * FEW + s]
        x, y, z = way[s], way[FEW + s], way[2 * FEW + s]
        p, q, r = old[s], old[FEW + s], old[2 * FEW + s]
        e0, e1, e2 = a * p + b * q + c * r, d * p + e * q + f * r, g * p + h * q + i * r
        p, q, r = old[3 * FEW + s], old[4 * FEW + s], old[5 * FEW + s]
        T[s], T[FEW + s], T[2 * FEW + s] = e0, e1, e2
        # m + e x P
        T[3 * FEW + s] = a * p + b * q + c * r + (e1 * z - e2 * y)
        T[4 * FEW + s] = d * p + e * q + f * r + (e2 * x - e0 * z)
        T[5 * FEW + s] = g * p + h * q + i * r + (e0 * y - e1 * x)


@njit(nogil=True, fastmath=SUMS)
def advance(
    A: FloatArray,
    T: FloatArray,
    number: int,
    links: Any,
    state: FloatArray,
    first: int,
    n: int,
) -> None:
    """From the parent's vectors to those of a link, at ``n`` samples from ``first`` on.

    ``state`` holds q, q' and q'', (3, samples, joints); beyond the last sample it is repeated.
    """
    V, before = first_row(links, number), first_row(links, links.parent[number])
    joints, joint = links.length[number] - 1, links.joint[number]
    sign, revolute = links.sign[number], links.revolute[number]
    turn_across(A, number, links, state, first, n)
    position_across(A, P, number, links)
    _carry_motion(A, T, before)
    for at in range(joints):
        rows = 9 + 6 * at
        _carry_joint(A, T[rows * FEW : (rows + 6) * FEW], before + rows)
    own = V + 9 + 6 * joints
    flat = A.reshape(A.size)
    flat[V * FEW : own * FEW] = T[: (own - V) * FEW]
    _move(A, V, sign, links.along[number], revolute, joint, state, first, n)
    for row in range(3):
        along = sign * links.along[number, row]
        constant(A, own + row, along if revolute else 0.0)
        constant(A, own + 3 + row, 0.0 if revolute else along)
    x, y, z = links.after[number, 0], links.after[number, 1], links.after[number, 2]
    if x != 0.0 or y != 0.0 or z != 0.0:
        constant(A, C, x)
        constant(A, C + 1, y)
        constant(A, C + 2, z)
        _shift(A, V, joints + 1, C)


@njit(nogil=True, fastmath=SUMS)
def _move(
    A: FloatArray,
    V: int,
    sign: float,
    along: FloatArray,
    revolute: bool,
    joint: int,
    state: FloatArray,
    first: int,
    n: int,
) -> None:
    """Add the joint's velocity and acceleration along its axis."""
    w, wd, a = V, V + 3, V + 6
    qd, qdd = TMP + 3, TMP + 4
    for s in range(FEW):
        A[qd, s] = sign * state[1, first + min(s, n - 1), joint]
        A[qdd, s] = sign * state[2, first + min(s, n - 1), joint]
    # w' gains q'' z + w x q' z; of a slide, a gains q'' z + 2 w x q' z.
    gains, times = (wd, 1.0) if revolute else (a, 2.0)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        if along[k] != 0.0:
            add_product(A, gains + i, times * along[k], w + j, qd)
        if along[j] != 0.0:
            add_product(A, gains + i, -times * along[j], w + k, qd)
        if along[i] != 0.0:
            add(A, gains + i, along[i], qdd)
    if revolute:
        for i in range(3):
            if along[i] != 0.0:
                add(A, w + i, along[i], qd)


@njit(nogil=True, fastmath=SUMS)
def torques(A: FloatArray, T: FloatArray, V: int, at: int) -> None:
    """Torques of the joint ``at`` in the path by all ten parameters of a link, into the results.

    By inertias the axis e and J w' + w x J w, by first moments a x e and the moment m with
    w' x + w x (w x), by the mass m and a.
    """
    flat, axis = A.reshape(A.size), V + 9 + 6 * at
    own, path = flat[V * FEW : (V + 9) * FEW], flat[axis * FEW : (axis + 6) * FEW]
    for s in range(FEW):
        p, q, r = own[s], own[FEW + s], own[2 * FEW + s]
        d, f, g = own[3 * FEW + s], own[4 * FEW + s], own[5 * FEW + s]
        a, b, c = own[6 * FEW + s], own[7 * FEW + s], own[8 * FEW + s]
        x, y, z = path[s], path[FEW + s], path[2 * FEW + s]
        u, v, o = path[3 * FEW + s], path[4 * FEW + s], path[5 * FEW + s]
        pp, qq, rr, pq, pr, qr = p * p, q * q, r * r, p * q, p * r, q * r
        # XX, XY, XZ, YY, YZ, ZZ
        T[s] = x * d + y * pr - z * pq
        T[FEW + s] = x * (f - pr) + y * (d + qr) + z * (pp - qq)
        T[2 * FEW + s] = x * (g + pq) + y * (rr - pp) + z * (d - qr)
        T[3 * FEW + s] = y * f - x * qr + z * pq
        T[4 * FEW + s] = x * (qq - rr) + y * (g - pq) + z * (f + pr)
        T[5 * FEW + s] = x * qr - y * pr + z * g
        # MX, MY, MZ, M
        T[6 * FEW + s] = z * b - y * c - u * (qq + rr) + v * (pq + g) + o * (pr - f)
        T[7 * FEW + s] = x * c - z * a + u * (pq - g) - v * (pp + rr) + o * (qr + d)
        T[8 * FEW + s] = y * a - x * b + u * (pr + f) + v * (qr - d) - o * (pp + qq)
        T[9 * FEW + s] = u * a + v * b + o * c
