"""Where gravity pulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.model.chain import Chain

if TYPE_CHECKING:
    from theodolite.model.robot import Robot

#: m/s2.
GRAVITY = 9.81


def down(robot: Robot) -> FloatArray:
    """The direction of gravity in the world, (3,).

    As the robot says, in the frame before its first joint. Where it does not, a table of axes
    stands upright on its first axis, wherever its base was placed. Pose rows, as a URDF gives them,
    stand in a world with z upwards, turned by the rows that place the base.
    """
    skeleton = robot.skeleton
    before_first_joint = skeleton.links[0][0]
    if robot.gravity is not None:
        return before_first_joint @ np.array(robot.gravity)
    first = robot.joint_rows[0]
    if robot.frames[first].convention.has_nominal:
        return 0.0 - _placed(robot, first)[:, 2]
    return 0.0 - before_first_joint[:, skeleton.joints[0][1]]


def _placed(robot: Robot, rows: int) -> FloatArray:
    """Orientation of the first rows, which hold no joint."""
    rigid = robot.without_terms()
    elements = [element for row in range(rows) for element in rigid.elements(row)]
    chain = Chain(elements, parameters=len(rigid.parameters), basis=1)
    return chain.motion(rigid.values, np.ones((1, 1))).rotation[0]
