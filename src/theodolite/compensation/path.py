"""Paths: targets that follow each other, whose joints must not jump."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.configurations import satisfy
from theodolite.compensation.inverse import Targets, mobility_of
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine

#: Joints that move so many times further than any motion of the tip over that way needs, jump.
FURTHER = 3.0
#: Steps below this, in radians or reaches, are rounding.
NO_STEP = 1e-9
#: How often what follows a jump is solved again from before it.
ROUNDS = 50


def jumps_of(robot: Machine, targets: Targets, motors: FloatArray) -> IntArray:
    """Rows to which the joints go further than the way of the tip needs.

    Where the smallest singular value of the Jacobian is s, a way dx of the tip takes joints at most
    dx / s far, all lengths in reaches; redundant arms that stay near move no further.
    """
    if len(motors) < 2:
        return np.empty(0, dtype=np.intp)
    reach = robot.reach() or 1.0
    units = np.array([reach if kind is Joint.PRISMATIC else 1.0 for kind in robot.joint_types])
    steps = np.linalg.norm(np.diff(motors[:, : robot.joints] / units, axis=0), axis=1)
    ways = np.linalg.norm(np.diff(targets.positions, axis=0), axis=1) / reach
    if targets.rotations is not None:
        turned = targets.rotations[1:] @ targets.rotations[:-1].transpose(0, 2, 1)
        ways = np.hypot(ways, np.linalg.norm(rotations.log(turned), axis=1))
    slowest = mobility_of(robot, targets, motors)
    slowest = np.minimum(slowest[1:], slowest[:-1])
    limit = FURTHER * ways / np.maximum(slowest, np.finfo(float).tiny) + NO_STEP
    return np.flatnonzero(steps > limit) + 1


def followed(robot: Machine, targets: Targets, motors: FloatArray) -> FloatArray:
    """The same path on one branch: what follows a jump is solved again from before it."""
    motors = motors.copy()
    for _ in range(ROUNDS):
        jumps = jumps_of(robot, targets, motors)
        if not len(jumps):
            break
        first = int(jumps[0])
        # As far as the next jump at once: neighbours are near enough to start from.
        last = int(jumps[1]) if len(jumps) > 1 else len(motors)
        rows = np.arange(first, last)
        start = np.repeat(motors[first - 1 : first], len(rows), axis=0)
        found, solved = satisfy(robot, targets.take(rows).goal(), start)
        if not solved[0]:
            break
        motors[rows[solved]] = found[solved]
    return motors
