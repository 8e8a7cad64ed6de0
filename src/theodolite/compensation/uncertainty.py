"""How far off a calibrated robot is to be expected, from the covariance of its parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.result import Result
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group, Parameter
from theodolite.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """A calibrated robot, and the covariance of some of its parameters by name, SI."""

    robot: Machine
    names: tuple[str, ...]
    covariance: FloatArray

    @staticmethod
    def from_result(result: Result) -> Uncertainty:
        """Of what a calibration has identified of the robot."""
        own = {parameter.name for parameter in result.robot.parameters}
        kept = [place for place, name in enumerate(result.order) if name in own]
        names = tuple(result.order[place] for place in kept)
        return Uncertainty(result.robot, names, result.statistics.covariance[np.ix_(kept, kept)])

    def at(self, motors: FloatArray, points: FloatArray, *, world: bool) -> FloatArray:
        """Expected error of points (n, 3) that move with the tip, in the world, rms, (n,).

        NaN where loops do not close. Beside the ``world`` the frame before the first joint counts,
        where it does not matter how well it is known where that frame stands.
        """
        robot = self.robot
        if isinstance(robot, Robot):
            robot = replace(robot, targets=())
        places = {p.name: number for number, p in enumerate(robot.parameters)}
        kept = [
            number
            for number, name in enumerate(self.names)
            if name in places and _counts(robot.parameters[places[name]], world=world)
        ]
        columns: IntArray = np.array([places[self.names[number]] for number in kept], dtype=np.intp)
        settled, closed = robot.settled(motors)
        motion = robot.motion(robot.values, settled[closed])
        J = motion.twist_jacobian(columns)
        lever = points[closed] - motion.position
        moved = J[:, :3] + np.cross(J[:, 3:], lever[:, :, None], axisa=1, axisb=1, axisc=1)
        part = self.covariance[np.ix_(kept, kept)]
        squares = np.einsum("nip,pq,niq->n", moved, part, moved, optimize=True)
        found = np.full(len(motors), np.nan)
        found[closed] = np.sqrt(np.maximum(squares, 0.0))
        return found


def _counts(parameter: Parameter, *, world: bool) -> bool:
    """What places the whole arm is a matter of where its base is said to be."""
    return world or not (parameter.group is Group.BASE or parameter.places)
