"""Poses: as position and rotation, and as six numbers with URDF's roll, pitch, yaw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray


class Pose(NamedTuple):
    """Where something is: of one configuration, or of n with the samples first."""

    #: (3,) or (n, 3), metres.
    position: FloatArray
    #: (3, 3) or (n, 3, 3).
    rotation: FloatArray


@dataclass(frozen=True, eq=False)
class Poses:
    """Some poses: rotations (n, 3, 3) and positions (n, 3)."""

    rotation: FloatArray
    position: FloatArray

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: IntArray | BoolArray) -> Poses:
        return Poses(self.rotation[rows], self.position[rows])

    @property
    def inverse(self) -> Poses:
        back = self.rotation.transpose(0, 2, 1)
        return Poses(back, -np.einsum("nij,nj->ni", back, self.position))

    def then(self, other: Poses) -> Poses:
        """Each pose followed by another one; a single pose goes with all."""
        moved = self.position + (self.rotation @ other.position[:, :, None])[:, :, 0]
        return Poses(self.rotation @ other.rotation, moved)

    @staticmethod
    def one(rotation: FloatArray, position: FloatArray) -> Poses:
        return Poses(rotation[None], position[None])

    @staticmethod
    def joined(several: Sequence[Poses]) -> Poses:
        return Poses(
            np.concatenate([poses.rotation for poses in several]),
            np.concatenate([poses.position for poses in several]),
        )


def rotation_matrix(roll: float, pitch: float, yaw: float) -> FloatArray:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def roll_pitch_yaw(R: FloatArray) -> tuple[float, float, float]:
    """Angles with R = Rz(yaw) Ry(pitch) Rx(roll), exact also where pitch is 90 degrees.

    SciPy's conversion warns there, and takes a tenth of a second to import.
    """
    yaw = float(np.arctan2(R[1, 0], R[0, 0]))
    c, s = np.cos(yaw), np.sin(yaw)
    # Undo the yaw first: what is left is Ry Rx and well conditioned whatever the yaw was.
    rest = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
    pitch = float(np.arctan2(-rest[2, 0], rest[0, 0]))
    roll = float(np.arctan2(-rest[1, 2], rest[1, 1]))
    return roll, pitch, yaw
