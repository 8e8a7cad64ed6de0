"""Parallel robots from measured poses: the implicit and the inverse method [Renaud2006, 3.1-3.2].

A parallel robot is a `Mechanism` whose platform stands on passive coordinates u (translations and
turns of its own freedom) and whose legs are closures. From a measured pose P of the target, the
constants C give the platform's coordinates, u(P, C), by the components that the platform can move
in. What is left of the closures at the measured joints q is

    Psi(q, P, C) = G(q, u(P, C), C)                     implicit, eq. 15
    q_c(P, C) - q   with   Psi(q_c, P, C) = 0           inverse, eq. 13, no closed form needed

Noise of pose and joints is carried through to first order, so that both weigh the same information
alike: the covariance of Psi is ``Psi_q S_q Psi_q' + Psi_P S_P Psi_P'``.

The forward method is the frame measure: there the closures give u from q, and the pose is compared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.assembly import name_lines
from theodolite.calibration.configurations import observed_poses
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.platform import Platform
from theodolite.errors import InfeasibleError, InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices, spread
from theodolite.matrices import pseudo_inverse
from theodolite.model import closing
from theodolite.model.machine import Machine
from theodolite.model.mechanism import NONE, Mechanism

#: Legs that are off by more than this part of their length in the median are of another robot.
FOREIGN = 0.08
#: A pose that fits its joints this many times worse than usual, and by more than this part of a
#: leg's length, does not belong to them.
MISMATCHED = 10.0
MISMATCHED_PART = 0.025
#: Poses at which it is decided what is identifiable; more would only repeat them.
STRUCTURE_POSES = 400


class Psi(NamedTuple):
    """Closures at measured joints and poses, (n, m), and the derivatives."""

    psi: FloatArray
    by_values: FloatArray
    by_joints: FloatArray
    by_pose: FloatArray


def platform_of(robot: Machine) -> Platform:
    """The platform of a parallel robot; other machines are refused."""
    if not isinstance(robot, Mechanism):
        raise InputError(
            f"'{robot.name}' is a serial robot", allowed="parallel robots: h4, gough, ..."
        )
    return Platform(robot)


class ParallelProblem(GeometricProblem):
    """Closures of a parallel robot, the platform being where it was seen."""

    def __init__(self, robot: Machine, data: Dataset, noise: Noise, *, gains: bool = False) -> None:
        self.platform = platform_of(robot)
        super().__init__(robot, data, noise, gains=gains)
        assert isinstance(robot, Mechanism)
        self.mechanism, self._gains = robot, gains
        if data.positions is None:
            raise InputError("the data hold no poses", where=data.name)
        self._positions, self._rotations = data.positions[:, 0], data.rotations
        if self._rotations is None and max(self.platform.rows) > 2:
            raise InputError(
                f"the platform of '{robot.name}' turns, but the data hold no orientations",
                where=data.name,
                remedy="Add columns qw qx qy qz, or use the method 'position'",
            )
        self._guess = data.motors[:, robot.joints :]
        if self._guess.shape[1] != len(robot.passive):
            self._guess = np.tile(robot.home[1], (len(data), 1))

    def placed(self, full: FloatArray, rows: slice) -> FloatArray:
        """The platform's coordinates where the poses of some rows put it."""
        values = full[: len(self.mechanism.parameters)]
        return self.platform.placed(values, self._guess[rows], *self._pose(rows))

    def psi(
        self, full: FloatArray, rows: slice, joints: FloatArray, coordinates: FloatArray
    ) -> Psi:
        """Closures at given joints, with the platform where the poses of some rows put it."""
        values = full[: len(self.mechanism.parameters)]
        pose = self._pose(rows)
        both = np.concatenate([joints, coordinates], axis=1)
        seen = self.platform.seen(values, both, *pose, columns=self.links)
        gap = self.mechanism.gap(values, both, columns=self.links)
        through = gap.by_passive @ pseudo_inverse(seen.by_platform)
        return Psi(
            gap.gap,
            gap.by_values - through @ seen.by_values,
            gap.by_active,
            -through @ seen.by_pose,
        )

    def structure(self, values: FloatArray) -> Iterator[FloatArray]:
        """The Jacobian where the robot would have been seen at its joints.

        Away from there, a tilt of the target that the platform cannot make looks like information.
        """
        full = self.full_values(values)
        chosen = spread(len(self.data), STRUCTURE_POSES)
        data = self.data.take(chosen)
        possible = np.flatnonzero(self.mechanism.can_close(self._configurations(chosen), full))
        motors = self._configurations(chosen)[possible]
        if not len(motors):
            yield from (block.jacobian for block in self.blocks(values))
            return
        motion = self.mechanism.motion(full, motors)
        turned = None if self._rotations is None else motion.rotation
        consistent = replace(
            data.take(possible),
            covariances=None,
            motors=np.concatenate([motors[:, : self.mechanism.joints], motion.passive], axis=1),
            positions=motion.position[:, None],
            rotations=turned,
        )
        there = type(self)(self.mechanism, consistent, self.noise, gains=self._gains)
        yield from (block.jacobian for block in there.blocks(values))

    def _configurations(self, rows: IntArray) -> FloatArray:
        measured = self.data.motors[rows, : self.mechanism.joints]
        return np.concatenate([measured, self._guess[rows]], axis=1)

    def _pose(self, rows: slice) -> tuple[FloatArray, FloatArray | None]:
        turned = None if self._rotations is None else self._rotations[rows]
        return self._positions[rows], turned

    def _measured(self, rows: slice) -> FloatArray:
        return self.data.motors[rows, : self.mechanism.joints]

    def _covariance(self, by_joints: FloatArray, by_pose: FloatArray, rows: slice) -> FloatArray:
        """Of something that moves with joints and measured poses, (n, m, m)."""
        if self.data.covariances is not None:
            joints = by_joints * self.motor_noise
            seen = self.data.covariances[rows, : by_pose.shape[2], : by_pose.shape[2]]
            poses = by_pose @ seen @ by_pose.transpose(0, 2, 1)
            return np.asarray(poses + joints @ joints.transpose(0, 2, 1))
        sizes = [self.noise.position, self.noise.orientation][: by_pose.shape[2] // 3]
        parts = [by_pose * np.repeat(sizes, 3), by_joints * self.motor_noise]
        return np.asarray(sum(part @ part.transpose(0, 2, 1) for part in parts))

    @abstractmethod
    def _rows(self, full: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Error, derivative by candidates and covariance."""

    def _turned(self, full: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same, or an invertible combination of it: whitened, they differ by a rotation."""
        return self._rows(full, rows)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        for rows in slices(len(self.data)):
            error, jacobian, covariance = self._turned(full, rows)
            try:
                white = np.linalg.inv(np.linalg.cholesky(covariance))
            except np.linalg.LinAlgError as degenerate:
                raise InfeasibleError("legs move freely at a measured pose") from degenerate
            yield self._block(error, jacobian, white, rows)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        """By how much the joints would have to move to agree with the poses."""
        full = self.full_values(values)
        turning = self._motor_noise_kind()
        found: dict[str, list[FloatArray]] = {kind: [np.empty(0)] for kind in turning}
        for rows in slices(len(self.data)):
            at = self.psi(full, rows, self._measured(rows), self.placed(full, rows))
            off = np.einsum("nij,nj->ni", pseudo_inverse(at.by_joints), at.psi)
            for kind, columns in turning.items():
                found[kind].append(np.linalg.norm(off[:, columns], axis=1))
        return {kind: np.concatenate(parts) for kind, parts in found.items()}

    def _motor_noise_kind(self) -> dict[str, list[int]]:
        kinds: dict[str, list[int]] = {}
        for index, kind in enumerate(self.mechanism.joint_types):
            kinds.setdefault("joint angle" if kind == 0 else "joint stroke", []).append(index)
        return kinds


class ImplicitProblem(ParallelProblem):
    """The closures themselves, whitened."""

    def _rows(self, full: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        at = self.psi(full, rows, self._measured(rows), self.placed(full, rows))
        return at.psi, at.by_values, self._covariance(at.by_joints, at.by_pose, rows)


class InverseProblem(ParallelProblem):
    """Joints that close the legs, less the measured ones."""

    @property
    def warm_start(self) -> ImplicitProblem:
        """Near the end of a leg's reach joints depend on poses like a root; closures do not."""
        return ImplicitProblem(self.mechanism, self.data, self.noise, gains=self._gains)

    def _rows(self, full: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        coordinates = self.placed(full, rows)
        joints = self.inverse(full, rows, coordinates)
        at = self.psi(full, rows, joints, coordinates)
        inverse = pseudo_inverse(at.by_joints)
        unit = np.tile(np.eye(joints.shape[1]), (len(joints), 1, 1))
        return (
            joints - self._measured(rows),
            -inverse @ at.by_values,
            self._covariance(unit, inverse @ at.by_pose, rows),
        )

    def _turned(self, full: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Times -Psi_q, which saves the products with its inverse."""
        coordinates = self.placed(full, rows)
        joints = self.inverse(full, rows, coordinates)
        at = self.psi(full, rows, joints, coordinates)
        off = np.einsum("nij,nj->ni", at.by_joints, self._measured(rows) - joints)
        return off, at.by_values, self._covariance(at.by_joints, at.by_pose, rows)

    def inverse(self, full: FloatArray, rows: slice, coordinates: FloatArray) -> FloatArray:
        """The joints nearest to the measured ones that close the legs there."""
        values = full[: len(self.mechanism.parameters)]
        return inverse_joints(self.mechanism, values, coordinates, self._measured(rows))


def inverse_joints(
    mechanism: Mechanism, values: FloatArray, coordinates: FloatArray, guess: FloatArray
) -> FloatArray:
    """Measured joints that close the legs at given platform coordinates, nearest to a guess."""
    split = coordinates.shape[1]

    def gap_at(rows: FloatArray) -> closing.Gap:
        joints = np.concatenate([rows[:, split:], rows[:, :split]], axis=1)
        at = mechanism.relative_gap(values, joints)
        return closing.Gap(at.gap, at.by_values, at.by_passive, at.by_active)

    joints, size = closing.close(gap_at, coordinates, guess, mechanism.joint_units[0])
    open_ = np.flatnonzero(~(size <= closing.CLOSED))
    if len(open_):
        raise InfeasibleError(
            f"legs of '{mechanism.name}' do not reach {len(open_)} of {len(size)} poses", open_
        )
    return joints


class _Parallel(Method):
    """What both methods share; points are those of the frame measure."""

    @property
    def needs(self) -> tuple[str, ...]:
        return ("positions",)

    def check(self, robot: Machine, data: Dataset) -> None:
        check_legs(robot, data)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        platform_of(robot)
        return observed_poses(robot, points, rng)

    def points_for(self, robot: Machine) -> int:
        return max(12, len(robot.parameters) // 2)


class Implicit(_Parallel):
    """Implicit method."""

    name: ClassVar[str] = "implicit"
    title: ClassVar[str] = "closures of a parallel robot at measured poses"
    of_world: ClassVar[bool] = True

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> ImplicitProblem:
        return ImplicitProblem(robot, data, noise, gains=gains)


class Inverse(_Parallel):
    """Inverse method."""

    name: ClassVar[str] = "inverse"
    title: ClassVar[str] = "joints of a parallel robot from measured poses"
    of_world: ClassVar[bool] = True

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> InverseProblem:
        return InverseProblem(robot, data, noise, gains=gains)


def check_legs(robot: Machine, data: Dataset) -> None:
    """Refuse poses that do not belong to their joints: out of reach, mixed up, another assembly."""
    platform = Platform.of(robot)
    if platform is None or data.positions is None or not len(data):
        return
    off = _misfit(platform.mechanism, data)
    usual = float(np.median(off))
    if usual > FOREIGN:
        raise InputError(
            f"with the nominal '{robot.name}' legs would have to be {100 * usual:.0f} % longer or "
            "shorter (median) for joints and poses to agree",
            where=data.name,
            remedy="Check units, the order of the joints and where the robot file puts sensor and "
            "target; or start from nominal regardless",
        )
    wrong = np.flatnonzero(off > np.maximum(MISMATCHED * usual, MISMATCHED_PART))
    if len(wrong):
        lines = [data.line(row) for row in wrong]
        raise InputError(
            f"{name_lines(lines)}: joints and pose do not belong together: legs would have to be "
            f"{100 * off[wrong[0]]:.0f} % longer or shorter, where {100 * usual:.1f} % is usual",
            where=data.name,
            remedy="The pose is out of reach, or belongs to another assembly or row: leave it out",
        )


def _misfit(robot: Mechanism, data: Dataset) -> FloatArray:
    """By how much legs would have to be longer for joints and poses to agree, (n,), metres.

    Of the nominal robot, as part of the legs' own length: small where nothing is wrong.
    """
    problem = ImplicitProblem(robot, data, Noise.guess(robot.reach()))
    full = problem.full_values(np.array([p.value for p in problem.parameters]))
    active, passive = (part[None] for part in robot.home)
    legs = robot.leg_lengths(np.concatenate([active, passive], axis=1))[0]
    found = []
    for rows in slices(len(data)):
        both = np.concatenate([problem._measured(rows), problem.placed(full, rows)], axis=1)
        gap = robot.gap(full[: len(robot.parameters)], both, columns=NONE).gap
        found.append(np.abs(gap / legs).max(axis=1))
    return np.concatenate(found)
