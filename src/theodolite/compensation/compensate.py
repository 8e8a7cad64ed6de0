"""What to command so that the true robot arrives where it was wanted.

The controller knows the nominal robot N, the true one is the calibrated C. For a wanted pose T:

    joints      q with C(q) = T
    command     N(q): the pose whose nominal inverse is q, for controllers that take poses

Targets are given as controllers have them (`controller.py`), or in the world of the measurements. A
program of joints p wants what the nominal robot would have done: T = N(p).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.compensation.controller import Controlled, ControllerFrames, controlled
from theodolite.compensation.inverse import (
    Inverse,
    Reach,
    Targets,
    any_joints,
    inverse,
    tips_of,
    unwound,
)
from theodolite.compensation.path import followed, jumps_of
from theodolite.compensation.uncertainty import Uncertainty
from theodolite.errors import InputError
from theodolite.model import rotations
from theodolite.model.machine import Machine
from theodolite.model.poses import Poses

#: A calibration that corrects more, as a part of the reach, is of another robot.
ANOTHER_ROBOT = 0.05


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
    #: Joints that the controller would have commanded without it, (n, joints).
    planned: FloatArray
    #: Were orientations asked for, too?
    oriented: bool = True
    #: How far off the corrected robot is to be expected, rms, as the covariance of its parameters
    #: says, m, (n,); None where that is not known.
    expected: FloatArray | None = None
    #: Rows to which the joints jump, where the targets are samples of a path; None for others.
    jumps: IntArray | None = None
    #: Of the calibrated robot, m.
    reach: float = np.inf

    @property
    def motors(self) -> FloatArray:
        return self.found.motors

    @property
    def good(self) -> bool:
        """Is every target reached, without a jump, by a robot that is plainly the same?"""
        smooth = self.jumps is None or not len(self.jumps)
        return bool(self.found.good.all()) and smooth and not self.doubts

    @property
    def doubts(self) -> list[str]:
        """What speaks against the corrections as a whole, in sentences."""
        off = float(np.nanmedian(self.before)) if np.isfinite(self.before).any() else 0.0
        if off <= ANOTHER_ROBOT * self.reach:
            return []
        return [
            f"Without correction the robot would be {1e3 * off:.3g} mm off: the nominal robot is "
            "hardly the one that was calibrated."
        ]

    def beside(self, other: Compensation) -> Compensation:
        """The targets of both, those of the other behind."""
        known = self.expected is not None and other.expected is not None
        joined = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in (
                *("positions", "rotations", "shift", "turn", "before", "before_turn", "planned"),
                *(("expected",) if known else ()),
            )
        }
        oriented = self.oriented and other.oriented
        return Compensation(
            self.found.beside(other.found), **joined, oriented=oriented, reach=self.reach
        )

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
    frames: ControllerFrames | None = None,
    path: bool = False,
    uncertainty: Uncertainty | None = None,
    rng: np.random.Generator | None = None,
) -> Compensation:
    """Joints and poses to command for wanted poses or positions.

    ``seed`` are joints near the solution, one row for all or one for each; without, they are looked
    for. Targets are in the frame before the first joint, in the ``world`` of the robot files, or in
    the ``frames`` of a controller. Those of a ``path`` follow each other on one branch.
    """
    _check(calibrated, nominal)
    true, known = (
        controlled(robot, nominal, frames, world=world) for robot in (calibrated, nominal)
    )
    rng = rng or np.random.default_rng(0)
    planned = _planned(known.robot, known.of(targets), seed, rng, path=path)
    made = _compensated(true, known, targets, planned)
    made = replace(made, expected=_expected(true, made, uncertainty, world=world))
    if not path:
        return made
    return replace(made, jumps=jumps_of(true.robot, true.of(targets), made.motors))


def compensate_joints(
    calibrated: Machine,
    nominal: Machine,
    motors: FloatArray,
    *,
    world: bool = False,
    frames: ControllerFrames | None = None,
    uncertainty: Uncertainty | None = None,
) -> Compensation:
    """Joints with which the true robot reaches what the nominal one would have reached."""
    _check(calibrated, nominal)
    true, known = (
        controlled(robot, nominal, frames, world=world) for robot in (calibrated, nominal)
    )
    reached = known.tips(motors)
    targets = Targets(reached.position, reached.rotation if nominal.joints >= 6 else None)
    made = _compensated(true, known, targets, motors)
    return replace(made, expected=_expected(true, made, uncertainty, world=world))


def _compensated(
    true: Controlled, known: Controlled, targets: Targets, planned: FloatArray
) -> Compensation:
    found = inverse(true.robot, true.of(targets), planned)
    command, there = known.tips(found.motors), true.tips(planned)
    turn: FloatArray = np.zeros(len(targets))
    before_turn: FloatArray = np.zeros(len(targets))
    if targets.rotations is not None:
        turn, before_turn = (_turns(pose, targets.rotations) for pose in (command, there))
    return Compensation(
        found,
        command.position,
        command.rotation,
        np.linalg.norm(command.position - targets.positions, axis=1),
        turn,
        np.linalg.norm(there.position - targets.positions, axis=1),
        before_turn,
        planned,
        targets.rotations is not None,
        reach=true.robot.reach() or 1.0,
    )


def _turns(poses: Poses, wanted: FloatArray) -> FloatArray:
    """Angles between orientations; NaN where a pose is not known."""
    known = np.isfinite(poses.rotation).all(axis=(1, 2))
    found = np.full(len(poses), np.nan)
    away = poses.rotation[known] @ wanted[known].transpose(0, 2, 1)
    found[known] = np.linalg.norm(rotations.log(away), axis=1)
    return found


def _expected(
    true: Controlled, made: Compensation, uncertainty: Uncertainty | None, *, world: bool
) -> FloatArray | None:
    if uncertainty is None:
        return None
    return uncertainty.at(made.motors, tips_of(true.robot, made.motors).position, world=world)


def _check(calibrated: Machine, nominal: Machine) -> None:
    if calibrated.joint_types != nominal.joint_types:
        raise InputError(f"'{nominal.name}' has different joints from '{calibrated.name}'")


def _planned(
    nominal: Machine,
    targets: Targets,
    seed: FloatArray | None,
    rng: np.random.Generator,
    *,
    path: bool,
) -> FloatArray:
    """What the controller would command without correction: the nominal solution."""
    given = seed is not None
    if seed is None:
        seed = any_joints(nominal, targets, rng)
        # Where nothing was found, any joints serve to show how near the robot comes.
        lost = np.isnan(seed).any(axis=1)
        if lost.any():
            seed[lost] = nominal.random_motors(int(lost.sum()), rng)
    seed = np.atleast_2d(seed)
    start = np.broadcast_to(seed, (len(targets), seed.shape[1])).copy()
    found = inverse(nominal, targets, start)
    ok = np.array([one not in (Reach.OUT, Reach.STUCK, Reach.OPEN) for one in found.outcome])
    planned = np.where(ok[:, None], found.motors, start)
    if not path:
        return planned
    planned = followed(nominal, targets, planned)
    return planned if given else unwound(nominal, planned, together=True)
