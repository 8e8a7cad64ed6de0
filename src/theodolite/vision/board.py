"""Calibration targets: ChArUco boards, chessboards and grids of circles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.vision.opencv import opencv

KINDS = ("charuco", "chessboard", "circles")
ALLOWED = (
    "charuco:COLUMNSxROWS:SQUARE:MARKER[:DICTIONARY], chessboard:COLUMNSxROWS:SQUARE, "
    "circles:COLUMNSxROWS:DISTANCE (every other row shifted by half); lengths in mm; of a ChArUco "
    "board squares are counted, of a chessboard inner corners"
)


@dataclass(frozen=True)
class Board:
    """A flat target; lengths in metres."""

    kind: str
    columns: int
    rows: int
    #: Side of a square, or distance of neighbouring circles in a row.
    square: float
    #: Side of a marker of a ChArUco board.
    marker: float = 0.0
    dictionary: str = "DICT_5X5_100"

    @staticmethod
    def parse(text: str) -> Board:
        """``charuco:8x6:30:22``, lengths in millimetres."""
        parts = text.split(":")
        try:
            kind, counts, *rest = parts
            columns, rows = (int(count) for count in counts.lower().split("x"))
            lengths = [float(part) * 1e-3 for part in rest[: 2 if kind == "charuco" else 1]]
        except ValueError as error:
            raise InputError(f"board: cannot read {text!r}", allowed=ALLOWED) from error
        names = rest[2:] if kind == "charuco" else rest[1:]
        wanted = 2 if kind == "charuco" else 1
        if kind not in KINDS or len(lengths) != wanted or len(names) > (kind == "charuco"):
            raise InputError(f"board: cannot read {text!r}", allowed=ALLOWED)
        square, marker = lengths[0], lengths[-1] if kind == "charuco" else 0.0
        board = Board(kind, columns, rows, square, marker, *names)
        if min(columns, rows) < 3 or min(lengths) <= 0 or not np.isfinite(lengths).all():
            raise InputError(
                f"board: {text!r} is not a board", allowed="3 x 3 or more, positive lengths"
            )
        if kind != "charuco" and (columns % 2) == (rows % 2):
            raise InputError(
                f"board: {text!r} looks the same upside down",
                allowed="an even and an odd number",
                remedy="Use such a board, or a ChArUco board",
            )
        if kind == "charuco" and board.marker >= board.square:
            raise InputError("board: a marker must be smaller than its square", allowed=ALLOWED)
        if kind == "charuco":
            board.check_markers()
        return board

    @property
    def points(self) -> FloatArray:
        """Places of all marks on the board, (n, 3); a ChArUco's inner corners."""
        if self.kind == "circles":
            row, column = np.divmod(np.arange(self.columns * self.rows), self.columns)
            x, y = self.square * (column + 0.5 * (row % 2)), 0.5 * self.square * row
            return np.column_stack([x, y, np.zeros(len(x))])
        inner = self.kind == "charuco"
        columns, rows = self.columns - inner, self.rows - inner
        x, y = np.meshgrid(np.arange(columns), np.arange(rows))
        shift = self.square if inner else 0.0
        return np.column_stack(
            [self.square * x.ravel() + shift, self.square * y.ravel() + shift, np.zeros(x.size)]
        )

    def check_markers(self) -> None:
        """Refuse dictionaries that do not exist or have too few markers."""
        needed = self.columns * self.rows // 2
        words = self.dictionary.rsplit("_", 1)
        self.charuco  # noqa: B018  the name of the dictionary is checked on the way
        if words[-1].isdigit() and int(words[-1]) < needed:
            raise InputError(
                f"board: {self.dictionary} has {words[-1]} markers, the board needs {needed}"
            )

    @cached_property
    def charuco(self) -> Any:
        """OpenCV's board."""
        cv2 = opencv()

        if not hasattr(cv2.aruco, self.dictionary):
            names = [name for name in dir(cv2.aruco) if name.startswith("DICT_")]
            raise InputError(f"board: no dictionary '{self.dictionary}'", allowed=names)
        dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, self.dictionary))
        return cv2.aruco.CharucoBoard(
            (self.columns, self.rows), self.square, self.marker, dictionary
        )
