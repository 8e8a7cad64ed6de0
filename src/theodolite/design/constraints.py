"""Where a robot may be measured: boxes, floors, sensors, and the arm itself in the way.

The arm is a chain of capsules between the origins of its frames, all of one radius.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.compensation.inverse import Targets, mobility_of
from theodolite.errors import InputError
from theodolite.model.chain import Chain
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot

#: Shorter links are points of the links beside them, metres.
SHORTEST = 1e-4


@dataclass(frozen=True, eq=False)
class Constraints:
    """What configurations have to keep to; in the world of the robot file, metres and radians."""

    #: Lower and upper corner of a box that holds the tip, (2, 3).
    box: FloatArray | None = None
    #: Height below which nothing of the arm may be, and walls (n, h): n . P >= h for all of it.
    floor: float | None = None
    walls: tuple[tuple[FloatArray, float], ...] = ()
    #: Where the sensor stands, the distances at which it sees, and the largest angle between the
    #: tool's z axis and the way to it.
    sensor: FloatArray | None = None
    nearest: float = 0.0
    farthest: float = np.inf
    facing: float | None = None
    #: The opening of its field of view, a cone about the way to a point of the world.
    view: float | None = None
    looking_at: FloatArray | None = None
    #: Radius of the arm's capsules; 0: it is not in its own way.
    radius: float = 0.0
    #: Smallest mobility of the tip, lengths in reaches.
    mobility: float = 0.0

    def broken(self, robot: Machine, motors: FloatArray) -> dict[str, BoolArray]:
        """For each constraint, which configurations break it, (n,)."""
        found: dict[str, BoolArray] = {}
        # Each target has to be where the sensor sees it.
        seen = [
            robot.motion(robot.values, motors, target) for target in range(len(robot.target_names))
        ]
        for motion in seen:
            here: dict[str, BoolArray] = {}
            if self.box is not None:
                outside = (motion.position < self.box[0]) | (motion.position > self.box[1])
                here["the box"] = np.asarray(outside.any(axis=1))
            if self.sensor is not None:
                here |= self._by_sensor(motion.rotation, motion.position)
            found = {name: found.get(name, False) | rows for name, rows in here.items()}
        if self.mobility > 0.0:
            moves = mobility_of(robot, Targets(seen[0].position), motors)
            found["the distance from singularities"] = ~(moves >= self.mobility)
        if self.floor is not None or self.walls or self.radius > 0.0:
            tips = np.array([motion.position for motion in seen])
            found |= self._by_arm(robot, motors, tips)
        return found

    def _by_sensor(self, orientation: FloatArray, tips: FloatArray) -> dict[str, BoolArray]:
        assert self.sensor is not None
        way = self.sensor - tips
        distance = np.linalg.norm(way, axis=1)
        outside = (distance < self.nearest) | (distance > self.farthest)
        found: dict[str, BoolArray] = {"the sensor's distance": np.asarray(outside)}
        if self.view is not None:
            middle = np.zeros(3) if self.looking_at is None else self.looking_at
            ahead = (middle - self.sensor) / np.linalg.norm(middle - self.sensor)
            inside = -way @ ahead / np.maximum(distance, 1e-12)
            found["the field of view"] = np.asarray(inside < np.cos(self.view / 2))
        if self.facing is not None:
            cosine = np.einsum("ni,ni->n", orientation[:, :, 2], way) / np.maximum(distance, 1e-12)
            found["the target facing the sensor"] = np.asarray(cosine < np.cos(self.facing))
        return found

    def _by_arm(self, robot: Machine, motors: FloatArray, tips: FloatArray) -> dict[str, BoolArray]:
        if not isinstance(robot, Robot):
            raise InputError(
                f"'{robot.name}' has several branches, whose bodies are not known",
                remedy="Leave out floor, walls and arm radius, and check the file before it is run",
            )
        starts, ends = _segments(robot, motors)
        found: dict[str, BoolArray] = {}
        sides = {f"wall {number}": wall for number, wall in enumerate(self.walls, start=1)}
        if self.floor is not None:
            sides["the floor"] = (np.array([0.0, 0.0, 1.0]), self.floor)
        for name, (normal, offset) in sides.items():
            # The base stands on the floor: what moves counts.
            heights = [starts[1:] @ normal, ends[1:] @ normal, tips @ normal]
            nearest = np.concatenate(heights).min(axis=0)
            found[name] = np.asarray(nearest - self.radius < offset)
        if self.radius > 0.0:
            found["the arm's distance from itself"] = self._touches_itself(starts, ends)
            if self.sensor is not None:
                hidden = [self._hidden(starts, ends, points) for points in tips]
                found["the line of sight"] = np.logical_or.reduce(hidden)
        return found

    def _touches_itself(self, starts: FloatArray, ends: FloatArray) -> BoolArray:
        touching = np.zeros(starts.shape[1], dtype=bool)
        lengths = np.linalg.norm(ends - starts, axis=2)
        for one in range(len(starts)):
            for other in range(one + 2, len(starts)):
                apart = segment_distance(starts[one], ends[one], starts[other], ends[other])
                # With less arm than that in between they are neighbours, and touch at their joint.
                between = lengths[one + 1 : other].sum(axis=0)
                touching |= (apart < 2 * self.radius) & (between > 2 * self.radius)
        return touching

    def _hidden(self, starts: FloatArray, ends: FloatArray, tips: FloatArray) -> BoolArray:
        assert self.sensor is not None
        hidden = np.zeros(len(tips), dtype=bool)
        sensor = np.broadcast_to(self.sensor, tips.shape)
        # What carries the target is beside it, not in the way.
        for one in range(len(starts) - 1):
            apart = segment_distance(starts[one], ends[one], tips, sensor)
            hidden |= apart < self.radius
        return hidden


def allowed(robot: Machine, motors: FloatArray, constraints: Constraints) -> tuple[BoolArray, str]:
    """Which configurations keep to everything, and what excludes most of the others."""
    broken = constraints.broken(robot, motors)
    if not broken:
        return np.ones(len(motors), dtype=bool), ""
    counts = {name: int(rows.sum()) for name, rows in broken.items()}
    most = max(counts, key=lambda name: counts[name])
    ok = ~np.logical_or.reduce(list(broken.values()))
    words = f"{most} excludes {counts[most]} of {len(motors)} candidates" if counts[most] else ""
    return np.asarray(ok), words


def _segments(robot: Robot, motors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both ends of the arm's links, from the first joint on, (links, n, 3)."""
    basis = robot.basis(motors)
    tape = list(robot.chains[0].elements)
    size = {"parameters": len(robot.parameters), "basis": basis.shape[1]}
    places = [
        Chain(tape[:end], **size).motion(robot.values, basis).position
        for end in range(_first_joint(robot), len(tape) + 1)
        if end == _first_joint(robot) or not tape[end - 1].rotation or end == len(tape)
    ]
    points = np.array(places)
    kept = [0]
    for number in range(1, len(points)):
        if np.linalg.norm(points[number] - points[kept[-1]], axis=1).max() > SHORTEST:
            kept.append(number)
    return points[kept[:-1]], points[kept[1:]]


def _first_joint(robot: Robot) -> int:
    """How many elements there are up to the first joint: what is before it does not move."""
    tape = robot.chains[0].elements
    return next(number for number, element in enumerate(tape, start=1) if element.varies)


def segment_distance(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """Distances between segments ab and cd, (n,): the nearest points of both, clamped."""
    u, v, w = b - a, d - c, a - c
    uu, vv = np.einsum("ni,ni->n", u, u), np.einsum("ni,ni->n", v, v)
    uv = np.einsum("ni,ni->n", u, v)
    uw, vw = np.einsum("ni,ni->n", u, w), np.einsum("ni,ni->n", v, w)
    tiny = np.finfo(float).tiny
    bottom = uu * vv - uv**2
    parallel = bottom <= 1e-12 * uu * vv
    s = np.where(parallel, 0.0, (uv * vw - vv * uw) / np.where(parallel, 1.0, bottom))
    s = np.clip(s, 0.0, 1.0)
    t = np.clip((uv * s + vw) / np.maximum(vv, tiny), 0.0, 1.0)
    s = np.clip((uv * t - uw) / np.maximum(uu, tiny), 0.0, 1.0)
    return np.asarray(np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1))
