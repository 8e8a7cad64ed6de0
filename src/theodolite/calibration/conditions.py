"""Under which conditions each row was measured, for robots whose terms depend on that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theodolite.calibration.data import Dataset
from theodolite.model.inputs import conditions
from theodolite.model.loads import PAYLOAD
from theodolite.model.machine import Machine
from theodolite.model.terms import ROW, columns_needed, directions


def with_conditions(data: Dataset, robot: Machine) -> Dataset:
    """Data with all that a robot's terms ask for: what the order of the rows says, too.

    To be done before rows are taken apart.
    """
    if not robot.bases:
        return data
    return data.each(
        lambda part: replace(part, columns=conditions(robot, part.motors, part.columns, part.name))
    )


def with_any_conditions(data: Dataset, robot: Machine, rng: np.random.Generator) -> Dataset:
    """Data under random conditions of all magnitudes, where a robot's terms ask for any.

    What was measured is not changed: this is for what can be told apart at all.
    """
    if not robot.bases:
        return data

    def changed(part: Dataset) -> Dataset:
        wanted = set(columns_needed(robot.bases))
        loaded = any(expression.loads for expression in robot.bases)
        if loaded and not robot.has_loads(list(part.columns)):
            # Without any load a compliance would have no effect.
            wanted.add(PAYLOAD)
        missing = wanted - set(part.columns)
        drawn = {name: 10 ** rng.uniform(-1, 4, len(part)) for name in sorted(missing)}
        return replace(part, columns={**part.columns, **drawn})

    return data.each(changed)


def with_order(data: Dataset, robot: Machine, *, rows_as_time: bool = False) -> Dataset:
    """Data with the direction in which each joint was moved last, from the order of the rows.

    With ``rows_as_time`` the number of each row stands for the time at which it was measured.

    To be done before rows are taken apart; what columns say counts more.
    """
    if not robot.takes_terms:
        return data

    def changed(part: Dataset) -> Dataset:
        moved = directions(part.motors[:, : robot.joints])
        named = {f"direction{joint}": moved[:, joint - 1] for joint in range(1, robot.joints + 1)}
        if rows_as_time:
            named[ROW] = np.arange(len(part), dtype=np.float64)
        return replace(part, columns={**named, **part.columns})

    return data.each(changed)


def with_inputs(data: Dataset, robot: Machine) -> Dataset:
    """Data whose motors have the values of the robot's further basis functions beside them."""
    if not robot.bases or data.motors.shape[1] != robot.joints:
        return data
    data = with_conditions(data, robot)
    return replace(data, motors=robot.inputs(data.motors, data.columns))
