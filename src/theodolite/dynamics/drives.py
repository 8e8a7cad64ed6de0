"""What a drive adds to the torque of its motor, each linear in its own coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray

#: Speed of a hinge at which the Stribeck term has fallen to 1/e, unless another is given, rad/s. A
#: guess: the term is linear only for a given speed.
STRIBECK_SPEED = 0.1
#: A slide has the speed that the surfaces of a hinge have this far from its axis, m: 10 mm/s by
#: default. What counts is how fast surfaces pass each other, whatever the size of the robot.
STRIBECK_LEVER = 0.1


class Drive(Enum):
    """The parameter of a term, by its symbol."""

    #: Inertia of the rotor, referred to the joint: Ia q''.
    ROTOR = "Ia"
    #: fv q'.
    VISCOUS = "fv"
    #: fc sign q'.
    COULOMB = "fc"
    #: A constant; with fc also Coulomb friction that differs with the direction.
    OFFSET = "off"
    #: fva |q'|: viscous friction that differs with the direction.
    ASYMMETRIC = "fva"
    #: fs sign q' exp(-|q'| / v): the additional friction at low speed.
    STRIBECK = "fs"
    #: k q.
    SPRING = "k"

    @property
    def never_negative(self) -> bool:
        """A rotor's inertia, and friction that only takes energy."""
        return self in (Drive.ROTOR, Drive.VISCOUS, Drive.COULOMB)


#: The drives of a robot without friction, and the friction that is identified by default.
ROTORS = (Drive.ROTOR,)
FRICTION = (Drive.ROTOR, Drive.VISCOUS, Drive.COULOMB, Drive.OFFSET)


@dataclass(frozen=True, eq=False)
class State:
    """Positions, velocities and accelerations of the motors, (n, motors)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray

    def __getitem__(self, rows: slice) -> State:
        return State(self.q[rows], self.qd[rows], self.qdd[rows])

    def __len__(self) -> int:
        return len(self.qd)

    @staticmethod
    def concatenate(states: Sequence[State]) -> State:
        """Several states, one after the other."""
        return State(
            np.concatenate([state.q for state in states]),
            np.concatenate([state.qd for state in states]),
            np.concatenate([state.qdd for state in states]),
        )


def drive_torque(drive: Drive, state: State, motor: int, stribeck_speed: float) -> FloatArray:
    """The torque of a unit coefficient, (n,)."""
    q, qd, qdd = (part[:, motor] for part in (state.q, state.qd, state.qdd))
    if drive is Drive.ROTOR:
        return qdd
    if drive is Drive.VISCOUS:
        return qd
    if drive is Drive.COULOMB:
        return np.sign(qd)
    if drive is Drive.ASYMMETRIC:
        return np.abs(qd)
    if drive is Drive.STRIBECK:
        return np.sign(qd) * np.exp(-np.abs(qd) / stribeck_speed)
    return q if drive is Drive.SPRING else np.ones_like(q)


def drive_slopes(
    drive: Drive, state: State, motor: int, stribeck_speed: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derivatives of that torque by position, velocity and acceleration, (n,) each."""
    qd = state.qd[:, motor]
    zero, one = np.zeros_like(qd), np.ones_like(qd)
    by_velocity = {
        Drive.VISCOUS: one,
        Drive.ASYMMETRIC: np.sign(qd),
        Drive.STRIBECK: -np.exp(-np.abs(qd) / stribeck_speed) / stribeck_speed,
    }
    return (
        one if drive is Drive.SPRING else zero,
        by_velocity.get(drive, zero),
        one if drive is Drive.ROTOR else zero,
    )


def drive_energy(drive: Drive, state: State, motor: int) -> FloatArray | None:
    """The energy that a unit coefficient stores, (n,); None where it stores none."""
    if drive is Drive.ROTOR:
        return 0.5 * state.qd[:, motor] ** 2
    return 0.5 * state.q[:, motor] ** 2 if drive is Drive.SPRING else None
