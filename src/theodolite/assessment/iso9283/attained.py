"""What a robot attained against what it was told to, for one kind of test."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.model import rotations
from theodolite.model.poses import Poses


class Test(Enum):
    """The tests, by what their rows are called in a file."""

    POSE = "pose"
    MULTI = "multi"
    DISTANCE = "distance"
    DRIFT = "drift"
    SETTLING = "settling"
    PATH = "path"
    CORNER = "corner"

    #: Not a test of pytest's.
    __test__ = False

    @property
    def timed(self) -> bool:
        """Are its rows samples of motions?"""
        return self in (Test.SETTLING, Test.PATH, Test.CORNER)


@dataclass(frozen=True, eq=False)
class Attained:
    """Rows of one test."""

    #: Name of the commanded pose, (n,).
    pose: tuple[str, ...]
    cycle: IntArray
    #: Attained and commanded, metres, (n, 3).
    positions: FloatArray
    commanded: FloatArray
    #: The same of orientations, (n, 3, 3); None where they were not measured.
    rotations: FloatArray | None = None
    commanded_rotations: FloatArray | None = None
    #: Direction of approach, and the group of cycles at one time, (n,).
    direction: IntArray | None = None
    block: IntArray | None = None
    times: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.cycle)

    def take(self, rows: BoolArray | IntArray) -> Attained:
        """Some of the rows."""
        index = np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows)
        arrays = {
            field.name: value[index]
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), np.ndarray)
        }
        return replace(self, pose=tuple(self.pose[row] for row in index), **arrays)

    @property
    def labels(self) -> list[str]:
        """Poses in the order in which they come first."""
        return list(dict.fromkeys(self.pose))

    def at(self, label: str) -> Attained:
        """The rows of one pose."""
        return self.take(np.array([name == label for name in self.pose]))

    @property
    def off(self) -> FloatArray:
        """Attained minus commanded positions, (n, 3)."""
        return self.positions - self.commanded

    @property
    def turned(self) -> FloatArray | None:
        """Angles a, b, c about x, y, z from the commanded to the attained pose, (n, 3)."""
        if self.rotations is None or self.commanded_rotations is None:
            return None
        return rotations.log(self.rotations @ self.commanded_rotations.transpose(0, 2, 1))

    def seen_from(self, sensor: Poses) -> Attained:
        """The same with attained poses in the frame of the commands, not the sensor's."""
        turned = None if self.rotations is None else sensor.rotation @ self.rotations
        positions = self.positions @ sensor.rotation[0].T + sensor.position[0]
        return replace(self, positions=positions, rotations=turned)
