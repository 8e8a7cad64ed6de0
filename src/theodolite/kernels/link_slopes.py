"""Backwards through the links, a few samples at a time: the twin of `dynamics.link_slopes`.

Derivatives by a link's vectors stand ``half`` rows below the vectors themselves.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from theodolite.arrays import FloatArray
from theodolite.kernels.link_sweep import (
    VECTORS,
    C,
    advance,
    first_row,
    position_across,
    results_of,
    rows_of,
    turn_across,
)
from theodolite.kernels.rows import (
    FEW,
    SUMS,
    add,
    add_cross,
    add_dot3,
    add_product,
    blend,
    constant,
    dot3,
)
from theodolite.kernels.switch import caching

KEEP = caching()
#: Rows to work in, in the lower half: weights of one joint (10), two vectors, three numbers.
Q, T, U, ONE, TWO, THREE = 0, 10, 13, 16, 17, 18


@njit(nogil=True, fastmath=SUMS)
def _cross(A: FloatArray, out: int, u: int, v: int) -> None:
    """out += u x v."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        add_cross(A, out + i, u + j, v + k, u + k, v + j)


@njit(nogil=True, fastmath=SUMS)
def _cross_axis(A: FloatArray, out: int, v: int, p: FloatArray) -> None:
    """out = v x p, with a constant vector p."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        blend(A, out + i, p[k], v + j, -p[j], v + k)


@njit(nogil=True, fastmath=SUMS)
def _along(A: FloatArray, out: int, p: FloatArray, v: int) -> None:
    """out = p.v, with a constant vector p."""
    blend(A, out, p[0], v, p[1], v + 1)
    add(A, out, p[2], v + 2)


@njit(nogil=True, fastmath=SUMS)
def _add_own(A: FloatArray, V: int, half: int, at: int) -> None:
    """Add derivatives of the torque of joint ``at`` of the path, weighted by the rows Q."""
    w, wd, a, e, m = V, V + 3, V + 6, V + 9 + 6 * at, V + 12 + 6 * at
    q, Jw, u = half + Q, half + T, half + U
    one, two, three = half + ONE, half + TWO, half + THREE
    S, mass = q + 6, q + 9
    for i in range(3):
        # Rows of the inertia: XX, XY, XZ; XY, YY, YZ; XZ, YZ, ZZ.
        x = q + i
        y = q + 1 if i == 0 else q + i + 2
        z = q + 2 if i == 0 else q + i + 3
        dot3(A, Jw + i, x, y, z, w)
        add_dot3(A, half + e + i, x, y, z, wd)
        add_dot3(A, half + wd + i, x, y, z, e)
    _cross(A, half + e, w, Jw)
    _cross(A, half + e, S, a)
    _cross(A, half + m, wd, S)
    for i in range(3):
        constant(A, u + i, 0.0)
    _cross(A, u, w, S)
    _cross(A, half + m, w, u)
    for i in range(3):
        add_product(A, half + m + i, 1.0, mass, a + i)
        add_product(A, half + a + i, 1.0, mass, m + i)
    _cross(A, half + a, e, S)
    _cross(A, half + wd, S, m)
    _cross(A, half + w, Jw, e)
    for i in range(3):
        constant(A, u + i, 0.0)
    _cross(A, u, e, w)
    for i in range(3):
        x = q + i
        y = q + 1 if i == 0 else q + i + 2
        z = q + 2 if i == 0 else q + i + 3
        add_dot3(A, half + w + i, x, y, z, u)
    dot3(A, one, w, w + 1, w + 2, S)
    dot3(A, two, w, w + 1, w + 2, m)
    dot3(A, three, m, m + 1, m + 2, S)
    for i in range(3):
        add_product(A, half + w + i, 1.0, m + i, one)
        add_product(A, half + w + i, 1.0, S + i, two)
        add_product(A, half + w + i, -2.0, w + i, three)


@njit(nogil=True, fastmath=SUMS)
def _unshift(A: FloatArray, half: int, V: int, joints: int, p: int) -> None:
    """Back to the origin before a shift by the rows p."""
    w, wd, a = V, V + 3, V + 6
    u, one, two, three = half + U, half + ONE, half + TWO, half + THREE
    dot3(A, one, w, w + 1, w + 2, p)
    dot3(A, two, w, w + 1, w + 2, half + a)
    dot3(A, three, p, p + 1, p + 2, half + a)
    for i in range(3):
        add_product(A, half + w + i, 1.0, half + a + i, one)
        add_product(A, half + w + i, 1.0, p + i, two)
        add_product(A, half + w + i, -2.0, w + i, three)
        constant(A, u + i, 0.0)
    _cross(A, half + wd, p, half + a)
    # a loses w' x p + w x (w x p), and every moment e x p.
    _cross(A, u, w, p)
    _cross(A, a, p, wd)
    _cross(A, a, u, w)
    for joint in range(joints):
        e = V + 9 + 6 * joint
        _cross(A, half + e, p, half + e + 3)
        _cross(A, e + 3, p, e)


@njit(nogil=True, fastmath=SUMS)
def _unmove(A: FloatArray, half: int, V: int, along: FloatArray, revolute: bool) -> None:
    """Take off what the joint's rates in ONE and TWO add.

    Instead of the rates, rows ONE and TWO hold the derivatives by them.
    """
    w = V
    # w' gains q'' z + w x q' z; of a slide, a gains q'' z + 2 w x q' z.
    gains, times = (V + 3, 1.0) if revolute else (V + 6, 2.0)
    u, rate, change, total = half + U, half + ONE, half + TWO, half + THREE
    if revolute:
        for i in range(3):
            add(A, w + i, -along[i], rate)
    _cross_axis(A, u, w, along)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        add_product(A, gains + i, -times, u + i, rate)
        add(A, gains + i, -along[i], change)
        add_product(A, half + w + i, times * along[j], half + gains + k, rate)
        add_product(A, half + w + i, -times * along[k], half + gains + j, rate)
    dot3(A, total, u, u + 1, u + 2, half + gains)
    _along(A, change, along, half + gains)
    constant(A, rate, 0.0)
    if revolute:
        # Of w itself, which was there before what is taken off above: along z they are the same.
        _along(A, rate, along, half + w)
    add(A, rate, times, total)


@njit(nogil=True, fastmath=SUMS)
def _by_position(
    A: FloatArray, half: int, V: int, joints: int, along: FloatArray, revolute: bool
) -> None:
    """The derivative by the joint's position, into the row THREE."""
    u, t, total = half + U, half + T, half + THREE
    for i in range(3):
        constant(A, u + i, 0.0)
    if revolute:
        # All vectors turn: the sum of derivative x vector, along the axis.
        for vector in range(3 + 2 * joints):
            _cross(A, u, half + V + 3 * vector, V + 3 * vector)
        _along(A, total, along, u)
        return
    # The origin moves along z: a changes by w' x z + w x (w x z), moments by e x z.
    w, wd, a = V, V + 3, V + 6
    _cross_axis(A, t, w, along)
    _cross(A, u, w, t)
    dot3(A, total, u, u + 1, u + 2, half + a)
    _cross_axis(A, u, wd, along)
    add_dot3(A, total, u, u + 1, u + 2, half + a)
    for joint in range(joints):
        e = V + 9 + 6 * joint
        _cross_axis(A, u, e, along)
        add_dot3(A, total, u, u + 1, u + 2, half + e + 3)


@njit(nogil=True, fastmath=SUMS)
def _back(
    A: FloatArray,
    half: int,
    number: int,
    links: Any,
    state: FloatArray,
    found: FloatArray,
    first: int,
    n: int,
) -> None:
    """From a link's derivatives to those of its joint, (3, n, joints), and of its parent."""
    V, before = first_row(links, number), first_row(links, links.parent[number])
    joints, joint, sign = links.length[number] - 1, links.joint[number], links.sign[number]
    revolute, along, p = links.revolute[number], links.along[number], half + Q
    after = links.after[number]
    if after[0] != 0.0 or after[1] != 0.0 or after[2] != 0.0:
        for row in range(3):
            constant(A, p + row, after[row])
        _unshift(A, half, V, joints + 1, p)
    for s in range(FEW):
        A[half + ONE, s] = sign * state[1, first + min(s, n - 1), joint]
        A[half + TWO, s] = sign * state[2, first + min(s, n - 1), joint]
    _unmove(A, half, V, along, revolute)
    _by_position(A, half, V, joints, along, revolute)
    for kind, row in enumerate((half + THREE, half + ONE, half + TWO)):
        for s in range(n):
            found[kind, first + s, joint] += sign * A[row, s]
    if links.parent[number] < 0:
        return
    turn_across(A, number, links, state, first, n)
    position_across(A, p, number, links)
    _unshift(A, half, V, joints, p)
    for vector in range(3 + 2 * joints):
        here, there = half + V + 3 * vector, half + before + 3 * vector
        for row in range(3):
            add_dot3(A, there + row, C + row, C + 3 + row, C + 6 + row, here)


@njit(nogil=True, fastmath=SUMS, cache=KEEP)
def slopes(
    found: FloatArray,
    start: int,
    end: int,
    links: Any,
    state: FloatArray,
    weights: FloatArray,
) -> None:
    """Add the derivatives of weighted torques by q, q' and q'' to ``found``, (3, n, joints).

    ``weights`` are like the regressor, (columns, motors, n); joints are motors.
    """
    A, results = rows_of(links, 2), results_of(links)
    half = len(A) // 2
    for first in range(start, end, FEW):
        n = min(FEW, end - first)
        A[half:] = 0.0
        for axis in range(3):
            constant(A, VECTORS + 6 + axis, links.acceleration[axis])
        for number in range(len(links.parent)):
            advance(A, results, number, links, state, first, n)
        for number in range(len(links.parent) - 1, -1, -1):
            place = links.place[number]
            for at in range(links.length[number] if place >= 0 else 0):
                joint = links.path[number, at]
                for c in range(10):
                    for s in range(n):
                        A[half + Q + c, s] = weights[place + c, joint, first + s]
                _add_own(A, first_row(links, number), half, at)
            _back(A, half, number, links, state, found, first, n)
