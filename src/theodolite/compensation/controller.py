"""Robots as a controller sees them: its tool at the flange, its base before the first joint.

A target is the pose of the controller's tool in its base (KUKA), work object (ABB), user frame
(FANUC) or base feature (Universal Robots). Measurements rarely tell where flange and first axis of
a robot are: its base moves with the first joint's zero and length, its measured points with the
last joint's. So these stay where the controller believes them to be, that is as the nominal robot
has them (`base_and_tool`). Measured points are no tools: a robot file that has targets stands for
its flange with the nominal robot's tool.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.base_and_tool import base_and_tool, moved_robot
from theodolite.compensation.inverse import Targets, tips_of
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group
from theodolite.model.poses import Poses
from theodolite.model.robot import Robot

NOWHERE = Poses.one(np.eye(3), np.zeros(3))


@dataclass(frozen=True, eq=False)
class ControllerFrames:
    """A controller's base in the frame before the first joint, and its tool on the flange.

    Without a tool of the controller's, targets are poses of the robot files' own tip.
    """

    base: Poses = field(default_factory=lambda: NOWHERE)
    tool: Poses | None = None


@dataclass(frozen=True, eq=False)
class Controlled:
    """A robot whose tip is the controller's tool, and where targets are given in its world."""

    robot: Machine
    frame: Poses

    def of(self, targets: Targets) -> Targets:
        """Targets of the controller in the robot's world."""
        turned = np.eye(3)[None] if targets.rotations is None else targets.rotations
        there = self.frame.then(Poses(turned, targets.positions))
        return Targets(there.position, None if targets.rotations is None else there.rotation)

    def tips(self, motors: FloatArray) -> Poses:
        """Where the tip is, as the controller gives it; NaN where loops do not close."""
        return self.frame.inverse.then(tips_of(self.robot, motors))


def controlled(
    robot: Machine, nominal: Machine, frames: ControllerFrames | None, *, world: bool
) -> Controlled:
    """A robot as a controller that knows the nominal one sees it.

    In the ``world``, targets are given where the measurements were; else a mechanism stands where
    the file of the nominal one has it.
    """
    frames = frames or ControllerFrames()
    if not isinstance(robot, Robot) or not isinstance(nominal, Robot):
        if frames.tool is not None:
            raise InputError(
                f"'{robot.name}' has no flange that a tool could be given on",
                remedy="Put the tool into its robot file",
            )
        return Controlled(robot if world else _placed_like(robot, nominal), frames.base)
    first = NOWHERE if world else base_and_tool(robot, nominal)[0]
    tool = frames.tool
    if tool is None and (robot.targets or nominal.targets):
        tool = base_and_tool(replace(nominal, targets=()))[1]
    if tool is not None:
        bare, plain = replace(robot, targets=()), replace(nominal, targets=())
        robot = moved_robot(bare, NOWHERE, base_and_tool(bare, plain)[1].inverse.then(tool))
    return Controlled(robot, first.then(frames.base))


def _placed_like(robot: Machine, nominal: Machine) -> Machine:
    """A mechanism with its base where another one has it, wherever the sensor stood."""
    places = {p.name: p.value for p in nominal.parameters if p.group is Group.BASE}
    own = {p.name for p in robot.parameters}
    return robot.with_values({name: value for name, value in places.items() if name in own})
