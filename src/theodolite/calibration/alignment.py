"""Comparing two robots up to what a method can never determine.

Link and plane calibrations determine a robot up to a similarity (and frame link up to the
tool as well), so they are compared after alignment, never parameter by parameter.
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.method import Gauge
from theodolite.calibration.placement import solve_placement
from theodolite.errors import InputError
from theodolite.model.machine import Machine


def compare(
    robot: Machine,
    truth: Machine,
    gauge: Gauge,
    rng: np.random.Generator,
    *,
    configurations: int = 200,
) -> FloatArray:
    """Distance between the tips of two robots at fresh configurations, in metres, (n,)."""
    if gauge is Gauge.LENGTHS:
        raise InputError(
            "a robot whose lengths are unknown has no tips to compare",
            remedy="Compare what the method sees: residuals(robot, data, method)",
        )
    if robot.joint_types != truth.joint_types:
        raise InputError(f"'{robot.name}' and '{truth.name}' have different joints")
    motors = truth.random_motors(configurations, rng)
    rotations, positions = robot.poses(motors)
    wanted = truth.poses(motors)[1]
    if gauge is not Gauge.NONE:
        placement = solve_placement(
            rotations,
            positions,
            wanted[:, None],
            find_targets=gauge is Gauge.SIMILARITY_AND_TOOL,
            find_scale=gauge is not Gauge.PLACE,
        )
        positions = placement.apply(rotations, positions)
    gap: FloatArray = np.linalg.norm(positions - wanted, axis=1)
    return gap
