"""Pictures of a board as a camera would take them, for trying things out without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.camera import Camera
from theodolite.calibration.data import Dataset
from theodolite.calibration.lens import Lens
from theodolite.calibration.noise import Noise
from theodolite.calibration.simulation import EXACT
from theodolite.model.machine import Machine
from theodolite.vision.board import CHARUCO, CHESSBOARD, TAGS, Board
from theodolite.vision.opencv import opencv
from theodolite.vision.poses import straightened
from theodolite.vision.printing import board_shapes

#: Pixels of the board's own picture for each pixel in which it is seen, and at most so many.
FINE, MOST = 8.0, 6000
#: White around the board, as part of a square. Paper, ink and table in shades of grey; their noise.
EDGE = 0.5
PAPER, INK, TABLE, GRAIN = 225.0, 25.0, 120.0, 1.5
#: Each pixel sees so many points each way.
SAMPLES = 3


class Renderer:
    """A camera that looks at one board."""

    def __init__(self, board: Board, lens: Lens, size: tuple[int, int], distance: float) -> None:
        """``distance`` from which the board is seen, about, says how finely it is drawn."""
        self.lens, self.size = lens, size
        shapes = board_shapes(board)
        longest = 1e-3 * max(shapes.width, shapes.height)
        fine = min(FINE * lens.fx / distance, MOST / longest)
        # Squares of whole pixels, so that none is drawn larger than it is.
        self._fine = max(1, round(fine * board.square)) / board.square
        self._edge = round(EDGE * board.square * self._fine) / self._fine
        # Where the first mark is, from the corner of the print.
        self._first = board.square if board.kind == CHESSBOARD else 0.5 * board.square
        if board.kind in (CHARUCO, TAGS):
            self._first = 0.0
        self._texture = self._drawn(shapes)
        self._rays = list(self._looks())

    def _drawn(self, shapes: Any) -> Any:
        cv2 = opencv()

        scale, edge = 1e-3 * self._fine, round(self._edge * self._fine)
        high, wide = (round(scale * side) + 2 * edge for side in (shapes.height, shapes.width))
        picture = np.full((high, wide), PAPER, dtype=np.float32)
        for x, y, w, h in shapes.rectangles:
            left, top, right, bottom = (round(scale * v) + edge for v in (x, y, x + w, y + h))
            picture[top:bottom, left:right] = INK
        for x, y, r in shapes.circles:
            # In 256ths of a pixel, whose middles are at whole numbers.
            centre = tuple(round(256 * (scale * v + edge - 0.5)) for v in (x, y))
            cv2.circle(picture, centre, round(256 * scale * r), INK, -1, cv2.LINE_AA, 8)
        return picture

    def _looks(self) -> Iterator[FloatArray]:
        """Where each pixel looks, x and y for a depth of one, (height, width, 2), and again."""
        width, height = self.size
        steps = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
        for dx in steps:
            for dy in steps:
                u, v = np.meshgrid(np.arange(width) + dx, np.arange(height) + dy)
                flat = straightened(np.column_stack([u.ravel(), v.ravel()]), self.lens)
                yield flat.astype(np.float32).reshape(height, width, 2)

    def picture(self, turn: FloatArray, shift: FloatArray, rng: np.random.Generator) -> Any:
        """The board at a pose in the camera's frame, (height, width), in 256 shades of grey."""
        cv2 = opencv()

        total = np.zeros(self.size[::-1], dtype=np.float32)
        for rays in self._rays:
            across = rays @ turn[:2, 2].astype(np.float32) + turn[2, 2]
            depth = (turn[:, 2] @ shift) / np.where(across == 0.0, np.inf, across)
            place = (rays * depth[..., None] - shift[:2]) @ turn[:2, :2]
            place += (depth - shift[2])[..., None] * turn[2, :2]
            place = (place + self._first + self._edge) * self._fine - 0.5
            place[depth <= 0.0] = -1.0
            total += cv2.remap(
                *(self._texture, place.astype(np.float32), None, cv2.INTER_LINEAR),
                borderValue=TABLE,
            )
        grey = total / SAMPLES**2 + GRAIN * rng.standard_normal(total.shape)
        return np.clip(np.round(grey), 0, 255).astype(np.uint8)


def simulate_pictures(
    robot: Machine,
    camera: Camera,
    board: Board,
    *,
    points: int,
    rng: np.random.Generator,
    noise: Noise = EXACT,
    at: FloatArray | None = None,
) -> tuple[Dataset, Iterator[bytes]]:
    """Joints as they are read, and a picture (PNG) for each row as the robot's camera takes it.

    At random configurations or at given ones. Of the noise only that of the joints counts: marks
    are found in the pictures.
    """
    looking = looking_at(camera, board)
    exact = looking.observe(robot, points, rng) if at is None else looking.observe_at(robot, at)
    motors = exact.motors[np.unique(exact.configurations(), return_index=True)[1]]
    sigmas = noise.motors(robot.joint_types)
    read = motors.copy()
    read[:, : len(sigmas)] += sigmas * rng.standard_normal((len(motors), len(sigmas)))
    names = tuple(f"picture_{number}.png" for number in range(1, len(motors) + 1))
    joints = Dataset(read, sets=np.arange(len(motors)), pictures=names)
    return joints, _rendered(robot, looking, motors, board, rng)


def looking_at(camera: Camera, board: Board) -> Camera:
    """The same camera with a board as its target."""
    board.check_pose()
    return Camera(camera.lens, mount=camera.mount, size=camera.size, target=board.points)


def _rendered(
    robot: Machine, camera: Camera, motors: FloatArray, board: Board, rng: np.random.Generator
) -> Iterator[bytes]:
    cv2 = opencv()

    seen = camera.seen_poses(robot, motors)
    distance = float(np.median(np.linalg.norm(seen.position, axis=1)))
    renderer = Renderer(board, camera.lens, camera.size, distance)
    for turn, shift in zip(seen.rotation, seen.position, strict=True):
        _, content = cv2.imencode(".png", renderer.picture(turn, shift, rng))
        yield content.tobytes()
