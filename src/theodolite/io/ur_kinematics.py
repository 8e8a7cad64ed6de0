"""Universal Robots' kinematics in YAML, as their ROS driver reads it, changed in place."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError, shown
from theodolite.export.chain_file import ROUNDING, ChainFile, FileJoint, placed
from theodolite.io.reading import read_bytes
from theodolite.model.conventions import Joint
from theodolite.model.poses import roll_pitch_yaw, rotation_matrix
from theodolite.model.robot import Robot

#: The frames from base to flange, each before its joint.
FRAMES = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")
KEYS = ("x", "y", "z", "roll", "pitch", "yaw")
_LINE = re.compile(
    rb"^(?P<indent>[ ]*)(?P<key>[\w.-]+)[ ]*:[ ]*(?P<value>[^#\r\n]*?)[ ]*(?:#.*)?\r?$"
)


def patched_ur(path: Path, robot: Robot, *, base: bool = False) -> bytes:
    """The file with a robot's links. It ends at the flange, so the tool stays out of it."""
    content = read_bytes(path)
    places = _places(content, str(path))
    joints = []
    for name in FRAMES:
        values = [_number(content, places, (name, key), str(path)) for key in KEYS]
        T = np.eye(4)
        T[:3, 3] = values[:3]
        T[:3, :3] = rotation_matrix(*values[3:])
        joints.append(FileJoint(name, Joint.REVOLUTE, np.eye(4), T, np.eye(4), np.eye(4)))
    # The flange is the frame of the last joint; whatever tool the robot has is behind it.
    file = ChainFile(tuple(joints), np.eye(4), np.eye(4), str(path))
    found = placed(file, robot, base=base, tool=False)
    numbers = {
        (name, key): value
        for name, link in zip(FRAMES, found.joints, strict=True)
        for key, value in zip(KEYS, _six(link), strict=True)
        if abs(value - _number(content, places, (name, key), str(path))) > ROUNDING
    }
    # From the end, so that earlier places stay where they are.
    for place in sorted(numbers, key=lambda item: -places[item][0]):
        start, end = places[place]
        content = content[:start] + repr(float(numbers[place])).encode() + content[end:]
    return content


def _six(T: FloatArray) -> tuple[float, ...]:
    return (*map(float, T[:3, 3]), *roll_pitch_yaw(T[:3, :3]))


def _number(
    content: bytes, places: dict[tuple[str, str], tuple[int, int]], key: tuple[str, str], where: str
) -> float:
    if key not in places:
        raise InputError(
            f"has no {' '.join(key)}",
            where=where,
            allowed=f"kinematics of {', '.join(FRAMES)}, each with {', '.join(KEYS)}",
        )
    start, end = places[key]
    text = content[start:end].decode(errors="replace")
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"{' '.join(key)} is {shown(text)}", where=where) from error
    if not abs(value) < 1e3:
        raise InputError(f"{' '.join(key)} is {value:g}", where=where, allowed="metres, radians")
    return value


def _places(content: bytes, where: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Where the value of each frame's key stands, in bytes; frames are in the order of the file."""
    places: dict[tuple[str, str], tuple[int, int]] = {}
    frame, outer = "", 0
    offset = 0
    order = []
    for line in content.splitlines(keepends=True):
        found = _LINE.match(line.rstrip(b"\n"))
        if found is not None:
            key, indent = found["key"].decode(), len(found["indent"])
            if key in FRAMES and not found["value"]:
                frame, outer = key, indent
                order.append(key)
            elif frame and indent > outer and key in KEYS:
                places[frame, key] = (offset + found.start("value"), offset + found.end("value"))
            elif indent <= outer:
                frame = ""
        offset += len(line)
    if order != list(FRAMES):
        raise InputError(
            f"its frames are {', '.join(order) or 'none'}",
            where=where,
            allowed=", ".join(FRAMES),
            remedy="Write one key on each line, not {x: 0, ...}",
        )
    return places
