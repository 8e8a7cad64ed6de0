"""Torques and energy of links that stand on each other, linear in their inertial parameters.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
class Link:
    """From the frame of the link before to the joint, the joint, and on to the link's own frame."""

    #: The link it stands on; -1 for the world.
    parent: int
    rotation: FloatArray
    position: FloatArray
    #: Which joint moves it, in the order of the state's columns.
    joint: int
    revolute: bool
    axis: int
    offset: float
    sign: float
    after_rotation: FloatArray
    after_position: FloatArray
    #: Suffix of its parameters' names; None where it has no mass, as between two joints of a body.
    name: str | None


@dataclass(frozen=True, eq=False)
class State:
    """Joint positions, velocities and accelerations, (n, joints)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


class Tree:
    """The regressors of links that stand on each other, for all samples at once."""

    def __init__(
        self, links: Sequence[Link], joints: Sequence[str], gravity: FloatArray, motors: int
    ) -> None:
        """``joints`` are the suffixes of drive parameters; the first ``motors`` have drives."""
        self.links = tuple(links)
        self.joint_names = tuple(joints)
        self.gravity = gravity
        self.motors = motors

    @property
    def joints(self) -> int:
        return len(self.joint_names)

    @cached_property
    def _driven(self) -> frozenset[int]:
        """Links behind whose columns those of their drive stand: the first of each motor."""
        first: dict[int, int] = {}
        for number, link in enumerate(self.links):
            if link.joint < self.motors:
                first.setdefault(link.joint, number)
        return frozenset(first.values())

    def columns(self, drives: Sequence[Drive] = (Drive.ROTOR,)) -> list[tuple[str, str]]:
        """Symbol and suffix of every column: ``XX 1 ... M 1, Ia 1, XX 2 ...``."""
        found = []
        for number, link in enumerate(self.links):
            if link.name is not None:
                found += [(symbol, link.name) for symbol in INERTIAL]
            if number in self._driven:
                found += [(drive.value, self.joint_names[link.joint]) for drive in drives]
        return found

    def names(self, drives: Sequence[Drive] = (Drive.ROTOR,)) -> list[str]:
        """Names of all columns."""
        return [symbol + suffix for symbol, suffix in self.columns(drives)]

    def regressor(self, state: State, drives: Sequence[Drive] = (Drive.ROTOR,)) -> FloatArray:
        """Of the motors' torques, (columns, motors, n)."""
        return self.torques(state, drives)

    def random_positions(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Joint positions to take samples at, (count, joints)."""
        return rng.uniform(-np.pi, np.pi, (count, self.joints))

    def torques(self, state: State, drives: Sequence[Drive] = (Drive.ROTOR,)) -> FloatArray:
        """The regressor d, (columns, joints, n): torque = sum of parameters times columns."""
        n = len(state.q)
        table = np.zeros((len(self.columns(drives)), self.joints, n))
        first = 0
        for number, (link, motion, path) in enumerate(self._motions(state, -self.gravity)):
            if link.name is not None:
                self._body(motion, path, table[first : first + 10])
                first += 10
            if number in self._driven:
                for drive in drives:
                    table[first, link.joint] = _drive(drive, state, link.joint)
                    first += 1
        return table

    @staticmethod
    def _body(motion: _Motion, path: list[int], part: FloatArray) -> None:
        """Columns of one body's ten parameters, (10, joints, n)."""
        if path == list(range(len(path))):
            _link_columns(motion, len(path), part[:, : len(path)])
            return
        torques = np.zeros((10, len(path), part.shape[2]))
        _link_columns(motion, len(path), torques)
        # A joint may move several links of a path, each with its own screw.
        for place, joint in enumerate(path):
            part[:, joint] += torques[:, place]

    def energy(self, state: State, drives: Sequence[Drive] = (Drive.ROTOR,)) -> FloatArray:
        """The row h of the total energy, (columns, n); friction does not store any."""
        table = np.zeros((len(self.columns(drives)), len(state.q)))
        first = 0
        for number, (link, motion, _) in enumerate(self._motions(state, np.zeros(3))):
            if link.name is not None:
                self._body_energy(motion, table[first : first + 10])
                first += 10
            if number in self._driven:
                for drive in drives:
                    if drive is Drive.ROTOR:
                        table[first] = 0.5 * state.qd[:, link.joint] ** 2
                    if drive is Drive.SPRING:
                        table[first] = 0.5 * state.q[:, link.joint] ** 2
                    first += 1
        return table

    def _body_energy(self, motion: _Motion, rows: FloatArray) -> None:
        w, v = motion.w, motion.v
        weight = np.einsum("ijn,i->jn", motion.frame, self.gravity)
        height = np.einsum("in,i->n", motion.origin, self.gravity)
        squares = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        for row, (i, j) in enumerate(squares):
            rows[row] = w[i] * w[j] * (0.5 if i == j else 1.0)
        rows[6:9] = _cross(v, w) - weight
        rows[9] = 0.5 * (v**2).sum(axis=0) - height

    def _motions(
        self, state: State, acceleration: FloatArray
    ) -> Iterator[tuple[Link, _Motion, list[int]]]:
        """Each link's motion, and the joints that move it, from the world outwards."""
        size, n = len(self.links), len(state.q)
        branched = {
            link.parent for number, link in enumerate(self.links) if link.parent < number - 1
        }
        kept: dict[int, tuple[_Motion, list[int]]] = {}
        last = -1
        motion = _Motion.at_rest(size, n, acceleration)
        path: list[int] = []
        for number, link in enumerate(self.links):
            if link.parent != last:
                if link.parent == -1:
                    motion, path = _Motion.at_rest(size, n, acceleration), []
                else:
                    before, way = kept[link.parent]
                    motion, path = before.copy(), list(way)
            columns = (part[:, link.joint] for part in _parts(state))
            motion.advance(link, len(path), *columns)
            path = [*path, link.joint]
            if number in branched:
                kept[number] = (motion.copy(), path)
            last = number
            yield link, motion, path


class Dynamics(Tree):
    """The regressors of a serial robot."""

    def __init__(self, robot: Robot, *, gravity: FloatArray | None = None) -> None:
        """``gravity`` in the world; without it, the robot stands upright on its first axis."""
        self.robot = robot
        links = tuple(_serial_links(robot))
        if gravity is None:
            gravity = -GRAVITY * links[0].rotation[:, links[0].axis]
        names = [str(link.name) for link in links]
        super().__init__(links, names, gravity, len(links))


def _serial_links(robot: Robot) -> Iterator[Link]:
    skeleton = robot.chains[0].skeleton(robot.values)
    before_rotation: FloatArray = np.eye(3)
    before_position: FloatArray = np.zeros(3)
    for number, row in enumerate(robot.joint_rows):
        rotation, position = skeleton.links[number]
        revolute, axis = skeleton.joints[number]
        after_rotation, after_position = _after(robot, row)
        # The chain's link starts at the joint before; ours at the frame of the link before.
        yield Link(
            number - 1,
            before_rotation.T @ rotation,
            before_rotation.T @ (position - before_position),
            number,
            bool(revolute),
            axis,
            float(skeleton.offsets[number]),
            _sign(robot, row),
            after_rotation,
            after_position,
            str(robot.joint_rows[0] + robot.first_number + number),
        )
        before_rotation, before_position = after_rotation, after_position


def _after(robot: Robot, row: int) -> tuple[FloatArray, FloatArray]:
    """What stands in a row after its joint: the way to the link's own frame."""
    elements = robot.elements(row)
    place = next(index for index, element in enumerate(elements) if element.varies)
    rest = Chain(elements[place + 1 :], parameters=len(robot.parameters), basis=1 + robot.joints)
    motion = rest.motion(robot.values, robot.basis(np.zeros((1, robot.joints))))
    return motion.rotation[0], motion.position[0]


def _sign(robot: Robot, row: int) -> float:
    element = next(element for element in robot.elements(row) if element.varies)
    return float(np.sign(next(t.coefficient for t in element.terms if t.basis != 0)))


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

    def copy(self) -> _Motion:
        """The same for another branch; only the screws are written in place."""
        return replace(self, axes=self.axes.copy(), moments=self.moments.copy())

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
