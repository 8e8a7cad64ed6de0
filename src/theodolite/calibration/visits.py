"""Where a robot was for each row of some data: joints, tip and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.conditions import with_inputs
from theodolite.calibration.data import Dataset
from theodolite.calibration.term_groups import when
from theodolite.model.machine import Machine


@dataclass(frozen=True, eq=False)
class Visits:
    """Where the robot was for each row of the data."""

    #: What the joints read, (n, joints).
    readings: FloatArray
    #: Where the calibrated robot puts its tip, (n, 3); NaN where its loops do not close.
    places: FloatArray
    #: When, in the unit of the column's name, (n,); None where nothing says so.
    times: FloatArray | None = None
    clock: str = "row"
    #: From there to the measured position of the first target, (n, 3); NaN where it was not seen.
    errors: FloatArray | None = None


def visits_of(robot: Machine, data: Dataset) -> Visits:
    """Where the robot was for each row: joints, tip and time."""
    told = data.each(lambda part: with_inputs(part, robot))
    motors, closed = robot.settled(told.motors)
    places = np.full((len(data), 3), np.nan)
    places[closed] = robot.motion(robot.values, motors[closed]).position
    clock, times = when(data)
    errors = None
    if data.positions is not None and data.targets[0] in robot.target_names:
        errors = np.full((len(data), 3), np.nan)
        target = robot.target_names.index(data.targets[0])
        tips = robot.motion(robot.values, motors[closed], target).position
        errors[closed] = data.positions[closed, 0] - tips
    return Visits(robot.readings(motors), places, times, clock, errors)
