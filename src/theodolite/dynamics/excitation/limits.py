"""What a trajectory must respect: limits of the motors, the floor, and places to stay out of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drives, State
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError

#: Points between the frames of two links that stand for the link.
BETWEEN = 2
#: Speeds and accelerations that are safe on most arms: of hinges, rad/s and rad/s2, and of slides,
#: strokes per second and per second squared, which is as much where a hinge turns once.
DEFAULT_VELOCITY, DEFAULT_ACCELERATION = 2.0, 6.0
STROKE_VELOCITY, STROKE_ACCELERATION = 1.0 / 3.0, 1.0
#: Limits beyond these are slips of the pen.
SLOWEST, FASTEST = 1e-12, 1e12


@dataclass(frozen=True, eq=False)
class TorqueLimit:
    """Highest torques of the motors, and the robot they are computed with."""

    highest: FloatArray
    #: Values of all columns of these drives.
    values: FloatArray
    drives: Drives

    def __post_init__(self) -> None:
        if not (self.highest > 0).all():
            raise InputError(
                f"a highest torque of {float(np.min(self.highest)):g} N m",
                allowed="more than 0 N m",
            )

    @staticmethod
    def of(dynamics: Tree, highest: ArrayLike, parameters: DynamicParameters) -> TorqueLimit:
        """With identified parameters; one highest torque for all motors, or one for each."""
        parameters.check_frames(dynamics)
        return TorqueLimit(
            _for_each("torque", highest, dynamics.motors),
            parameters.vector(dynamics.names(parameters.drives)),
            parameters.drives,
        )


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The arm as balls along its links; they stay above the floor and outside given spheres."""

    #: Radius of the balls, m.
    radius: float
    #: Height of the floor along the world's z, m; None without one.
    floor: float | None = None
    #: Centres (x, y, z) and radii of spheres to stay out of, m.
    spheres: tuple[tuple[float, float, float, float], ...] = ()

    def __post_init__(self) -> None:
        if not self.radius >= 0:
            raise InputError(f"a radius of {self.radius:g} m", allowed="0 m or more")
        if self.floor is not None and not np.isfinite(self.floor):
            raise InputError(f"a floor at {self.floor:g} m", allowed="a finite height")
        for *_, radius in self.spheres:
            if not radius > 0:
                raise InputError(
                    f"a sphere with a radius of {radius:g} m", allowed="a radius above 0 m"
                )

    @property
    def free(self) -> bool:
        return self.floor is None and not self.spheres

    def clearances(self, points: FloatArray) -> FloatArray:
        """Distances of balls (n, points, 3) to what they must not touch, (n, points, things)."""
        distances = []
        if self.floor is not None:
            distances.append(points[:, :, 2] - self.floor - self.radius)
        for *centre, radius in self.spheres:
            away = np.linalg.norm(points - np.array(centre), axis=2)
            distances.append(away - radius - self.radius)
        return np.stack(distances, axis=2)

    def directions(self, points: FloatArray) -> FloatArray:
        """Derivative of the clearances by the points, (n, points, things, 3)."""
        slopes = []
        if self.floor is not None:
            slopes.append(np.broadcast_to(np.array([0.0, 0.0, 1.0]), points.shape))
        for *centre, _ in self.spheres:
            away = points - np.array(centre)
            slopes.append(away / np.maximum(np.linalg.norm(away, axis=2, keepdims=True), 1e-9))
        return np.stack(slopes, axis=2)


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of positions, speeds and accelerations, (motors,) each, and the surroundings."""

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    torque: TorqueLimit | None = None
    surroundings: Surroundings | None = None

    @staticmethod
    def of(
        dynamics: Tree,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        torque: TorqueLimit | None = None,
        surroundings: Surroundings | None = None,
    ) -> Limits:
        """The positions that the robot allows; one speed for all motors, or one for each.

        By default speeds are those that the robot states; otherwise hinges and slides have their
        own.
        """
        if velocity is None:
            velocity = dynamics.speed_limits()
        if velocity is None:
            velocity = _by_kind(dynamics, DEFAULT_VELOCITY, STROKE_VELOCITY)
        if acceleration is None:
            acceleration = _by_kind(dynamics, DEFAULT_ACCELERATION, STROKE_ACCELERATION)
        return Limits(
            *dynamics.position_range(),
            _for_each("velocity", velocity, dynamics.motors),
            _for_each("acceleration", acceleration, dynamics.motors),
            torque,
            surroundings,
        )

    def __post_init__(self) -> None:
        if (self.lower >= self.upper).any():
            joint = int(np.argmax(self.lower >= self.upper)) + 1
            raise InputError(f"the limits of joint {joint} leave no room")
        for name, values in (("velocity", self.velocity), ("acceleration", self.acceleration)):
            possible = (values >= SLOWEST) & (values <= FASTEST)
            if not possible.all():
                joint = int(np.argmin(possible)) + 1
                raise InputError(
                    f"the highest {name} of joint {joint} is {values[joint - 1]:g}",
                    allowed=f"{SLOWEST:g} to {FASTEST:g}, in radians or metres",
                )

    @property
    def middle(self) -> FloatArray:
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> FloatArray:
        return (self.upper - self.lower) / 2

    def slower(self, part: float) -> Limits:
        """The same with a part of the speed, and of the acceleration that goes with it."""
        return replace(self, velocity=self.velocity * part, acceleration=self.acceleration * part)

    def use(self, dynamics: Tree, state: State) -> dict[str, float]:
        """Largest part of each limit that a motion uses; above 1 it is broken."""
        used = {
            "position": float((np.abs(state.q - self.middle) / self.half).max()),
            "velocity": float((np.abs(state.qd) / self.velocity).max()),
            "acceleration": float((np.abs(state.qdd) / self.acceleration).max()),
        }
        if self.torque is not None:
            values = self.torque.values
            table = dynamics.regressor(state, self.torque.drives, values=values)
            torques = np.tensordot(values, table, axes=1)
            used["torque"] = float((np.abs(torques) / self.torque.highest[:, None]).max())
        return used

    def clearance(self, dynamics: Tree, state: State) -> float | None:
        """Smallest distance to floor and spheres, m; None where there are none."""
        if self.surroundings is None or self.surroundings.free:
            return None
        return float(self.surroundings.clearances(ball_centres(dynamics, state)).min())


def _by_kind(dynamics: Tree, of_hinges: float, of_strokes: float) -> FloatArray:
    """A limit of hinges, and one of slides as part of their stroke, (motors,)."""
    lower, upper = dynamics.motor_limits()
    return np.where(dynamics.slides, of_strokes * (upper - lower), of_hinges)


def _for_each(name: str, values: ArrayLike, motors: int) -> FloatArray:
    """One number for all motors, or one for each."""
    given = np.asarray(values, dtype=np.float64)
    if given.shape not in ((), (1,), (motors,)):
        raise InputError(f"{given.size} values of {name}", allowed=f"one number, or {motors}")
    return np.broadcast_to(given, (motors,)).copy()


def ball_centres(dynamics: Tree, state: State) -> FloatArray:
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
