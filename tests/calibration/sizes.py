"""Robots and their measurements at another size: every length times one factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import theodolite as th


def grown(robot: th.Robot, factor: float) -> th.Robot:
    """The same robot with all its lengths multiplied."""
    rows = []
    for row in robot.frames:
        turning = {slot.symbol: slot.rotation for slot in row.slots}
        values = {
            symbol: value if turning.get(symbol, True) else factor * value
            for symbol, value in row.values.items()
        }
        nominal = (*(factor * length for length in row.nominal[:3]), *row.nominal[3:])
        rows.append(replace(row, values=values, nominal=nominal))
    slides = joint_factors(robot, factor)
    return replace(
        robot,
        frames=tuple(rows),
        lower=robot.lower * slides,
        upper=robot.upper * slides,
        transmission=replace(robot.transmission, offset=robot.transmission.offset * slides),
        targets=tuple(
            th.Target(target.name, tuple(factor * x for x in target.position))
            for target in robot.targets
        ),
    )


def joint_factors(robot: th.Robot, factor: float) -> np.ndarray:
    return np.array([factor if kind is th.Joint.PRISMATIC else 1.0 for kind in robot.joint_types])


def grown_data(data: th.Dataset, robot: th.Robot, factor: float) -> th.Dataset:
    """The same measurements of the grown robot."""

    def times(array: np.ndarray | None, by: object) -> np.ndarray | None:
        return None if array is None else array * by

    return replace(
        data,
        motors=data.motors * joint_factors(robot, factor),
        positions=times(data.positions, factor),
        planes=times(data.planes, np.array([1.0, 1.0, 1.0, factor])),
        fixture=times(data.fixture, factor),
        points=times(data.points, factor),
        columns={
            name: values * factor if name.endswith("_m") else values
            for name, values in data.columns.items()
        },
    )
