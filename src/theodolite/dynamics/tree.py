"""Torques and energy of a tree of links, linear in the parameters of links and drives.

Motors move joints, perhaps several each (coupled drives) or through loops: the joints follow,
``u' = F q'``, and the motors' torques are ``F'`` times those of the joints, because neither gears
nor closures take or give any power. A drive's own terms act on its motor alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from hashlib import sha256
from typing import Self

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.dynamics.compiled import SLOPES, as_arrays, fill, filling, slopes
from theodolite.dynamics.drives import (
    ROTORS,
    STRIBECK_LEVER,
    STRIBECK_SPEED,
    Axis,
    Drive,
    Drives,
    State,
    drive_energy,
    drive_torque,
    holds,
)
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.link_motion import Link, LinkMotion
from theodolite.dynamics.link_slopes import link_slopes
from theodolite.errors import InputError
from theodolite.kernels import switch

#: Stronger gravity, m/s2, and faster Stribeck and transition speeds, rad/s, are in another unit.
STRONGEST_GRAVITY, FASTEST_STRIBECK = 1e3, 1e3
#: So is a longer presliding distance, rad or m.
LONGEST_PRESLIDING = 1e2
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
        passive: Sequence[str] = (),
        name: str = "tree",
    ) -> None:
        """``motors`` are the suffixes of drive parameters; ``joints`` counts what moves links.

        ``stribeck_speed`` is that of hinges, rad/s; slides have STRIBECK_LEVER times as much, m/s.
        ``passive`` names joints after the motors that may have friction of their own.
        """
        if gravity.shape != (3,) or not np.abs(gravity).max() < STRONGEST_GRAVITY:
            raise InputError(
                f"a gravity of {gravity.tolist()}",
                allowed="three numbers in m/s2, as in 0,0,-9.81",
            )
        _check_speed(stribeck_speed, "Stribeck speed")
        self.name = name
        self.links = tuple(links)
        self.motor_names = tuple(motors)
        self.joints = joints
        self.gravity = gravity
        self.stribeck_speed = stribeck_speed
        #: Motors, and after them passive joints and all else that may have friction.
        self.axes = (*self.motor_names, *passive)
        #: Terms that the machine itself gives to axes beyond the motors.
        self.own_terms: dict[int, tuple[Drive, ...]] = {}
        self.transition_speeds: FloatArray = np.zeros(len(self.axes))
        self.presliding_distances: FloatArray = np.zeros(self.motors)

    def with_shape(
        self,
        transition_speeds: FloatArray | None = None,
        stribeck_speed: float | None = None,
        presliding_distances: FloatArray | None = None,
    ) -> Self:
        """The same with other shapes of friction.

        ``transition_speeds`` of the motors, and perhaps of the passive joints, rad/s or m/s, are
        those over which friction reverses; 0: at once. ``presliding_distances`` of the motors, rad
        or m, are those over which it reverses wherever they stop, which counts more; 0: none.
        """
        changed = copy(self)
        if stribeck_speed is not None:
            _check_speed(stribeck_speed, "Stribeck speed")
            changed.stribeck_speed = stribeck_speed
        if transition_speeds is not None:
            if len(transition_speeds) not in (self.motors, len(self.axes)):
                raise InputError(
                    f"{len(transition_speeds)} transition speeds for {self.motors} motors",
                    allowed="one for each motor, rad/s or m/s",
                )
            for speed in transition_speeds[transition_speeds != 0]:
                _check_speed(float(speed), "transition speed")
            whole = np.zeros(len(self.axes))
            whole[: len(transition_speeds)] = transition_speeds
            changed.transition_speeds = whole
        if presliding_distances is not None:
            if len(presliding_distances) != self.motors:
                raise InputError(
                    f"{len(presliding_distances)} presliding distances for {self.motors} motors",
                    allowed="one for each motor, rad or m",
                )
            for distance in presliding_distances[presliding_distances != 0]:
                if not 0 < distance < LONGEST_PRESLIDING:
                    raise InputError(
                        f"a presliding distance of {distance:g} rad or m",
                        allowed=f"more than 0, less than {LONGEST_PRESLIDING:g}",
                    )
            changed.presliding_distances = np.asarray(presliding_distances, dtype=np.float64)
        return changed

    def without_memory(self) -> Self:
        """The same for motions that are not yet known to follow each other."""
        return self.with_shape(presliding_distances=np.zeros(self.motors))

    @property
    def motors(self) -> int:
        return len(self.motor_names)

    @property
    def slides(self) -> BoolArray:
        """Which motors slide: they move by metres, and their torques are forces, (motors,)."""
        sliding = {link.joint for link in self.links if not link.revolute}
        return np.array([motor in sliding for motor in range(self.motors)])

    @property
    def sliding_axes(self) -> BoolArray:
        """The same of the passive joints too, (axes,)."""
        sliding = {link.joint for link in self.links if not link.revolute}
        passive = [joint in sliding for joint in range(self.motors, len(self.axes))]
        return np.concatenate([self.slides, np.array(passive, dtype=bool)])

    @cached_property
    def speed_levers(self) -> FloatArray:
        """What turns a speed of surfaces into that of each axis: 1, or a lever for slides."""
        return np.where(self.sliding_axes, STRIBECK_LEVER, 1.0)

    def axis(self, state: State, joints: State, number: int) -> Axis:
        """The motion of a motor, or of a passive joint, with the shape of its friction."""
        return Axis.of(
            state if number < self.motors else joints,
            number,
            float(self.transition_speeds[number]),
            self.stribeck_speed * float(self.speed_levers[number]),
            float(self.presliding_distances[number]) if number < self.motors else 0.0,
        )

    def lever(self, joints: State, F: FloatArray | None, number: int) -> FloatArray:
        """How far an axis beyond the motors moves with each of them, (n, motors)."""
        assert F is not None
        return np.asarray(F[:, number])

    def known_torques(self, state: State) -> FloatArray | None:
        """Torques that need no parameters, (motors, n); None where there are none."""
        return None

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
        """Links (by number) with their ten columns and axes with those of their drives, in order.

        An axis comes after the first link of its joint; motors that move no link, such as those
        that change the length of a rod, come last.
        """
        order: list[tuple[int | None, int | None]] = []
        waiting = list(range(len(self.axes)))
        for number, link in enumerate(self.links):
            if link.name is not None:
                order.append((number, None))
            if link.joint in waiting:
                order.append((None, link.joint))
                waiting.remove(link.joint)
        return order + [(None, axis) for axis in waiting]

    def terms(self, drives: Drives, axis: int) -> tuple[Drive, ...]:
        """The terms of an axis: by name, those of all motors, or what the machine says itself."""
        own = self.own_terms.get(axis, ())
        if isinstance(drives, Mapping):
            # A spring stays one, whatever else is said of it.
            springs = [drive for drive in own if drive in (Drive.ELASTIC, Drive.PRELOAD)]
            given = drives.get(self.axes[axis], own)
            return tuple(dict.fromkeys((*springs, *given)))
        return tuple(drives) if axis < self.motors else own

    def check_drives(self, drives: Drives) -> None:
        """Refuse terms of joints that are not there."""
        if not isinstance(drives, Mapping):
            return
        for name, terms in drives.items():
            if name not in self.axes:
                raise InputError(
                    f"'{self.name}' has no joint {name!r} with friction", allowed=list(self.axes)
                )
            if Drive.LOAD in terms and name not in self.motor_names:
                raise InputError(
                    f"'{name}' has friction under load, which is known of motors only",
                    remedy="Leave that term out",
                )

    def _places(self, drives: Drives) -> tuple[dict[int, int], dict[int, int]]:
        """Where the columns of each link, and of each axis' drives, begin."""
        links: dict[int, int] = {}
        axes: dict[int, int] = {}
        first = 0
        for link, axis in self._order:
            if link is not None:
                links[link], first = first, first + len(INERTIAL)
            if axis is not None:
                axes[axis], first = first, first + len(self.terms(drives, axis))
        return links, axes

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

    def columns(self, drives: Drives = ROTORS) -> list[tuple[str, str]]:
        """Symbol and suffix of every column: ``XX 1 ... M 1, Ia 1, XX 2 ...``."""
        columns: list[tuple[str, str]] = []
        for link, axis in self._order:
            if link is not None:
                columns += [(symbol, str(self.links[link].name)) for symbol in INERTIAL]
            if axis is not None:
                columns += [(drive.value, self.axes[axis]) for drive in self.terms(drives, axis)]
        return columns

    def names(self, drives: Drives = ROTORS) -> list[str]:
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

    def speed_limits(self) -> FloatArray | None:
        """Highest speeds of the motors, rad/s or m/s, where they are known, (motors,)."""
        return None

    def effort_limits(self) -> FloatArray | None:
        """Highest torques of the motors, N m or N, where they are known, (motors,)."""
        return None

    def position_range(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest positions between which the motors may move independently."""
        return self.motor_limits()

    def random_positions(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Motor positions to take samples at, (count, motors)."""
        return rng.uniform(-np.pi, np.pi, (count, self.motors))

    def regressor(
        self,
        state: State,
        drives: Drives = ROTORS,
        *,
        values: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """The regressor d of the motors' torques, (columns, motors, n).

        Friction under load takes the load from the ``values`` of all columns, by default from
        bodies like any. ``out`` may hold an earlier table of the same columns; zeros that never
        change are left alone.
        """
        joints, F = self.joint_state(state)
        shape = (len(self.columns(drives)), self.motors, len(state))
        table = np.zeros(shape) if out is None else out
        links, axes = self._places(drives)
        self._fill_links(table, joints, F, links)
        loaded = []
        for number, first in axes.items():
            axis = self.axis(state, joints, number)
            for place, drive in enumerate(self.terms(drives, number), start=first):
                if drive is Drive.LOAD:
                    loaded.append((place, number, axis))
                    continue
                torque = drive_torque(drive, axis)
                if number < self.motors:
                    table[place, number] = torque
                else:
                    table[place] = torque * self.lever(joints, F, number).T
        if loaded:
            loads = self._loads(table, drives, values)
            for place, number, axis in loaded:
                table[place, number] = drive_torque(Drive.LOAD, axis, loads[number])
        return table

    def _fill_links(
        self, table: FloatArray, joints: State, F: FloatArray | None, links: dict[int, int]
    ) -> None:
        """The columns of all links, by the compiled twin where that pays."""
        if table.flags.c_contiguous and switch.pays(filling(self.links, len(joints))):
            every = np.ones(len(table), dtype=bool)
            fill(table, as_arrays(self.links, links, every, self.gravity), joints, F)
            return
        for number, (_, motion, path) in enumerate(self._motions(joints, -self.gravity)):
            if number not in links:
                continue
            part = table[links[number] : links[number] + len(INERTIAL)]
            if F is None and path == list(range(len(path))):
                motion.torques(part[:, : len(path)])
            else:
                self._project(motion, path, F, part)

    def link_slopes(self, state: State, weights: FloatArray, drives: Drives) -> FloatArray:
        """Derivatives of the links' weighted torques by q, q' and q'', (3, n, motors).

        ``weights`` are like the regressor, (columns, motors, n). For direct drives only.
        """
        places, _ = self._places(drives)
        if switch.pays(SLOPES * filling(self.links, len(state))):
            every = np.ones(len(weights), dtype=bool)
            return slopes(as_arrays(self.links, places, every, self.gravity), state, weights)
        ends, own = [], []
        for number, (_, motion, path) in enumerate(self._motions(state, -self.gravity)):
            ends.append(motion.vectors.copy())
            first = places.get(number)
            used = None if first is None else weights[first : first + len(INERTIAL), path]
            own.append(used)
        return link_slopes(self.links, ends, own, state).transpose(0, 2, 1)

    def linearise_load(self, table: FloatArray, drives: Drives, values: FloatArray) -> FloatArray:
        """Turn a regressor at ``values`` into the derivative of the torques there, in place.

        With ``fl s |L(x)|`` the torques are not linear in x. Returns what they differ by from the
        derivative times the values, (motors, n).
        """
        constant = np.zeros(table.shape[1:])
        loads = self._loads(table, drives, values)
        rigid = self._rigid(drives)
        for place, (symbol, suffix) in enumerate(self.columns(drives)):
            if symbol == Drive.LOAD.value:
                motor = self.axes.index(suffix)
                column, load = table[place, motor], loads[motor]
                # s |L| / L is s sign(L).
                turned = np.divide(column, load, out=np.zeros_like(load), where=load != 0)
                table[rigid, motor] *= 1.0 + values[place] * turned
                constant[motor] -= values[place] * column
        return constant

    def _rigid(self, drives: Drives) -> list[int]:
        """Columns of what the gears carry: no friction."""
        return [
            place for place, (symbol, _) in enumerate(self.columns(drives)) if loads_gears(symbol)
        ]

    def _loads(self, table: FloatArray, drives: Drives, values: FloatArray | None) -> FloatArray:
        """What the gears of the motors carry: torques without any friction, (motors, n)."""
        rigid = self._rigid(drives)
        if values is None:
            symbols = [symbol for symbol, _ in self.columns(drives)]
            of_bodies = np.array([_ANY_BODY.get(symbol, 0.0) for symbol in symbols])
        else:
            of_bodies = values
        return np.asarray(np.tensordot(of_bodies[rigid], table[rigid], axes=1))

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

    def energy(self, state: State, drives: Drives = ROTORS) -> FloatArray:
        """The row h of the total energy, (columns, n); friction does not store any."""
        table = np.zeros((len(self.columns(drives)), len(state)))
        joints, _ = self.joint_state(state)
        links, axes = self._places(drives)
        for number, (_, motion, _) in enumerate(self._motions(joints)):
            if number in links:
                motion.energy(self.gravity, table[links[number] : links[number] + len(INERTIAL)])
        for number, first in axes.items():
            axis = self.axis(state, joints, number)
            for place, drive in enumerate(self.terms(drives, number), start=first):
                stored = drive_energy(drive, axis)
                if stored is not None:
                    table[place] = stored
        return table

    def lost_power(self, state: State, drives: Drives) -> FloatArray:
        """Power that is lost in terms that store no energy, (columns, n)."""
        if holds(drives, Drive.LOAD):
            raise InputError(
                "friction under load is identified from torques only",
                remedy="Use the torque model, or leave that term out",
            )
        table = np.zeros((len(self.columns(drives)), len(state)))
        joints, _ = self.joint_state(state)
        for number, first in self._places(drives)[1].items():
            axis = self.axis(state, joints, number)
            for place, drive in enumerate(self.terms(drives, number), start=first):
                if drive_energy(drive, axis) is None:
                    table[place] = drive_torque(drive, axis) * axis.qd
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


#: A body that gives every joint some load, by symbol: enough to tell which columns are independent.
_ANY_BODY = {"M": 1.0, "MX": 0.1, "MY": 0.07, "MZ": 0.05, "XX": 0.1, "YY": 0.12, "ZZ": 0.14}


def loads_gears(symbol: str) -> bool:
    """Is a column part of what gears carry, and not of their friction?"""
    return symbol in INERTIAL or Drive(symbol).rigid


def _check_speed(speed: float, what: str) -> None:
    if not 0 < speed < FASTEST_STRIBECK:
        raise InputError(f"a {what} of {speed:g}", allowed="more than 0 rad/s")
