"""Where a calibration from pictures starts: lens, hand-eye and places from what each one shows.

Lens and poses come from OpenCV, through the edge of the core. Hand-eye follows in closed form, and
whatever else stands in the scene follows from the robot that is then placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from theodolite import edges
from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.base_and_tool import moved_robot
from theodolite.calibration.data import Dataset
from theodolite.calibration.frame import Frame
from theodolite.calibration.hand_eye import middle, misfit_of, scale_of, solve_hand_eye
from theodolite.calibration.method import Start
from theodolite.calibration.placement import place
from theodolite.calibration.scene import GROUND, HAND, Scene
from theodolite.errors import InputError, MissingExtraError
from theodolite.model.machine import Machine
from theodolite.model.parameters import Unit
from theodolite.model.poses import Poses
from theodolite.model.robot import Robot

#: Pictures that must show the first board to the first camera, and marks that show a pose.
ENOUGH, MARKS = 3, 4
#: Marks that are missed by less than this part of the picture: camera and target are where the
#: robot file says, about.
NEAR = 0.05
#: A board so many times as large as stated, or as small, is given in another unit.
ANOTHER_UNIT = 4.0
#: Poses that are further off, in radians and reaches, may come from a camera that is mounted the
#: other way: if they are nearer than that there, and that leaves only this part. Arms that turn
#: about one axis only fit badly either way, for their rotations do not tell.
MOUNTED, OTHERWISE = 0.05, 0.2


class Beginning(NamedTuple):
    """Robot and scene to start from, and whether base and tool had to be placed."""

    robot: Machine
    scene: Scene
    moved: bool


class Glimpse(NamedTuple):
    """One board in one picture: whose, in which configuration, and its marks."""

    camera: int
    board: int
    motors: FloatArray
    points: FloatArray
    pixels: FloatArray


def start_from_pictures(
    robot: Machine, data: Dataset, scene: Scene, start: Start, *, lens_known: bool
) -> Beginning:
    """Lens, base, tool, and places of further cameras and boards."""
    glimpses = _glimpses(data, scene)
    single = len(scene.cameras) == 1 and len(scene.boards) == 1 and not scene.free
    as_it_is = Beginning(robot, scene, False)
    try:
        scene, poses = _seen(glimpses, scene, lens_known=lens_known)
    except (MissingExtraError, InputError):
        # No OpenCV, or too few marks for it: the robot file has to say where everything is.
        far = single and _miss(as_it_is, glimpses) > NEAR * _extent(data)
        if start is Start.LOCATE or not single or (far and start is Start.AUTO):
            raise
        return as_it_is
    tips = _tips(robot, glimpses, scene)
    use = np.array([one.camera == 0 and one.board == 0 for one in glimpses])
    use &= np.isfinite(tips.position).all(axis=1) & np.isfinite(poses.position).all(axis=1)
    if use.sum() < ENOUGH:
        raise InputError(
            f"the first board is seen by the first camera in {int(use.sum())} pictures",
            where=data.name,
            allowed=f"{ENOUGH} or more",
        )
    length = robot.reach() or 1.0
    moved = False
    if scene.free:
        found = solve_hand_eye(poses.take(use), tips.take(use), length)
        if found is None:
            raise InputError(
                "the pictures do not tell where camera and target stand: the robot never turns "
                "the camera about two axes",
                where=data.name,
                remedy="Tilt the hand in some pictures",
            )
        scene = replace(scene, camera_places=found.camera, board_places=found.target)
    else:
        # A lens may be hard to tell from pictures alone, as where no picture is tilted.
        with_lens = Beginning(robot, scene, False)
        misses = [_miss(one, glimpses) for one in (as_it_is, with_lens)]
        near = start is Start.AUTO and min(misses) <= NEAR * _extent(data)
        moved = not (near or start is Start.NOMINAL)
        if single and not moved:
            return as_it_is if misses[0] <= misses[1] else with_lens
    if moved:
        robot = _placed(robot, glimpses, poses, tips, use, scene, length)
        if scene.board_tolerance:
            robot = _anywhere(robot, length)
        tips = _tips(robot, glimpses, scene)
    return Beginning(robot, _with_places(scene, glimpses, poses, tips, length), moved)


def _extent(data: Dataset) -> float:
    """The size of the pictures, as far as marks were seen, px."""
    assert data.pixels is not None
    return float(np.ptp(data.pixels, axis=0).max(initial=0.0))


def _miss(beginning: Beginning, glimpses: Sequence[Glimpse]) -> float:
    """By how much the first camera misses the marks of the first board, the middle one, px."""
    robot, scene, _ = beginning
    own = np.array([parameter.value for parameter in scene.parameters(1.0)])
    some = [one for one in glimpses if one.camera == 0 and one.board == 0]
    tips = _tips(robot, some, scene)
    tips = tips if scene.mount == GROUND else tips.inverse
    missed = []
    for row, one in enumerate(some):
        which = np.full(len(one.points), row)
        zero = np.zeros(len(which), dtype=np.intp)
        pixels = scene.view(own, tips.take(which), one.points, zero, zero).pixels
        missed.append(float(np.median(np.linalg.norm(pixels - one.pixels, axis=1))))
    finite = [size for size in missed if np.isfinite(size)]
    return float(np.median(finite)) if finite else float("inf")


def _glimpses(data: Dataset, scene: Scene) -> list[Glimpse]:
    """The marks of each board in each picture."""
    assert data.pixels is not None and data.points is not None
    picture = data.configurations()
    cameras = np.zeros(len(data), dtype=np.intp) if data.cameras is None else data.cameras
    boards = np.zeros(len(data), dtype=np.intp) if data.boards is None else data.boards
    _, group = np.unique(np.column_stack([picture, cameras, boards]), axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1)
    return [
        Glimpse(
            scene.cameras.index(int(cameras[rows[0]])),
            scene.boards.index(int(boards[rows[0]])),
            data.motors[rows[0]],
            data.points[rows],
            data.pixels[rows],
        )
        for rows in parts
    ]


def _seen(glimpses: Sequence[Glimpse], scene: Scene, *, lens_known: bool) -> tuple[Scene, Poses]:
    """The lens of each camera where none is known, and the pose of the board in each glimpse."""
    lenses = list(scene.lenses)
    poses: list[Poses | None] = [None] * len(glimpses)
    for number in range(len(scene.cameras)):
        own = [index for index, one in enumerate(glimpses) if one.camera == number]
        marks = [
            (glimpses[index].points, glimpses[index].pixels)
            for index in own
            if len(glimpses[index].points) >= MARKS
        ]
        lens = lenses[number].lens
        if not lens_known:
            lens = edges.lens_of(marks, lens.model)
            lenses[number] = replace(lenses[number], lens=lens)
        enough = [index for index in own if len(glimpses[index].points) >= MARKS]
        marks = [(glimpses[index].points, glimpses[index].pixels) for index in enough]
        for index, (turn, shift) in zip(enough, edges.poses_of(marks, lens), strict=True):
            poses[index] = Poses.one(turn, shift)
    unknown = Poses.one(np.full((3, 3), np.nan), np.full(3, np.nan))
    return replace(scene, lenses=tuple(lenses)), Poses.joined(
        [unknown if one is None else one for one in poses]
    )


def _tips(robot: Machine, glimpses: Sequence[Glimpse], scene: Scene) -> Poses:
    """M of each glimpse; NaN where the robot cannot be."""
    motors = np.array([one.motors for one in glimpses])
    closes = robot.can_close(motors)
    tips = Poses(np.full((len(motors), 3, 3), np.nan), np.full((len(motors), 3), np.nan))
    if closes.any():
        motion = robot.motion(robot.values, motors[closes])
        tips.rotation[closes], tips.position[closes] = motion.rotation, motion.position
    return tips if scene.mount == GROUND else tips.inverse


def _placed(
    robot: Machine,
    glimpses: Sequence[Glimpse],
    poses: Poses,
    tips: Poses,
    use: BoolArray,
    scene: Scene,
    length: float,
) -> Machine:
    """The robot with base and tool where the pictures show them."""
    seen, moved = poses.take(use), tips.take(use)
    found = solve_hand_eye(seen, moved, length)
    own = misfit_of(found, seen, moved, length)
    if own > MOUNTED:
        other = solve_hand_eye(seen, moved.inverse, length)
        if misfit_of(other, seen, moved.inverse, length) < min(MOUNTED, OTHERWISE * own):
            way = HAND if scene.mount == GROUND else GROUND
            raise InputError(
                f"the pictures do not fit a camera with the mount '{scene.mount}', but one with "
                f"the mount '{way}'",
                remedy=f"Say that the mount is '{way}'",
            )
    if isinstance(robot, Robot) and found is not None:
        _check_board(scale_of(found, poses.take(use), tips.take(use)))
        if scene.mount == GROUND:
            return moved_robot(robot, found.camera, found.target)
        return moved_robot(robot, found.target.inverse, found.camera.inverse)
    # Loops, and arms that turn about one axis only: by a search from where the robot file says.
    measured = poses.take(use) if scene.mount == GROUND else poses.take(use).inverse
    motors = np.array([one.motors for one, wanted in zip(glimpses, use, strict=True) if wanted])
    data = Dataset(motors, measured.position, rotations=measured.rotation)
    named = replace(data, targets=robot.target_names[:1])
    return place(robot, named, Frame())


def _check_board(scale: float) -> None:
    """Refuse a board whose lengths are in another unit."""
    if scale > 0 and not 1.0 / ANOTHER_UNIT < scale < ANOTHER_UNIT:
        size = f"{scale:.0f}" if scale >= 1.0 else f"{scale:.2g}"
        raise InputError(
            f"by the robot's motions the board is {size} times as large as stated",
            remedy="Check the lengths of the board, which are in mm",
        )


def _anywhere(robot: Machine, length: float) -> Machine:
    """The robot with base and tool known only from pictures of a board of unknown size."""
    return robot.with_tolerances(
        {
            parameter.name: length if parameter.unit is Unit.METRE else 1.0
            for parameter in robot.parameters
            if parameter.external
        }
    )


def _with_places(
    scene: Scene, glimpses: Sequence[Glimpse], poses: Poses, tips: Poses, length: float
) -> Scene:
    """Further cameras and boards where the placed robot says they stand."""
    cameras: dict[int, Poses] = {0: scene.camera_places.take(np.array([0]))}
    boards: dict[int, Poses] = {0: scene.board_places.take(np.array([0]))}
    for _ in range(len(scene.cameras) + len(scene.boards)):
        for index in range(len(scene.boards)):
            if index not in boards:
                # B = (C M)^-1 A
                found = [
                    cameras[one.camera].then(tips.take(row)).inverse.then(poses.take(row))
                    for row, one in _of(glimpses, tips, poses)
                    if one.board == index and one.camera in cameras
                ]
                if found:
                    boards[index] = middle(Poses.joined(found), length)
        for index in range(len(scene.cameras)):
            if index not in cameras:
                # C = A (M B)^-1
                found = [
                    poses.take(row).then(tips.take(row).then(boards[one.board]).inverse)
                    for row, one in _of(glimpses, tips, poses)
                    if one.camera == index and one.board in boards
                ]
                if found:
                    cameras[index] = middle(Poses.joined(found), length)
    for what, labels, places in (
        ("camera", scene.cameras, cameras),
        ("board", scene.boards, boards),
    ):
        lost = [label for number, label in enumerate(labels) if number not in places]
        if lost:
            raise InputError(
                f"{what} {lost[0]} shows nothing that any other one shows as well",
                remedy="Show a board to both cameras, or two boards to one camera",
            )
    return replace(
        scene,
        camera_places=Poses.joined([cameras[n] for n in range(len(scene.cameras))]),
        board_places=Poses.joined([boards[n] for n in range(len(scene.boards))]),
    )


def _of(glimpses: Sequence[Glimpse], tips: Poses, poses: Poses) -> list[tuple[IntArray, Glimpse]]:
    """Glimpses that show a pose and in which the robot can be, each with its row."""
    return [
        (np.array([row]), one)
        for row, one in enumerate(glimpses)
        if np.isfinite(tips.position[row]).all() and np.isfinite(poses.position[row]).all()
    ]
