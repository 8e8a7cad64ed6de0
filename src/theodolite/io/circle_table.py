"""Measurements of a robot that nobody has described yet: joints one at a time, and a target."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from theodolite.calibration.circle_points import Axis, robot_from_circles
from theodolite.errors import InputError, printable
from theodolite.io.number_table import read_table
from theodolite.io.units import ANGLES, LARGEST_NUMBER, LENGTHS
from theodolite.model.conventions import Joint
from theodolite.model.robot import Robot

_JOINT = re.compile(r"q([1-9]\d?)_(\w+)")
_ALLOWED = "q1_deg q2_deg q3_mm ..., one column per joint, and x_mm y_mm z_mm"


def read_circles(path: Path | str) -> tuple[Robot, tuple[Axis, ...]]:
    """A robot from a file in which one joint moves at a time, and its axes as they were fitted.

    The unit of a joint's column says whether it turns or slides.
    """
    path = Path(path)
    table = read_table(path, largest=LARGEST_NUMBER)
    joints: dict[int, tuple[Joint, np.ndarray]] = {}
    points: dict[str, np.ndarray] = {}
    for number, name in enumerate(table.columns):
        values = table.values[:, number]
        match = _JOINT.fullmatch(name)
        axis, _, unit = name.partition("_")
        if match and match[2] in ANGLES:
            joints[int(match[1])] = (Joint.REVOLUTE, values * ANGLES[match[2]])
        elif match and match[2] in LENGTHS:
            joints[int(match[1])] = (Joint.PRISMATIC, values * LENGTHS[match[2]])
        elif axis in ("x", "y", "z") and unit in LENGTHS:
            points[axis] = values * LENGTHS[unit]
        else:
            raise InputError(f"unknown column '{name}'", where=str(path), allowed=_ALLOWED)
    missing = sorted(set(range(1, max(joints, default=1) + 1)) - set(joints))
    if missing or len(points) < 3:
        what = f"joint {missing[0]}" if missing else "the position"
        raise InputError(f"a column of {what} is missing", where=str(path), allowed=_ALLOWED)
    ordered = [joints[number] for number in sorted(joints)]
    return robot_from_circles(
        np.column_stack([values for _, values in ordered]),
        np.column_stack([points[axis] for axis in "xyz"]),
        [kind for kind, _ in ordered],
        name=printable(path.stem),
        where=str(path),
    )
