"""What stands before the first joint of a serial robot, and behind the last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group, placing
from theodolite.model.poses import Poses, roll_pitch_yaw
from theodolite.model.robot import Robot

_Value = TypeVar("_Value", int, float)


def base_and_tool(robot: Robot, flange: Robot | None = None) -> tuple[Poses, Poses]:
    """The frame before the first joint in the world, and the first target in the last joint's.

    What stands before the first joint's motion or behind the last one's, or turns and shifts the
    arm about these axes, acts like base and tool. With a ``flange``, the robot as it was before a
    calibration, these parameters are taken as that robot has them, and base and tool take what
    they changed by: flange and first axis stay where controllers believe them to be.
    """
    first, last = robot.joint_rows[0], robot.joint_rows[-1]
    bare = replace(robot, terms=(), priorities={}, tolerances={}, targets=())
    to_flange = _at_zero(replace(bare, frames=robot.frames[: last + 1]))
    from_base = _at_zero(replace(bare, frames=robot.frames[first : last + 1]))
    whole = _at_zero(replace(bare, targets=robot.targets[:1]))
    base, tool = to_flange.then(from_base.inverse), to_flange.inverse.then(whole)
    if flange is None or flange.joint_rows != robot.joint_rows:
        return base, tool
    arms = []
    for row in (first, last):
        # The same arm, but for what acts like its base or its tool.
        nominal = {p.name: p.value for p in flange.parameters}
        kept = {name: nominal[name] for name in _ends(robot, row) if name in nominal}
        other = replace(robot.with_values(kept), terms=(), priorities={}, tolerances={}, targets=())
        arms.append(_at_zero(replace(other, frames=other.frames[first : last + 1])))
    return (
        base.then(from_base).then(arms[0].inverse),
        arms[1].inverse.then(from_base).then(tool),
    )


def _ends(robot: Robot, row: int) -> list[str]:
    """Parameters of the first joint's row or the last's that act like base or tool."""
    frame = robot.frames[row]
    own = [p for p in robot.parameters if p.frame == row + robot.first_number and not p.gain]
    names = {p.name for p in own if p.places}
    if row == robot.joint_rows[0]:
        names |= {p.name for p in own if p.group is Group.BASE}
    if row == robot.joint_rows[-1]:
        moving = [n for n, slot in enumerate(frame.slots) if slot.moved_by is frame.joint]
        last = moving[-1] if moving else len(frame.slots)
        if frame.convention is Convention.GENERALIZED:
            last = -1
        behind = {slot.column for slot in frame.slots[last + 1 :]}
        names |= {p.name for p in own if p.column in behind}
    return sorted(names)


def with_links_fixed(robot: Machine) -> Machine:
    """The same robot, of which only base and tool are to be identified, six numbers each."""
    if isinstance(robot, Robot):
        nowhere = Poses.one(np.eye(3), np.zeros(3))
        robot = moved_robot(robot, nowhere, nowhere)
        ends = (0, len(robot.frames) - 1)
        free = {p.name for p in robot.parameters if p.frame - robot.first_number in ends}
    else:
        free = {robot.parameters[index].name for index in placing(robot.parameters)}
    return robot.with_priorities({p.name: 0 for p in robot.parameters if p.name not in free})


def moved_robot(robot: Robot, before: Poses, after: Poses) -> Robot:
    """The robot with its base moved by one pose in the world, and its tool by one of its own.

    Base and tool become pose rows, which can be anywhere.
    """
    arm = robot.frames[robot.joint_rows[0] : robot.joint_rows[-1] + 1]
    base, tool = base_and_tool(robot)
    tool = tool.then(after)
    if robot.targets:
        # The tip is the first target: the tool's frame stands so that it comes out there.
        tool = tool.then(Poses.one(np.eye(3), -np.array(robot.targets[0].position)))
    placed = replace(robot, frames=(_row(before.then(base)), *arm, _row(tool)), priorities={})
    return replace(
        placed,
        priorities=_renamed(robot, placed, robot.priorities),
        tolerances=_renamed(robot, placed, robot.tolerances),
    )


def _renamed(robot: Robot, placed: Robot, given: Mapping[str, _Value]) -> dict[str, _Value]:
    """What was said of the arm's parameters, under the names that they have now."""
    first, last = robot.joint_rows[0], robot.joint_rows[-1]
    before = [
        parameter.name
        for parameter in robot.parameters
        if first <= parameter.frame - robot.first_number <= last
    ]
    after = [
        parameter.name
        for parameter in placed.parameters
        if 1 <= parameter.frame - placed.first_number <= robot.joints
    ]
    names = dict(zip(before, after, strict=False))
    return {names[name]: value for name, value in given.items() if name in names}


def _at_zero(robot: Robot) -> Poses:
    motion = robot.motion(robot.values, np.zeros((1, robot.joints)))
    return Poses(np.asarray(motion.rotation), np.asarray(motion.position))


def _row(pose: Poses) -> Row:
    x, y, z = map(float, pose.position[0])
    roll, pitch, yaw = roll_pitch_yaw(pose.rotation[0])
    return Row(Convention.POSE, Joint.FIXED, nominal=(x, y, z, roll, pitch, yaw))
