"""How torques depend on the motion: backwards through the links, from the tips to the world.

A sum of a link's torques, weighted by an inertia J, a first moment S and a mass M for each joint
with axis e and moment m, is

    f = e.(J w' + w x J w) + e.(S x a) + m.(w' x S + w x (w x S)) + M m.a

Its derivatives by w, w', a, e and m are carried back to the parent, step by step, as transposes of
the steps that lead outwards (`LinkMotion.advance`), which are undone on the way. So one sweep gives
the derivatives by all positions, velocities and accelerations, for the work of a few regressors.
Vectors are as in `LinkMotion`: (vectors, 3, n), w, w', a, then e and m of each joint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.dynamics.link_motion import EXACT, FEW, Link

#: The axes in cyclic order.
_CYCLE = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def link_slopes(
    links: Sequence[Link],
    ends: Sequence[FloatArray],
    weights: Sequence[FloatArray | None],
    state: State,
) -> FloatArray:
    """Derivatives of ``sum of weights * torques`` by q, q' and q'', (3, joints, n).

    ``ends`` are the vectors of every link, which are lost; ``weights`` those of its torques, (10,
    joints of its path, n), or None.
    """
    found = np.zeros((3, state.q.shape[1], len(state)))
    slopes = [np.zeros_like(vectors) for vectors in ends]
    for number in reversed(range(len(links))):
        link, x, by = links[number], ends[number], slopes[number]
        own = weights[number]
        if own is not None:
            _add_own(x, by, own)
        _turn_back(x, by, link.after_rotation)
        _shift_back(x, by, link.after_position[:, None])
        # The joint's own screw is constant here.
        x, by = x[:-2], by[:-2]
        undo = _turn_of_joint_back if link.revolute else _slide_back
        undo(x, by, link, state, found[:, link.joint])
        _turn_back(x, by, link.rotation)
        _shift_back(x, by, link.position[:, None])
        if link.parent >= 0:
            slopes[link.parent] += by
    return found


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    """u x v of vectors (..., 3, n)."""
    found = np.empty(np.broadcast_shapes(u.shape, v.shape))
    for i, j, k in _CYCLE:
        np.multiply(u[..., j, :], v[..., k, :], out=found[..., i, :])
        found[..., i, :] -= u[..., k, :] * v[..., j, :]
    return found


def _dot(u: FloatArray, v: FloatArray) -> FloatArray:
    """u.v of vectors (..., 3, n), (..., 1, n)."""
    return (u * v).sum(axis=-2, keepdims=True)


def _double_cross_slope(left: FloatArray, w: FloatArray, right: FloatArray) -> FloatArray:
    """Derivative of left.(w x (w x right)) by w."""
    return left * _dot(w, right) + right * _dot(left, w) - 2.0 * w * _dot(left, right)


def _times(J: FloatArray, v: FloatArray) -> FloatArray:
    """J v for inertias (6, joints, n): XX, XY, XZ, YY, YZ, ZZ; (joints, 3, n)."""
    xx, xy, xz, yy, yz, zz = J
    x, y, z = v[..., 0, :], v[..., 1, :], v[..., 2, :]
    return np.stack(
        [xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z], axis=1
    )


def _add_own(x: FloatArray, by: FloatArray, weights: FloatArray) -> None:
    """Add the derivatives of the link's own weighted torques by its vectors."""
    (w, wd, a), e, m = x[:FEW], x[FEW::2], x[FEW + 1 :: 2]
    J, S, M = weights[:6], weights[6:9].transpose(1, 0, 2), weights[9][:, None]
    Jw = _times(J, w)
    by[FEW::2] += _times(J, wd) + _cross(w, Jw) + _cross(S, a)
    by[FEW + 1 :: 2] += _cross(wd, S) + _cross(w, _cross(w, S)) + M * a
    by_w = _cross(Jw, e) + _times(J, _cross(e, w)) + _double_cross_slope(m, w, S)
    by[0] += by_w.sum(axis=0)
    by[1] += (_times(J, e) + _cross(S, m)).sum(axis=0)
    by[2] += (_cross(e, S) + M * m).sum(axis=0)


def _turn_back(x: FloatArray, by: FloatArray, rotation: FloatArray) -> None:
    """Back to the axes before a constant turn."""
    if np.abs(rotation - np.eye(3)).max() < EXACT:
        return
    x[:] = np.matmul(rotation, x)
    by[:] = np.matmul(rotation, by)


def _shift_back(x: FloatArray, by: FloatArray, p: FloatArray) -> None:
    """Back to the origin before a shift by p, (3, 1) or (3, n)."""
    if not p.any():
        return
    w, wd, a = x[:FEW]
    a -= _cross(wd, p) + _cross(w, _cross(w, p))
    x[FEW + 1 :: 2] -= _cross(x[FEW::2], p)
    by[0] += _double_cross_slope(by[2], w, p)
    by[1] += _cross(p, by[2])
    by[FEW::2] += _cross(p, by[FEW + 1 :: 2])


def _turn_of_joint_back(
    x: FloatArray, by: FloatArray, link: Link, state: State, found: FloatArray
) -> None:
    """Before the turn of a joint; its own derivatives are added to ``found`` (3, n)."""
    i, j, k = _CYCLE[link.axis]
    rate, change = link.sign * state.qd[:, link.joint], link.sign * state.qdd[:, link.joint]
    w, wd = x[:2]
    # w' gains q'' z + w x q' z, then w gains q' z.
    w[i] -= rate
    wd[i] -= change
    wd[j] -= w[k] * rate
    wd[k] += w[j] * rate
    found[2] += link.sign * by[1, i]
    found[1] += link.sign * (by[0, i] + by[1, j] * w[k] - by[1, k] * w[j])
    by[0, j] -= by[1, k] * rate
    by[0, k] += by[1, j] * rate
    # d(C' x)/dq = C'x x z.
    found[0] += link.sign * (by[:, j] * x[:, k] - by[:, k] * x[:, j]).sum(axis=0)
    amount = link.offset + link.sign * state.q[:, link.joint]
    cos, sin = np.cos(amount), np.sin(amount)
    for vectors in (x, by):
        y = cos * vectors[:, j] - sin * vectors[:, k]
        vectors[:, k] = sin * vectors[:, j] + cos * vectors[:, k]
        vectors[:, j] = y


def _slide_back(x: FloatArray, by: FloatArray, link: Link, state: State, found: FloatArray) -> None:
    """Before the slide of a joint; its own derivatives are added to ``found`` (3, n)."""
    i, j, k = _CYCLE[link.axis]
    rate, change = link.sign * state.qd[:, link.joint], link.sign * state.qdd[:, link.joint]
    w, wd, a = x[:FEW]
    # a gains q'' z + 2 w x q' z.
    a[i] -= change
    a[j] -= 2 * w[k] * rate
    a[k] += 2 * w[j] * rate
    found[2] += link.sign * by[2, i]
    found[1] += 2 * link.sign * (by[2, j] * w[k] - by[2, k] * w[j])
    by[0, j] -= 2 * by[2, k] * rate
    by[0, k] += 2 * by[2, j] * rate
    z = np.zeros((3, 1))
    z[i] = link.sign
    pushed = _cross(wd, z) + _cross(w, _cross(w, z))
    found[0] += (by[2] * pushed).sum(axis=0)
    found[0] += (by[FEW + 1 :: 2] * _cross(x[FEW::2], z)).sum(axis=(0, 1))
    amount = link.offset + link.sign * state.q[:, link.joint]
    shift = np.zeros_like(w)
    shift[i] = amount
    _shift_back(x, by, shift)
