"""Pictures of boards in known poses through a known lens."""

from __future__ import annotations

import cv2
import numpy as np

from theodolite.calibration.lens import Lens
from theodolite.vision.board import Board
from theodolite.vision.printing import board_shapes

#: Texture pixels per metre of board.
FINE = 4000
MARGIN = 0.02


def texture(board: Board) -> tuple[np.ndarray, float]:
    """The board in black and white, with a white margin; and the margin in metres."""
    width, height = board.columns * board.square, board.rows * board.square
    if board.kind == "charuco":
        picture = board.charuco.generateImage((round(width * FINE), round(height * FINE)))
        edge = round(MARGIN * FINE)
        return cv2.copyMakeBorder(picture, *(edge,) * 4, cv2.BORDER_CONSTANT, value=255), MARGIN
    if board.kind in ("tags", "circles-grid"):
        return _printed(board), MARGIN
    margin = 1.5 * board.square
    shape = (round((height + 2 * margin) * FINE), round((width + 2 * margin) * FINE))
    y, x = (np.mgrid[0 : shape[0], 0 : shape[1]] + 0.5) / FINE - margin
    if board.kind == "chessboard":
        # Inner corners are counted, so there is one more square each way, from -1 on.
        inside = (x > -board.square) & (x < width) & (y > -board.square) & (y < height)
        dark = (np.floor(x / board.square) + np.floor(y / board.square)) % 2 == 0
    else:
        inside, dark = np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for cx, cy, _ in board.points:
            dark |= np.hypot(x - cx, y - cy) < 0.2 * board.square
    return np.where(inside & dark, 0, 255).astype(np.uint8), margin


def _printed(board: Board) -> np.ndarray:
    """What is printed, as pixels; points are counted from the first mark of the printed board."""
    shapes = board_shapes(board)
    edge = round(MARGIN * FINE)
    first = 0.0 if board.kind == "tags" else 0.5 * board.square
    wide, high = (
        round(1e-3 * length * FINE) + 2 * edge for length in (shapes.width, shapes.height)
    )
    picture = np.full((high, wide), 255, dtype=np.uint8)
    for x, y, w, h in shapes.rectangles:
        left, top, right, bottom = (round(1e-3 * v * FINE) + edge for v in (x, y, x + w, y + h))
        picture[top:bottom, left:right] = 0
    for x, y, r in shapes.circles:
        centre = tuple(round((1e-3 * v * FINE + edge - 0.5) * 256) for v in (x, y))
        cv2.circle(picture, centre, round(1e-3 * r * FINE * 256), 0, -1, cv2.LINE_AA, 8)
    shift = round(first * FINE)
    return picture[shift:, shift:] if shift else picture


class Renderer:
    """A camera that looks at one board."""

    def __init__(self, board: Board, lens: Lens, size: tuple[int, int]) -> None:
        self.lens, self.size = lens, size
        self.texture, self.margin = texture(board)
        self.rays = [self._rays(dx, dy) for dx in (-0.25, 0.25) for dy in (-0.25, 0.25)]

    def _rays(self, dx: float, dy: float) -> np.ndarray:
        """Directions (h, w, 3) of the middles of quarter pixels, the lens undone."""
        u, v = np.meshgrid(np.arange(self.size[0]) + dx, np.arange(self.size[1]) + dy)
        grid = np.stack([u.ravel(), v.ravel()], axis=1)[:, None]
        criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-12)
        known = (grid, self.lens.matrix, self.lens.distortion)
        if self.lens.model == "fisheye":
            flat = cv2.fisheye.undistortPoints(*known)[:, 0]
        else:
            flat = cv2.undistortPointsIter(*known, None, None, criteria)[:, 0]
        return np.column_stack([flat, np.ones(len(flat))]).reshape(*u.shape, 3)

    def picture(
        self,
        turn: np.ndarray,
        shift: np.ndarray,
        rng=None,
        noise: float = 2.0,
        *,
        blur: float = 0.0,
        uneven: float = 0.0,
        hidden: float = 0.0,
    ):
        """The board at a pose in the camera's frame, with grey noise.

        It may be blurred (px), lit unevenly (part of the light) and hidden in part (of the width).
        """
        total = np.zeros(self.size[::-1])
        normal = turn[:, 2]
        for rays in self.rays:
            depth = (normal @ shift) / (rays @ normal)
            on_board = (rays * depth[..., None] - shift) @ turn
            # OpenCV's pixel centres are at whole numbers.
            place = (on_board[..., :2] + self.margin) * FINE - 0.5
            total += cv2.remap(
                self.texture, place.astype(np.float32), None, cv2.INTER_LINEAR, borderValue=128
            )
        grey = 20 + 0.85 * total / len(self.rays)
        if blur:
            grey = cv2.GaussianBlur(grey, (0, 0), blur)
        if uneven:
            grey *= 1.0 - uneven * np.linspace(0.0, 1.0, self.size[0])
        if hidden:
            grey[:, : round(hidden * self.size[0])] = 60
        if rng is not None:
            grey = grey + noise * rng.standard_normal(grey.shape)
        return np.clip(np.round(grey), 0, 255).astype(np.uint8)
