"""Finding a board in pictures, and saying why it was not found."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.errors import LONGEST
from theodolite.vision.board import CHARUCO, CHESSBOARD, CIRCLES, TAGS, Board
from theodolite.vision.opencv import opencv, quiet
from theodolite.vision.poses import Marks

#: Fewer marks than this do not make a pose worth having.
FEWEST = 8
#: A homography that leaves more than this part of the spacing is another board's; through a lens
#: that bends lines by far, more than the other.
MISFIT, BENT = 0.25, 1.0
#: A chessboard is looked for in pictures of this size at most. Blur is judged around so many marks.
SMALL, LOOKED_AT = 1600, 30
#: A circle fills at most this part of its picture.
LARGEST_BLOB = 0.02
#: A picture is blurred if its edges are wider than this part of the marks' spacing, however many
#: pixels that is, and wider than this in pixels: no picture is sharper than what it is made of, and
#: marks may be few pixels apart.
BLURRED, SHARPEST = 0.06, 3.0
#: How wide, in pixels, an edge without any width looks after the smoothing that measures it.
SMOOTHED = 8.0 / 3.0


KINDS = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff")
#: What whole files end with, and where to look for it: some cameras write further data behind.
_ENDINGS = {b"\x89PNG": b"IEND", b"\xff\xd8": b"\xff\xd9"}
_TAIL = 65536


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

    def take(self, chosen: BoolArray) -> Detection:
        """Some of the marks."""
        return replace(self, ids=self.ids[chosen], pixels=self.pixels[chosen])

    def marks(self, board: Board) -> Marks:
        """Their places on the board, and in the picture."""
        return board.points[self.ids], self.pixels


@dataclass(frozen=True)
class Rejected:
    """A picture that is not used, and why."""

    name: str
    reason: str


def detect_all(
    paths: Sequence[Path],
    boards: Sequence[Board],
    *,
    bent: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[list[tuple[Detection | None, ...]], list[Rejected]]:
    """Marks of each board in each picture, None where a board is not to be used.

    A picture without any is rejected. Lenses that bend straight lines by far are ``bent``.
    ``progress`` is called with the number of pictures done and of all.
    """
    found: list[tuple[Detection | None, ...]] = []
    rejected = []
    look = partial(_look, boards=boards, bent=bent)
    # OpenCV lets other threads run; few pictures at a time, so that memory stays small.
    workers = min(4, os.cpu_count() or 1)
    with quiet(), ThreadPoolExecutor(max_workers=workers) as pool:
        for number, (path, results) in enumerate(zip(paths, pool.map(look, paths), strict=True)):
            marks = tuple(one if isinstance(one, Detection) else None for one in results)
            found.append(marks)
            if not any(marks):
                reasons = [one.reason for one in results if isinstance(one, Rejected)]
                rejected.append(Rejected(path.name[:LONGEST] or str(path)[:LONGEST], reasons[0]))
            if progress is not None:
                progress(number + 1, len(paths))
    return found, rejected


def _look(path: Path, boards: Sequence[Board], bent: bool) -> list[Detection | Rejected]:
    picture = read_grey(path)
    if isinstance(picture, Rejected):
        return [picture] * len(boards)
    return [detect(picture, board, path.name, bent=bent) for board in boards]


def read_grey(path: Path) -> Any:
    """A picture in 256 shades of grey as the sensor saw it, or why it cannot be read."""
    cv2 = opencv()

    content = _content(path)
    if isinstance(content, Rejected):
        return content
    # Cameras write into the file how they were held. The lens does not turn with the picture.
    flags = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
    try:
        picture = cv2.imdecode(np.frombuffer(content, dtype=np.uint8), flags)
    except cv2.error:
        picture = None
    if picture is None:
        return Rejected(path.name, f"not a picture that can be read ({', '.join(KINDS)})")
    if picture.dtype == np.uint16:
        # Sensors of 10, 12 or 14 bits fill only a part of 16.
        bits = max(8, int(picture.max()).bit_length())
        picture = (picture >> (bits - 8)).astype(np.uint8)
    if picture.dtype != np.uint8:
        return Rejected(path.name, f"pixels of the type {picture.dtype} are not read")
    return picture


def _content(path: Path) -> bytes | Rejected:
    """A file's bytes, if it is whole as far as one can see."""
    try:
        if not path.exists():
            return Rejected(path.name, "there is no such file")
        if not path.is_file():
            return Rejected(path.name, "not a file")
        content = path.read_bytes()
    except OSError as error:
        return Rejected(path.name[:LONGEST], error.strerror or "it cannot be read")
    for beginning, ending in _ENDINGS.items():
        if content.startswith(beginning) and ending not in content[-_TAIL:]:
            return Rejected(path.name, "the file is cut short or damaged")
    return content


def detect(picture: Any, board: Board, name: str, *, bent: bool = False) -> Detection | Rejected:
    """The marks of a board in a grey picture, or why there are none to use."""
    ids, pixels = _marks(picture, board)
    size = (picture.shape[1], picture.shape[0])
    if len(ids) < min(FEWEST, len(board.points)):
        blurred = _is_flat(picture)
        why = "too blurred or dark to show a target" if blurred else "no target, or another one"
        return Rejected(name, f"{why} ({len(ids)} marks found)")
    misfit = _misfit(board.points[ids][:, :2], pixels)
    if misfit > (BENT if bent else MISFIT):
        return Rejected(name, "the marks do not fit this board: it is another one, or bent")
    spacing = _spacing(pixels)
    width = _edge_width(picture, pixels, spacing)
    if width > max(BLURRED * spacing, SHARPEST):
        return Rejected(name, f"blurred: edges are {width:.0f} pixels wide")
    return Detection(name, ids, pixels, size)


def _marks(picture: Any, board: Board) -> tuple[IntArray, FloatArray]:
    cv2 = opencv()

    none = np.empty(0, dtype=np.intp), np.empty((0, 2))
    if board.kind == CHARUCO:
        corners, ids, *_ = cv2.aruco.CharucoDetector(board.charuco).detectBoard(picture)
        if ids is None:
            return none
        return ids.ravel().astype(np.intp), corners.reshape(-1, 2).astype(np.float64)
    if board.kind == TAGS:
        return _tags(picture, board)
    size = (board.columns, board.rows)
    if board.kind == CHESSBOARD:
        seen, corners = _chessboard(picture, size)
    else:
        flags = (
            cv2.CALIB_CB_ASYMMETRIC_GRID if board.kind == CIRCLES else cv2.CALIB_CB_SYMMETRIC_GRID
        )
        blobs = cv2.SimpleBlobDetector_Params()
        # OpenCV's own limit is right for small pictures only.
        blobs.maxArea = max(blobs.maxArea, LARGEST_BLOB * picture.size)
        seen, corners = cv2.findCirclesGrid(
            picture, size, flags=flags, blobDetector=cv2.SimpleBlobDetector_create(blobs)
        )
    if not seen:
        return none
    pixels = corners.reshape(-1, 2).astype(np.float64)
    turned = board.kind == CHESSBOARD and not board.ambiguous
    if turned and not _first_is_dark(picture, pixels, board.columns):
        # The corners were counted from the other end.
        pixels = pixels[::-1].copy()
    return np.arange(size[0] * size[1]), pixels


def _chessboard(picture: Any, size: tuple[int, int]) -> tuple[bool, Any]:
    """Corners of a chessboard; large pictures are searched in small, then only around the board."""
    cv2 = opencv()

    factor = max(picture.shape) / SMALL
    if factor <= 1.0:
        return cv2.findChessboardCornersSB(picture, size, flags=cv2.CALIB_CB_ACCURACY)
    small = cv2.resize(picture, None, fx=1 / factor, fy=1 / factor, interpolation=cv2.INTER_AREA)
    seen, corners = cv2.findChessboardCornersSB(small, size)
    if not seen:
        return cv2.findChessboardCornersSB(picture, size, flags=cv2.CALIB_CB_ACCURACY)
    rough = (corners.reshape(-1, 2) + 0.5) * factor - 0.5
    half = max(3, int(0.3 * _spacing(rough)))
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-3)
    corners = np.ascontiguousarray(rough, dtype=np.float32).reshape(-1, 1, 2)
    fine = cv2.cornerSubPix(picture, corners, (half, half), (-1, -1), criteria)
    return True, fine


def _tags(picture: Any, board: Board) -> tuple[IntArray, FloatArray]:
    """Corners of the board's own tags."""
    cv2 = opencv()

    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.ArucoDetector(board.marker_dictionary, parameters)
    corners, ids, _ = detector.detectMarkers(picture)
    if ids is None:
        return np.empty(0, dtype=np.intp), np.empty((0, 2))
    numbers = ids.ravel() - board.first
    own = np.flatnonzero((numbers >= 0) & (numbers < board.markers))
    _, once = np.unique(numbers[own], return_index=True)
    own = own[once]
    marks = (4 * numbers[own][:, None] + np.arange(4)).ravel().astype(np.intp)
    pixels = np.array([corners[index] for index in own], dtype=np.float64).reshape(-1, 2)
    return marks, pixels


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

    widths = []
    reach = max(6, int(0.6 * spacing))
    some = pixels[:: max(1, len(pixels) // LOOKED_AT)]
    for x, y in np.round(some).astype(int):
        # A margin for the smoothing.
        top, left = max(y - reach - 2, 0), max(x - reach - 2, 0)
        around = picture[top : y + reach + 2, left : x + reach + 2]
        if min(around.shape) < 5:
            continue
        smooth = cv2.GaussianBlur(around, (3, 3), 0).astype(np.float32)
        slope = np.hypot(
            cv2.Sobel(smooth, cv2.CV_32F, 1, 0) / 8, cv2.Sobel(smooth, cv2.CV_32F, 0, 1) / 8
        )[1:-1, 1:-1]
        contrast, steepest = float(np.ptp(smooth)), float(slope.max())
        if contrast > 10 and steepest > 0:
            widths.append(contrast / steepest)
    if not widths:
        return float("inf")
    # The smoothing and the edge's own width add like independent deviations.
    return float(np.sqrt(max(np.median(widths) ** 2 - SMOOTHED**2, 0.0)))


def _is_flat(picture: Any) -> bool:
    """Has the picture no sharp edge anywhere?"""
    cv2 = opencv()

    return float(np.abs(cv2.Laplacian(picture, cv2.CV_16S)).max()) < 40.0
