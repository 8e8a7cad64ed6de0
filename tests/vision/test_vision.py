"""Vision: projection, boards in rendered pictures, and a robot calibrated from them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import theodolite as th
from tests.quick import some_of
from tests.random_robots import central_differences
from tests.vision.rendering import Renderer
from theodolite.calibration.lens import projected
from theodolite.errors import InputError
from theodolite.estimation.solver import solve
from theodolite.model.rotations import exp
from theodolite.reproduce import renaud
from theodolite.vision.board import Board
from theodolite.vision.data import Sight, inverted, pixel_data, pose_data
from theodolite.vision.detection import Detection, Rejected, detect
from theodolite.vision.poses import calibrate_lens, seen_pose

LENS = th.Lens(1100.0, 1105.0, 515.0, 380.0, -0.12, 0.06, 1e-3, -8e-4, 0.01)
SIZE = (1024, 768)
BOARDS = ["charuco:8x6:30:22", "chessboard:9x6:22", "circles:4x11:40"]


def some_pose(board: Board, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    turn = exp(rng.uniform([-0.5, -0.5, -0.4], [0.5, 0.5, 0.4])[None])[0]
    place = rng.uniform([-0.06, -0.05, 0.5], [0.06, 0.05, 0.65])
    return turn, place - turn @ board.points.mean(axis=0)


def test_projection_is_opencvs_and_its_derivatives_exact(rng: np.random.Generator) -> None:
    points = rng.uniform([-0.4, -0.3, 0.8], [0.4, 0.3, 1.5], (20, 3))
    pixels, by_points, by_lens = projected(points, LENS.values)
    theirs = cv2.projectPoints(points, np.zeros(3), np.zeros(3), LENS.matrix, LENS.distortion)[0]
    np.testing.assert_allclose(pixels, theirs[:, 0], atol=1e-9)
    numerical = central_differences(lambda x: projected(points, x)[0].ravel(), LENS.values)
    np.testing.assert_allclose(by_lens.reshape(-1, 9), numerical, atol=2e-4)
    for row in range(20):
        slope = central_differences(
            lambda x, r=row: projected(np.vstack([points[:r], x, points[r + 1 :]]), LENS.values)[0][
                r
            ],
            points[row],
        )
        np.testing.assert_allclose(by_points[row], slope, atol=1e-4)


@pytest.mark.parametrize("text", some_of(BOARDS, ["charuco:8x6:30:22", "chessboard:9x6:22"]))
def test_marks_are_found_where_they_are(text: str) -> None:
    board = Board.parse(text)
    renderer = Renderer(board, LENS, SIZE)
    rng = np.random.default_rng(1)
    errors, seen = [], []
    for number in range(8):
        pose = some_pose(board, rng)
        found = detect(renderer.picture(*pose, rng), board, f"{number}.png")
        assert isinstance(found, Detection), found
        there = LENS.project(board.points[found.ids] @ pose[0].T + pose[1])
        errors.append(found.pixels - there)
        seen.append((found, pose))
    errors = np.concatenate(errors)
    assert np.sqrt(np.mean(errors**2)) < 0.15
    calibrated = calibrate_lens([found.marks(board) for found, _ in seen])
    off = calibrated.lens.values[:4] - LENS.values[:4]
    # Circles look like ellipses whose middle is not the circle's: a bias of a few hundredths.
    assert (np.abs(off) < 4 * np.sqrt(np.diag(calibrated.covariance)[:4]) + 1.0).all()
    for found, (_, shift) in seen:
        pose = seen_pose(*found.marks(board), LENS)
        assert np.linalg.norm(pose.position - shift) < 1e-3


def test_covariances_of_lens_and_pose_hold() -> None:
    """Against the scatter of 200 simulated pictures of one pose, and of 60 lens calibrations."""
    board = Board.parse(BOARDS[0])
    rng = np.random.default_rng(2)
    turn, shift = some_pose(board, rng)
    ids = np.arange(len(board.points))
    exact = LENS.project(board.points @ turn.T + shift)
    found = []
    for _ in range(200):
        noisy = Detection("x", ids, exact + 0.1 * rng.standard_normal(exact.shape), SIZE)
        pose = seen_pose(*noisy.marks(board), LENS)
        white = np.linalg.inv(np.linalg.cholesky(0.01 * pose.covariance))
        found.append(white[:3, :3] @ (pose.position - shift))
    spread = np.std(found, axis=0)
    assert ((spread > 0.85) & (spread < 1.15)).all()
    poses = [some_pose(board, rng) for _ in range(12)]
    off = []
    for _ in range(60):
        seen = [
            Detection(
                "x",
                ids,
                LENS.project(board.points @ R.T + p) + 0.1 * rng.standard_normal((len(ids), 2)),
                SIZE,
            )
            for R, p in poses
        ]
        lens = calibrate_lens([one.marks(board) for one in seen])
        off.append((lens.lens.values - LENS.values) / np.sqrt(np.diag(lens.covariance)))
    assert 0.93 < np.mean(np.abs(off) < 1.96) < 0.975


def test_inverted_poses_carry_their_covariance(rng: np.random.Generator) -> None:
    """First-order covariance of the camera in the target's frame, against 20 000 noisy poses."""
    turn, shift = exp(rng.uniform(-1, 1, (1, 3))), rng.uniform(-1, 1, (1, 3))
    factor = 1e-4 * rng.uniform(-1, 1, (6, 6))
    noise = rng.standard_normal((20_000, 6)) @ factor.T
    moved = exp(noise[:, 3:]) @ turn
    back, there, covariance = inverted(turn, shift, (factor @ factor.T)[None])
    samples, places, _ = inverted(moved, shift + noise[:, :3], np.zeros((20_000, 6, 6)))
    turns = np.array([cv2.Rodrigues(R @ back[0].T)[0].ravel() for R in samples])
    seen = np.cov(np.column_stack([places - there[0], turns]).T)
    np.testing.assert_allclose(seen, covariance[0], atol=0.05 * np.abs(seen).max())


def test_pictures_that_cannot_be_used_say_why() -> None:
    board = Board.parse(BOARDS[0])
    renderer = Renderer(board, LENS, SIZE)
    pose = some_pose(board, np.random.default_rng(3))
    good = renderer.picture(*pose, np.random.default_rng(0))
    assert isinstance(detect(good, board, "good.png"), Detection)
    for picture, wanted, reason in (
        (np.full_like(good, 120), board, "too blurred or dark"),
        (cv2.GaussianBlur(good, (0, 0), 8.0), board, "blurred"),
        (cv2.GaussianBlur(good, (0, 0), 2.2), board, "blurred"),
        (good, Board.parse("charuco:8x6:30:22:DICT_4X4_50"), "no target, or another one"),
        (good, Board.parse("charuco:6x9:30:22"), "another"),
        (good, Board.parse("chessboard:10x7:30"), "another"),
    ):
        found = detect(picture, wanted, "bad.png")
        assert isinstance(found, Rejected), reason
        assert reason in found.reason


@pytest.mark.parametrize("text", some_of(BOARDS, BOARDS[:1]))
@pytest.mark.parametrize(("blur", "wanted"), [(0.8, Detection), (2.2, Rejected)])
def test_enlarging_a_picture_changes_no_verdict(text: str, blur: float, wanted: type) -> None:
    """What is sharp enough has more pixels then, and is no sharper or less sharp for that."""
    board = Board.parse(text)
    pose = some_pose(board, np.random.default_rng(3))
    picture = Renderer(board, LENS, SIZE).picture(*pose, np.random.default_rng(0))
    soft = cv2.GaussianBlur(picture, (0, 0), blur)
    for factor in (1, 2, 3):
        larger = cv2.resize(soft, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
        if factor == 3 and board.kind == "circles":
            # OpenCV does not find blobs of that size.
            continue
        found = detect(larger, board, "picture.png")
        assert isinstance(found, wanted), (factor, found)
        assert isinstance(found, Detection) or "blurred" in found.reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tartan:8x6:30", "cannot read"),
        ("charuco:8x6:30", "cannot read"),
        ("charuco:8x6:22:30", "smaller than its square"),
        ("chessboard:2x5:30", "is not a board"),
        ("charuco:8by6:30:22", "cannot read"),
    ],
)
def test_bad_boards_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Board.parse(text)


@pytest.mark.parametrize(
    ("name", "mount"), [("h4", "ground"), ("puma560", "ground"), ("ur10e", "hand")]
)
def test_derivatives_of_pixels(name: str, mount: str) -> None:
    robot, method = th.robots.load(name), th.Camera(mount=mount)
    data = method.observe(robot, 3, np.random.default_rng(0))
    problem = method.problem(robot, data, noise=th.Noise(pixel=1.0))
    values = np.array([p.value for p in problem.parameters])

    def residual(x: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(x)])

    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    numerical = central_differences(residual, values)
    np.testing.assert_allclose(jacobian, numerical, atol=1e-7 * np.abs(jacobian).max())


@pytest.mark.parametrize(("name", "mount"), [("puma560", "ground"), ("ur10e", "hand")])
def test_serial_robots_are_calibrated_by_their_camera(name: str, mount: str) -> None:
    """On the ground, and on the hand with the robot's errors found along."""
    robot, method = th.robots.load(name), th.Camera(mount=mount)
    rng = np.random.default_rng(4)
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(true, method, points=60, rng=rng, noise=th.Noise(pixel=0.1))
    result = th.identify(robot, data, method)
    assert result.good, result.doubts()
    assert 0.97 < result.statistics.sigma < 1.03
    assert result.held_out.calibrated["pixel"].rms < 0.2


def pictures_of(true, lens, board: Board, motors: np.ndarray, rng, noise: float) -> list[Detection]:
    """Marks of a target carried by a robot, as a camera on the ground sees them."""
    turned, shifts = true.poses(motors)
    ids = np.arange(len(board.points))
    return [
        Detection(
            "x",
            ids,
            lens.project(board.points @ R.T + p) + noise * rng.standard_normal((len(ids), 2)),
            SIZE,
        )
        for R, p in zip(turned, shifts, strict=True)
    ]


def both_ways(true, nominal, board, motors, seen, lens_seen):
    """Poses first and then the implicit method; and one bundle adjustment."""
    whole = calibrate_lens([one.marks(board) for one in (*lens_seen, *seen)])
    joints = th.Dataset(motors)
    by_poses = pose_data(joints, seen, board, whole.lens)
    by_pixels = pixel_data(joints, [Sight(n, 0, 0, one) for n, one in enumerate(seen)], [board])
    calibrated = calibrate_lens([one.marks(board) for one in lens_seen])
    camera = th.Camera(calibrated.lens, prior=calibrated.covariance)
    problems = (
        th.Implicit().problem(nominal, by_poses, noise=th.Noise()),
        camera.problem(nominal, by_pixels, noise=th.Noise(pixel=calibrated.rms)),
    )
    return [problem.calibrated(solve(problem).values) for problem in problems]


def lens_pictures(board: Board, rng: np.random.Generator, count: int, noise: float):
    ids = np.arange(len(board.points))
    found = []
    for _ in range(count):
        R, p = some_pose(board, rng)
        pixels = LENS.project(board.points @ R.T + p)
        found.append(Detection("x", ids, pixels + noise * rng.standard_normal(pixels.shape), SIZE))
    return found


def fresh_error(robot, true, motors: np.ndarray) -> float:
    """Rms error of the platform's own position at fresh joints, mm: no sensor, no target."""
    joints, guess = motors[:, :4], motors[:, 4:]
    believed = robot.close(robot.values, joints, guess)[0][:, :3]
    actual = true.close(true.values, joints, guess)[0][:, :3]
    apart = believed - actual
    # The sensor cannot know the platform's zero: it is taken out.
    return 1e3 * float(np.sqrt((((apart - apart.mean(axis=0)) ** 2).sum(axis=1)).mean()))


def test_bundle_adjustment_is_never_worse_on_average() -> None:
    """Three seeds of 80 pictures of the H4 with 0.1 px of noise, eight more for the lens."""
    board = Board.parse("charuco:8x6:30:22")
    true, errors = renaud.truth(), []
    coordinates = renaud.grid()[:80]
    fresh = true.random_motors(200, np.random.default_rng(99))
    inside = (np.abs(fresh[:, 4:6]) < 0.12).all(axis=1) & (np.abs(fresh[:, 6] + 0.45) < 0.06)
    fresh = fresh[inside]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        motors = np.column_stack([renaud.joints_at(true, coordinates), coordinates])
        seen = pictures_of(true, LENS, board, motors, rng, 0.1)
        lens_seen = lens_pictures(board, rng, 8, 0.1)
        robots = both_ways(true, renaud.h4(), board, motors, seen, lens_seen)
        errors.append([fresh_error(robot, true, fresh) for robot in robots])
    poses, bundle = np.mean(errors, axis=0)
    assert bundle <= poses
    assert bundle < 0.3
