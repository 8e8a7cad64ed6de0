"""What a robot is told of each sample: its motors, and the values of its terms' basis functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.model.terms import (
    DIRECTION,
    columns_needed,
    directions,
    evaluated,
    moments,
)

if TYPE_CHECKING:
    from theodolite.model.machine import Machine


def conditions(
    robot: Machine, motors: FloatArray, columns: Mapping[str, FloatArray], where: str
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
    robot: Machine, motors: FloatArray, columns: Mapping[str, FloatArray] | None = None
) -> FloatArray:
    """Motors with the values of the basis functions beside them, (n, joints + functions).

    What is not told is taken as 0: the robot as it is before it warms up or bears a load. Functions
    of joints that were not recorded are NaN.
    """
    if not robot.bases:
        return motors
    motors = motors[:, : robot.joints]
    none = np.zeros(len(motors))
    columns = columns or {}
    environment = {name: columns.get(name, none) for name in columns_needed(robot.bases)}
    readings = robot.readings(motors)
    environment |= {f"q{number}": column for number, column in enumerate(readings.T, start=1)}
    pairs = {pair for expression in robot.bases for pair in expression.moments}
    if pairs:
        environment |= moments(pairs, robot.link_axes(motors), robot.down())
    loaded = {axis for expression in robot.bases for axis in expression.loads}
    if loaded:
        environment |= robot.loads(motors, loaded, columns, environment)
    recorded = np.asarray(np.isfinite(readings).all(axis=1))
    values = evaluated(robot.bases, environment, recorded)
    return np.concatenate([motors, values], axis=1)
