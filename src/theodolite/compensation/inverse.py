"""Joints with which a robot reaches given poses, many at once, and why it does not.

The calibrated robot has errors that no closed-form inverse knows, so the joints are found by a
damped Newton search from nearby ones. It moves no further than it must, so that it stays on the
branch it starts from, and a redundant arm ends in the nearest of its solutions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.configurations import Goal, PointGoal, PoseGoal, satisfy
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine, Tip
from theodolite.model.poses import Poses

#: Joints that end further than this from where they started, in radians or reaches, have gone over
#: to another branch.
ANOTHER_BRANCH = 0.5
#: A target is near a singularity if the tip can hardly move in some direction: the smallest
#: singular value of the Jacobian, lengths in reaches.
NEARLY_SINGULAR = 1e-2
#: Reached: lengths as parts of the reach, radians.
REACHED = 1e-10
#: A stretched arm is singular, too: what is missed by more is out of reach.
NEARBY = 1e-2
#: Random starts for targets of which no nearby joints are known, each time for all that are left.
ROUNDS = 30
#: A whole turn.
TURN = 2.0 * np.pi
#: Random starts with which the branches of a target are looked for.
STARTS = 64


class Reach(Enum):
    """What became of a target."""

    REACHED = "reached"
    SINGULAR = "reached, near a singularity"
    LIMITS = "beyond a joint's limit"
    BRANCH = "only on another branch"
    STUCK = "not reached, near a singularity"
    OUT = "out of reach"
    OPEN = "the loops do not close there"
    OTHERWISE = "not on the branch that its configuration names"

    @property
    def good(self) -> bool:
        return self in (Reach.REACHED, Reach.SINGULAR)


@dataclass(frozen=True, eq=False)
class Targets:
    """Wanted positions (n, 3), with orientations (n, 3, 3) or without, in the robot's world."""

    positions: FloatArray
    rotations: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def goal(self) -> Goal:
        if self.rotations is None:
            return PointGoal(self.positions)
        return PoseGoal(self.rotations, self.positions)

    def take(self, rows: BoolArray | IntArray) -> Targets:
        turned = None if self.rotations is None else self.rotations[rows]
        return Targets(self.positions[rows], turned)


@dataclass(frozen=True, eq=False)
class Inverse:
    """Joints for each target, and how near they come."""

    #: (n, joints)
    motors: FloatArray
    #: What became of each, (n,).
    outcome: tuple[Reach, ...]
    #: Distance and angle that are left, m and rad, (n,).
    distance: FloatArray
    angle: FloatArray
    #: Smallest singular value of the Jacobian there, lengths in reaches, (n,).
    mobility: FloatArray
    #: Distance of the joint nearest to a limit, rad or m, negative beyond it; and which, (n,).
    margin: FloatArray
    nearest: tuple[str, ...]

    def beside(self, other: Inverse) -> Inverse:
        """Both, the other behind."""
        arrays = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("motors", "distance", "angle", "mobility", "margin")
        }
        return Inverse(
            outcome=self.outcome + other.outcome, nearest=self.nearest + other.nearest, **arrays
        )

    @property
    def good(self) -> BoolArray:
        return np.array([one.good for one in self.outcome], dtype=bool)


def inverse(robot: Machine, targets: Targets, seed: FloatArray) -> Inverse:
    """Joints that reach each target, from nearby ones (n, joints)."""
    motors, _ = satisfy(robot, targets.goal(), seed)
    reach = robot.reach() or 1.0
    tips, mobility = _there(robot, targets, motors)
    distance = np.linalg.norm(tips.position - targets.positions, axis=1)
    closed = np.isfinite(distance)
    angle = np.zeros(len(targets))
    if targets.rotations is not None:
        turn = tips.rotation[closed] @ targets.rotations[closed].transpose(0, 2, 1)
        angle[closed] = np.linalg.norm(rotations.log(turn), axis=1)
    readings = robot.readings(motors)
    room = np.minimum(readings - robot.lower, robot.upper - readings)
    closest = np.argmin(room, axis=1)
    margin = room[np.arange(len(room)), closest]
    slides = np.array([reach if kind is Joint.PRISMATIC else 1.0 for kind in robot.joint_types])
    moved = np.abs(motors - seed)[:, : robot.joints] / slides
    left = np.maximum(distance / reach, angle)
    outcome = _outcomes(left, margin, moved.max(axis=1, initial=0.0), mobility)
    names = robot.joint_names
    nearest = tuple(names[joint] for joint in closest.tolist())
    return Inverse(motors, outcome, distance, angle, mobility, margin, nearest)


def _there(robot: Machine, targets: Targets, motors: FloatArray) -> tuple[Poses, FloatArray]:
    """Where the tip is, and how it can move in what the targets ask of it."""
    settled, closed = robot.settled(motors)
    motion = robot.motion(robot.values, settled[closed])
    mobility = np.full(len(motors), np.nan)
    mobility[closed] = _mobility(robot, targets.take(closed), motion)
    return _poses(motion, closed), mobility


def tips_of(robot: Machine, motors: FloatArray) -> Poses:
    """Where the tip is; NaN where loops do not close."""
    settled, closed = robot.settled(motors)
    return _poses(robot.motion(robot.values, settled[closed]), closed)


def _poses(motion: Tip, closed: BoolArray) -> Poses:
    turned = np.full((len(closed), 3, 3), np.nan)
    there = np.full((len(closed), 3), np.nan)
    turned[closed], there[closed] = motion.rotation, motion.position
    return Poses(turned, there)


def _outcomes(
    left: FloatArray, margin: FloatArray, moved: FloatArray, mobility: FloatArray
) -> tuple[Reach, ...]:
    """What became of each target, (n,) each: the first of the cases that holds.

    ``left`` is what is left of the way, in reaches or radians.
    """
    singular = mobility < NEARLY_SINGULAR
    cases = {
        Reach.OPEN: np.isnan(mobility),
        Reach.STUCK: (left > REACHED) & (left <= NEARBY) & singular,
        Reach.OUT: left > REACHED,
        Reach.BRANCH: moved > ANOTHER_BRANCH,
        Reach.LIMITS: margin < -1e-9,
        Reach.SINGULAR: singular,
    }
    found = np.select(list(cases.values()), list(range(len(cases))), len(cases))
    names = (*cases, Reach.REACHED)
    return tuple(names[case] for case in found.tolist())


def mobility_of(robot: Machine, targets: Targets, motors: FloatArray) -> FloatArray:
    """The smallest singular value of how joints move the tip in what the targets ask of it.

    NaN where loops do not close.
    """
    return _there(robot, targets, motors)[1]


def _mobility(robot: Machine, targets: Targets, motion: Tip) -> FloatArray:
    reach, goal = robot.reach() or 1.0, targets.goal()
    J = robot.to_motors(goal.derivative(motion))
    J = J * np.array([reach if kind is Joint.PRISMATIC else 1.0 for kind in robot.joint_types])
    J[:, : goal.lengths] /= reach
    # An arm of few joints cannot move in all directions anyway: as many count as it has.
    found: FloatArray = np.linalg.svd(J, compute_uv=False)[:, -1]
    return found


def all_joints(
    robot: Machine, targets: Targets, rng: np.random.Generator, *, starts: int = STARTS
) -> list[FloatArray]:
    """Joints within limits of every branch that random starts find, (branches, joints) each."""
    drawn = robot.random_motors(starts, rng)
    rows = np.repeat(np.arange(len(targets)), starts)
    motors, solved = satisfy(robot, targets.take(rows).goal(), np.tile(drawn, (len(targets), 1)))
    readings = robot.readings(motors)
    inside = ((readings >= robot.lower) & (readings <= robot.upper)).all(axis=1)
    found = []
    for number in range(len(targets)):
        own = motors[(rows == number) & solved & inside]
        # Starts that end in the same joints, but for rounding, are one.
        _, first = np.unique(np.round(own, 6), axis=0, return_index=True)
        found.append(own[np.sort(first)])
    return found


def any_joints(robot: Machine, targets: Targets, rng: np.random.Generator) -> FloatArray:
    """Joints within limits for targets of which none are known; NaN where none were found.

    Neighbours in the list start from each other, so that a path stays on one branch.
    """
    found = np.full((len(targets), robot.random_motors(1, rng).shape[1]), np.nan)
    for attempt in range(ROUNDS):
        open_ones = np.isnan(found[:, 0])
        if not open_ones.any():
            break
        known = np.flatnonzero(~open_ones)
        start = robot.random_motors(int(open_ones.sum()), rng)
        if len(known) and attempt % 2:
            rows = np.flatnonzero(open_ones)
            nearest = known[np.argmin(np.abs(rows[:, None] - known), axis=1)]
            start = found[nearest]
        elif not len(known):
            # The first ones decide the branch: all start from the same joints.
            start = np.repeat(start[:1], len(start), axis=0)
        motors, solved = satisfy(robot, targets.take(open_ones).goal(), start)
        motors = unwound(robot, motors)
        readings = robot.readings(motors)
        inside = ((readings >= robot.lower) & (readings <= robot.upper)).all(axis=1)
        rows = np.flatnonzero(open_ones)[solved & inside]
        found[rows] = motors[solved & inside]
    return found


def unwound(robot: Machine, motors: FloatArray, *, together: bool = False) -> FloatArray:
    """The same configurations, by whole turns of their joints as far from the limits as can be.

    ``together``: all rows are turned alike, as those of a path must be.
    """
    motors, middle = motors.copy(), (robot.lower + robot.upper) / 2
    # Where a limit is infinite any turn will do.
    turns = np.isfinite(middle) & (robot.upper - robot.lower > TURN)
    if not turns.any():
        return motors
    for joint in np.flatnonzero(turns & _periodic(robot, motors[:1])):
        reading = robot.readings(motors)[:, joint]
        if together:
            reading = np.full(len(motors), (reading.min() + reading.max()) / 2)
        motors[:, joint] += TURN * np.round((middle[joint] - reading) / TURN)
    return motors


def _periodic(robot: Machine, motors: FloatArray) -> BoolArray:
    """Joints of which a whole turn changes nothing but their own reading: no gain, no coupling."""
    if not len(motors):
        return np.zeros(robot.joints, dtype=bool)
    turn = TURN * np.eye(robot.joints)
    turned = np.repeat(motors, robot.joints, axis=0)
    turned[:, : robot.joints] += turn
    read = robot.readings(turned) - robot.readings(motors)
    there, here = tips_of(robot, turned), tips_of(robot, motors)
    away = np.linalg.norm(there.position - here.position, axis=1) / (robot.reach() or 1.0)
    away += np.abs(there.rotation - here.rotation).max(axis=(1, 2))
    return np.asarray((np.abs(read - turn).max(axis=1) < 1e-9) & (away < 1e-9))
