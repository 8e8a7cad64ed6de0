"""Recordings in bags: ``sensor_msgs/JointState`` in ROS 1 (.bag), ROS 2 (a folder) or MCAP files.

Joints come in any order and are found by their names. Times are the stamps of the messages'
headers; where these are zero, the times at which the messages were received. Efforts are torques,
N m or N, or currents where those are asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
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
#: What messages hold, by our names and theirs.
WHAT = {"positions": "position", "velocities": "velocity", "efforts": "effort"}
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
class BagBlock:
    """Messages that follow each other, as arrays by what they are."""

    #: Since the first message of the bag; seconds since 1970 would have lost the last digits.
    nanoseconds: IntArray
    tables: dict[str, FloatArray]


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
    with open_bag(path, joints, choice) as bag:
        (block,) = bag.blocks(skip_bad=skip_bad)
        tables = {"times": block.nanoseconds * 1e-9} | block.tables
        for name in bag.unused():
            del tables[name]
        return BagTables(tables, bag.notes())


@contextlib.contextmanager
def open_bag(path: Path, joints: Sequence[str], choice: BagChoice | None = None) -> Iterator[Bag]:
    """The topic of a bag that holds the robot's joints; nothing but the choice is read."""
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
            connections = [each for each in reader.connections if each.msgtype == JOINT_STATE]
            if not connections:
                raise _without_states(reader, path)
            topic = _chosen_topic(reader, connections, path, names, choice.topic)
            own = [each for each in connections if each.topic == topic]
            yield Bag(path, topic, names, reader, own)


def _without_states(reader: Any, path: Path) -> InputError:
    other = sorted({f"{each.topic} ({each.msgtype})" for each in reader.connections})
    return InputError(
        "has no topic of sensor_msgs/JointState" + ("" if other else ", and no other either"),
        where=str(path),
        remedy=f"Record the joint states; it holds {', '.join(other)}" if other else
        "Record the joint states",
    )  # fmt: skip


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


class Bag:
    """One topic of joint states, read from its first message to its last."""

    def __init__(
        self, path: Path, topic: str, names: Sequence[str], reader: Any, connections: Sequence[Any]
    ) -> None:
        self.path, self.topic, self.names = path, topic, names
        self._reader, self._connections = reader, connections
        self._order: tuple[Sequence[str], list[int]] = ((), [])
        self._others: set[str] = set()
        #: Messages that were read, those of the robot, and those that were left out.
        self._number = self._own = self._left_out = 0
        #: Time of the first message and the latest one, once there is one.
        self._first = self._latest = 0
        self._stamped = True
        #: What the messages hold by the first block, and what of it is more than blanks.
        self._given: tuple[str, ...] = ()
        self._holds: tuple[str, ...] = ()
        self._lowest, self._highest = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        self._fast = False

    @property
    def where(self) -> str:
        return f"{self.path}, topic {self.topic}"

    @property
    def messages(self) -> int:
        """How many messages the topic has."""
        return sum(each.msgcount for each in self._connections)

    def blocks(self, size: int | None = None, *, skip_bad: bool = False) -> Iterator[BagBlock]:
        """All messages in their order, some at a time; without ``size``, all at once."""
        rows = _Rows()
        for connection, received, raw in self._reader.messages(connections=self._connections):
            self._add(rows, received, self._reader.deserialize(raw, connection.msgtype))
            if size is not None and len(rows.stamps) == size:
                yield self._block(rows, skip_bad=skip_bad)
                rows = _Rows()
        if rows.stamps:
            yield self._block(rows, skip_bad=skip_bad)
        if not self._number:
            raise InputError("has no messages", where=self.where, remedy="Record again")
        if not self._own:
            raise InputError(
                f"no message has a joint of the robot ({', '.join(self.names)}); they have "
                f"{', '.join(sorted(self._others)) or 'no names'}",
                where=self.where,
                remedy="Say how the messages call the robot's joints, in its order",
            )

    def unused(self) -> tuple[str, ...]:
        """What drivers fill with zeros: velocities of joints that move."""
        moved = bool((self._highest > self._lowest).any())
        given = "velocities" in self._holds
        return ("velocities",) if given and moved and not self._fast else ()

    def notes(self) -> tuple[str, ...]:
        """What is to be said about all that was read."""
        notes = []
        if not self._stamped:
            notes.append(
                f"{self.where}: the messages have no time stamps; the times at which they were "
                "received are used"
            )
        if "velocities" not in self._holds or self.unused():
            notes.append(f"{self.where}: no velocities were recorded; they come from the positions")
        if self._left_out:
            notes.append(
                f"{self._left_out} of {self._own} messages of {self.where} are out of order "
                "and left out"
            )
        return tuple(notes)

    def _add(self, rows: _Rows, received: int, message: Any) -> None:
        """A message; those of other machines on the same topic are passed over."""
        self._number += 1
        order = self._places(message.name)
        if not order:
            return
        rows.stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
        rows.received.append(received)
        for what, values in rows.values.items():
            given = getattr(message, what)
            if len(given) not in (0, len(message.name)):
                raise InputError(
                    f"message {self._number}: {len(message.name)} names and {len(given)} of {what}",
                    where=self.where,
                    remedy="Check the driver that published them",
                )
            values.append(np.asarray(given)[order] if len(given) else ())

    def _places(self, given: Sequence[str]) -> list[int]:
        """Where the robot's joints stand in a message; none where it holds none of them."""
        if given == self._order[0]:
            return self._order[1]
        missing = [name for name in self.names if name not in given]
        if len(missing) == len(self.names):
            self._others.update(given)
            return []
        if missing:
            raise InputError(
                f"message {self._number} has no joint '{missing[0]}'; it has {', '.join(given)}",
                where=self.where,
                allowed=f"all joints of the robot in one message: {', '.join(self.names)}",
            )
        places = [list(given).index(name) for name in self.names]
        self._order = (given, places)
        return places

    def _block(self, rows: _Rows, *, skip_bad: bool) -> BagBlock:
        """Arrays of some messages, checked."""
        tables = self._tables(rows)
        times = self._times(rows)
        kept = self._increasing(times, skip_bad=skip_bad)
        for name, table in tables.items():
            if not np.isfinite(table[kept]).all():
                row = int(np.argmin(np.isfinite(table).all(axis=1) | ~kept))
                raise InputError(
                    f"{name}, message {self._own + row + 1}: not a finite number", where=self.where
                )
        self._own += len(times)
        self._left_out += int((~kept).sum())
        tables = {name: table[kept] for name, table in tables.items()}
        if kept.any():
            self._latest = int(times[kept][-1])
            self._lowest = np.minimum(self._lowest, tables["positions"].min(axis=0))
            self._highest = np.maximum(self._highest, tables["positions"].max(axis=0))
        self._fast = self._fast or bool(tables.get("velocities", np.zeros(1)).any())
        return BagBlock(times[kept] - self._first, tables)

    def _tables(self, rows: _Rows) -> dict[str, FloatArray]:
        """What the messages hold; all must hold the same as the first."""
        tables = {}
        for name, what in WHAT.items():
            given = np.array([len(tuple(row)) > 0 for row in rows.values[what]])
            before = self._own * (name in self._given)
            count, total = before + int(given.sum()), self._own + len(given)
            if count not in (0, total):
                raise InputError(
                    f"only {count} of the first {total} messages have {what}",
                    where=self.where,
                    allowed="all or none",
                )
            if count:
                tables[name] = np.array(rows.values[what], dtype=np.float64)
        if not self._own:
            self._given = tuple(tables)
            # All blank: a driver's way of saying that it does not know.
            self._holds = tuple(n for n, table in tables.items() if not np.isnan(table).all())
        if "positions" not in self._holds:
            raise InputError("the messages have no positions", where=self.where)
        return {name: tables[name] for name in self._holds}

    def _times(self, rows: _Rows) -> IntArray:
        """Nanoseconds since 1970: stamps, or when the messages came."""
        stamps = np.array(rows.stamps, dtype=np.int64)
        if not self._own:
            self._stamped = bool(stamps.any())
        times = stamps if self._stamped else np.array(rows.received, dtype=np.int64)
        if not self._own:
            self._first = int(times[0])
            self._latest = self._first - 1
        return times

    def _increasing(self, times: IntArray, *, skip_bad: bool) -> BoolArray:
        """Messages that are later than all before them, which all have to be."""
        highest = np.maximum.accumulate(np.concatenate([[self._latest], times]))[:-1]
        kept = times > highest
        if not kept.all() and not skip_bad:
            row = int(np.argmin(kept))
            back = 1e-9 * float(highest[row] - times[row])
            what = f"jumps back by {back:.3f} s" if back > 0 else "does not increase"
            raise InputError(
                f"message {self._own + row + 1}, {1e-9 * float(highest[row] - self._first):.3f} s "
                f"from the start: the time {what}",
                where=self.where,
                remedy="Record again with one clock, or have damaged rows left out",
            )
        return np.asarray(kept)


class _Rows:
    """Some messages, before they are arrays."""

    def __init__(self) -> None:
        self.stamps: list[int] = []
        self.received: list[int] = []
        self.values: dict[str, list[Iterable[float]]] = {what: [] for what in WHAT.values()}
