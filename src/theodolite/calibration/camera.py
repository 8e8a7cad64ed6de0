"""Camera: pixels of a target's points, robot, lens, camera and target estimated together.

Bundle adjustment: every point of the target is carried by the robot's own model into the camera's
frame and projected, and the residual is in pixels, where the noise is. Two mounts:

- ``ground``: the camera stands still and is the world; the robot's tip is the target's frame.
- ``hand``: the target stands still and is the world; the robot's tip is the camera's frame
  (hand-eye calibration, with the robot's errors identified along).

Where camera and target are is what the robot's base and tool parameters say. A picture is one
observation: its marks share the error of the joints, and it is right or wrong as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.base_and_tool import moved_robot
from theodolite.calibration.configurations import PoseGoal, satisfy, within_limits
from theodolite.calibration.data import Dataset, rows_by_count
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.lens import Lens
from theodolite.calibration.method import Method, Screened, Start, Started
from theodolite.calibration.noise import Noise
from theodolite.calibration.picture_noise import Pictures, picture_noise
from theodolite.calibration.pictures_start import start_from_pictures
from theodolite.calibration.quantities import are_exact
from theodolite.calibration.scene import (
    GROUND,
    MOUNTS,
    SMALLEST_VARIANCE,
    KnownLens,
    Scene,
    View,
    described_lens,
    nowhere,
)
from theodolite.calibration.screening import screened
from theodolite.calibration.shots import Shot, Shots
from theodolite.calibration.weights import SETTLED
from theodolite.errors import InputError, UnreachableError, shown
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.estimation.solver import Solution
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group
from theodolite.model.poses import Poses
from theodolite.model.robot import Robot

#: Of the simulated camera and target, unless given.
DEFAULT_LENS = Lens(1000.0, 1000.0, 512.0, 384.0, -0.1, 0.05, 1e-3, -5e-4, 0.0)
DEFAULT_SIZE = (1024, 768)
#: Configurations drawn for each picture where a robot cannot be told to look at the target.
MANY = 20
#: A simulated target fills about this part of the picture; it is tilted by up to so much (radians).
PART = 0.4
TILT = 0.6
#: Places where a target is tried that the camera in the hand does not see where it is, and
#: configurations that tell how well each is seen.
PLACES, LOOKS = 40, 120
ATTEMPTS = 60
#: Pictures per block of rows.
PICTURES = 64
#: No board is known better than this, as part of its size.
SMALLEST_TOLERANCE = 1e-6
#: Noise of joints below this, in radians, is none.
NO_NOISE = 1e-9


class CameraProblem(GeometricProblem):
    """Pixels against projected points."""

    def __init__(
        self, robot: Machine, data: Dataset, noise: Noise, scene: Scene, *, gains: bool = False
    ) -> None:
        if data.pixels is None or data.points is None:
            raise InputError("the data hold no pixels", where=data.name)
        super().__init__(
            robot,
            data,
            noise,
            gains=gains,
            extra=scene.parameters(robot.reach() or 1.0),
            fixed=scene.fixed,
        )
        self._pixels, self._points, self._scene = data.pixels, data.points, scene
        self._camera = _numbers(data.cameras, scene.cameras, "camera", data)
        self._board = _numbers(data.boards, scene.boards, "board", data)
        picture = data.configurations()
        first = np.unique(picture, return_index=True)[1]
        #: Pictures with equally many points: rows of their points, (k, m).
        alike = [
            rows[part] for rows in rows_by_count(picture) for part in slices(len(rows), PICTURES)
        ]
        #: A bounded number of pictures at a time: configurations, and rows of their points.
        self._pictures = [
            (data.motors[np.concatenate([first[picture[rows[:, 0]]] for rows in some])], some)
            for some in _bounded(alike, PICTURES)
        ]

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        own = self._columns[len(self.links) :] - len(self.robot.parameters)
        for shot, rows in self._shots(full):
            view = self._view(full, shot, rows)
            error = self._errors(view, rows)
            by_twist = view.by_twist.reshape(*error.shape, 6)
            jacobian = np.empty((*error.shape, len(self._columns)))
            np.matmul(by_twist, shot.by_links, out=jacobian[..., : len(self.links)])
            jacobian[..., len(self.links) :] = view.by_own[:, :, own].reshape(*error.shape, -1)
            if self.noise.moves:
                by_joint = self._by_joint(shot, by_twist) * self.motor_noise
                error, jacobian = whitened(error, jacobian, by_joint, self.noise.pixel)
                yield self._block(error, jacobian, 1.0, rows[:, 0])
            else:
                yield self._block(error, jacobian, 1.0 / self.noise.pixel, rows[:, 0])
        for part, white, error in self._scene.known_rows(full[len(self.robot.parameters) :]):
            jacobian = np.zeros((len(error), len(self._columns)))
            whole = np.zeros((len(error), len(full) - len(self.robot.parameters)))
            whole[:, part] = white
            jacobian[:, len(self.links) :] = whole[:, own]
            yield Block(np.concatenate([jacobian, error[:, None]], axis=1).T, 1)

    def _shots(self, full: FloatArray) -> Iterator[tuple[Shot, IntArray]]:
        """Pictures with equally many points: where they were taken, and rows of their points."""
        for motors, some in self._pictures:
            shots = Shots(self._motion(full, motors), self.links)
            start = 0
            for rows in some:
                yield Shot(shots, slice(start, start + len(rows))), rows
                start += len(rows)

    def _view(self, full: FloatArray, shot: Shot, rows: IntArray) -> View:
        place = np.repeat(np.arange(len(rows)), rows.shape[1])
        tip = Poses(shot.rotation[place], shot.position[place])
        which = rows.ravel()
        return self._scene.view(
            full[len(self.robot.parameters) :],
            tip,
            self._points[which],
            self._camera[which],
            self._board[which],
        )

    def _errors(self, view: View, rows: IntArray) -> FloatArray:
        """Errors of all coordinates of some pictures, (n, 2m)."""
        return (view.pixels - self._pixels[rows.ravel()]).reshape(len(rows), -1)

    def _by_joint(self, shot: Shot, by_twist: FloatArray) -> FloatArray:
        return self.robot.to_motors(by_twist @ shot.by_basis)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"pixel": np.linalg.norm(self.predicted(values) - self._pixels, axis=1)}

    def predicted(self, values: FloatArray) -> FloatArray:
        """Where the marks should be, (n, 2)."""
        full = self.full_values(values)
        pixels = np.empty((len(self.data), 2))
        for shot, rows in self._shots(full):
            pixels[rows.ravel()] = self._view(full, shot, rows).pixels
        return pixels

    def extras(self, values: FloatArray) -> dict[str, Any]:
        """Lenses as identified, and where further cameras and boards stand."""
        noise = {"pixel_px": self.noise.pixel, "joint_mrad": 1e3 * self.noise.joint}
        own = self.full_values(values)[len(self.robot.parameters) :]
        return {**self._scene.described(own), "noise": noise}

    def noise_seen(self, solution: Solution) -> Noise | None:
        return self.noise_of(solution)

    def noise_of(self, solution: Solution, *, robust: bool = False) -> Noise | None:
        """The noise of pixels and of joints that the residuals show; None where it is settled."""
        errors = self.errors(solution.values)
        if are_exact({"pixel": float(errors["pixel"].max(initial=0.0))}, self.robot.reach()):
            return None
        base = solution.identifiability.base
        lens = sum(self.parameters[index].group is Group.SENSOR for index in base)
        found = picture_noise(
            self._parts(solution.values), lens=lens, poses=len(base) - lens, robust=robust
        )
        if found is None:
            return None
        now = self.noise
        joint = found.joint if found.joint > NO_NOISE else 0.0
        near = abs(joint - now.joint) <= SETTLED * max(joint, now.joint)
        if near and abs(found.pixel / now.pixel - 1.0) < SETTLED:
            return None
        slide = joint * (self.robot.reach() or 1.0)
        return replace(now, pixel=found.pixel, joint=joint, slide=slide)

    def _parts(self, values: FloatArray) -> Iterator[Pictures]:
        full = self.full_values(values)
        reach = self.robot.reach() or 1.0
        scale = np.array([1.0 if k is Joint.REVOLUTE else reach for k in self.robot.joint_types])
        for shot, rows in self._shots(full):
            view = self._view(full, shot, rows)
            error = self._errors(view, rows)
            by_twist = view.by_twist.reshape(*error.shape, 6)
            # Lengths and turns alike: only the space that they span counts.
            by_pose = by_twist / np.linalg.norm(by_twist, axis=1, keepdims=True)
            yield Pictures(error, by_pose, self._by_joint(shot, by_twist) * scale)


def _bounded(groups: list[IntArray], most: int) -> list[list[IntArray]]:
    """Groups one after the other, in lists of at most ``most`` members together."""
    found: list[list[IntArray]] = []
    room = 0
    for group in groups:
        if len(group) > room:
            found.append([])
            room = most
        found[-1].append(group)
        room -= len(group)
    return found


def whitened(
    error: FloatArray, jacobian: FloatArray, shared: FloatArray, sigma: float
) -> tuple[FloatArray, FloatArray]:
    """Errors (n, w) and derivatives (n, w, p) times (sigma^2 I + B B')^-1/2, B (n, w, k).

    With B'B = V S^2 V' and h = sqrt(sigma^2 + S^2) this is (I - B V diag(1 / h (h + sigma)) V'B')
    / sigma: no matrix of the size of a picture is needed.
    """
    squares, axes = np.linalg.eigh(shared.transpose(0, 2, 1) @ shared)
    h = np.sqrt(sigma**2 + np.maximum(squares, 0.0))
    along = shared @ axes
    down = along / (h * (h + sigma))[:, None, :]
    both = np.concatenate([jacobian, error[:, :, None]], axis=2)
    both -= down @ (along.transpose(0, 2, 1) @ both)
    both /= sigma
    return both[:, :, -1], both[:, :, :-1]


def _numbers(labels: IntArray | None, known: Sequence[int], what: str, data: Dataset) -> IntArray:
    """Which camera, or board, each row is of."""
    if labels is None:
        return np.zeros(len(data), dtype=np.intp)
    order = {label: number for number, label in enumerate(known)}
    unknown = sorted(set(labels.tolist()) - set(order))
    if unknown:
        raise InputError(
            f"{what} {unknown[0]} is not among those known",
            where=data.name,
            allowed=list(map(str, known)),
        )
    return np.array([order[label] for label in labels.tolist()], dtype=np.intp)


class Camera(Method):
    """A camera, or several, that see a target, or several."""

    name: ClassVar[str] = "camera"
    title: ClassVar[str] = "pixels of a target seen by a camera"
    noises: ClassVar[tuple[str, ...]] = ("pixel",)
    options: ClassVar[frozenset[str]] = frozenset({"lens", "mount", "keep_lens", "board_tolerance"})

    @property
    def needs(self) -> tuple[str, ...]:
        return ("pixels", "points")

    @property
    def spreads(self) -> bool:
        """A board of unknown size makes the whole arm larger or smaller."""
        return self.board_tolerance > 0.0

    def __init__(
        self,
        lens: Lens | KnownLens | Sequence[Lens | KnownLens] = (),
        *,
        mount: str = GROUND,
        size: tuple[int, int] = DEFAULT_SIZE,
        target: FloatArray | None = None,
        prior: FloatArray | None = None,
        keep_lens: bool = False,
        board_tolerance: float = 0.0,
        scene: Scene | None = None,
        found: Mapping[str, Any] | None = None,
    ) -> None:
        """``lens``: one for each camera; without, pictures must show it.

        ``prior`` is its covariance where it was calibrated before; with ``keep_lens`` it is right.
        ``board_tolerance``: standard deviation of the target's scale, 0.01 for 1 %.
        """
        if mount not in MOUNTS:
            raise InputError(f"a camera cannot be mounted on '{mount}'", allowed=MOUNTS)
        if not isinstance(board_tolerance, int | float | np.number):
            raise InputError(
                f"the tolerance of the board is {shown(board_tolerance)}", allowed="a number"
            )
        if not isinstance(lens, Lens | KnownLens | Sequence) or isinstance(lens, str):
            raise InputError(f"the lens is {shown(lens)}", allowed="a Lens, or one for each camera")
        if board_tolerance and not SMALLEST_TOLERANCE <= board_tolerance < 1.0:
            raise InputError(
                f"the tolerance of the board is {board_tolerance}", allowed="0 to 1, as 0.01"
            )
        several = (lens,) if isinstance(lens, Lens | KnownLens) else tuple(lens)
        self.lenses = tuple(
            one if isinstance(one, KnownLens) else KnownLens(one, prior) for one in several
        )
        if keep_lens:
            if not self.lenses:
                raise InputError("a lens that is to be kept must be given")
            self.lenses = tuple(replace(one, fixed=True) for one in self.lenses)
        self.mount, self.size, self.target = mount, size, target
        self.board_tolerance = board_tolerance
        #: The scene of given data; None: it follows from data, and from what was found before.
        self.scene, self.found = scene, found

    @property
    def lens(self) -> Lens:
        """Of the first camera."""
        return self.lenses[0].lens if self.lenses else DEFAULT_LENS

    def _with(self, scene: Scene) -> Camera:
        return Camera(
            scene.lenses,
            mount=self.mount,
            size=self.size,
            target=self.target,
            board_tolerance=self.board_tolerance,
            scene=scene,
        )

    def scene_of(self, data: Dataset) -> Scene:
        """The scene that data are of, as far as it is known."""
        if self.scene is not None:
            return self.scene
        cameras = _labels(data.cameras)
        lenses = self.lenses or (KnownLens(DEFAULT_LENS),)
        if self.found is not None:
            return self._scene(data, lenses[:1] * len(cameras)).with_found(self.found)
        if len(lenses) not in (1, len(cameras)):
            raise InputError(
                f"{len(lenses)} lenses for {len(cameras)} cameras",
                where=data.name,
                allowed="one for each camera, or one for all",
            )
        return self._scene(data, lenses * len(cameras) if len(lenses) == 1 else lenses)

    def _scene(self, data: Dataset, lenses: tuple[KnownLens, ...]) -> Scene:
        cameras, boards = _labels(data.cameras), _labels(data.boards)
        places = nowhere(len(cameras)), nowhere(len(boards))
        return Scene(
            *(self.mount, lenses, cameras, boards, *places), board_tolerance=self.board_tolerance
        )

    def check(self, robot: Machine, data: Dataset) -> None:
        """Nothing to check: where camera and target are is not known beforehand."""

    def start(self, robot: Machine, data: Dataset, start: Start) -> Started:
        """Lens, base, tool and further places from the poses that the pictures show."""
        return self._started(robot, data, start, free=False)

    def start_beside(self, robot: Machine, data: Dataset, start: Start) -> Started:
        """Camera and target stand anywhere in the world of another source."""
        return self._started(robot, data, start, free=True)

    def _started(self, robot: Machine, data: Dataset, start: Start, *, free: bool) -> Started:
        if self.scene is not None:
            return Started(robot, False, self)
        scene = replace(self.scene_of(data), free=free)
        found = start_from_pictures(robot, data, scene, start, lens_known=bool(self.lenses))
        method = self._with(found.scene)
        assert data.pixels is not None and data.points is not None
        # Where the same robot is looked at in simulations, it is through this camera.
        width, height = np.ceil(data.pixels.max(axis=0, initial=0.0)).astype(int).tolist()
        method.size = (max(self.size[0], width), max(self.size[1], height))
        if method.target is None:
            method.target = np.unique(data.points, axis=0)
        return Started(found.robot, found.moved, method)

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> CameraProblem:
        return CameraProblem(robot, data, noise, self.scene_of(data), gains=gains)

    def screened(self, robot: Machine, data: Dataset, noise: Noise) -> Screened:
        """Without pictures that do not fit the others, and with the noise of the others."""
        return screened(partial(self.problem, robot), data, noise)

    def with_extras(self, extras: Mapping[str, Any]) -> Camera:
        """The same camera with lenses and places that were found."""
        if self.scene is not None:
            return self._with(self.scene.with_found(extras))
        return Camera(
            described_lens(extras["lens"]),
            mount=str(extras["mount"]),
            size=self.size,
            target=self.target,
            board_tolerance=self.board_tolerance,
            found=extras,
        )

    def predicted(self, robot: Machine, data: Dataset) -> FloatArray:
        """Where the robot puts the marks of some data in their pictures, (n, 2)."""
        problem = self.problem(robot, data, noise=Noise())
        return problem.predicted(np.array([p.value for p in problem.parameters]))

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

    def arranged(self, robot: Machine) -> Machine:
        """The robot, its base moved if need be to where the camera in its hand sees the target.

        The target stands in the world's origin, which may be under the robot's own feet. The same
        generator each time: where it stands is no matter of chance.
        """
        if self.mount == GROUND or self.scene is not None or not isinstance(robot, Robot):
            return robot
        rng, target = np.random.default_rng(0), self._target(robot)

        def looks(candidate: Robot) -> int:
            # A robot of few joints cannot be told where to look.
            few = candidate.joints < 6
            motors = (
                candidate.random_motors(MANY * LOOKS, rng)
                if few
                else self._looking(candidate, target, LOOKS, rng)
            )
            return int(self._visible(candidate, motors, target).sum())

        if looks(robot) >= LOOKS // 40:
            return robot
        ahead = np.array([0.0, 0.0, 1.1 * self._distance(target)]) - target.mean(axis=0)
        motion = robot.motion(robot.values, robot.random_motors(PLACES, rng))
        boards = Poses(motion.rotation, motion.position).then(Poses.one(np.eye(3), ahead))
        still = nowhere(1)
        placed = [
            moved_robot(robot, boards.take(np.array([place])).inverse, still)
            for place in range(PLACES)
        ]
        return max((robot, *placed), key=looks)

    def observe_at(self, robot: Machine, motors: FloatArray) -> Dataset:
        target = self._target(robot)
        hidden = int(np.sum(~self._visible(robot, motors, target)))
        if hidden:
            raise UnreachableError(
                f"the camera does not see its whole target in {hidden} of {len(motors)} "
                f"configurations of robot '{robot.name}': leave these out, move the camera or the "
                "target in the robot file, or use another lens"
            )
        return self.pictures(robot, motors, target)

    def points_for(self, robot: Machine) -> int:
        return max(20, len(robot.parameters) // 2)

    def pictures(self, robot: Machine, motors: FloatArray, target: FloatArray) -> Dataset:
        """What the camera sees of every point of the target in given configurations."""
        there, rows = self._in_camera(robot, motors, target)
        points = np.tile(target, (len(motors), 1))
        return Dataset(motors[rows], pixels=self.lens.project(there), points=points, sets=rows)

    def _target(self, robot: Machine) -> FloatArray:
        if self.target is not None:
            return self.target
        step = 0.025 * robot.reach()
        x, y = np.meshgrid(np.arange(7), np.arange(5))
        return np.column_stack([step * x.ravel(), step * y.ravel(), np.zeros(35)])

    def _places(self) -> tuple[Poses, Poses]:
        """Where the first camera and the first board stand."""
        if self.scene is None:
            return nowhere(1), nowhere(1)
        first = np.array([0])
        return self.scene.camera_places.take(first), self.scene.board_places.take(first)

    def seen_poses(self, robot: Machine, motors: FloatArray) -> Poses:
        """The first board in the first camera's frame."""
        motion = robot.motion(robot.values, motors)
        moved = Poses(motion.rotation, motion.position)
        camera, board = self._places()
        return camera.then(moved if self.mount == GROUND else moved.inverse).then(board)

    def _in_camera(
        self, robot: Machine, motors: FloatArray, target: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """All points of the target in the camera's frame, and the picture of each."""
        seen = self.seen_poses(robot, motors)
        there = np.einsum("nij,mj->nmi", seen.rotation, target) + seen.position[:, None]
        return there.reshape(-1, 3), np.repeat(np.arange(len(motors)), len(target))

    def _visible(self, robot: Machine, motors: FloatArray, target: FloatArray) -> BoolArray:
        """Is the whole target in the picture, in front of the camera and not from behind?"""
        if not len(motors):
            return np.zeros(0, dtype=bool)
        there, _ = self._in_camera(robot, motors, target)
        in_front = there[:, 2] > 0.05 * robot.reach()
        pixels = self.lens.project(np.where(in_front[:, None], there, 1.0))
        inside = (
            in_front & (pixels > 5).all(axis=1) & (pixels < np.array(self.size) - 5).all(axis=1)
        )
        return np.asarray(inside.reshape(len(motors), -1).all(axis=1))

    def _distance(self, target: FloatArray) -> float:
        """From where the target fills a good part of the picture."""
        return float(np.ptp(target, axis=0).max() * self.lens.fx / (PART * min(self.size)))

    def _looking(
        self, robot: Machine, target: FloatArray, count: int, rng: np.random.Generator
    ) -> FloatArray:
        """Configurations that look at the target."""
        away = self._distance(target)
        centre = target.mean(axis=0)
        turn = rotations.exp(
            np.column_stack([rng.uniform(-TILT, TILT, (count, 2)), rng.uniform(-3, 3, count)])
        )
        place = rng.uniform([-0.15, -0.15, 0.8], [0.15, 0.15, 1.4], (count, 3)) * away
        # Target in the camera's frame: turned about its centre, which is at `place`.
        seen = Poses(turn, place - np.einsum("nij,j->ni", turn, centre))
        camera, board = self._places()
        goal = camera.inverse.then(seen).then(board.inverse)
        goal = goal if self.mount == GROUND else goal.inverse
        start = robot.random_motors(count, rng)
        motors, solved = satisfy(robot, PoseGoal(goal.rotation, goal.position), start)
        return motors[solved & within_limits(robot, motors)]


def _labels(labels: IntArray | None) -> tuple[int, ...]:
    return (0,) if labels is None else tuple(np.unique(labels).tolist())


def found_lenses(
    extras: Mapping[str, Any], order: Sequence[str], covariance: FloatArray
) -> tuple[KnownLens, ...]:
    """The lenses of a result, with their covariance where they were identified."""
    several = extras.get("lenses")
    lenses = several or {None: extras["lens"]}
    found = []
    for label, numbers in lenses.items():
        lens = described_lens(numbers)
        names = [f"camera{label}_{name}" if several else name for name in lens.names]
        places = [order.index(name) for name in names if name in order]
        spread = covariance[np.ix_(places, places)] if len(places) == len(names) else None
        # Exact data leave no uncertainty that could be stated.
        known = spread is not None and bool((np.diag(spread) > SMALLEST_VARIANCE).all())
        found.append(KnownLens(lens, spread if known else None))
    return tuple(found)
