"""Torques and energy of a tree of links, linear in the parameters of links and drives.

Motors move joints, perhaps several each (coupled drives) or through loops: the joints follow,
``u' = F q'``, and the motors' torques are ``F'`` times those of the joints, because neither gears
nor closures take or give any power. A drive's own terms act on its motor alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.dynamics.drives import (
    ROTORS,
    STRIBECK_LEVER,
    STRIBECK_SPEED,
    Drive,
    State,
    drive_energy,
    drive_torque,
)
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.link_motion import Link, LinkMotion
from theodolite.errors import InputError

#: Stronger gravity, m/s2, and faster Stribeck speeds, rad/s, are in another unit.
STRONGEST_GRAVITY, FASTEST_STRIBECK = 1e3, 1e3
#: Decimals to which frames are the same: of rotations, and of lengths in the unit of the robot's
#: size, which is millimetres, metres or kilometres: the power of ten is a multiple of this.
FRAME_DIGITS, UNIT_STEP = 6, 3


class Tree:
    """The regressors of a tree of links, for all samples at once."""

    def __init__(
        self,
        links: Sequence[Link],
        motors: Sequence[str],
        joints: int,
        gravity: FloatArray,
        *,
        stribeck_speed: float = STRIBECK_SPEED,
        name: str = "tree",
    ) -> None:
        """``motors`` are the suffixes of drive parameters; ``joints`` counts what moves links.

        ``stribeck_speed`` is that of hinges, rad/s; slides have STRIBECK_LEVER times as much, m/s.
        """
        if gravity.shape != (3,) or not np.abs(gravity).max() < STRONGEST_GRAVITY:
            raise InputError(
                f"a gravity of {gravity.tolist()}",
                allowed="three numbers in m/s2, as in 0,0,-9.81",
            )
        if not 0 < stribeck_speed < FASTEST_STRIBECK:
            raise InputError(f"a Stribeck speed of {stribeck_speed:g}", allowed="more than 0 rad/s")
        self.name = name
        self.links = tuple(links)
        self.motor_names = tuple(motors)
        self.joints = joints
        self.gravity = gravity
        self.stribeck_speed = stribeck_speed

    @property
    def motors(self) -> int:
        return len(self.motor_names)

    @property
    def slides(self) -> BoolArray:
        """Which motors slide: they move by metres, and their torques are forces, (motors,)."""
        sliding = {link.joint for link in self.links if not link.revolute}
        return np.array([motor in sliding for motor in range(self.motors)])

    @property
    def stribeck_speeds(self) -> FloatArray:
        """Of each motor, rad/s or, of slides, m/s, (motors,)."""
        return self.stribeck_speed * np.where(self.slides, STRIBECK_LEVER, 1.0)

    @property
    def reach(self) -> float:
        """How far the tip gets, with all strokes, m; 1 where nothing is known."""
        return 1.0

    @cached_property
    def length(self) -> float:
        """How far the links reach beyond the first joint, m; 1 where they have no length."""
        ends: list[float] = []
        for link in self.links:
            own = float(np.linalg.norm(link.after_position))
            if link.parent >= 0:
                own += ends[link.parent] + float(np.linalg.norm(link.position))
            ends.append(own)
        return max(ends, default=0.0) or 1.0

    @cached_property
    def _order(self) -> list[tuple[int | None, int | None]]:
        """Links (by number) with their ten columns and motors with those of their drives, in order.

        A motor comes after the first link of its joint; motors that move no link, such as those
        that change the length of a rod, come last.
        """
        order: list[tuple[int | None, int | None]] = []
        waiting = list(range(self.motors))
        for number, link in enumerate(self.links):
            if link.name is not None:
                order.append((number, None))
            if link.joint in waiting:
                order.append((None, link.joint))
                waiting.remove(link.joint)
        return order + [(None, motor) for motor in waiting]

    def _places(self, drives: Sequence[Drive]) -> tuple[dict[int, int], dict[int, int]]:
        """Where the columns of each link, and of each motor's drives, begin."""
        links: dict[int, int] = {}
        motors: dict[int, int] = {}
        first = 0
        for link, motor in self._order:
            if link is not None:
                links[link], first = first, first + len(INERTIAL)
            if motor is not None:
                motors[motor], first = first, first + len(drives)
        return links, motors

    @cached_property
    def frames(self) -> str:
        """A hash of all links' frames: parameters mean the same only in the same frames."""
        content = sha256()
        of_lengths = FRAME_DIGITS - UNIT_STEP * round(np.log10(self.length) / UNIT_STEP)
        for link in self.links:
            rounded = np.concatenate(
                [
                    np.round(np.ravel(link.rotation), FRAME_DIGITS),
                    np.round(link.position, of_lengths),
                    np.round(np.ravel(link.after_rotation), FRAME_DIGITS),
                    np.round(link.after_position, of_lengths),
                    [np.round(link.offset, FRAME_DIGITS if link.revolute else of_lengths)],
                    np.round([link.sign, link.axis, link.joint, link.parent], FRAME_DIGITS),
                ]
            )
            # Adding zero makes -0.0 the same as 0.0.
            content.update((rounded + 0.0).tobytes() + str(link.name).encode())
        return content.hexdigest()[:16]

    def columns(self, drives: Sequence[Drive] = ROTORS) -> list[tuple[str, str]]:
        """Symbol and suffix of every column: ``XX 1 ... M 1, Ia 1, XX 2 ...``."""
        columns: list[tuple[str, str]] = []
        for link, motor in self._order:
            if link is not None:
                columns += [(symbol, str(self.links[link].name)) for symbol in INERTIAL]
            if motor is not None:
                columns += [(drive.value, self.motor_names[motor]) for drive in drives]
        return columns

    def names(self, drives: Sequence[Drive] = ROTORS) -> list[str]:
        """Names of all columns."""
        return [symbol + suffix for symbol, suffix in self.columns(drives)]

    @property
    def direct_drives(self) -> bool:
        """Does every motor move one joint of its own?"""
        return True

    def joint_state(self, state: State) -> tuple[State, FloatArray | None]:
        """The joints' state from the motors', and their derivative F, (n, joints, motors).

        None where the joints are the motors.
        """
        return state, None

    def assemble(self, state: State) -> State:
        """The same state, prepared so that nearby ones find their joints quickly."""
        return state

    def motor_limits(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest position of each motor; half a turn where nothing else is known."""
        return np.full(self.motors, -np.pi), np.full(self.motors, np.pi)

    def position_range(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest positions between which the motors may move independently."""
        return self.motor_limits()

    def random_positions(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Motor positions to take samples at, (count, motors)."""
        return rng.uniform(-np.pi, np.pi, (count, self.motors))

    def regressor(
        self, state: State, drives: Sequence[Drive] = ROTORS, *, out: FloatArray | None = None
    ) -> FloatArray:
        """The regressor d of the motors' torques, (columns, motors, n).

        ``out`` may hold an earlier one of the same columns; zeros that never change are left alone.
        """
        joints, F = self.joint_state(state)
        shape = (len(self.columns(drives)), self.motors, len(state))
        table = np.zeros(shape) if out is None else out
        links, motors = self._places(drives)
        for number, (_, motion, path) in enumerate(self._motions(joints, -self.gravity)):
            if number not in links:
                continue
            part = table[links[number] : links[number] + len(INERTIAL)]
            if F is None and path == list(range(len(path))):
                motion.torques(part[:, : len(path)])
            else:
                self._project(motion, path, F, part)
        speeds = self.stribeck_speeds
        for motor, first in motors.items():
            for place, drive in enumerate(drives, start=first):
                table[place, motor] = drive_torque(drive, state, motor, float(speeds[motor]))
        return table

    def _project(
        self, motion: LinkMotion, path: list[int], F: FloatArray | None, part: FloatArray
    ) -> None:
        """Columns of a body whose path is not simply the first joints, or whose joints follow."""
        own = np.zeros((10, len(path), part.shape[2]))
        motion.torques(own)
        torques = np.zeros((10, self.joints, part.shape[2]))
        # A joint may move several links of a path, each with its own screw.
        for place, joint in enumerate(path):
            torques[:, joint] += own[:, place]
        part[:] = torques if F is None else np.einsum("cjn,njm->cmn", torques, F)

    def energy(self, state: State, drives: Sequence[Drive] = ROTORS) -> FloatArray:
        """The row h of the total energy, (columns, n); friction does not store any."""
        table = np.zeros((len(self.columns(drives)), len(state)))
        joints, _ = self.joint_state(state)
        links, motors = self._places(drives)
        for number, (_, motion, _) in enumerate(self._motions(joints)):
            if number in links:
                motion.energy(self.gravity, table[links[number] : links[number] + len(INERTIAL)])
        for motor, first in motors.items():
            for place, drive in enumerate(drives, start=first):
                stored = drive_energy(drive, state, motor)
                if stored is not None:
                    table[place] = stored
        return table

    def origins(self, state: State) -> list[FloatArray]:
        """Origins of the links' frames in the world, (n, 3) each."""
        joints, _ = self.joint_state(state)
        return [motion.origin.T.copy() for _, motion, _ in self._motions(joints)]

    def _motions(
        self, state: State, acceleration: FloatArray | None = None
    ) -> Iterator[tuple[Link, LinkMotion, list[int]]]:
        """Each link's motion, and the joints that move it, from the world outwards.

        With the acceleration of the world for torques; without it, with poses and velocities for
        energies.
        """
        branched = {
            link.parent for number, link in enumerate(self.links) if link.parent < number - 1
        }
        saved: dict[int, tuple[LinkMotion, list[int]]] = {}

        def at_rest() -> LinkMotion:
            start = np.zeros(3) if acceleration is None else acceleration
            return LinkMotion(len(self.links), len(state), start, poses=acceleration is None)

        last, motion, path = -1, at_rest(), list[int]()
        for number, link in enumerate(self.links):
            if link.parent != last:
                if link.parent == -1:
                    motion, path = at_rest(), []
                else:
                    parent, parent_path = saved[link.parent]
                    motion, path = parent.copy(), list(parent_path)
            motion.advance(link, *(part[:, link.joint] for part in (state.q, state.qd, state.qdd)))
            path = [*path, link.joint]
            if number in branched:
                saved[number] = (motion.copy(), path)
            last = number
            yield link, motion, path
