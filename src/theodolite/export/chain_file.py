"""A chain of joints as a file for others has it, and what has to change for another robot.

Between two joints a file has fixed transforms F and one transform X that takes the change; the
joint moves about an axis that the file places by A in the frame behind X:

    T = F_1 X_1 A_1 J(s_1) B_1  F_2 X_2 A_2 J(s_2) B_2 ...  F_t X_t
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.export.links import placed_like, reading_links
from theodolite.model.conventions import Joint
from theodolite.model.robot import Robot

#: A tool that differs by less than this from that of a file (metres, radians) is the file's.
SAME_TOOL = 1e-9
#: A transform that changes by less is rounding, and stays as the file has it.
ROUNDING = 1e-13


def changed(before: FloatArray, after: FloatArray) -> bool:
    """Does a transform of a file have to be written anew?"""
    return bool(np.abs(after - before).max() > ROUNDING)


@dataclass(frozen=True, eq=False)
class FileJoint:
    """One joint: all (4, 4)."""

    name: str
    kind: Joint
    fixed: FloatArray
    change: FloatArray
    axis: FloatArray
    after: FloatArray


@dataclass(frozen=True, eq=False)
class ChainFile:
    """The joints of a file from its root to its tip, and what is behind the last of them."""

    joints: tuple[FileJoint, ...]
    fixed: FloatArray
    #: The transform that takes the change of the tool; None where nothing can.
    tool: FloatArray | None
    where: str

    @property
    def links(self) -> list[FloatArray]:
        """Links between joints about z."""
        links: list[FloatArray] = []
        before: FloatArray = np.eye(4)
        for joint in self.joints:
            links.append(before @ joint.fixed @ joint.change @ joint.axis)
            before = joint.after
        tool = np.eye(4) if self.tool is None else self.tool
        return [*links, before @ self.fixed @ tool]


@dataclass(frozen=True, eq=False)
class Placed:
    """The transforms that a file gets: one for each joint, and one for the tool."""

    joints: list[FloatArray]
    tool: FloatArray | None
    #: What comes out: links between joints about z.
    links: list[FloatArray]


def placed(file: ChainFile, robot: Robot, *, base: bool, tool: bool) -> Placed:
    """What a file must hold to describe a robot that it can carry.

    Base and tool are the robot's, or stay the file's.
    """
    _check(file, robot)
    keep_tool = not tool
    links = placed_like(
        reading_links(robot),
        file.links,
        robot.joint_types,
        keep_base=not base,
        keep_tool=keep_tool,
    )
    before: FloatArray = np.eye(4)
    transforms = []
    for joint, link in zip(file.joints, links, strict=False):
        transforms.append(np.linalg.inv(before @ joint.fixed) @ link @ np.linalg.inv(joint.axis))
        before = joint.after
    last = np.linalg.inv(before @ file.fixed) @ links[-1]
    if file.tool is None:
        if np.abs(last - np.eye(4)).max() > SAME_TOOL:
            raise InputError(
                "has no fixed link behind the last joint that could hold the robot's tool",
                where=file.where,
                remedy="Keep the file's tool, or add a fixed link to it",
            )
        return Placed(transforms, None, links)
    return Placed(transforms, last, links)


def _check(file: ChainFile, robot: Robot) -> None:
    kinds = [joint.kind for joint in file.joints]
    if kinds == list(robot.joint_types):
        return

    def letters(found: Sequence[Joint]) -> str:
        return "".join("R" if kind is Joint.REVOLUTE else "P" for kind in found)

    raise InputError(
        f"its chain has the joints {letters(kinds)}, but '{robot.name}' has "
        f"{letters(robot.joint_types)}",
        where=file.where,
        remedy="Choose another tip",
    )
