"""What to command so that the true robot arrives where it was wanted.

The controller knows the nominal robot N, the true one is the calibrated C. For a wanted pose T:

    joints      q with C(q) = T
    command     N(q): the pose whose nominal inverse is q, for controllers that take poses

Targets are given in the frame before the first joint, as controllers do, or in the world of the
measurements. A program of joints p wants what the nominal robot would have done: T = N(p).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.base_and_tool import base_and_tool
from theodolite.compensation.inverse import Inverse, Reach, Targets, any_joints, inverse
from theodolite.errors import InputError
from theodolite.model import rotations
from theodolite.model.machine import Machine
from theodolite.model.poses import Poses
from theodolite.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Compensation:
    """Corrected joints and poses for each target."""

    found: Inverse
    #: What to command, in the frame in which the targets were given.
    positions: FloatArray
    rotations: FloatArray
    #: By how much a command differs from its target, m and rad, (n,).
    shift: FloatArray
    turn: FloatArray
    #: How far the true robot would have been off without it, m and rad, (n,).
    before: FloatArray
    before_turn: FloatArray

    @property
    def motors(self) -> FloatArray:
        return self.found.motors

    @property
    def good(self) -> bool:
        """Is every target reached?"""
        return bool(self.found.good.all())

    def counts(self) -> dict[str, int]:
        """How many targets came to which end."""
        return dict(Counter(one.value for one in self.found.outcome))


def compensate(
    calibrated: Machine,
    nominal: Machine,
    targets: Targets,
    *,
    seed: FloatArray | None = None,
    world: bool = False,
    rng: np.random.Generator | None = None,
) -> Compensation:
    """Joints and poses to command for wanted poses or positions.

    ``seed`` are joints near the solution, one row for all or one for each; without, they are looked
    for. Targets are in the frame before the first joint, or in the ``world`` of the robot files.
    """
    _check(calibrated, nominal)
    before, after = _frames(calibrated, world=world), _frames(nominal, world=world)
    wanted = _in_world(targets, before)
    planned = _planned(nominal, _in_world(targets, after), seed, rng or np.random.default_rng(0))
    return _compensated(calibrated, nominal, targets, wanted, planned, before, after)


def compensate_joints(
    calibrated: Machine, nominal: Machine, motors: FloatArray, *, world: bool = False
) -> Compensation:
    """Joints with which the true robot reaches what the nominal one would have reached."""
    _check(calibrated, nominal)
    before, after = _frames(calibrated, world=world), _frames(nominal, world=world)
    motion = nominal.motion(nominal.values, motors)
    reached = after.inverse.then(Poses(motion.rotation, motion.position))
    turned = reached.rotation if nominal.joints >= 6 else None
    targets = Targets(reached.position, turned)
    wanted = _in_world(targets, before)
    return _compensated(calibrated, nominal, targets, wanted, motors, before, after)


def _compensated(
    calibrated: Machine,
    nominal: Machine,
    targets: Targets,
    wanted: Targets,
    planned: FloatArray,
    before: Poses,
    after: Poses,
) -> Compensation:
    found = inverse(calibrated, wanted, planned)
    motion = nominal.motion(nominal.values, found.motors)
    command = after.inverse.then(Poses(motion.rotation, motion.position))
    turn = np.zeros(len(targets))
    uncorrected = calibrated.motion(calibrated.values, planned)
    there = before.inverse.then(Poses(uncorrected.rotation, uncorrected.position))
    before_turn = np.zeros(len(targets))
    if targets.rotations is not None:
        turn, before_turn = (
            np.linalg.norm(
                rotations.log(pose.rotation @ targets.rotations.transpose(0, 2, 1)), axis=1
            )
            for pose in (command, there)
        )
    return Compensation(
        found,
        command.position,
        command.rotation,
        np.linalg.norm(command.position - targets.positions, axis=1),
        turn,
        np.linalg.norm(there.position - targets.positions, axis=1),
        before_turn,
    )


def _check(calibrated: Machine, nominal: Machine) -> None:
    if calibrated.joint_types != nominal.joint_types:
        raise InputError(f"'{nominal.name}' has different joints from '{calibrated.name}'")


def _frames(robot: Machine, *, world: bool) -> Poses:
    """The frame in which targets are given, in the robot's world."""
    if world or not isinstance(robot, Robot):
        return Poses.one(np.eye(3), np.zeros(3))
    return base_and_tool(robot)[0]


def _in_world(targets: Targets, frame: Poses) -> Targets:
    """Targets that were given in a frame, in the world of that frame."""
    turned = np.eye(3)[None] if targets.rotations is None else targets.rotations
    there = frame.then(Poses(turned, targets.positions))
    return Targets(there.position, None if targets.rotations is None else there.rotation)


def _planned(
    nominal: Machine, targets: Targets, seed: FloatArray | None, rng: np.random.Generator
) -> FloatArray:
    """What the controller would command without correction: the nominal solution."""
    if seed is None:
        seed = any_joints(nominal, targets, rng)
        # Where nothing was found, any joints serve to show how near the robot comes.
        lost = np.isnan(seed).any(axis=1)
        if lost.any():
            seed[lost] = nominal.random_motors(int(lost.sum()), rng)
    start = np.broadcast_to(seed, (len(targets), seed.shape[1])).copy()
    found = inverse(nominal, targets, start)
    ok = np.array([one not in (Reach.OUT, Reach.STUCK) for one in found.outcome])
    return np.where(ok[:, None], found.motors, start)
