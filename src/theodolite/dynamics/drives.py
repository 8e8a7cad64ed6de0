"""What a drive or a joint's friction adds to the torque, each linear in its own coefficient.

Some terms have a shape besides their coefficient: the speed or the distance over which friction
reverses, and the speed at which the Stribeck term has fallen. These are given, or searched for one
at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.presliding import bent
from theodolite.errors import InputError

#: Speed of a hinge at which the Stribeck term has fallen to 1/e, unless another is given, rad/s. A
#: guess: the term is linear only for a given speed.
STRIBECK_SPEED = 0.1
#: A slide has the speed that the surfaces of a hinge have this far from its axis, m: 10 mm/s by
#: default. What counts is how fast surfaces pass each other, whatever the size of the robot.
STRIBECK_LEVER = 0.1

#: Degrees C at which friction by temperature adds nothing.
USUAL_TEMPERATURE = 20.0


class Drive(Enum):
    """The parameter of a term, by its symbol; s is the direction of motion, -1 to 1."""

    #: Inertia of the rotor, referred to the joint: Ia q''.
    ROTOR = "Ia"
    #: fv q'.
    VISCOUS = "fv"
    #: fc s.
    COULOMB = "fc"
    #: A constant; with fc also Coulomb friction that differs with the direction.
    OFFSET = "off"
    #: fl s |load|: Coulomb friction that grows with the torque that the gear carries.
    LOAD = "fl"
    #: fva |q'|: viscous friction that differs with the direction.
    ASYMMETRIC = "fva"
    #: fq q' |q'|: friction that grows faster than the speed; below zero, slower.
    QUADRATIC = "fq"
    #: fs s exp(-|q'| / v): the additional friction at low speed; below zero, less of it.
    STRIBECK = "fs"
    #: ft (T - 20 C) q': viscous friction by temperature; below zero, it falls as oil gets warm.
    TEMPERATURE = "ft"
    #: rs sin q and rc cos q: torque that comes back with every turn.
    RIPPLE_SIN = "rs"
    RIPPLE_COS = "rc"
    #: k q, and with further powers any smooth torque of the position: k2 q^2, k3 q^3.
    SPRING = "k"
    SQUARE = "k2"
    CUBE = "k3"
    #: Of a spring between two bodies, s longer than it is by itself: ks s; and its force at s = 0.
    ELASTIC = "ks"
    PRELOAD = "fp"

    @property
    def never_negative(self) -> bool:
        """A rotor's inertia, and friction that only takes energy."""
        friction = (Drive.VISCOUS, Drive.COULOMB, Drive.LOAD)
        return self in (Drive.ROTOR, *friction, Drive.ELASTIC)

    @property
    def rigid(self) -> bool:
        """Part of the load that the gears carry, not of its friction."""
        return self is Drive.ROTOR or self.elastic

    @property
    def elastic(self) -> bool:
        """A spring: it gives back what it takes."""
        springs = (Drive.SPRING, Drive.SQUARE, Drive.CUBE)
        return self in (*springs, Drive.ELASTIC, Drive.PRELOAD)


#: Terms of one kind for all motors, or for single motors and passive joints by name.
Drives = Sequence[Drive] | Mapping[str, Sequence[Drive]]

#: The drives of a robot without friction, and the usual friction.
ROTORS = (Drive.ROTOR,)
FRICTION = (Drive.ROTOR, Drive.VISCOUS, Drive.COULOMB, Drive.OFFSET)

#: Friction by the names that people choose it by.
FRICTION_NAMES: dict[str, tuple[Drive, ...]] = {
    "viscous": (Drive.VISCOUS,),
    "coulomb": (Drive.COULOMB,),
    "offset": (Drive.OFFSET,),
    "load": (Drive.LOAD,),
    "asymmetric": (Drive.ASYMMETRIC,),
    "quadratic": (Drive.QUADRATIC,),
    "stribeck": (Drive.STRIBECK,),
    "temperature": (Drive.TEMPERATURE,),
    "ripple": (Drive.RIPPLE_SIN, Drive.RIPPLE_COS),
    "spring": (Drive.SPRING,),
    "curve": (Drive.SPRING, Drive.SQUARE, Drive.CUBE),
}
#: What a shaft may carry besides.
SHAFT_NAMES = FRICTION_NAMES | {"rotor": (Drive.ROTOR,)}


def holds(drives: Drives, drive: Drive) -> bool:
    """Is a term among them, of any joint?"""
    if isinstance(drives, Mapping):
        return any(drive in terms for terms in drives.values())
    return drive in drives


@dataclass(frozen=True, eq=False)
class State:
    """Positions, velocities and accelerations of the motors, (n, motors)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    #: Temperatures of the joints, degrees C, (n, motors), where they were recorded.
    temperatures: FloatArray | None = None
    #: Positions up to the last sample, (m, motors), where these samples were not the first ones.
    history: FloatArray | None = None

    def __getitem__(self, rows: slice) -> State:
        warmth = None if self.temperatures is None else self.temperatures[rows]
        return State(self.q[rows], self.qd[rows], self.qdd[rows], warmth, self._history(rows))

    def _history(self, rows: slice) -> FloatArray | None:
        """The same memory, up to the last of some samples; none where samples are left out."""
        start, stop, step = rows.indices(len(self))
        if step != 1:
            return None
        whole = self.q if self.history is None else self.history
        return whole[: len(whole) - len(self) + max(start, stop)]

    def __len__(self) -> int:
        return len(self.qd)

    @staticmethod
    def concatenate(states: Sequence[State]) -> State:
        """Several states, one after the other."""
        warmth = [state.temperatures for state in states if state.temperatures is not None]
        return State(
            np.concatenate([state.q for state in states]),
            np.concatenate([state.qd for state in states]),
            np.concatenate([state.qdd for state in states]),
            np.concatenate(warmth) if len(warmth) == len(states) else None,
        )


@dataclass(frozen=True, eq=False)
class Axis:
    """The motion of one motor or joint, (n,) each, and the shape of its friction."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    #: Speed over which friction reverses, rad/s or m/s; 0: at once.
    transition: float = 0.0
    #: Speed at which the Stribeck term has fallen to 1/e, rad/s or m/s.
    stribeck: float = STRIBECK_SPEED
    #: Degrees C, (n,), where it was recorded.
    temperature: FloatArray | None = None
    #: Distance over which friction reverses, rad or m, wherever the joint stops; 0: none.
    presliding: float = 0.0
    #: Positions up to the last sample, (m,).
    history: FloatArray | None = None

    @property
    def warmth(self) -> FloatArray:
        """How much warmer than usual it is, K."""
        if self.temperature is None:
            raise InputError(
                "friction by temperature needs the temperatures of the joints",
                remedy="Record them, or leave that term out",
            )
        return self.temperature - USUAL_TEMPERATURE

    @staticmethod
    def of(
        state: State, number: int, transition: float, stribeck: float, presliding: float
    ) -> Axis:
        """One column of a state."""
        q, qd, qdd = (part[:, number] for part in (state.q, state.qd, state.qdd))
        warmth = None if state.temperatures is None else state.temperatures[:, number]
        past = None if state.history is None else state.history[:, number]
        return Axis(q, qd, qdd, transition, stribeck, warmth, presliding, past)

    @cached_property
    def direction(self) -> FloatArray:
        """The direction of motion, -1 to 1."""
        if self.presliding:
            past = self.q if self.history is None else self.history
            return bent(past, len(self.q), self.presliding)
        return np.tanh(self.qd / self.transition) if self.transition else np.sign(self.qd)

    @property
    def turning(self) -> FloatArray:
        """How the direction changes with the speed; where it jumps, that is left out."""
        if self.presliding or not self.transition:
            return np.zeros_like(self.qd)
        return (1.0 - self.direction**2) / self.transition

    @property
    def slowness(self) -> FloatArray:
        """1 at rest, 1/e at the Stribeck speed."""
        return np.exp(-np.abs(self.qd) / self.stribeck)


def drive_torque(drive: Drive, axis: Axis, load: FloatArray | None = None) -> FloatArray:
    """The torque of a unit coefficient, (n,); friction under load needs the load."""
    if drive is Drive.ROTOR:
        return axis.qdd
    if drive is Drive.VISCOUS:
        return axis.qd
    if drive is Drive.COULOMB:
        return axis.direction
    if drive is Drive.LOAD:
        assert load is not None
        return axis.direction * np.abs(load)
    if drive in _BY_SPEED:
        return _BY_SPEED[drive](axis)
    return _BY_POSITION[drive](axis)


_BY_SPEED = {
    Drive.ASYMMETRIC: lambda axis: np.abs(axis.qd),
    Drive.QUADRATIC: lambda axis: axis.qd * np.abs(axis.qd),
    Drive.STRIBECK: lambda axis: axis.direction * axis.slowness,
    Drive.TEMPERATURE: lambda axis: axis.warmth * axis.qd,
}
_BY_POSITION = {
    Drive.OFFSET: lambda axis: np.ones_like(axis.q),
    Drive.RIPPLE_SIN: lambda axis: np.sin(axis.q),
    Drive.RIPPLE_COS: lambda axis: np.cos(axis.q),
    Drive.SPRING: lambda axis: axis.q,
    Drive.SQUARE: lambda axis: axis.q**2,
    Drive.CUBE: lambda axis: axis.q**3,
    Drive.ELASTIC: lambda axis: axis.q,
    Drive.PRELOAD: lambda axis: np.ones_like(axis.q),
}


def drive_slopes(drive: Drive, axis: Axis) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derivatives of that torque by position, velocity and acceleration, (n,) each.

    Friction under load depends on the motion of all joints: it has none here.
    """
    zero, one = np.zeros_like(axis.qd), np.ones_like(axis.qd)
    by_position = {
        Drive.RIPPLE_SIN: np.cos(axis.q),
        Drive.RIPPLE_COS: -np.sin(axis.q),
        Drive.SPRING: one,
        Drive.SQUARE: 2.0 * axis.q,
        Drive.CUBE: 3.0 * axis.q**2,
        Drive.ELASTIC: one,
    }
    falling = axis.turning - np.sign(axis.qd) * axis.direction / axis.stribeck
    by_velocity = {
        Drive.VISCOUS: one,
        Drive.COULOMB: axis.turning,
        Drive.ASYMMETRIC: np.sign(axis.qd),
        Drive.QUADRATIC: 2.0 * np.abs(axis.qd),
        Drive.STRIBECK: axis.slowness * falling,
    }
    if drive is Drive.TEMPERATURE:
        by_velocity[drive] = axis.warmth
    return (
        by_position.get(drive, zero),
        by_velocity.get(drive, zero),
        one if drive is Drive.ROTOR else zero,
    )


def drive_energy(drive: Drive, axis: Axis) -> FloatArray | None:
    """The energy that a unit coefficient stores, (n,); None where it stores none."""
    if drive is Drive.ROTOR:
        return 0.5 * axis.qd**2
    power = {Drive.PRELOAD: 1, Drive.SPRING: 2, Drive.ELASTIC: 2, Drive.SQUARE: 3, Drive.CUBE: 4}
    return axis.q ** power[drive] / power[drive] if drive.elastic else None
