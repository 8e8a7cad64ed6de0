"""Targets of a robot program, corrected in the order in which they stand.

Controllers say on which branch a pose is to be reached in ways of their own: quadrants of joints,
signs of joints, or nothing at all. Of the nominal robot's solutions those are taken that agree, and
of these the one nearest to the target before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.compensation.compensate import Compensation, compensate, compensate_joints
from theodolite.compensation.controller import ControllerFrames, controlled
from theodolite.compensation.inverse import Reach, Targets, all_joints, inverse
from theodolite.compensation.uncertainty import Uncertainty
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine

#: Which of several solutions, joints as the controller shows them (n, joints), SI, agree with what
#: a program says.
Branch = Callable[[FloatArray], BoolArray]


class Kind(Enum):
    """What a target gives."""

    POSE = "pose"
    JOINTS = "joints"


@dataclass(frozen=True, eq=False)
class Wanted:
    """One target of a program: a pose, or joints."""

    kind: Kind
    position: FloatArray | None = None
    rotation: FloatArray | None = None
    joints: FloatArray | None = None
    branch: Branch | None = None
    #: Can the program say another branch, where a correction leads across the border of this one?
    restated: bool = False


@dataclass(frozen=True, eq=False)
class Corrected:
    """What to command instead, for each target in its order."""

    #: Of all poses, and of all joint targets; None where there are none.
    poses: Compensation | None
    joints: Compensation | None
    #: For each target, its kind and its row there.
    rows: tuple[tuple[Kind, int], ...]
    #: Targets of which no solution agrees with what the program says of its branch.
    off_branch: tuple[int, ...] = ()

    @property
    def good(self) -> bool:
        parts = [part for part in (self.poses, self.joints) if part is not None]
        return all(part.good for part in parts)

    def joined(self, lines: Sequence[int]) -> tuple[Compensation, IntArray]:
        """All targets in one, poses first, with the line of each."""
        order = sorted(range(len(self.rows)), key=lambda n: (self.rows[n][0] is Kind.JOINTS, n))
        parts = [part for part in (self.poses, self.joints) if part is not None]
        numbered = np.array([lines[number] for number in order], dtype=np.intp)
        return parts[0] if len(parts) == 1 else parts[0].beside(parts[1]), numbered

    def of(self, number: int) -> tuple[Compensation, int]:
        """The compensation that holds a target, and its row."""
        kind, row = self.rows[number]
        part = self.poses if kind is Kind.POSE else self.joints
        assert part is not None
        return part, row


def correct_program(
    calibrated: Machine,
    nominal: Machine,
    wanted: Sequence[Wanted],
    *,
    frames: ControllerFrames | None = None,
    world: bool = False,
    start: FloatArray | None = None,
    uncertainty: Uncertainty | None = None,
    rng: np.random.Generator | None = None,
) -> Corrected:
    """What to command so that the true robot does what the program was written for.

    ``start`` are joints near which the robot begins; without, the middle of their ranges.
    """
    rng = rng or np.random.default_rng(0)
    poses = [number for number, one in enumerate(wanted) if one.kind is Kind.POSE]
    joints = [number for number, one in enumerate(wanted) if one.kind is Kind.JOINTS]
    rows = {
        **{number: (Kind.POSE, row) for row, number in enumerate(poses)},
        **{number: (Kind.JOINTS, row) for row, number in enumerate(joints)},
    }
    made = moved = None
    off: tuple[int, ...] = ()
    if joints:
        motors = np.array([wanted[number].joints for number in joints])
        moved = compensate_joints(
            calibrated, nominal, motors, frames=frames, world=world, uncertainty=uncertainty
        )
    if poses:
        turned = np.array([wanted[number].rotation for number in poses])
        targets = Targets(
            np.array([wanted[number].position for number in poses]),
            # An arm of few joints cannot turn as it pleases: its positions are corrected.
            turned if nominal.joints >= 6 else None,
        )
        known = controlled(nominal, nominal, frames, world=world)
        seed, off = _chosen(known.robot, known.of(targets), wanted, poses, start, rng)
        made = compensate(
            calibrated,
            nominal,
            targets,
            seed=seed,
            frames=frames,
            world=world,
            uncertainty=uncertainty,
        )
        outcome = list(made.found.outcome)
        # A small correction may lead across the border of a branch, too.
        crossed = [
            number
            for row, number in enumerate(poses)
            if outcome[row].good and not _agrees(wanted[number], made.motors[row], nominal.joints)
        ]
        off = tuple(sorted({*off, *crossed}))
        for number in off:
            outcome[rows[number][1]] = Reach.OTHERWISE
        made = replace(made, found=replace(made.found, outcome=tuple(outcome)))
    return Corrected(made, moved, tuple(rows[number] for number in range(len(wanted))), off)


def _agrees(one: Wanted, motors: FloatArray, joints: int) -> bool:
    """Are the joints on the branch that the program names, or can name instead?"""
    return one.branch is None or one.restated or bool(one.branch(motors[None, :joints])[0])


def _chosen(
    nominal: Machine,
    targets: Targets,
    wanted: Sequence[Wanted],
    poses: Sequence[int],
    start: FloatArray | None,
    rng: np.random.Generator,
) -> tuple[FloatArray, tuple[int, ...]]:
    """Joints of the nominal robot for each pose, and targets whose branch was not found."""
    now = _middle(nominal) if start is None else start
    candidates = all_joints(nominal, targets, rng)
    reach = nominal.reach() or 1.0
    units = np.array([reach if kind is Joint.PRISMATIC else 1.0 for kind in nominal.joint_types])
    redundant = nominal.joints > 6
    row = {number: place for place, number in enumerate(poses)}
    seed, off = [], []
    for number, one in enumerate(wanted):
        if one.joints is not None:
            now = one.joints
            continue
        found = candidates[row[number]]
        if redundant and one.branch is None:
            # Of endlessly many solutions the nearest.
            part = targets.take(np.array([row[number]]))
            near = inverse(nominal, part, now[None, : nominal.joints])
            found = near.motors if near.good[0] else found
        if len(found) and one.branch is not None:
            agree = one.branch(found[:, : nominal.joints])
            if not agree.any():
                off.append(number)
            found = found[agree] if agree.any() else found
        if len(found):
            away = (found[:, : nominal.joints] - now[: nominal.joints]) / units
            now = found[int(np.argmin(np.linalg.norm(away, axis=1)))]
        seed.append(now)
    return np.array(seed), tuple(off)


def _middle(robot: Machine) -> FloatArray:
    """Joints in the middle of their ranges; of a mechanism, where it was drawn first."""
    drawn = robot.random_motors(1, np.random.default_rng(0))[0]
    drawn[: robot.joints] = 0.5 * (robot.lower + robot.upper)
    return drawn
