"""A sensor that was moved between sessions: where it stood is identified along.

The first session's frame is the world. A point m seen in another session stands in the world at

    M = exp(w) R0 (m - m0) + M0 + t

where R0, m0 and M0 come from the nominal robot, and w and t are small and identified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray, seen
from theodolite.calibration.data import Dataset
from theodolite.calibration.placement import ENOUGH, solve_placement
from theodolite.errors import InputError
from theodolite.model import rotations
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group, Parameter, Unit

_NAMES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class Station:
    """A frame in which points were seen: ``M = rotation (m - seen_from) + centre``."""

    rotation: FloatArray
    seen_from: FloatArray
    centre: FloatArray

    def moved(self, change: FloatArray) -> Station:
        """Displaced and turned by small amounts, (6,)."""
        turn = rotations.exp(change[None, 3:])[0]
        return Station(turn @ self.rotation, self.seen_from, self.centre + change[:3])


@dataclass(frozen=True, eq=False)
class Stations:
    """The sessions of a recording, the first one being the world's."""

    #: Number of each row's session, (n,).
    session: IntArray
    labels: tuple[int, ...]
    #: Of the sessions after the first.
    others: tuple[Station, ...] = ()
    parameters: tuple[Parameter, ...] = field(default=(), repr=False)

    @staticmethod
    def of(robot: Machine, data: Dataset, known: Mapping[int, Station] | None = None) -> Stations:
        """Where the sensor stood, as the nominal robot says; ``known`` stations stay."""
        if data.sessions is None:
            return Stations(np.zeros(len(data), dtype=np.intp), (0,))
        present = tuple(int(label) for label in dict.fromkeys(data.sessions.tolist()))
        # Held-out rows are seen from stations that other rows have placed, in their order.
        labels = tuple(known) if known else present
        order = {label: number for number, label in enumerate(labels)}
        missing = [label for label in present if label not in order]
        if missing:
            raise InputError(f"session {missing[0]} is not among those known", where=data.name)
        session = np.array([order[label] for label in data.sessions.tolist()], dtype=np.intp)
        others = tuple(
            known[label] if known else _placed(robot, data, session == number, label)
            for number, label in enumerate(labels)
            if number
        )
        reach = robot.reach() or 1.0
        parameters = tuple(
            Parameter(
                *(f"session{label}_{name}", 0.0, Unit.METRE if place < 3 else Unit.RADIAN),
                *(Group.SENSOR, number, place),
                tolerance=reach if place < 3 else np.pi,
            )
            for number, label in enumerate(labels)
            if number
            for place, name in enumerate(_NAMES)
        )
        return Stations(session, labels, others, parameters)

    def __bool__(self) -> bool:
        return bool(self.others)

    def at(self, values: FloatArray) -> tuple[Station, ...]:
        """Where the sensor stood in the sessions after the first, (6 for each)."""
        changes = values.reshape(-1, 6)
        pairs = zip(self.others, changes, strict=True)
        return tuple(station.moved(change) for station, change in pairs)

    def points(self, values: FloatArray, measured: FloatArray, rows: IntArray) -> FloatArray:
        """Measured points (n, 3) of some rows in the world."""
        found = measured.copy()
        for number, station in enumerate(self.at(values), start=1):
            here = self.session[rows] == number
            found[here] = (measured[here] - station.seen_from) @ station.rotation.T + station.centre
        return found

    def turned(self, values: FloatArray, measured: FloatArray, rows: IntArray) -> FloatArray:
        """Measured orientations, or anything with axes of the sensor, (n, 3, k), in the world."""
        found = measured.copy()
        for number, station in enumerate(self.at(values), start=1):
            here = self.session[rows] == number
            found[here] = station.rotation @ measured[here]
        return found

    def covariances(self, values: FloatArray, measured: FloatArray, rows: slice) -> FloatArray:
        """Covariances of poses (n, 6, 6) in the world's axes."""
        found = measured.copy()
        for number, station in enumerate(self.at(values), start=1):
            here = self.session[rows] == number
            turn = np.kron(np.eye(2), station.rotation)
            found[here] = turn @ measured[here] @ turn.T
        return found

    def derivative(self, values: FloatArray, points: FloatArray, rows: IntArray) -> FloatArray:
        """Derivative of ``tip - point`` by displacement and turn of every station, (n, 3, 6 s)."""
        found = np.zeros((len(points), 3, 6 * len(self.others)))
        changes = values.reshape(-1, 6)
        for number, (station, change) in enumerate(
            zip(self.at(values), changes, strict=True), start=1
        ):
            here = np.flatnonzero(self.session[rows] == number)
            place = 6 * (number - 1)
            found[here[:, None], np.arange(3), place + np.arange(3)] = -1.0
            arm = rotations.skew(points[here] - station.centre)
            turn = np.linalg.inv(rotations.left_inverse(change[None, 3:])[0])
            found[here, :, place + 3 : place + 6] = arm @ turn
        return found

    def turn_derivative(self, values: FloatArray, error: FloatArray, rows: IntArray) -> FloatArray:
        """Derivative of ``log(R R_measured')``, which is ``error`` (n, 3), (n, 3, 6 s)."""
        found = np.zeros((len(error), 3, 6 * len(self.others)))
        bend = rotations.right_inverse(error)
        for number, change in enumerate(values.reshape(-1, 6), start=1):
            here = np.flatnonzero(self.session[rows] == number)
            place = 6 * (number - 1)
            turn = np.linalg.inv(rotations.left_inverse(change[None, 3:])[0])
            found[here, :, place + 3 : place + 6] = -bend[here] @ turn
        return found

    def described(self, values: FloatArray) -> dict[str, Any]:
        """Where the sensor stood in each session, in the frame of the first."""
        if not self:
            return {}
        found = {}
        for label, station in zip(self.labels[1:], self.at(values), strict=True):
            found[label] = {
                "position_m": (station.centre - station.rotation @ station.seen_from).tolist(),
                "rotation_vector_deg": np.degrees(
                    rotations.log(station.rotation[None])[0]
                ).tolist(),
            }
        return {"first_session": self.labels[0], "sessions": found}


def known_stations(extras: Mapping[str, Any]) -> dict[int, Station] | None:
    """Stations from what a result says of them; None where there was a single session."""
    if "sessions" not in extras:
        return None
    world = Station(np.eye(3), np.zeros(3), np.zeros(3))
    found = {int(extras["first_session"]): world}
    for label, pose in extras["sessions"].items():
        turn = rotations.exp(np.radians([pose["rotation_vector_deg"]]))[0]
        found[int(label)] = Station(turn, np.zeros(3), np.array(pose["position_m"]))
    return found


def _placed(robot: Machine, data: Dataset, rows: BoolArray, label: int) -> Station:
    """A station from the nominal robot's tips and what was seen of them."""
    part = data.take(np.flatnonzero(rows))
    positions = part.positions
    assert positions is not None
    tips, points = [], []
    for number, name in enumerate(part.targets):
        known = robot.target_names
        there = seen(positions[:, number])
        if name not in known or not there.any():
            continue
        motion = robot.motion(robot.values, part.motors[there], known.index(name))
        tips.append(motion.position)
        points.append(positions[there, number])
    count = sum(map(len, tips))
    if count < ENOUGH:
        raise InputError(
            f"session {label} has {count} points, too few to say where the sensor stood",
            where=data.name,
            allowed=f"at least {ENOUGH} points in every session",
        )
    reached, measured = np.concatenate(tips), np.concatenate(points)
    placement = solve_placement(
        np.zeros((count, 3, 3)), reached, measured[:, None], find_targets=False
    )
    return Station(placement.rotation.T, measured.mean(axis=0), reached.mean(axis=0))
