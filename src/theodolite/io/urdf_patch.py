"""URDF with the origins of its joints changed in place, so that it describes a calibrated robot."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.export.chain_file import ChainFile, FileJoint, changed, placed
from theodolite.io.reading import read_bytes
from theodolite.io.urdf import UrdfJoint, aligning, joints_of, numbers, parsed, way_to
from theodolite.io.xml_patch import Change, patched
from theodolite.model.conventions import Joint
from theodolite.model.poses import roll_pitch_yaw, rotation_matrix
from theodolite.model.robot import Robot


class Visuals(Enum):
    """What becomes of the shapes of links whose frames move."""

    MOVE = "move"
    STAY = "stay"


def patched_urdf(
    path: Path,
    robot: Robot,
    *,
    tip: str | None = None,
    base: bool = False,
    tool: bool = True,
    visuals: Visuals = Visuals.MOVE,
) -> bytes:
    """The file with a robot's links, its base or the file's, its tool or the file's."""
    content, tree = read_bytes(path), parsed(path)
    joints = joints_of(tree, path)
    chain = way_to(joints, tip, path)
    file, changing, last = _chain_file(chain, str(path))
    found = placed(file, robot, base=base, tool=tool)
    transforms = {
        joint.name: T
        for joint, T in zip(changing, found.joints, strict=True)
        if changed(joint.transform, T)
    }
    if last is not None and found.tool is not None and changed(last.transform, found.tool):
        transforms[last.name] = found.tool
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    number = {id(element): place for place, element in enumerate(elements)}
    changes: dict[int, Change] = {}
    by_name = {str(element.get("name")): element for element in tree.findall("joint")}
    for name, T in transforms.items():
        _set_origin(changes, number, by_name[name], T)
    if visuals is Visuals.STAY:
        for link, moved in _moved_links(joints, transforms).items():
            for shape in _shapes(tree, link):
                _set_origin(changes, number, shape, moved @ _origin(shape, link, str(path)))
    return patched(content, changes)


def _chain_file(
    chain: list[UrdfJoint], where: str
) -> tuple[ChainFile, list[UrdfJoint], UrdfJoint | None]:
    """The chain, its joints that move, and the fixed joint that holds the tool."""
    found: list[FileJoint] = []
    changing: list[UrdfJoint] = []
    pending = np.eye(4)
    behind: list[UrdfJoint] = []
    for joint in chain:
        if joint.trouble:
            raise InputError(f"joint '{joint.name}' {joint.trouble}", where=where)
        if joint.kind is Joint.FIXED:
            behind.append(joint)
            continue
        for fixed in behind:
            pending = pending @ fixed.transform
        align = np.eye(4)
        align[:3, :3] = aligning(joint.axis)
        found.append(
            FileJoint(joint.name, joint.kind, pending, joint.transform, align, align.T.copy())
        )
        changing.append(joint)
        pending, behind = np.eye(4), []
    last = behind.pop() if behind else None
    for fixed in behind:
        pending = pending @ fixed.transform
    tool = None if last is None else last.transform
    return ChainFile(tuple(found), pending, tool, where), changing, last


def _set_origin(
    changes: dict[int, Change], number: dict[int, int], element: Any, T: FloatArray
) -> None:
    xyz = " ".join(repr(float(value)) for value in T[:3, 3])
    rpy = " ".join(repr(value) for value in roll_pitch_yaw(T[:3, :3]))
    origin = element.find("origin")
    if origin is None:
        changes[number[id(element)]] = Change(child=f'<origin xyz="{xyz}" rpy="{rpy}"/>')
    else:
        changes[number[id(origin)]] = Change({"xyz": xyz, "rpy": rpy})


def _origin(element: Any, link: str, where: str) -> FloatArray:
    T = np.eye(4)
    origin = element.find("origin")
    if origin is not None:
        T[:3, 3] = numbers(origin.get("xyz", "0 0 0"), link, where)
        T[:3, :3] = rotation_matrix(*numbers(origin.get("rpy", "0 0 0"), link, where))
    return T


def _shapes(tree: Any, link: str) -> list[Any]:
    return [
        shape
        for element in tree.findall("link")
        if element.get("name") == link
        for kind in ("visual", "collision")
        for shape in element.findall(kind)
    ]


def _moved_links(
    joints: list[UrdfJoint], transforms: dict[str, FloatArray]
) -> dict[str, FloatArray]:
    """For each link whose frame moves with all joints at zero: from its new frame to its old."""
    children: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    roots = set(children) - {joint.child for joint in joints}
    moved: dict[str, FloatArray] = {}
    waiting = [(root, np.eye(4), np.eye(4)) for root in roots]
    while waiting:
        link, old, new = waiting.pop()
        if not np.array_equal(old, new):
            moved[link] = np.linalg.inv(new) @ old
        waiting += [
            (joint.child, old @ joint.transform, new @ transforms.get(joint.name, joint.transform))
            for joint in children.get(link, ())
        ]
    return moved
