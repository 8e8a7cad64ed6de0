"""Calibration targets: ChArUco boards, chessboards, grids of circles and grids of tags."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.vision.opencv import opencv

CHARUCO, CHESSBOARD, CIRCLES, GRID, TAGS = (
    "charuco",
    "chessboard",
    "circles",
    "circles-grid",
    "tags",
)
#: Kinds, and how many lengths each has.
KINDS = {CHARUCO: 2, CHESSBOARD: 1, CIRCLES: 1, GRID: 1, TAGS: 2}
#: Kinds made of markers that can be told apart, and their usual dictionaries.
MARKED = {CHARUCO: "DICT_5X5_100", TAGS: "DICT_APRILTAG_36h11"}
LEGACY, FIRST = "legacy", "first="
ALLOWED = (
    "charuco:COLUMNSxROWS:SQUARE:MARKER[:DICTIONARY][:first=ID][:legacy], "
    "tags:COLUMNSxROWS:TAG:GAP[:DICTIONARY][:first=ID], chessboard:COLUMNSxROWS:SQUARE, "
    "circles:COLUMNSxROWS:DISTANCE (every other row shifted by half), "
    "circles-grid:COLUMNSxROWS:DISTANCE; lengths in mm; of a ChArUco board squares are counted, of "
    "a chessboard inner corners"
)
#: A marker leaves at least this much of its square white.
LARGEST_MARKER = 0.999
#: Sizes beyond these are no boards: marks each way, millimetres.
MOST, SHORTEST, LONGEST = 200, 0.01, 1e5


@dataclass(frozen=True)
class Board:
    """A flat target; lengths in metres."""

    kind: str
    columns: int
    rows: int
    #: Side of a square or tag, or distance of neighbouring circles in a row.
    square: float
    #: Side of a marker of a ChArUco board; gap between tags.
    marker: float = 0.0
    dictionary: str = "DICT_5X5_100"
    #: Number of the first marker: boards side by side need different ones.
    first: int = 0
    #: Was the ChArUco board made by OpenCV before 4.6? With an even number of rows it starts white.
    legacy: bool = False

    @staticmethod
    def parse(text: str) -> Board:
        """``charuco:8x6:30:22``, lengths in millimetres."""
        if not isinstance(text, str):
            raise InputError(f"board: {text!r} is not a text", allowed=ALLOWED)
        kind, *parts = text.split(":")
        try:
            counts, *rest = parts
            columns, rows = (int(count) for count in counts.lower().split("x"))
            number = KINDS[kind]
            lengths = [float(part) * 1e-3 for part in rest[:number]]
            words = rest[number:]
            first = [int(word.removeprefix(FIRST)) for word in words if word.startswith(FIRST)]
        except (ValueError, KeyError) as error:
            raise InputError(f"board: cannot read {text!r}", allowed=ALLOWED) from error
        legacy = LEGACY in words
        names = [word for word in words if word != LEGACY and not word.startswith(FIRST)]
        marked = kind in MARKED
        if (
            len(lengths) != number
            or len(names) > marked
            or (words and not marked)
            or len(first) > 1
        ):
            raise InputError(f"board: cannot read {text!r}", allowed=ALLOWED)
        least = 1 if kind == TAGS else 3
        sized = least <= min(columns, rows) and max(columns, rows) <= MOST
        if not sized or not all(SHORTEST < 1e3 * length < LONGEST for length in lengths):
            raise InputError(
                f"board: {text!r} is not a board",
                allowed=f"{least} x {least} to {MOST} x {MOST}, lengths from {SHORTEST:g} mm on",
            )
        if first and first[0] < 0:
            raise InputError(f"board: {text!r}", allowed="first=0 or more")
        board = Board(
            *(kind, columns, rows, lengths[0], lengths[1] if number == 2 else 0.0),
            dictionary=(names or [MARKED.get(kind, "")])[0],
            first=first[0] if first else 0,
            legacy=legacy,
        )
        if kind == CHARUCO and board.marker >= LARGEST_MARKER * board.square:
            raise InputError("board: a marker must be smaller than its square", allowed=ALLOWED)
        if legacy and kind != CHARUCO:
            raise InputError("board: only ChArUco boards have a legacy layout", allowed=ALLOWED)
        if marked:
            board.check_markers()
        return board

    def __str__(self) -> str:
        lengths = [self.square, self.marker][: KINDS[self.kind]]
        words = [f"{1e3 * length:g}" for length in lengths]
        words += [self.dictionary] if self.dictionary != MARKED.get(self.kind, "") else []
        words += [f"{FIRST}{self.first}"] if self.first else []
        words += [LEGACY] if self.legacy else []
        return ":".join([self.kind, f"{self.columns}x{self.rows}", *words])

    @property
    def ambiguous(self) -> bool:
        """Does it look the same upside down? Then it shows a lens, but no pose."""
        if self.kind == GRID:
            return True
        return self.kind in (CHESSBOARD, CIRCLES) and (self.columns % 2) == (self.rows % 2)

    def check_pose(self) -> None:
        """Refuse a board that looks the same upside down."""
        if self.ambiguous:
            raise InputError(
                f"board: {str(self)!r} looks the same upside down, so it shows no pose",
                allowed="an even and an odd number, on chessboards and shifted circles",
                remedy="Use such a board, or a ChArUco board; this one will do for the lens",
            )

    @cached_property
    def points(self) -> FloatArray:
        """Places of all marks on the board, (n, 3); of tags the four corners of each."""
        if self.kind == CIRCLES:
            row, column = np.divmod(np.arange(self.columns * self.rows), self.columns)
            x, y = self.square * (column + 0.5 * (row % 2)), 0.5 * self.square * row
            return np.column_stack([x, y, np.zeros(len(x))])
        if self.kind == TAGS:
            step = self.square + self.marker
            row, column = np.divmod(np.arange(self.columns * self.rows), self.columns)
            corners = self.square * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
            places = step * np.column_stack([column, row])[:, None] + corners
            return np.column_stack([places.reshape(-1, 2), np.zeros(4 * len(row))])
        inner = self.kind == CHARUCO
        columns, rows = self.columns - inner, self.rows - inner
        x, y = np.meshgrid(np.arange(columns), np.arange(rows))
        shift = self.square if inner else 0.0
        return np.column_stack(
            [self.square * x.ravel() + shift, self.square * y.ravel() + shift, np.zeros(x.size)]
        )

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of what is printed, metres."""
        if self.kind == TAGS:
            step = self.square + self.marker
            return self.columns * step - self.marker, self.rows * step - self.marker
        if self.kind == CHARUCO:
            return self.columns * self.square, self.rows * self.square
        if self.kind == CHESSBOARD:
            return (self.columns + 1) * self.square, (self.rows + 1) * self.square
        wide, high = np.ptp(self.points, axis=0)[:2] + self.square
        return float(wide), float(high)

    @property
    def markers(self) -> int:
        """How many markers it has."""
        count = self.columns * self.rows
        return count // 2 if self.kind == CHARUCO else count

    def check_markers(self) -> None:
        """Refuse dictionaries that do not exist or have too few markers."""
        needed = self.first + self.markers
        there = len(self.marker_dictionary.bytesList)
        if there < needed:
            raise InputError(
                f"board: {self.dictionary} has {there} markers, the board needs {needed}",
                allowed="a dictionary that is large enough",
            )

    @cached_property
    def marker_dictionary(self) -> Any:
        """OpenCV's dictionary of markers."""
        cv2 = opencv()

        if not hasattr(cv2.aruco, self.dictionary) or not self.dictionary.startswith("DICT_"):
            names = [name for name in dir(cv2.aruco) if name.startswith("DICT_")]
            raise InputError(f"board: no dictionary '{self.dictionary}'", allowed=names)
        return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, self.dictionary))

    @cached_property
    def charuco(self) -> Any:
        """OpenCV's board."""
        cv2 = opencv()

        ids = np.arange(self.first, self.first + self.markers, dtype=np.int32)
        board = cv2.aruco.CharucoBoard(
            (self.columns, self.rows), self.square, self.marker, self.marker_dictionary, ids
        )
        board.setLegacyPattern(self.legacy)
        return board
