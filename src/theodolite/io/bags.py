"""Recordings in bags: ``sensor_msgs/JointState`` in ROS 1 (.bag), ROS 2 (a folder) or MCAP files.

Joints come in any order and are found by their names. Times are the stamps of the messages'
headers; where these are zero, the times at which the messages were received. Efforts are torques,
N m or N, or currents where those are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.io.archives import undamaged
from theodolite.io.optional import needed
from theodolite.io.reading import is_file
from theodolite.io.writing import exists

JOINT_STATE = "sensor_msgs/msg/JointState"
#: Messages of a topic that say which joints it holds: a driver repeats itself well before.
LOOKED_AT = 50


class TopicError(InputError):
    """Several topics, and none or more than one holds the robot's joints."""


@dataclass(frozen=True)
class BagChoice:
    """What to take from a bag."""

    #: The topic; by default, the only one that holds the robot's joints.
    topic: str | None = None
    #: The robot's joints as the messages call them; by default, as the robot does.
    joints: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BagTables:
    """Arrays by what they are, and what is to be said about them."""

    tables: dict[str, FloatArray]
    notes: tuple[str, ...]


def is_bag(path: Path) -> bool:
    """Is it a bag, by its name or by the file of metadata in it?"""
    return path.suffix.lower() in (".bag", ".mcap", ".db3") or is_file(path / "metadata.yaml")


def read_bag(
    path: Path, joints: Sequence[str], choice: BagChoice | None = None, *, skip_bad: bool = False
) -> BagTables:
    """Times, positions, and where they were recorded velocities and efforts, SI.

    ``joints`` are the robot's own names, in its order.
    """
    choice = choice or BagChoice()
    names = choice.joints or tuple(joints)
    if len(names) != len(joints) or len(set(names)) != len(names):
        raise InputError(
            f"{len(names)} names of joints: {', '.join(names)}",
            where=str(path),
            allowed=f"{len(joints)} different ones",
        )
    highlevel = needed("rosbags.highlevel", "bags", path)
    typesys = needed("rosbags.typesys", "bags", path)
    if not exists(path):
        raise InputError("there is no such file", where=str(path))
    with undamaged("a bag that can be read", path):
        store = typesys.get_typestore(typesys.Stores.LATEST)
        with highlevel.AnyReader([path], default_typestore=store) as reader:
            return _read(reader, path, names, choice.topic, skip_bad=skip_bad)


def _read(
    reader: Any, path: Path, names: Sequence[str], topic: str | None, *, skip_bad: bool
) -> BagTables:
    connections = [each for each in reader.connections if each.msgtype == JOINT_STATE]
    if not connections:
        other = sorted({f"{each.topic} ({each.msgtype})" for each in reader.connections})
        raise InputError(
            "has no topic of sensor_msgs/JointState" + ("" if other else ", and no other either"),
            where=str(path),
            remedy=f"Record the joint states; it holds {', '.join(other)}" if other else
            "Record the joint states",
        )  # fmt: skip
    chosen = _chosen_topic(reader, connections, path, names, topic)
    rows = _Rows(path, chosen, names)
    with_topic = [each for each in connections if each.topic == chosen]
    for connection, received, raw in reader.messages(connections=with_topic):
        rows.add(received, reader.deserialize(raw, connection.msgtype))
    return rows.tables(skip_bad=skip_bad)


def _chosen_topic(
    reader: Any, connections: Sequence[Any], path: Path, names: Sequence[str], topic: str | None
) -> str:
    """The topic that was asked for, or the only one that holds the robot's joints."""
    topics = sorted({each.topic for each in connections})
    if topic is not None:
        if topic not in topics:
            raise InputError(
                f"has no topic '{topic}' of sensor_msgs/JointState", where=str(path), allowed=topics
            )
        return topic
    if len(topics) == 1:
        return str(topics[0])
    fitting = []
    for each in topics:
        own = [connection for connection in connections if connection.topic == each]
        messages = zip(range(LOOKED_AT), reader.messages(connections=own), strict=False)
        states = (reader.deserialize(raw, JOINT_STATE) for _, (_, _, raw) in messages)
        if any(set(names) <= set(state.name) for state in states):
            fitting.append(str(each))
    if len(fitting) == 1:
        return fitting[0]
    which = "all of them" if len(fitting) == len(topics) else f"{len(fitting)} of them"
    raise TopicError(
        f"has {len(topics)} topics of sensor_msgs/JointState, and "
        + (f"{which} hold the robot's joints" if fitting else "none holds all joints of the robot")
        + ("" if fitting else f": {', '.join(names)}"),
        where=str(path),
        allowed=fitting or topics,
        remedy="Choose one topic, and say how its messages call the joints if not as the robot",
    )


class _Rows:
    """The messages of one topic as rows of numbers."""

    def __init__(self, path: Path, topic: str, names: Sequence[str]) -> None:
        self.path, self.topic, self.names = path, topic, names
        self.stamps: list[int] = []
        self.received: list[int] = []
        self.values: dict[str, list[Iterable[float]]] = {
            what: [] for what in ("position", "velocity", "effort")
        }
        self.number = 0
        self.others: set[str] = set()
        self._order: tuple[Sequence[str], list[int]] = ((), [])

    @property
    def where(self) -> str:
        return f"{self.path}, topic {self.topic}"

    def add(self, received: int, message: Any) -> None:
        """A message; those of other machines on the same topic are passed over."""
        self.number += 1
        order = self._places(message.name)
        if not order:
            return
        self.stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
        self.received.append(received)
        for what, rows in self.values.items():
            given = getattr(message, what)
            if len(given) not in (0, len(message.name)):
                raise InputError(
                    f"message {self.number}: {len(message.name)} names and {len(given)} of {what}",
                    where=self.where,
                    remedy="Check the driver that published them",
                )
            rows.append(np.asarray(given)[order] if len(given) else ())

    def _places(self, given: Sequence[str]) -> list[int]:
        """Where the robot's joints stand in a message; none where it holds none of them."""
        if given == self._order[0]:
            return self._order[1]
        missing = [name for name in self.names if name not in given]
        if len(missing) == len(self.names):
            self.others.update(given)
            return []
        if missing:
            raise InputError(
                f"message {self.number} has no joint '{missing[0]}'; it has {', '.join(given)}",
                where=self.where,
                allowed=f"all joints of the robot in one message: {', '.join(self.names)}",
            )
        places = [list(given).index(name) for name in self.names]
        self._order = (given, places)
        return places

    def tables(self, *, skip_bad: bool) -> BagTables:
        """Arrays of all messages."""
        if not self.number:
            raise InputError("has no messages", where=self.where, remedy="Record again")
        if not self.stamps:
            raise InputError(
                f"no message has a joint of the robot ({', '.join(self.names)}); they have "
                f"{', '.join(sorted(self.others)) or 'no names'}",
                where=self.where,
                remedy="Say how the messages call the robot's joints, in its order",
            )
        notes: list[str] = []
        nanoseconds = np.array(self.stamps, dtype=np.int64)
        if not nanoseconds.any():
            nanoseconds = np.array(self.received, dtype=np.int64)
            notes.append(
                f"{self.where}: the messages have no time stamps; the times at which they were "
                "received are used"
            )
        tables = {
            name: table
            for name, what in (
                ("positions", "position"),
                ("velocities", "velocity"),
                ("efforts", "effort"),
            )
            if (table := self._table(what)) is not None
        }
        if "positions" not in tables:
            raise InputError("the messages have no positions", where=self.where)
        if "velocities" in tables and _unused(tables["velocities"], tables["positions"]):
            del tables["velocities"]
        if "velocities" not in tables:
            notes.append(f"{self.where}: no velocities were recorded; they come from the positions")
        kept = self._increasing(nanoseconds, skip_bad=skip_bad)
        if not kept.all():
            notes.append(
                f"{int((~kept).sum())} of {len(kept)} messages of {self.where} are out of order "
                "and left out"
            )
        # Whole nanoseconds: seconds since 1970 would have lost the last digits.
        times = (nanoseconds[kept] - nanoseconds[kept][0]) * 1e-9
        every = {"times": times} | {name: table[kept] for name, table in tables.items()}
        for name, table in every.items():
            if not np.isfinite(table).all():
                message = int(np.argwhere(~np.isfinite(table))[0][0]) + 1
                raise InputError(
                    f"{name}, message {message}: not a finite number", where=self.where
                )
        return BagTables(every, tuple(notes))

    def _table(self, what: str) -> FloatArray | None:
        """One row for each message; None where none was recorded."""
        rows = self.values[what]
        given = np.array([len(tuple(row)) > 0 for row in rows])
        if not given.any():
            return None
        if not given.all():
            raise InputError(
                f"only {int(given.sum())} of {len(given)} messages have {what}",
                where=self.where,
                allowed="all or none",
            )
        table = np.array(rows, dtype=np.float64)
        return None if np.isnan(table).all() else table

    def _increasing(self, times: IntArray, *, skip_bad: bool) -> BoolArray:
        """Messages that are later than all before them, which all have to be."""
        highest = np.maximum.accumulate(times)
        kept = np.concatenate([[True], times[1:] > highest[:-1]])
        if not kept.all() and not skip_bad:
            row = int(np.argmin(kept))
            back = 1e-9 * float(highest[row - 1] - times[row])
            what = f"jumps back by {back:.3f} s" if back > 0 else "does not increase"
            raise InputError(
                f"message {row + 1}, {1e-9 * (highest[row - 1] - times[0]):.3f} s from the start: "
                f"the time {what}",
                where=self.where,
                remedy="Record again with one clock, or have damaged rows left out",
            )
        return kept


def _unused(velocities: FloatArray, positions: FloatArray) -> bool:
    """Are they zeros that a driver fills in, of joints that move?"""
    return not velocities.any() and bool(np.ptp(positions, axis=0).any())
