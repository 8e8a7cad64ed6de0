"""Finding a board in pictures, and saying why it was not found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.vision.board import Board
from theodolite.vision.opencv import opencv

#: Fewer marks than this do not make a pose worth having.
FEWEST = 8
#: A homography that leaves more than this part of the spacing is another board's.
MISFIT = 0.25
#: A picture is blurred if its edges are wider than this part of the marks' spacing, however many
#: pixels that is, and wider than this in pixels: no picture is sharper than what it is made of, and
#: marks may be few pixels apart.
BLURRED, SHARPEST = 0.06, 3.0
#: How wide, in pixels, an edge without any width looks after the smoothing that measures it.
SMOOTHED = 8.0 / 3.0


@dataclass(frozen=True, eq=False)
class Detection:
    """Marks that were found in one picture."""

    name: str
    #: Which points of the board, (n,).
    ids: IntArray
    #: Where, (n, 2).
    pixels: FloatArray
    #: Width and height of the picture.
    size: tuple[int, int]


@dataclass(frozen=True)
class Rejected:
    """A picture that is not used, and why."""

    name: str
    reason: str


def detect_all(
    paths: Sequence[Path], board: Board
) -> tuple[list[Detection | None], list[Rejected]]:
    """Marks in each picture, None where a picture cannot be used."""
    found: list[Detection | None] = []
    rejected = []
    for path in paths:
        result = detect(read_grey(path), board, path.name)
        if isinstance(result, Rejected):
            rejected.append(result)
            found.append(None)
        else:
            found.append(result)
    return found, rejected


def read_grey(path: Path) -> Any:
    """A picture in shades of grey."""
    cv2 = opencv()

    if not path.is_file():
        raise InputError("there is no such picture", where=str(path))
    picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if picture is None:
        raise InputError("is not a picture that can be read", where=str(path), allowed="PNG, JPEG")
    return picture


def detect(picture: Any, board: Board, name: str) -> Detection | Rejected:
    """The marks of a board in a grey picture, or why there are none to use."""
    ids, pixels = _marks(picture, board)
    size = (picture.shape[1], picture.shape[0])
    if len(ids) < FEWEST:
        blurred = _is_flat(picture)
        why = "too blurred or dark to show a target" if blurred else "no target, or another one"
        return Rejected(name, f"{why} ({len(ids)} marks found)")
    misfit = _misfit(board.points[ids][:, :2], pixels)
    if misfit > MISFIT:
        return Rejected(name, "the marks do not fit this board: it is another one, or bent")
    spacing = _spacing(pixels)
    width = _edge_width(picture, pixels, spacing)
    if width > max(BLURRED * spacing, SHARPEST):
        return Rejected(name, f"blurred: edges are {width:.0f} pixels wide")
    return Detection(name, ids, pixels, size)


def _marks(picture: Any, board: Board) -> tuple[IntArray, FloatArray]:
    cv2 = opencv()

    none = np.empty(0, dtype=np.intp), np.empty((0, 2))
    if board.kind == "charuco":
        corners, ids, *_ = cv2.aruco.CharucoDetector(board.charuco).detectBoard(picture)
        if ids is None:
            return none
        return ids.ravel().astype(np.intp), corners.reshape(-1, 2).astype(np.float64)
    size = (board.columns, board.rows)
    if board.kind == "chessboard":
        seen, corners = cv2.findChessboardCornersSB(picture, size, flags=cv2.CALIB_CB_ACCURACY)
    else:
        seen, corners = cv2.findCirclesGrid(picture, size, flags=cv2.CALIB_CB_ASYMMETRIC_GRID)
    if not seen:
        return none
    pixels = corners.reshape(-1, 2).astype(np.float64)
    if board.kind == "chessboard" and not _first_is_dark(picture, pixels, board.columns):
        # The corners were counted from the other end.
        pixels = pixels[::-1].copy()
    return np.arange(size[0] * size[1]), pixels


def _first_is_dark(picture: Any, pixels: FloatArray, columns: int) -> bool:
    """Is the square between the first four corners dark, and the next one bright?"""
    shades = []
    for first in (0, 1):
        corners = pixels[[first, first + 1, columns + first, columns + first + 1]]
        x, y = corners.mean(axis=0).round().astype(int)
        shades.append(float(picture[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3].mean()))
    return shades[0] < shades[1]


def _misfit(places: FloatArray, pixels: FloatArray) -> float:
    """What a homography leaves, as part of the marks' spacing in the picture."""
    cv2 = opencv()

    matrix, _ = cv2.findHomography(places, pixels)
    if matrix is None:
        return float("inf")
    there = cv2.perspectiveTransform(places[:, None].astype(np.float64), matrix)[:, 0]
    spacing = np.ptp(pixels, axis=0).max() / max(np.sqrt(len(pixels)) - 1, 1)
    return float(np.sqrt(np.mean((there - pixels) ** 2)) / spacing)


def _spacing(pixels: FloatArray) -> float:
    """How far a mark is from the nearest other one, in pixels."""
    apart = np.linalg.norm(pixels[:, None] - pixels, axis=2)
    return float(np.median(np.sort(apart, axis=1)[:, 1]))


def _edge_width(picture: Any, pixels: FloatArray, spacing: float) -> float:
    """Contrast over the steepest slope around the marks: how wide an edge is, in pixels."""
    cv2 = opencv()

    smooth = cv2.GaussianBlur(picture, (3, 3), 0).astype(np.float64)
    slope = np.hypot(
        cv2.Sobel(smooth, cv2.CV_64F, 1, 0) / 8, cv2.Sobel(smooth, cv2.CV_64F, 0, 1) / 8
    )
    widths = []
    reach = max(6, int(0.6 * spacing))
    for x, y in np.round(pixels).astype(int):
        rows, columns = slice(max(y - reach, 0), y + reach), slice(max(x - reach, 0), x + reach)
        around = rows, columns
        contrast = float(np.ptp(smooth[around])) if smooth[around].size else 0.0
        steepest = float(slope[around].max()) if slope[around].size else 0.0
        if contrast > 10 and steepest > 0:
            widths.append(contrast / steepest)
    if not widths:
        return float("inf")
    # The smoothing and the edge's own width add like independent deviations.
    return float(np.sqrt(max(np.median(widths) ** 2 - SMOOTHED**2, 0.0)))


def _is_flat(picture: Any) -> bool:
    """Has the picture no sharp edge anywhere?"""
    cv2 = opencv()

    return float(np.abs(cv2.Laplacian(picture, cv2.CV_64F)).max()) < 40.0
