"""Position link and frame link: no sensor; sets of configurations that reach the same place.

    residual = P(q_i) - P(q_1)                          position link  [Khalil1996, eqs. 6-7]
    residual = [ P(q_i) - P(q_1) ; log(R(q_i) R(q_1)') ]   frame link  [Khalil1996, eq. 8]

for the further configurations i of each set. All of them share q_1, so their noise is
correlated: with equal noise on every configuration the covariance of the differences is
1 + delta_ij, and its inverse Cholesky factor turns them into orthonormal contrasts. Which
configuration comes first then makes no difference.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.configurations import (
    Goal,
    PointGoal,
    PoseGoal,
    satisfy,
    within_limits,
)
from theodolite.calibration.data import Dataset, rows_by_count
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError, UnreachableError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import BLOCK, slices
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine, Tip

#: Newton steps from recorded configurations to those that meet: they are millimetres apart.
MEETING_STEPS = 12
#: Two configurations are different when some joint differs by more (radians, metres).
DIFFERENT = 0.05
#: Random starts before a set is given up for another, and more for each configuration wanted.
ATTEMPTS = 20
PER_CONFIGURATION = 10
#: Configurations that are searched for at once: few at a time take hardly less.
TOGETHER = 300
#: Rounds of looking for places with enough configurations.
ROUNDS = 12
#: So many searches without a new configuration: there are no more.
HOPELESS = 60


@dataclass(frozen=True)
class Sets:
    """Sets of one size: row numbers (sets, size), the first column being the reference."""

    rows: IntArray

    @property
    def size(self) -> int:
        return self.rows.shape[1]

    def contrast(self) -> FloatArray:
        """The matrix (size - 1, size - 1) that makes differences from the first independent."""
        count = self.size - 1
        factor: FloatArray = np.linalg.inv(
            np.linalg.cholesky(np.eye(count) + np.ones((count, count)))
        )
        return factor


def sets_by_size(labels: IntArray) -> list[Sets]:
    """The sets of a recording, grouped by how many configurations they have; not single ones."""
    return [Sets(rows) for rows in rows_by_count(labels) if rows.shape[1] > 1]


class LinkProblem(GeometricProblem):
    """Differences between configurations that should reach the same place."""

    @property
    def constraint(self) -> bool:
        return True

    #: Rows per difference.
    width: ClassVar[int]

    @cached_property
    def _sets(self) -> list[Sets]:
        if self.data.sets is None:
            raise InputError(
                "the data do not say which configurations reach the same place",
                where=self.data.name,
                remedy="Add a column 'set'",
            )
        return sets_by_size(self.data.sets)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        """Differences at the recorded configurations, derivatives where they would vanish.

        The differences shrink with the robot, so their own derivative, multiplied by the noise in
        them, would pull it towards no size; and where they do not vanish, it would see where the
        robot stands.
        """
        full = self.full_values(values)
        for sets in self._sets:
            contrast = sets.contrast()
            for part in slices(len(sets.rows), max(1, BLOCK // sets.size)):
                rows = sets.rows[part]
                motors = self.data.motors[rows.ravel()]
                motion = self._motion(full, motors)
                meeting, whole = self._meeting(full, motors, motion, rows.shape)
                error = self._differences(motion, *rows.shape)
                jacobian = self._derivatives(self._motion(full, meeting), *rows.shape)
                # Sets that cannot meet, at the edge of the workspace, tell nothing of the robot.
                jacobian[:, :, ~whole] = 0.0
                yield self._contrasts(error, jacobian, contrast, motion, rows)

    def _meeting(
        self, full: FloatArray, motors: FloatArray, motion: Tip, shape: tuple[int, int]
    ) -> tuple[FloatArray, BoolArray]:
        """The nearest configurations in which each set reaches one place, and which sets do."""
        values = full[: len(self.robot.parameters)]
        goal = self._common_goal(motion, *shape)
        there, found = satisfy(self.robot, goal, motors, values=values, steps=MEETING_STEPS)
        return there, np.asarray(found.reshape(shape).all(axis=1))

    def _contrasts(
        self,
        error: FloatArray,
        jacobian: FloatArray,
        contrast: FloatArray,
        motion: Tip,
        rows: IntArray,
    ) -> Block:
        """Whitened block of differences (sets, size - 1, width) and (p, width, sets, size - 1)."""
        sigmas = self._sigmas()
        J = jacobian
        if not self.noise.moves:
            e = np.einsum("ci,siw->wsc", contrast, error) / sigmas[:, None, None]
            J = J @ contrast.T / sigmas[:, None, None]
            columns = np.concatenate([J.reshape(len(J), -1), e.reshape(1, -1)])
            # A contrast is of all configurations of its set; it is named by the first.
            return Block(columns, self.width, np.repeat(rows[:, 0], rows.shape[1] - 1))
        whitener = self._joint_whitener(motion, sigmas, (len(rows), rows.shape[1]))
        count, others = error.shape[:2]
        e = whitener @ error.reshape(count, others * self.width, 1)
        J = J.transpose(2, 3, 1, 0).reshape(count, others * self.width, len(self._columns))
        white = np.concatenate([whitener @ J, e], axis=2)
        # Component-major, as all blocks: all differences of a set are one observation.
        columns = white.transpose(2, 1, 0).reshape(len(self._columns) + 1, -1)
        return Block(columns, others * self.width, rows[:, 0])

    def _joint_whitener(
        self, motion: Tip, sigmas: FloatArray, shape: tuple[int, int]
    ) -> FloatArray:
        """Inverse Cholesky factor of the differences' covariance, one matrix per set."""
        count, size = shape
        by_motor = self.robot.to_motors(self._basis_derivative(motion)) * self.motor_noise
        each = by_motor @ by_motor.transpose(0, 2, 1) + np.diag(sigmas**2)
        each = each.reshape(count, size, self.width, self.width)
        others = size - 1
        covariance = np.repeat(np.repeat(each[:, None, None, 0], others, 1), others, 2)
        diagonal = np.arange(others)
        covariance[:, diagonal, diagonal] += each[:, 1:]
        covariance = covariance.transpose(0, 1, 3, 2, 4)
        order = others * self.width
        return np.linalg.inv(np.linalg.cholesky(covariance.reshape(count, order, order)))

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        found: dict[str, list[FloatArray]] = {}
        for sets in self._sets:
            motion = self._motion(full, self.data.motors[sets.rows.ravel()])
            for quantity, error in self._scatter(motion, *sets.rows.shape).items():
                found.setdefault(quantity, []).append(error.ravel())
        return {quantity: np.concatenate(parts) for quantity, parts in found.items()}

    def error_rows(self, name: str) -> IntArray:
        return np.concatenate([sets.rows.ravel() for sets in self._sets])

    @abstractmethod
    def _sigmas(self) -> FloatArray: ...

    @abstractmethod
    def _basis_derivative(self, motion: Tip) -> FloatArray: ...

    @abstractmethod
    def _differences(self, motion: Tip, sets: int, size: int) -> FloatArray:
        """Errors, (sets, size - 1, width)."""

    @abstractmethod
    def _derivatives(self, motion: Tip, sets: int, size: int) -> FloatArray:
        """Derivatives of the errors, (p, width, sets, size - 1)."""

    @abstractmethod
    def _common_goal(self, motion: Tip, sets: int, size: int) -> Goal:
        """Where the configurations of each set would meet."""

    @abstractmethod
    def _scatter(self, motion: Tip, sets: int, size: int) -> dict[str, FloatArray]:
        """How far each configuration is from the middle of its set, (sets, size)."""


def _by_set(jacobian: FloatArray, sets: int, size: int) -> FloatArray:
    """(n, rows, p), samples first, as (p, rows, sets, size)."""
    J = jacobian.transpose(2, 1, 0)
    return J.reshape(*J.shape[:2], sets, size)


def _distance_from_mean(positions: FloatArray, sets: int, size: int) -> FloatArray:
    points = positions.reshape(sets, size, 3)
    distance: FloatArray = np.linalg.norm(points - points.mean(axis=1, keepdims=True), axis=2)
    return distance


class PositionLinkProblem(LinkProblem):
    """Differences of positions within sets."""

    width: ClassVar[int] = 3

    def _sigmas(self) -> FloatArray:
        return np.full(3, self.noise.position)

    def _basis_derivative(self, motion: Tip) -> FloatArray:
        return motion.position_basis_jacobian()

    def _differences(self, motion: Tip, sets: int, size: int) -> FloatArray:
        points = motion.position.reshape(sets, size, 3)
        return points[:, 1:] - points[:, :1]

    def _derivatives(self, motion: Tip, sets: int, size: int) -> FloatArray:
        J = _by_set(motion.position_jacobian(self.links), sets, size)
        return J[..., 1:] - J[..., :1]

    def _common_goal(self, motion: Tip, sets: int, size: int) -> PointGoal:
        points = motion.position.reshape(sets, size, 3)
        return PointGoal(np.repeat(points.mean(axis=1), size, axis=0))

    def _scatter(self, motion: Tip, sets: int, size: int) -> dict[str, FloatArray]:
        return {"position": _distance_from_mean(motion.position, sets, size)}


class FrameLinkProblem(LinkProblem):
    """Differences of poses within sets."""

    width: ClassVar[int] = 6

    def _sigmas(self) -> FloatArray:
        return np.repeat([self.noise.position, self.noise.orientation], 3)

    def _basis_derivative(self, motion: Tip) -> FloatArray:
        return motion.twist_basis_jacobian()

    def _differences(self, motion: Tip, sets: int, size: int) -> FloatArray:
        points = motion.position.reshape(sets, size, 3)
        return np.concatenate(
            [points[:, 1:] - points[:, :1], self._turns(motion, sets, size)], axis=2
        )

    def _derivatives(self, motion: Tip, sets: int, size: int) -> FloatArray:
        twists = _by_set(motion.twist_jacobian(self.links), sets, size)
        J = twists[..., 1:] - twists[..., :1]
        shape = (sets, size - 1, 3, 3)
        flat = self._turns(motion, sets, size).reshape(-1, 3)
        left = rotations.left_inverse(flat).reshape(shape)
        right = rotations.right_inverse(flat).reshape(shape)
        # log(exp(dx_i) E exp(-dx_1)) moves by J_l^-1 dx_i - J_r^-1 dx_1.
        J[:, 3:] = np.einsum("skij,pjsk->pisk", left, twists[:, 3:, :, 1:])
        J[:, 3:] -= np.einsum("skij,pjs->pisk", right, twists[:, 3:, :, 0])
        return J

    def _turns(self, motion: Tip, sets: int, size: int) -> FloatArray:
        frames = motion.rotation.reshape(sets, size, 3, 3)
        turn = frames[:, 1:] @ frames[:, :1].transpose(0, 1, 3, 2)
        return rotations.log(turn.reshape(-1, 3, 3)).reshape(sets, size - 1, 3)

    def _common_goal(self, motion: Tip, sets: int, size: int) -> PoseGoal:
        points = motion.position.reshape(sets, size, 3)
        first = motion.rotation.reshape(sets, size, 3, 3)[:, 0]
        return PoseGoal(
            np.repeat(first, size, axis=0), np.repeat(points.mean(axis=1), size, axis=0)
        )

    def _scatter(self, motion: Tip, sets: int, size: int) -> dict[str, FloatArray]:
        # The mean rotation of nearly equal ones, to first order in their differences.
        turn = np.concatenate([np.zeros((sets, 1, 3)), self._turns(motion, sets, size)], axis=1)
        turn = np.linalg.norm(turn - turn.mean(axis=1, keepdims=True), axis=2)
        return {
            "position": _distance_from_mean(motion.position, sets, size),
            "orientation": turn,
        }


class _Link(Method):
    """What the two link methods share: how sets of configurations are found."""

    @property
    def needs(self) -> tuple[str, ...]:
        return ("sets",)

    def points_for(self, robot: Machine) -> int:
        return max(20, len(robot.parameters) // 2)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 4
    ) -> Dataset:
        """Sets of different configurations of the given robot that reach the same place."""
        if per_set < 2:
            raise InputError(
                f"{per_set} configuration per set cannot be compared with itself",
                allowed="2 or more configurations per set",
            )
        found: list[FloatArray] = []
        missing = points
        for tried in range(1, ROUNDS + 1):
            found.extend(self._find_sets(robot, missing, per_set, rng))
            missing = points - len(found)
            # At this rate the rounds that are left would not be enough.
            hopeless = tried > 1 and ROUNDS * len(found) < points * tried
            if missing <= 0 or hopeless:
                break
        if missing > 0:
            raise UnreachableError(self._explain(robot, points, len(found), per_set))
        motors = np.concatenate(found[:points])
        return Dataset(motors, sets=np.repeat(np.arange(points), per_set))

    def _find_sets(
        self, robot: Machine, count: int, per_set: int, rng: np.random.Generator
    ) -> list[FloatArray]:
        """Try ``count`` random places; return the sets (per_set, joints) that came out whole."""
        reference = robot.random_motors(count, rng)
        sets = [[motors] for motors in reference]
        left = ATTEMPTS + PER_CONFIGURATION * per_set
        attempts = per_set
        while left > 0:
            short = np.array([i for i, members in enumerate(sets) if len(members) < per_set])
            if not len(short):
                break
            attempts = min(left, attempts, max(1, TOGETHER // len(short)))
            left -= attempts
            have = sum(map(len, sets))
            places = np.repeat(short, attempts)
            motion = robot.motion(robot.values, reference[places])
            start = robot.random_motors(len(places), rng)
            motors, solved = satisfy(robot, self._goal(motion), start)
            for index in np.flatnonzero(solved & within_limits(robot, motors)):
                members = sets[places[index]]
                if len(members) < per_set and _differs(robot, motors[index], members):
                    members.append(motors[index])
            if len(places) >= HOPELESS and sum(map(len, sets)) == have:
                break
            attempts *= 2
        return [np.array(members) for members in sets if len(members) == per_set]

    @abstractmethod
    def _goal(self, motion: Tip) -> Goal: ...

    @abstractmethod
    def _explain(self, robot: Machine, points: int, found: int, per_set: int) -> str: ...


def _differs(robot: Machine, motors: FloatArray, members: list[FloatArray]) -> bool:
    """Is a configuration different from others? Whole turns make no difference."""
    apart = robot.readings(np.array(members)) - robot.readings(motors[None])
    turning = [kind is Joint.REVOLUTE for kind in robot.joint_types]
    apart[:, turning] = np.remainder(apart[:, turning] + np.pi, 2 * np.pi) - np.pi
    gap: BoolArray = np.abs(apart).max(axis=1) > DIFFERENT
    return bool(gap.all())


class PositionLink(_Link):
    """Position link."""

    name: ClassVar[str] = "position-link"
    title: ClassVar[str] = "position link"
    gauge: ClassVar[Gauge] = Gauge.SIMILARITY

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> PositionLinkProblem:
        return PositionLinkProblem(robot, data, noise, gains=gains)

    def _goal(self, motion: Tip) -> PointGoal:
        return PointGoal(motion.position)

    def _explain(self, robot: Machine, points: int, found: int, per_set: int) -> str:
        return (
            f"robot '{robot.name}' reaches only {found} of {points} points with {per_set} "
            "different configurations within its joint limits. Ask for fewer configurations per "
            "set, or widen the limits in the robot file"
        )


class FrameLink(_Link):
    """Frame link."""

    name: ClassVar[str] = "frame-link"
    title: ClassVar[str] = "frame link"
    noises: ClassVar[tuple[str, ...]] = ("position", "orientation")
    gauge: ClassVar[Gauge] = Gauge.SIMILARITY_AND_TOOL

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> FrameLinkProblem:
        return FrameLinkProblem(robot, data, noise, gains=gains)

    def _goal(self, motion: Tip) -> PoseGoal:
        return PoseGoal(motion.rotation, motion.position)

    def _explain(self, robot: Machine, points: int, found: int, per_set: int) -> str:
        reason = (
            f"robot '{robot.name}' reaches only {found} of {points} poses with {per_set} "
            "different configurations within its joint limits. "
        )
        if robot.joints < 6:
            return reason + (
                f"With {robot.joints} joints a pose has a second configuration only where axes are "
                "exactly parallel or perpendicular, which no real robot's are. Use position-link"
            )
        return reason + "Ask for fewer configurations per set, or use position-link"
