"""Bags of all three kinds, written by rosbags, read back as recordings."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.io.bags import BagChoice
from theodolite.io.long_bag import unpacked
from theodolite.io.provenance import provenance
from theodolite.io.recordings import read_recording

pytest.importorskip("rosbags")
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

KINDS = ("ros1", "sqlite3", "mcap", "mcap file")
START = 1_700_000_000 * 10**9
NAMES = tuple(f"q{joint}" for joint in range(1, 7))
ROWS = 30
STEP = 5_000_000


@dataclass(frozen=True)
class Topic:
    """Joint states of one topic, one message each 5 ms; ``None`` where they are not recorded."""

    names: Sequence[str] = NAMES
    velocity: bool = True
    effort: bool = True
    #: Nanoseconds of each message.
    times: Sequence[int] = field(
        default_factory=lambda: [START + 5_000_000 * k for k in range(ROWS)]
    )
    stamped: bool = True

    def row(self, k: int) -> dict[str, np.ndarray]:
        """What each joint has follows from its name, whatever the order."""
        number = np.array(
            [NAMES.index(name) if name in NAMES else 9 for name in self.names], dtype=float
        )
        position = np.sin(0.1 * k + number)
        empty = np.zeros(0)
        return {
            "position": position,
            "velocity": 20 * np.cos(0.1 * k + number) if self.velocity else empty,
            "effort": 10 * number + k if self.effort else empty,
        }


def write_bag(folder: Path, kind: str, topics: dict[str, Topic]) -> Path:
    ros1 = kind == "ros1"
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    types: Any = store.types
    path = folder / ("run.bag" if ros1 else "run")
    writer: Any
    if ros1:
        writer = Writer1(path)
    else:
        plugin = StoragePlugin.SQLITE3 if kind == "sqlite3" else StoragePlugin.MCAP
        writer = Writer2(path, version=9, storage_plugin=plugin)
    with writer:
        for name, topic in topics.items():
            connection = writer.add_connection(name, "sensor_msgs/msg/JointState", typestore=store)
            for k, time in enumerate(topic.times):
                stamp = types["builtin_interfaces/msg/Time"](
                    *(divmod(time, 10**9) if topic.stamped else (0, 0))
                )
                header: Any = types["std_msgs/msg/Header"]
                own = {"seq": k} if ros1 else {}
                message = types["sensor_msgs/msg/JointState"](
                    header=header(stamp=stamp, frame_id="", **own),
                    name=list(topic.names),
                    **topic.row(k),
                )
                kinded = "sensor_msgs/msg/JointState"
                raw = (
                    store.serialize_ros1(message, kinded)
                    if ros1
                    else store.serialize_cdr(message, kinded)
                )
                writer.write(connection, START + 5_000_000 * k, raw)
    return next(path.glob("*.mcap")) if kind == "mcap file" else path


def read(path: Path, **options: Any) -> Any:
    return read_recording(path, th.robots.puma560(), **options)


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip_with_joints_in_another_order(tmp_path: Path, kind: str) -> None:
    names = ("q3", "gripper", "q1", "q6", "q2", "q5", "q4")
    recording = read(write_bag(tmp_path, kind, {"/joint_states": Topic(names)}))
    k, joint = np.arange(ROWS)[:, None], np.arange(6)
    np.testing.assert_allclose(recording.times, 0.005 * np.arange(ROWS), atol=1e-12)
    np.testing.assert_allclose(recording.q, np.sin(0.1 * k + joint))
    np.testing.assert_allclose(recording.qd, 20 * np.cos(0.1 * k + joint))
    np.testing.assert_allclose(recording.torques, 10 * joint + k)
    assert not recording.notes


def test_the_topic_with_the_robots_joints_is_taken(tmp_path: Path) -> None:
    other = Topic(("finger1", "finger2"))
    path = write_bag(tmp_path, "sqlite3", {"/gripper": other, "/arm": Topic()})
    assert read(path).torques[0, 1] == 10.0


def test_two_topics_with_the_robots_joints(tmp_path: Path) -> None:
    path = write_bag(tmp_path, "mcap", {"/measured": Topic(), "/wanted": Topic(NAMES[::-1])})
    with pytest.raises(InputError, match=r"2 topics .* all of them .*/measured, /wanted. Choose"):
        read(path)
    assert len(read(path, bag=BagChoice("/wanted")).times) == ROWS
    with pytest.raises(InputError, match=r"has no topic '/other'.*allowed: /measured, /wanted"):
        read(path, bag=BagChoice("/other"))


def test_other_names_of_joints(tmp_path: Path) -> None:
    names = tuple(f"arm_{letter}" for letter in "abcdef")
    path = write_bag(tmp_path, "ros1", {"/joint_states": Topic(names)})
    with pytest.raises(InputError, match=r"no message has a joint of the robot .* arm_a, arm_b"):
        read(path)
    assert len(read(path, bag=BagChoice(joints=names)).times) == ROWS
    with pytest.raises(InputError, match=r"2 names of joints.*allowed: 6 different ones"):
        read(path, bag=BagChoice(joints=names[:2]))


def test_missing_joints_and_effort(tmp_path: Path) -> None:
    path = write_bag(tmp_path, "ros1", {"/joint_states": Topic(NAMES[:4])})
    with pytest.raises(InputError, match=r"topic /joint_states: message 1 has no joint 'q5'"):
        read(path)
    (tmp_path / "b").mkdir()
    path = write_bag(tmp_path / "b", "sqlite3", {"/joint_states": Topic(effort=False)})
    with pytest.raises(InputError, match=r"neither torques nor currents.*effort in a bag"):
        read(path)
    assert not read(path, motion=True).torques.any()


def test_efforts_are_currents_where_these_are_asked_for(tmp_path: Path) -> None:
    path = write_bag(tmp_path, "mcap", {"/joint_states": Topic()})
    gains = np.full(6, 2.0)
    np.testing.assert_allclose(read(path, drive_gains=gains).torques, 2 * read(path).torques)


def test_without_velocities_or_stamps_it_says_so(tmp_path: Path) -> None:
    topic = Topic(velocity=False, stamped=False)
    recording = read(write_bag(tmp_path, "sqlite3", {"/joint_states": topic}))
    assert recording.qd is None
    assert "no time stamps" in recording.notes[0]
    assert "no velocities were recorded" in recording.notes[1]
    np.testing.assert_allclose(recording.times[1], 0.005)


def test_time_jumps_back(tmp_path: Path) -> None:
    times = [START + 5_000_000 * k for k in range(ROWS)]
    times[10] -= 20_000_000
    path = write_bag(tmp_path, "ros1", {"/joint_states": Topic(times=times)})
    with pytest.raises(InputError, match=r"message 11, 0.045 s .* the time jumps back by 0.015 s"):
        read(path)
    recording = read(path, skip_bad=True)
    assert len(recording.times) == ROWS - 1
    assert "1 of 30 messages" in recording.notes[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "topic", [Topic(), Topic(velocity=False, stamped=False), Topic(NAMES[::-1])]
)
def test_a_long_bag_is_unpacked_block_by_block(tmp_path: Path, kind: str, topic: Topic) -> None:
    path = write_bag(tmp_path, kind, {"/joint_states": topic})
    whole = read(path)
    with unpacked(path, th.robots.puma560(), block=7) as bag:
        assert bag.recording.rows == ROWS
        assert bag.notes == whole.notes
        part = bag.recording.read(5, 25)
        folder = bag.recording.folder
    assert not folder.exists()
    np.testing.assert_allclose(part.times, whole.times[5:25], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(part.q, whole.q[5:25])
    np.testing.assert_array_equal(part.torques, whole.torques[5:25])
    assert (part.qd is None) == (whole.qd is None)


def test_a_long_bag_whose_time_jumps_back_in_another_block(tmp_path: Path) -> None:
    times = [START + 5_000_000 * k for k in range(ROWS)]
    times[14] -= 20_000_000
    path = write_bag(tmp_path, "ros1", {"/joint_states": Topic(times=times)})
    robot = th.robots.puma560()
    with (
        pytest.raises(InputError, match=r"message 15, 0.065 s .* the time jumps back by 0.015 s"),
        unpacked(path, robot, block=7),
    ):
        pass
    with unpacked(path, robot, block=7, skip_bad=True) as bag:
        assert bag.recording.rows == ROWS - 1
        assert "1 of 30 messages" in bag.notes[0]


def test_results_name_every_file_of_a_bag(tmp_path: Path) -> None:
    path = write_bag(tmp_path, "sqlite3", {"/joint_states": Topic()})
    found = provenance([path])["files"]
    for file in path.iterdir():
        assert found[str(file)] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert len(found) >= 2


def test_empty_and_damaged_bags(tmp_path: Path) -> None:
    path = write_bag(tmp_path, "ros1", {"/joint_states": Topic(times=())})
    with pytest.raises(InputError, match=r"no topic of sensor_msgs/JointState|has no messages"):
        read(path)
    (tmp_path / "b").mkdir()
    path = write_bag(tmp_path / "b", "mcap", {})
    with pytest.raises(InputError, match=r"no topic of sensor_msgs/JointState, and no other"):
        read(path)
    (tmp_path / "bad.bag").write_bytes(b"#ROSBAG V2.0\n" + bytes(100))
    (tmp_path / "bad.mcap").write_bytes(bytes(100))
    for name in ("bad.bag", "bad.mcap"):
        with pytest.raises(InputError, match=f"{name}: is not a bag that can be read"):
            read(tmp_path / name)
    with pytest.raises(InputError, match=r"there is no such file"):
        read(tmp_path / "none.bag")


def test_without_rosbags_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_bag(tmp_path, "ros1", {"/joint_states": Topic()})
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    with pytest.raises(InputError, match=r"needs the extra 'bags'.*pip install .*\[bags\]"):
        read(path)
