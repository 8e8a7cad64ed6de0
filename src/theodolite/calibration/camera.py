"""Camera: pixels of a target's points, robot, lens, camera and target estimated together.

Bundle adjustment: every point of the target is carried by the robot's own model into the camera's
frame and projected, and the residual is in pixels, where the noise is. Two mounts:

- ``ground``: the camera stands still and is the world; the robot's tip is the target's frame.
- ``hand``: the target stands still and is the world; the robot's tip is the camera's frame
  (hand-eye calibration, with the robot's errors identified along).

Where camera and target are is what the robot's base and tool parameters say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.configurations import PoseGoal, satisfy, within_limits
from theodolite.calibration.data import Dataset, rows_by_count
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.lens import NAMES, Lens, projected
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError, UnreachableError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model import rotations
from theodolite.model.machine import Machine, Tip
from theodolite.model.parameters import Group, Parameter, Unit
from theodolite.model.twists import skews

MOUNTS = ("ground", "hand")
#: Of the simulated camera and target, unless given.
DEFAULT_LENS = Lens(1000.0, 1000.0, 512.0, 384.0, -0.1, 0.05, 1e-3, -5e-4, 0.0)
DEFAULT_SIZE = (1024, 768)
#: Configurations drawn for each picture where a robot cannot be told to look at the target.
MANY = 20
#: A simulated target fills about this part of the picture; it is tilted by up to so much (radians).
PART = 0.4
TILT = 0.6
ATTEMPTS = 60
#: Pictures per block of rows.
PICTURES = 64


class CameraProblem(GeometricProblem):
    """Pixels against projected points."""

    def __init__(
        self,
        robot: Machine,
        data: Dataset,
        noise: Noise,
        *,
        lens: Lens,
        mount: str,
        prior: FloatArray | None = None,
        gains: bool = False,
    ) -> None:
        if data.pixels is None or data.points is None:
            raise InputError("the data hold no pixels", where=data.name)
        extra = [
            Parameter(
                name,
                float(value),
                Unit.PIXEL if name[0] in "fc" else Unit.ONE,
                Group.SENSOR,
                0,
                column,
                tolerance=lens.fx if name[0] in "fc" else 1.0,
            )
            for column, (name, value) in enumerate(zip(NAMES, lens.values, strict=True))
        ]
        super().__init__(robot, data, noise, gains=gains, extra=extra)
        self._pixels, self._points, self._mount = data.pixels, data.points, mount
        self._lens, self._prior = lens.values, prior
        picture = data.configurations()
        first = np.unique(picture, return_index=True)[1]
        #: Pictures with equally many points: configurations (k, joints), rows of points (k, m).
        self._pictures = [
            (data.motors[first[picture[rows[:, 0]]]], rows) for rows in rows_by_count(picture)
        ]

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        lens = full[len(self.robot.parameters) :]
        own = self._columns[len(self._links) :] - len(self.robot.parameters)
        for motors, rows in self._some_pictures():
            motion = self._motion(full, motors)
            place = np.repeat(np.arange(len(rows)), rows.shape[1])
            points, moved = self._carried(motion, place, rows.ravel())
            pixels, by_points, by_lens = projected(points, lens)
            jacobian = np.empty((len(points), 2, len(self._columns)))
            twists = motion.twist_jacobian(self._links)[place]
            jacobian[:, :, : len(self._links)] = by_points @ moved(twists)
            jacobian[:, :, len(self._links) :] = by_lens[:, :, own]
            error = pixels - self._pixels[rows.ravel()]
            if not self.noise.moves:
                yield self._block(error, jacobian, 1.0 / self.noise.pixel, rows.ravel())
                continue
            # All points of a picture share the error of its joints.
            by_basis = by_points @ moved(motion.twist_basis_jacobian()[place])
            together = (len(rows), 2 * rows.shape[1])
            sigmas = np.full(together[1], self.noise.pixel)
            white = self._whitener(sigmas, by_basis.reshape(*together, -1))
            yield self._block(
                error.reshape(together), jacobian.reshape(*together, -1), white, rows[:, 0]
            )
        if self._prior is not None:
            yield self._known_lens(lens, own)

    def _some_pictures(self) -> Iterator[tuple[FloatArray, IntArray]]:
        """A bounded number of pictures at a time: configurations, and rows of their points."""
        for motors, rows in self._pictures:
            for part in slices(len(rows), PICTURES):
                yield motors[part], rows[part]

    def _known_lens(self, lens: FloatArray, own: IntArray) -> Block:
        """Rows that hold the lens at what was known of it."""
        assert self._prior is not None
        white = np.linalg.inv(np.linalg.cholesky(self._prior))
        jacobian = np.zeros((9, len(self._columns)))
        jacobian[:, len(self._links) :] = white[:, own]
        error = white @ (lens - self._lens)
        return Block(np.concatenate([jacobian, error[:, None]], axis=1).T, 1)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        sizes = np.empty(len(self.data))
        for motors, rows in self._some_pictures():
            place = np.repeat(np.arange(len(rows)), rows.shape[1])
            points, _ = self._carried(self._motion(full, motors), place, rows.ravel())
            pixels = projected(points, full[len(self.robot.parameters) :])[0]
            sizes[rows.ravel()] = np.linalg.norm(pixels - self._pixels[rows.ravel()], axis=1)
        return {"pixel": sizes}

    def extras(self, values: FloatArray) -> dict[str, Any]:
        """The lens as identified."""
        lens = self.full_values(values)[len(self.robot.parameters) :]
        return {"lens": dict(zip(NAMES, map(float, lens), strict=True))}

    def _carried(self, motion: Tip, place: IntArray, rows: IntArray) -> tuple[FloatArray, Any]:
        turned, shifts = motion.rotation[place], motion.position[place]
        return carried(turned, shifts, self._points[rows], self._mount)


def carried(
    turned: FloatArray, shifts: FloatArray, points: FloatArray, mount: str
) -> tuple[FloatArray, Any]:
    """Target points in the camera's frame (n, 3), and how twists of the tip (n, 6, k) move them."""
    if mount == "ground":
        arm = np.einsum("nij,nj->ni", turned, points)
        return shifts + arm, lambda t: t[:, :3] - skews(arm) @ t[:, 3:]
    back = turned.transpose(0, 2, 1)
    apart = points - shifts
    there = np.einsum("nij,nj->ni", back, apart)
    return there, lambda t: back @ (skews(apart) @ t[:, 3:] - t[:, :3])


class Camera(Method):
    """A camera that sees a target."""

    name: ClassVar[str] = "camera"
    title: ClassVar[str] = "pixels of a target seen by a camera"
    options: ClassVar[frozenset[str]] = frozenset({"lens", "mount"})

    @property
    def needs(self) -> tuple[str, ...]:
        return ("pixels", "points")

    def __init__(
        self,
        lens: Lens = DEFAULT_LENS,
        *,
        mount: str = "ground",
        size: tuple[int, int] = DEFAULT_SIZE,
        target: FloatArray | None = None,
        prior: FloatArray | None = None,
    ) -> None:
        """``prior``: covariance of the lens, (9, 9), where it was calibrated before."""
        if mount not in MOUNTS:
            raise InputError(f"a camera cannot be mounted on '{mount}'", allowed=MOUNTS)
        self.lens, self.mount, self.size = lens, mount, size
        self.target, self.prior = target, prior

    def check(self, robot: Machine, data: Dataset) -> None:
        """Nothing to check: where camera and target are is not known beforehand."""

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> CameraProblem:
        return CameraProblem(
            robot, data, noise, lens=self.lens, mount=self.mount, prior=self.prior, gains=gains
        )

    def with_extras(self, extras: Mapping[str, Any]) -> Camera:
        """The same camera with the lens that was found."""
        lens = Lens(**extras["lens"])
        return Camera(lens, mount=self.mount, size=self.size, target=self.target, prior=self.prior)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        """Pixels of all points in ``points`` pictures that show the whole target."""
        found: list[FloatArray] = []
        target = self._target(robot)
        for attempt in range(ATTEMPTS):
            none = not sum(map(len, found))
            if attempt > 2 and none:
                break
            # A platform may be unable to look from anywhere but where it is.
            anywhere = robot.joints < 6 or (attempt and none)
            look = robot.random_motors if anywhere else partial(self._looking, robot, target)
            motors = look((MANY if anywhere else 2) * points, rng)
            found.append(motors[self._visible(robot, motors, target)])
            if sum(map(len, found)) >= points:
                return self.pictures(robot, np.concatenate(found)[:points], target)
        raise UnreachableError(
            f"the camera sees its whole target in fewer than {points} configurations of robot "
            f"'{robot.name}': move the camera or the target in the robot file, or use another lens"
        )

    def points_for(self, robot: Machine) -> int:
        return max(20, len(robot.parameters) // 2)

    def pictures(self, robot: Machine, motors: FloatArray, target: FloatArray) -> Dataset:
        """What the camera sees of every point of the target in given configurations."""
        count = len(target)
        rows = np.repeat(np.arange(len(motors)), count)
        points = np.tile(target, (len(motors), 1))
        motion = robot.motion(robot.values, motors)
        there, _ = carried(motion.rotation[rows], motion.position[rows], points, self.mount)
        return Dataset(motors[rows], pixels=self.lens.project(there), points=points, sets=rows)

    def _target(self, robot: Machine) -> FloatArray:
        if self.target is not None:
            return self.target
        step = 0.025 * robot.reach()
        x, y = np.meshgrid(np.arange(7), np.arange(5))
        return np.column_stack([step * x.ravel(), step * y.ravel(), np.zeros(35)])

    def _visible(self, robot: Machine, motors: FloatArray, target: FloatArray) -> BoolArray:
        """Is the whole target in the picture, in front of the camera and not from behind?"""
        if not len(motors):
            return np.zeros(0, dtype=bool)
        rows = np.repeat(np.arange(len(motors)), len(target))
        motion = robot.motion(robot.values, motors)
        points = np.tile(target, (len(motors), 1))
        there, _ = carried(motion.rotation[rows], motion.position[rows], points, self.mount)
        in_front = there[:, 2] > 0.05 * robot.reach()
        pixels = self.lens.project(np.where(in_front[:, None], there, 1.0))
        inside = (
            in_front & (pixels > 5).all(axis=1) & (pixels < np.array(self.size) - 5).all(axis=1)
        )
        return np.asarray(inside.reshape(len(motors), -1).all(axis=1))

    def _looking(
        self, robot: Machine, target: FloatArray, count: int, rng: np.random.Generator
    ) -> FloatArray:
        """Configurations that look at the target."""
        away = np.ptp(target, axis=0).max() * self.lens.fx / (PART * min(self.size))
        centre = target.mean(axis=0)
        turn = rotations.exp(
            np.column_stack([rng.uniform(-TILT, TILT, (count, 2)), rng.uniform(-3, 3, count)])
        )
        place = rng.uniform([-0.15, -0.15, 0.8], [0.15, 0.15, 1.4], (count, 3)) * away
        # Target in the camera's frame: turned about its centre, which is at `place`.
        shift = place - np.einsum("nij,j->ni", turn, centre)
        if self.mount == "hand":
            turn = turn.transpose(0, 2, 1)
            shift = -np.einsum("nij,nj->ni", turn, shift)
        start = robot.random_motors(count, rng)
        motors, solved = satisfy(robot, PoseGoal(turn, shift), start)
        return motors[solved & within_limits(robot, motors)]
