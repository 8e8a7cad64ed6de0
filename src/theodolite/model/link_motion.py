"""The motion of links outwards from the world, for all samples at once, and what it makes of them.

With the velocity w, acceleration w', and acceleration a of the origin (less gravity), all in the
link's frame, a link's force and moment are linear in its ten parameters [Gautier1991, eq. 3],

    f = (w'^ + w^ w^) MS + a M,      n = J w' + w x J w + MS x a

and the torque of joint i is the product with the screw of that joint in the link's frame. The
sample axis is last, so that NumPy runs along it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.model.inertia import PLACES


@dataclass(frozen=True)
class Link:
    """From the frame of the link before to the joint, the joint, and on to the link's own frame."""

    #: The link it stands on; -1 for the world.
    parent: int
    rotation: FloatArray
    position: FloatArray
    #: Which joint moves it.
    joint: int
    revolute: bool
    axis: int
    offset: float
    sign: float
    after_rotation: FloatArray
    after_position: FloatArray
    #: Suffix of its parameters' names; None where it has no mass, as between two joints of a body.
    name: str | None


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross products of vectors (3, n)."""
    return np.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


@dataclass(eq=False)
class LinkMotion:
    """A link's motion in its own frame, and the joints' screws there; (3, n) each."""

    w: FloatArray
    wd: FloatArray
    v: FloatArray
    a: FloatArray
    #: Frame in the world, (3, 3, n), and origin.
    frame: FloatArray
    origin: FloatArray
    #: Axis of each joint up to here, and the velocity it gives the origin, (joints, 3, n).
    axes: FloatArray
    moments: FloatArray

    def copy(self) -> LinkMotion:
        """The same for another branch; only the screws are written in place."""
        return replace(self, axes=self.axes.copy(), moments=self.moments.copy())

    @staticmethod
    def at_rest(joints: int, n: int, acceleration: FloatArray) -> LinkMotion:
        zero = np.zeros((3, n))
        return LinkMotion(
            zero,
            zero,
            zero,
            np.repeat(acceleration[:, None], n, axis=1),
            np.repeat(np.eye(3)[:, :, None], n, axis=2),
            zero,
            np.zeros((joints, 3, n)),
            np.zeros((joints, 3, n)),
        )

    def advance(
        self, link: Link, number: int, q: FloatArray, qd: FloatArray, qdd: FloatArray
    ) -> None:
        """On to the next link, whose joint is at q."""
        self._shift(link.position, number)
        self._turn_by(link.rotation, number)
        amount, rate, change = link.offset + link.sign * q, link.sign * qd, link.sign * qdd
        i = link.axis
        if link.revolute:
            self._rotate(i, amount, number)
            self.wd = self.wd.copy()
            # w' gains q'' z + w x q' z.
            j, k = (i + 1) % 3, (i + 2) % 3
            self.wd[j] += self.w[k] * rate
            self.wd[k] -= self.w[j] * rate
            self.wd[i] += change
            self.w = self.w.copy()
            self.w[i] += rate
            self.axes[number, i], self.moments[number] = link.sign, 0.0
            self.axes[number, [j, k]] = 0.0
        else:
            along = np.zeros_like(self.w)
            along[i] = amount
            speed = np.zeros_like(self.w)
            speed[i] = rate
            self._shift(along, number)
            self.a = self.a + 2 * cross(self.w, speed)
            self.a[i] += change
            self.v = self.v + speed
            self.axes[number], self.moments[number] = 0.0, 0.0
            self.moments[number, i] = link.sign
        self._shift(link.after_position, number + 1)
        self._turn_by(link.after_rotation, number + 1)

    def _shift(self, along: FloatArray, joints: int) -> None:
        """Move the origin along a vector of the present frame, fixed in it."""
        if not np.any(along):
            return
        p = along[:, None] if along.ndim == 1 else along
        wp = cross(self.w, np.broadcast_to(p, self.w.shape))
        self.a = self.a + cross(self.wd, np.broadcast_to(p, self.w.shape)) + cross(self.w, wp)
        self.v = self.v + wp
        self.origin = self.origin + np.einsum(
            "ijn,jn->in", self.frame, np.broadcast_to(p, wp.shape)
        )
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            self.moments[:joints, i] += self.axes[:joints, j] * p[k] - self.axes[:joints, k] * p[j]

    def _turn_by(self, rotation: FloatArray, joints: int) -> None:
        """Express everything in a frame turned by a constant rotation."""
        if np.array_equal(rotation, np.eye(3)):
            return
        back = rotation.T
        self.w, self.wd, self.v, self.a = (
            back @ part for part in (self.w, self.wd, self.v, self.a)
        )
        self.frame = np.einsum("ijn,jk->ikn", self.frame, rotation)
        for screws in (self.axes, self.moments):
            screws[:joints] = np.matmul(back, screws[:joints])

    def _rotate(self, axis: int, angle: FloatArray, joints: int) -> None:
        """The same for a turn about an axis by an angle for each sample."""
        j, k = (axis + 1) % 3, (axis + 2) % 3
        cos, sin = np.cos(angle), np.sin(angle)

        def turned(part: FloatArray) -> FloatArray:
            new = part.copy()
            new[..., j, :] = cos * part[..., j, :] + sin * part[..., k, :]
            new[..., k, :] = cos * part[..., k, :] - sin * part[..., j, :]
            return new

        self.w, self.wd, self.v, self.a = map(turned, (self.w, self.wd, self.v, self.a))
        # Columns of the frame turn like components.
        self.frame = turned(self.frame)
        for screws in (self.axes, self.moments):
            screws[:joints] = turned(screws[:joints])


def torque_columns(motion: LinkMotion, joints: int, part: FloatArray) -> None:
    """Ten columns (10, joints, n): torques of all joints up to a link for its parameters."""
    w, wd, a = motion.w, motion.wd, motion.a
    axes, moments = motion.axes[:joints], motion.moments[:joints]
    ax, ay, az = axes[:, 0], axes[:, 1], axes[:, 2]
    wx, wy, wz = w
    # J w' + w x J w, for one inertia at a time.
    xy, xz, yz = wx * wy, wx * wz, wy * wz
    part[0] = ax * wd[0] + ay * xz - az * xy
    part[1] = ax * (wd[1] - xz) + ay * (wd[0] + yz) + az * (wx**2 - wy**2)
    part[2] = ax * (wd[2] + xy) + ay * (wz**2 - wx**2) + az * (wd[0] - yz)
    part[3] = -ax * yz + ay * wd[1] + az * xy
    part[4] = ax * (wy**2 - wz**2) + ay * (wd[2] - xy) + az * (wd[1] + xz)
    part[5] = ax * yz - ay * xz + az * wd[2]
    # (w'^ + w^ w^) MS, and MS x a.
    omega = (
        (-(wy**2) - wz**2, xy - wd[2], xz + wd[1]),
        (xy + wd[2], -(wx**2) - wz**2, yz - wd[0]),
        (xz - wd[1], yz + wd[0], -(wx**2) - wy**2),
    )
    mx, my, mz = moments[:, 0], moments[:, 1], moments[:, 2]
    for column, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        part[6 + column] = mx * omega[0][column] + my * omega[1][column] + mz * omega[2][column]
        # e_i x a = a_j e_k - a_k e_j
        part[6 + column] += axes[:, k] * a[j] - axes[:, j] * a[k]
    part[9] = mx * a[0] + my * a[1] + mz * a[2]


def energy_columns(motion: LinkMotion, gravity: FloatArray, rows: FloatArray) -> None:
    """The row h of a link's energy for its ten parameters, (10, n)."""
    w, v = motion.w, motion.v
    weight = np.einsum("ijn,i->jn", motion.frame, gravity)
    height = np.einsum("in,i->n", motion.origin, gravity)
    for row, (i, j) in enumerate(PLACES):
        rows[row] = w[i] * w[j] * (0.5 if i == j else 1.0)
    rows[6:9] = cross(v, w) - weight
    rows[9] = 0.5 * (v**2).sum(axis=0) - height
