"""Configurations within limits, and configurations that satisfy a constraint.

One damped Newton iteration over all samples at once serves the points of the link and plane
methods, and the structure of their identifiability (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.calibration.data import Dataset
from theodolite.errors import UnreachableError
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine, Tip

#: A configuration satisfies its goal when no component is off by more: reaches, radians.
SOLVED = 1e-12
#: Newton steps before giving a configuration up; converging ones need five to fifteen.
NEWTON_STEPS = 60
#: From recorded configurations to where a residual vanishes: it is small there.
NEAREST_STEPS = 5
#: A step that leaves more than this part of the squared error is slow, and so many are too many.
HARDLY = 0.8
PATIENCE = 8
#: How often random starts are drawn for configurations that touch something.
ROUNDS = 40
#: After so many starts without a single one, nothing is to be expected of more.
HOPELESS = 500
#: No joint moves by more in one step (radians, reaches): loops would not close there.
LONGEST_STEP = 0.5


class Goal(Protocol):
    """What configurations shall satisfy: an error (n, m) with its derivative by the basis."""

    @property
    def components(self) -> int: ...

    @property
    def lengths(self) -> int:
        """Of the components, so many are lengths; the rest are angles."""
        ...

    def error(self, motion: Tip) -> FloatArray: ...

    def derivative(self, motion: Tip) -> FloatArray: ...

    def take(self, rows: BoolArray) -> Goal: ...


@dataclass(frozen=True)
class PointGoal:
    """The tip at given points, (n, 3)."""

    positions: FloatArray
    components: int = 3
    lengths: int = 3

    def error(self, motion: Tip) -> FloatArray:
        return motion.position - self.positions

    def derivative(self, motion: Tip) -> FloatArray:
        return motion.position_basis_jacobian()

    def take(self, rows: BoolArray) -> PointGoal:
        return PointGoal(self.positions[rows])


@dataclass(frozen=True)
class PoseGoal:
    """The tip in given poses."""

    rotations: FloatArray
    positions: FloatArray
    components: int = 6
    lengths: int = 3

    def error(self, motion: Tip) -> FloatArray:
        turn = rotations.log(motion.rotation @ self.rotations.transpose(0, 2, 1))
        return np.concatenate([motion.position - self.positions, turn], axis=1)

    def derivative(self, motion: Tip) -> FloatArray:
        # The left inverse is left out: at the goal it is the identity, and Newton needs no more.
        return motion.twist_basis_jacobian()

    def take(self, rows: BoolArray) -> PoseGoal:
        return PoseGoal(self.rotations[rows], self.positions[rows])


@dataclass(frozen=True)
class PlaneGoal:
    """The tip in given planes ``n . P = h``, (n, 4)."""

    planes: FloatArray
    components: int = 1
    lengths: int = 1

    def error(self, motion: Tip) -> FloatArray:
        along = np.einsum("ni,ni->n", motion.position, self.planes[:, :3])
        return (along - self.planes[:, 3])[:, None]

    def derivative(self, motion: Tip) -> FloatArray:
        jacobian = motion.position_basis_jacobian()
        return np.einsum("nib,ni->nb", jacobian, self.planes[:, :3])[:, None]

    def take(self, rows: BoolArray) -> PlaneGoal:
        return PlaneGoal(self.planes[rows])


@dataclass(frozen=True)
class SpanGoal:
    """The tip at given distances from the origin of what it is seen from, (n,)."""

    distances: FloatArray
    components: int = 1
    lengths: int = 1

    def error(self, motion: Tip) -> FloatArray:
        return (np.linalg.norm(motion.position, axis=1) - self.distances)[:, None]

    def derivative(self, motion: Tip) -> FloatArray:
        along, _ = directions(motion.position)
        return np.einsum("ni,nib->nb", along, motion.position_basis_jacobian())[:, None]

    def take(self, rows: BoolArray) -> SpanGoal:
        return SpanGoal(self.distances[rows])


def directions(spans: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Unit vectors and lengths of spans (n, 3); a span of no length has no direction."""
    lengths = np.linalg.norm(spans, axis=1)
    return spans / np.where(lengths > 0.0, lengths, 1.0)[:, None], lengths


def within_limits(robot: Machine, motors: FloatArray, *, margin: float = 1e-9) -> BoolArray:
    """Which configurations respect the joint limits, (n,)."""
    readings = robot.readings(motors)
    inside = (readings >= robot.lower - margin) & (readings <= robot.upper + margin)
    return np.asarray(inside.all(axis=1))


def observed_poses(robot: Machine, points: int, rng: np.random.Generator) -> Dataset:
    """Exact poses of the first target at random configurations."""
    motors = robot.random_motors(points, rng)
    orientation, position = robot.poses(motors)
    return Dataset(
        motors,
        positions=position[:, None],
        targets=robot.target_names[:1],
        rotations=orientation,
    )


def satisfy(
    robot: Machine,
    goal: Goal,
    start: FloatArray,
    *,
    values: FloatArray | None = None,
    steps: int = NEWTON_STEPS,
    moved: Callable[[FloatArray, FloatArray], Tip] | None = None,
) -> tuple[FloatArray, BoolArray]:
    """The nearest configurations that reach a goal, and which of them do.

    The goal is for the robot's tip, or for what ``moved`` makes of values and configurations.

    Levenberg's damping, proportional to the squared error, so that far starts are safe and
    the last steps are Newton's. Works for more, as many or fewer joints than components.
    """
    values = robot.values if values is None else values
    motion = robot.motion if moved is None else moved
    # Passive joints go along, so that the loops of the next configuration are nearly closed.
    settled, closed = robot.settled(start, values)
    motors = settled.copy()
    reach = robot.reach() or 1.0
    # Lengths as parts of the reach, so that the search is the same at every size of robot.
    slides = np.array([reach if kind is Joint.PRISMATIC else 1.0 for kind in robot.joint_types])

    def error_of(part: Goal, tip: Tip) -> FloatArray:
        error = part.error(tip)
        error[:, : part.lengths] /= reach
        return error

    error = np.full((len(motors), goal.components), np.inf)
    error[closed] = error_of(goal.take(closed), motion(values, motors[closed]))
    damping = np.full(len(motors), 1.0)
    slow = np.zeros(len(motors), dtype=np.intp)
    active = closed & (np.abs(error).max(axis=1) > SOLVED / 100)
    here = None
    for _ in range(steps):
        if not active.any():
            break
        part, e = goal.take(active), error[active]
        # Where all have moved on, that motion is known already.
        here = here or motion(values, motors[active])
        J = robot.to_motors(part.derivative(here)) * slides
        J[:, : part.lengths] /= reach
        size = np.einsum("ni,ni->n", e, e)
        step = _damped_step(J, e, damping[active] * size + 1e-15)
        longest = np.abs(step).max(axis=1, keepdims=True)
        step *= slides * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        trial = motors[active]
        trial[:, : robot.joints] -= step
        after = np.full_like(e, np.inf)
        trial, possible = robot.settled(trial, values)
        there = motion(values, trial[possible])
        after[possible] = error_of(part.take(possible), there)
        now = np.einsum("ni,ni->n", after, after)
        better = now < size
        rows = np.flatnonzero(active)
        motors[rows[better]] = trial[better]
        error[rows[better]] = after[better]
        damping[rows] = np.where(better, damping[rows] / 3, damping[rows] * 8)
        # Once solved, a last step that no longer helps ends the search at rounding.
        solved = np.abs(error[rows]).max(axis=1) <= SOLVED
        done = (np.abs(error[rows]).max(axis=1) <= SOLVED / 1000) | (solved & ~better)
        active[rows[done]] = False
        slow[rows] += now > HARDLY * size
        active[rows[slow[rows] > PATIENCE]] = False
        here = there if better.all() and active[rows].all() else None
    return motors[:, : start.shape[1]], np.asarray(np.abs(error).max(axis=1) <= SOLVED)


def touching(
    robot: Machine,
    goal: Callable[[int], Goal],
    points: int,
    rng: np.random.Generator,
    *,
    what: str,
) -> FloatArray:
    """Random configurations within limits that satisfy a goal; ``goal`` makes one for so many."""
    found: list[FloatArray] = []
    # Fewer joints than equations touch nowhere.
    possible = goal(1).components <= robot.joints
    tried = 0
    for _ in range(ROUNDS if possible else 0):
        start = robot.random_motors(2 * points, rng)
        motors, solved = satisfy(robot, goal(len(start)), start)
        found.extend(motors[solved & within_limits(robot, motors)])
        if len(found) >= points:
            return np.array(found[:points])
        tried += len(start)
        if not found and tried >= HOPELESS:
            break
    raise UnreachableError(
        f"robot '{robot.name}' touches {what} in only {len(found)} of {points} configurations. "
        "Move it into the workspace"
    )


def _damped_step(J: FloatArray, e: FloatArray, damping: FloatArray) -> FloatArray:
    components, joints = J.shape[1:]
    Jt = J.transpose(0, 2, 1)
    shift = damping[:, None, None]
    if components < joints:
        inner = np.linalg.solve(J @ Jt + shift * np.eye(components), e[:, :, None])
        return (Jt @ inner)[:, :, 0]
    return np.linalg.solve(Jt @ J + shift * np.eye(joints), Jt @ e[:, :, None])[:, :, 0]
