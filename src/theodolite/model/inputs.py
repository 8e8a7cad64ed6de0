"""What a robot is told of each sample: its motors, and the values of its terms' basis functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.model.gravity import down
from theodolite.model.loads import loads
from theodolite.model.terms import (
    DIRECTION,
    columns_needed,
    directions,
    evaluated,
    moments,
)

if TYPE_CHECKING:
    from theodolite.model.robot import Robot


def conditions(
    robot: Robot, motors: FloatArray, columns: Mapping[str, FloatArray], where: str
) -> dict[str, FloatArray]:
    """The columns that a robot's terms need, with what the order of the rows says of them."""
    found = dict(columns)
    moved = directions(motors[:, : robot.joints])
    for name in columns_needed(robot.bases):
        if name in found:
            continue
        if match := DIRECTION.fullmatch(name):
            found[name] = moved[:, int(match.group(1)) - 1]
        else:
            raise InputError(
                f"the robot's terms need the column '{name}'",
                where=where,
                remedy="Add the column, or leave out the terms that use it",
            )
    return found


def inputs(
    robot: Robot, motors: FloatArray, columns: Mapping[str, FloatArray] | None = None
) -> FloatArray:
    """Motors with the values of the basis functions beside them, (n, joints + functions).

    What is not told is taken as 0: the robot as it is before it warms up or bears a load.
    """
    if not robot.bases:
        return motors
    motors = motors[:, : robot.joints]
    none = np.zeros(len(motors))
    columns = columns or {}
    environment = {name: columns.get(name, none) for name in columns_needed(robot.bases)}
    readings = robot.readings(motors)
    environment |= {name: readings[:, place] for place, name in enumerate(robot.joint_names)}
    pairs = {pair for expression in robot.bases for pair in expression.moments}
    if pairs:
        environment |= moments(pairs, _axes(robot, motors), down(robot))
    loaded = {axis for expression in robot.bases for axis in expression.loads}
    if loaded:
        environment |= loads(robot, motors, loaded, columns, environment, down(robot))
    return np.concatenate([motors, evaluated(robot.bases, environment, len(motors))], axis=1)


def _axes(robot: Robot, motors: FloatArray) -> dict[str, FloatArray]:
    """Axes of the links in the world, (3, n) each.

    z is the axis of the joint that moves the link; x and y move with the link.
    """
    rigid = robot.without_terms()
    motion = rigid.motion(rigid.values, motors)
    found = {}
    for link, (_, axis) in enumerate(rigid.skeleton.joints, start=1):
        frame = motion.frame(link)
        for letter, turn in zip("zxy", range(3), strict=True):
            found[f"{letter}{link}"] = frame[(axis + turn) % 3]
    return found
