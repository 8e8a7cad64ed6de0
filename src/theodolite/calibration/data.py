"""Measurements of one robot, as arrays: one row per configuration."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError


@dataclass(frozen=True, eq=False)
class Dataset:
    """Motor variables and whatever was seen there. What a method does not need may be None."""

    #: Motor variables, (n, joints), radians and metres.
    motors: FloatArray
    #: Measured positions of the targets, (n, targets, 3).
    positions: FloatArray | None = None
    #: Names of those targets; "" is the tool's own origin.
    targets: tuple[str, ...] = ("",)
    #: Measured orientations, (n, 3, 3).
    rotations: FloatArray | None = None
    #: Which configurations reach the same point or pose, (n,), any labels.
    sets: IntArray | None = None
    #: Known planes, (n, 4): unit normal and distance, n . P = h.
    planes: FloatArray | None = None
    #: Place in the fixture of the target that touched the pointer, (n, 3); NaN where none did.
    fixture: FloatArray | None = None
    #: Pixels (n, 2) in which points (n, 3) of a target were seen, one row per point and picture.
    pixels: FloatArray | None = None
    points: FloatArray | None = None
    #: Covariance of each measured pose, (n, 6, 6): displacements, then turns, in the world's axes.
    covariances: FloatArray | None = None
    #: Where each row came from: line in the file.
    lines: IntArray | None = None
    name: str = "data"

    def __post_init__(self) -> None:
        shapes = {
            "motors": (None,),
            "positions": (len(self.targets), 3),
            "rotations": (3, 3),
            "sets": (),
            "planes": (4,),
            "fixture": (3,),
            "pixels": (2,),
            "points": (3,),
            "covariances": (6, 6),
            "lines": (),
        }
        for field, shape in shapes.items():
            array = getattr(self, field)
            if array is None:
                continue
            wanted = (len(self.motors), *shape)
            found = np.shape(array)
            pairs = zip(found, wanted, strict=False)
            if len(found) != len(wanted) or any(w not in (None, f) for f, w in pairs):
                text = " x ".join("n" if size is None else str(size) for size in wanted)
                raise InputError(f"{field} have the shape {found}", where=self.name, allowed=text)

    def __len__(self) -> int:
        return len(self.motors)

    def take(self, rows: IntArray) -> Dataset:
        """Some of the rows."""
        chosen: dict[str, Any] = {
            field.name: value[rows]
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), np.ndarray)
        }
        return replace(self, **chosen)

    def line(self, row: int | np.integer[Any]) -> int:
        """Where a row stands in its file, or its number."""
        return int(row) + 1 if self.lines is None else int(self.lines[row])

    def configurations(self) -> IntArray:
        """Which rows were read in one configuration, (n,): pictures show many points at once."""
        if self.pixels is None:
            return np.arange(len(self))
        if self.sets is not None:
            return np.unique(self.sets, return_inverse=True)[1].ravel()
        return np.unique(self.motors, axis=0, return_inverse=True)[1].ravel()

    def groups(self) -> IntArray:
        """What must stay together when rows are held out: the sets, or each row by itself.

        Touches are never held out (-1): they place a pointer that new touches would move.
        """
        if self.fixture is not None:
            read = ~np.isfinite(self.fixture).all(axis=1)
            return np.where(read, np.cumsum(read) - 1, -1)
        if self.sets is None:
            return np.arange(len(self))
        return np.unique(self.sets, return_inverse=True)[1]


def rows_by_count(labels: IntArray) -> list[IntArray]:
    """Row numbers of equal labels, one matrix (groups, members) for each number of members."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    members = np.split(order, starts)
    counts = sorted({len(rows) for rows in members})
    return [np.array([rows for rows in members if len(rows) == count]) for count in counts]
