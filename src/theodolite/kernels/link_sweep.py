"""The motion of links and their torques, a few samples at a time: the twin of `LinkMotion`.

Every link keeps its vectors in its own frame as rows of one array: w, w', a, then an axis and a
moment for each joint of its path, three components each.
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
    add_dot3,
    add_product,
    blend,
    constant,
    cosine_and_sine,
    dot2,
    dot3,
    product,
)

#: Rows to work in, before the links' own: the turn C (9), six more, moments by six inertias (18),
#: -a (3), forces by three moments (9), one result.
C, TMP, N, MINUS_A, F, RESULT, VECTORS = 0, 9, 15, 33, 36, 45, 46


@njit(nogil=True, fastmath=SUMS)
def rows_of(links: Any, times: int = 1) -> Any:
    """Memory for the world and all links, so many times."""
    size = VECTORS + 3 * (5 + 2 * links.depth) * (len(links.parent) + 1)
    return np.zeros((times * size, FEW))


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
def advance(A: FloatArray, number: int, links: Any, state: FloatArray, first: int, n: int) -> None:
    """From the parent's vectors to those of a link, at ``n`` samples from ``first`` on.

    ``state`` holds q, q' and q'', (3, samples, joints); beyond the last sample it is repeated.
    """
    V, before = first_row(links, number), first_row(links, links.parent[number])
    joints, joint = links.length[number] - 1, links.joint[number]
    sign, revolute = links.sign[number], links.revolute[number]
    turn_across(A, number, links, state, first, n)
    for vector in range(3 + 2 * joints):
        old, new = before + 3 * vector, V + 3 * vector
        for row in range(3):
            dot3(A, new + row, C + 3 * row, C + 3 * row + 1, C + 3 * row + 2, old)
    own = V + 9 + 6 * joints
    x, y, z = links.position[number, 0], links.position[number, 1], links.position[number, 2]
    if x != 0.0 or y != 0.0 or z != 0.0 or not revolute:
        position_across(A, own, number, links)
        _shift(A, V, joints, own)
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
def moments_and_forces(A: FloatArray, V: int) -> None:
    """Moments by six inertias, -a, and forces by three first moments, of a link's vectors."""
    x, y, z = V, V + 1, V + 2
    dx, dy, dz = V + 3, V + 4, V + 5
    xx, yy, zz, xy, xz, yz = TMP, TMP + 1, TMP + 2, TMP + 3, TMP + 4, TMP + 5
    product(A, xx, x, x)
    product(A, yy, y, y)
    product(A, zz, z, z)
    product(A, xy, x, y)
    product(A, xz, x, z)
    product(A, yz, y, z)
    # Three components for each inertia, J w' + w x J w: XX, XY, XZ, YY, YZ, ZZ.
    blend(A, N, 1.0, dx, 0.0, dx)
    blend(A, N + 1, 1.0, xz, 0.0, xz)
    blend(A, N + 2, -1.0, xy, 0.0, xy)
    blend(A, N + 3, 1.0, dy, -1.0, xz)
    blend(A, N + 4, 1.0, dx, 1.0, yz)
    blend(A, N + 5, 1.0, xx, -1.0, yy)
    blend(A, N + 6, 1.0, dz, 1.0, xy)
    blend(A, N + 7, 1.0, zz, -1.0, xx)
    blend(A, N + 8, 1.0, dx, -1.0, yz)
    blend(A, N + 9, -1.0, yz, 0.0, yz)
    blend(A, N + 10, 1.0, dy, 0.0, dy)
    blend(A, N + 11, 1.0, xy, 0.0, xy)
    blend(A, N + 12, 1.0, yy, -1.0, zz)
    blend(A, N + 13, 1.0, dz, -1.0, xy)
    blend(A, N + 14, 1.0, dy, 1.0, xz)
    blend(A, N + 15, 1.0, yz, 0.0, yz)
    blend(A, N + 16, -1.0, xz, 0.0, xz)
    blend(A, N + 17, 1.0, dz, 0.0, dz)
    for row in range(3):
        blend(A, MINUS_A + row, -1.0, V + 6 + row, 0.0, V + 6 + row)
    # Three components for each first moment, (w'^ + w^ w^) MS.
    blend(A, F, -1.0, yy, -1.0, zz)
    blend(A, F + 1, 1.0, xy, 1.0, dz)
    blend(A, F + 2, 1.0, xz, -1.0, dy)
    blend(A, F + 3, 1.0, xy, -1.0, dz)
    blend(A, F + 4, -1.0, xx, -1.0, zz)
    blend(A, F + 5, 1.0, yz, 1.0, dx)
    blend(A, F + 6, 1.0, xz, 1.0, dy)
    blend(A, F + 7, 1.0, yz, -1.0, dx)
    blend(A, F + 8, -1.0, xx, -1.0, yy)


@njit(nogil=True, fastmath=SUMS)
def torque(A: FloatArray, V: int, at: int, c: int) -> None:
    """The torque of the joint ``at`` in the path by one of ten parameters, into RESULT."""
    axis = V + 9 + 6 * at
    moment, a = axis + 3, V + 6
    if c < 6:
        dot3(A, RESULT, axis, axis + 1, axis + 2, N + 3 * c)
    elif c < 9:
        # e x a has the components -a_k along j and a_j along k.
        j, k = (c - 5) % 3, (c - 4) % 3
        dot2(A, RESULT, axis + k, a + j, axis + j, MINUS_A + k)
        add_dot3(A, RESULT, moment, moment + 1, moment + 2, F + 3 * (c - 6))
    else:
        dot3(A, RESULT, moment, moment + 1, moment + 2, a)
