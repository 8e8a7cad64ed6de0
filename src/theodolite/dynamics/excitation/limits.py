"""What a trajectory must respect: limits of the motors, the floor, and places to stay away from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive, State
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.model.mechanism import Mechanism

#: Configurations that are tried for whether loops close.
TRIED = 200
#: Points between the frames of two links that stand for the link.
BETWEEN = 2


@dataclass(frozen=True, eq=False)
class TorqueLimit:
    """Highest torques of the motors, and the robot they are computed with."""

    highest: FloatArray
    #: Values of all columns of these drives.
    values: FloatArray
    drives: tuple[Drive, ...]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The arm as balls along its links; they stay above the floor and outside given spheres."""

    #: Radius of the balls, m.
    radius: float
    #: Height of the floor along the world's z, m; None without one.
    floor: float | None = None
    #: Centres (x, y, z) and radii of spheres to stay out of, m.
    spheres: tuple[tuple[float, float, float, float], ...] = ()

    @property
    def free(self) -> bool:
        return self.floor is None and not self.spheres

    def clearances(self, points: FloatArray) -> FloatArray:
        """Distances of balls (n, points, 3) to what they must not touch, (n, points, things)."""
        found = []
        if self.floor is not None:
            found.append(points[:, :, 2] - self.floor - self.radius)
        for *centre, radius in self.spheres:
            off = np.linalg.norm(points - np.array(centre), axis=2)
            found.append(off - radius - self.radius)
        return np.stack(found, axis=2)

    def directions(self, points: FloatArray) -> FloatArray:
        """Derivative of the clearances by the points, (n, points, things, 3)."""
        found = []
        if self.floor is not None:
            found.append(np.broadcast_to(np.array([0.0, 0.0, 1.0]), points.shape))
        for *centre, _ in self.spheres:
            off = points - np.array(centre)
            found.append(off / np.maximum(np.linalg.norm(off, axis=2, keepdims=True), 1e-9))
        return np.stack(found, axis=2)


@dataclass(frozen=True, eq=False)
class Limits:
    """Of positions, speeds and accelerations, (motors,) each, and of what is around."""

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    torque: TorqueLimit | None = None
    surroundings: Surroundings | None = None

    def __post_init__(self) -> None:
        if (self.lower >= self.upper).any():
            joint = int(np.argmax(self.lower >= self.upper)) + 1
            raise InputError(f"the limits of joint {joint} leave no room")
        for name, values in (("velocity", self.velocity), ("acceleration", self.acceleration)):
            if not (values > 0).all():
                joint = int(np.argmin(values)) + 1
                raise InputError(f"the highest {name} of joint {joint} is not positive")

    @property
    def middle(self) -> FloatArray:
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> FloatArray:
        return (self.upper - self.lower) / 2

    def slower(self, part: float) -> Limits:
        """The same with a part of the speed, and the acceleration that goes with it."""
        return Limits(
            self.lower,
            self.upper,
            self.velocity * part,
            self.acceleration * part,
            self.torque,
            self.surroundings,
        )

    def use(self, dynamics: Tree, state: State) -> dict[str, float]:
        """Largest part of each limit that a motion uses; above 1 it is broken."""
        used = {
            "position": float((np.abs(state.q - self.middle) / self.half).max()),
            "velocity": float((np.abs(state.qd) / self.velocity).max()),
            "acceleration": float((np.abs(state.qdd) / self.acceleration).max()),
        }
        if self.torque is not None:
            table = dynamics.regressor(state, self.torque.drives)
            torques = np.tensordot(self.torque.values, table, axes=1)
            used["torque"] = float((np.abs(torques) / self.torque.highest[:, None]).max())
        return used

    def clearance(self, dynamics: Tree, state: State) -> float | None:
        """Smallest distance to floor and spheres, m; None where there is nothing around."""
        if self.surroundings is None or self.surroundings.free:
            return None
        return float(self.surroundings.clearances(balls(dynamics, state)).min())


def within_closure(mechanism: Mechanism) -> tuple[FloatArray, FloatArray]:
    """The largest box about the home assembly, within the limits, whose loops close throughout."""
    lower, upper = np.asarray(mechanism.lower), np.asarray(mechanism.upper)
    home = np.clip(mechanism.home[0], lower, upper)
    # Corners first: where they close, what is between them does as well, as a rule.
    rng = np.random.default_rng(0)
    share = rng.uniform(-1, 1, (TRIED, len(home)))
    share[: TRIED // 2] = np.sign(share[: TRIED // 2])
    for part in np.linspace(1.0, 0.05, 20):
        low, high = home + part * (lower - home), home + part * (upper - home)
        tried = np.where(share < 0, home + share * (home - low), home + share * (high - home))
        if mechanism.can_close(tried).all():
            return low, high
    raise InputError(
        f"the loops of '{mechanism.name}' do not close about its home",
        remedy="Narrow the limits of its joints",
    )


def motor_box(dynamics: Dynamics) -> tuple[FloatArray, FloatArray]:
    """Positions of motors, each within bounds of its own, that keep all joints within theirs."""
    robot = dynamics.robot
    if dynamics.coupling is None:
        return np.asarray(robot.lower), np.asarray(robot.upper)
    F = dynamics.coupling
    half = np.asarray(robot.upper - robot.lower) / 2
    middle = np.linalg.solve(F, np.asarray(robot.upper + robot.lower) / 2)
    # The corners of a box about the middle reach |F| h at the joints.
    wanted = np.abs(np.linalg.inv(F) @ half)
    reach = wanted * float((half / (np.abs(F) @ wanted)).min())
    return middle - reach, middle + reach


def balls(dynamics: Tree, state: State) -> FloatArray:
    """Points along the links beyond the first, (n, points, 3)."""
    origins = dynamics.origins(state)
    points: list[FloatArray] = []
    for number, link in enumerate(dynamics.links):
        if link.parent < 0:
            continue
        start, end = origins[link.parent], origins[number]
        points += [start + (end - start) * share for share in _shares()]
    if not points:
        points = list(origins)
    return np.stack(points, axis=1)


def _shares() -> Sequence[float]:
    return np.linspace(0.0, 1.0, BETWEEN + 2)[1:].tolist()
