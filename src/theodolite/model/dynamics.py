"""Torques and energy of a serial robot, linear in its inertial parameters, for all samples at once.

Link j has ten parameters in its own frame, inertias about the frame's origin [Gautier1991, eq. 3]:

    XX XY XZ YY YZ ZZ   MX MY MZ   M

With the velocity w, acceleration w', and acceleration a of the origin (less gravity), all in the
link's frame, its force and moment are linear in them,

    f = (w'^ + w^ w^) MS + a M,      n = J w' + w x J w + MS x a

and the torque of joint i is the product with the screw of that joint in the link's frame. Screws
and velocities are carried outwards link by link; the sample axis is last, so that NumPy runs along
it.
Rotor inertia, friction and springs add a column each to the torque of their own joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.model.chain import Chain
from theodolite.model.robot import Robot

#: Names of a link's inertial parameters, in order.
INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
GRAVITY = 9.81


class Drive(Enum):
    """What a drive adds to the torque of its joint, and the parameter's name."""

    ROTOR = "Ia"
    VISCOUS = "fv"
    COULOMB = "fc"
    OFFSET = "off"
    SPRING = "k"


@dataclass(frozen=True)
class _Link:
    """From the frame of the link before to the joint, the joint, and on to the link's own frame."""

    rotation: FloatArray
    position: FloatArray
    revolute: bool
    axis: int
    offset: float
    sign: float
    after_rotation: FloatArray
    after_position: FloatArray


@dataclass(frozen=True, eq=False)
class State:
    """Joint positions, velocities and accelerations, (n, joints)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


class Dynamics:
    """The regressors of a serial robot."""

    def __init__(self, robot: Robot, *, gravity: FloatArray | None = None) -> None:
        """``gravity`` in the world; without it, the robot stands upright on its first axis."""
        self.robot = robot
        self._gravity = gravity

    @cached_property
    def links(self) -> tuple[_Link, ...]:
        chain = self.robot.chains[0]
        skeleton = chain.skeleton(self.robot.values)
        links = []
        before_rotation: FloatArray = np.eye(3)
        before_position: FloatArray = np.zeros(3)
        for number, row in enumerate(self.robot.joint_rows):
            rotation, position = skeleton.links[number]
            revolute, axis = skeleton.joints[number]
            after_rotation, after_position = self._after(row)
            # The chain's link starts at the joint before; ours at the frame of the link before.
            links.append(
                _Link(
                    before_rotation.T @ rotation,
                    before_rotation.T @ (position - before_position),
                    bool(revolute),
                    axis,
                    float(skeleton.offsets[number]),
                    self._sign(row),
                    after_rotation,
                    after_position,
                )
            )
            before_rotation, before_position = after_rotation, after_position
        return tuple(links)

    def _after(self, row: int) -> tuple[FloatArray, FloatArray]:
        """What stands in a row after its joint: the way to the link's own frame."""
        elements = self.robot._elements(row)
        place = next(index for index, element in enumerate(elements) if element.varies)
        size = {"parameters": len(self.robot.parameters), "basis": 1 + self.robot.joints}
        rest = Chain(elements[place + 1 :], **size)
        motion = rest.motion(self.robot.values, self.robot.basis(np.zeros((1, self.robot.joints))))
        return motion.rotation[0], motion.position[0]

    def _sign(self, row: int) -> float:
        element = next(element for element in self.robot._elements(row) if element.varies)
        return float(np.sign(next(t.coefficient for t in element.terms if t.basis != 0)))

    @property
    def joints(self) -> int:
        return self.robot.joints

    @cached_property
    def gravity(self) -> FloatArray:
        """Gravity in the world."""
        if self._gravity is not None:
            return self._gravity
        first = self.links[0]
        return -GRAVITY * first.rotation[:, first.axis]

    def names(self, drives: Sequence[Drive] = (Drive.ROTOR,)) -> list[str]:
        """Names of all columns, link by link: ``XX1 ... M1 Ia1 XX2 ...``."""
        first = self.robot.joint_rows[0] + self.robot.first_number
        return [
            f"{symbol}{number}"
            for number in range(first, first + self.joints)
            for symbol in (*INERTIAL, *(drive.value for drive in drives))
        ]

    def torques(self, state: State, drives: Sequence[Drive] = (Drive.ROTOR,)) -> FloatArray:
        """The regressor d, (columns, joints, n): torque = sum of parameters times columns."""
        n = len(state.q)
        each = len(INERTIAL) + len(drives)
        table = np.zeros((self.joints * each, self.joints, n))
        motion = _Motion.at_rest(self.joints, n, -self.gravity)
        for number, link in enumerate(self.links):
            motion.advance(link, number, *(part[:, number] for part in _parts(state)))
            part = table[number * each : number * each + 10, : number + 1]
            _link_columns(motion, number + 1, part)
            for extra, drive in enumerate(drives):
                table[number * each + 10 + extra, number] = _drive(drive, state, number)
        return table

    def energy(self, state: State, drives: Sequence[Drive] = (Drive.ROTOR,)) -> FloatArray:
        """The row h of the total energy, (columns, n); friction does not store any."""
        n = len(state.q)
        each = len(INERTIAL) + len(drives)
        table = np.zeros((self.joints * each, n))
        motion = _Motion.at_rest(self.joints, n, np.zeros(3))
        for number, link in enumerate(self.links):
            motion.advance(link, number, *(part[:, number] for part in _parts(state)))
            w, v = motion.w, motion.v
            weight = np.einsum("ijn,i->jn", motion.frame, self.gravity)
            height = np.einsum("in,i->n", motion.origin, self.gravity)
            rows = table[number * each :]
            squares = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
            for row, (i, j) in enumerate(squares):
                rows[row] = w[i] * w[j] * (0.5 if i == j else 1.0)
            rows[6:9] = _cross(v, w) - weight
            rows[9] = 0.5 * (v**2).sum(axis=0) - height
            for extra, drive in enumerate(drives):
                if drive is Drive.ROTOR:
                    rows[10 + extra] = 0.5 * state.qd[:, number] ** 2
                if drive is Drive.SPRING:
                    rows[10 + extra] = 0.5 * state.q[:, number] ** 2
        return table


def _parts(state: State) -> tuple[FloatArray, FloatArray, FloatArray]:
    return state.q, state.qd, state.qdd


def _drive(drive: Drive, state: State, joint: int) -> FloatArray:
    q, qd, qdd = (part[:, joint] for part in _parts(state))
    if drive is Drive.ROTOR:
        return qdd
    if drive is Drive.VISCOUS:
        return qd
    if drive is Drive.COULOMB:
        return np.sign(qd)
    return q if drive is Drive.SPRING else np.ones_like(q)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross products of vectors (3, n)."""
    return np.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


@dataclass(eq=False)
class _Motion:
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

    @staticmethod
    def at_rest(joints: int, n: int, acceleration: FloatArray) -> _Motion:
        zero = np.zeros((3, n))
        return _Motion(
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
        self, link: _Link, number: int, q: FloatArray, qd: FloatArray, qdd: FloatArray
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
            self.a = self.a + 2 * _cross(self.w, speed)
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
        wp = _cross(self.w, np.broadcast_to(p, self.w.shape))
        self.a = self.a + _cross(self.wd, np.broadcast_to(p, self.w.shape)) + _cross(self.w, wp)
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


def _link_columns(motion: _Motion, joints: int, part: FloatArray) -> None:
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
