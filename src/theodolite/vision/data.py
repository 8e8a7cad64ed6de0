"""What marks in pictures say of a robot: pixels to adjust a bundle to, or poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.lens import Lens
from theodolite.model.twists import skews
from theodolite.vision.board import Board
from theodolite.vision.detection import Detection
from theodolite.vision.poses import seen_pose


def pixel_data(joints: Dataset, seen: Sequence[Detection], board: Board) -> Dataset:
    """One row for each mark; ``joints`` has one for each picture."""
    rows = np.repeat(np.arange(len(seen)), [len(detection.ids) for detection in seen])
    return replace(
        joints.take(rows),
        pixels=np.concatenate([detection.pixels for detection in seen]),
        points=np.concatenate([board.points[detection.ids] for detection in seen]),
        sets=rows,
    )


def pose_data(
    joints: Dataset, seen: Sequence[Detection], board: Board, lens: Lens, *, mount: str = "ground"
) -> Dataset:
    """One pose for each picture: of the board in the camera's frame, or the other way round."""
    poses = [seen_pose(detection, board, lens) for detection in seen]
    turned = np.array([pose.rotation for pose in poses])
    shifts = np.array([pose.position for pose in poses])
    # The scatter of the marks about the poses is the noise of the pixels.
    noise = np.sqrt(np.mean([pose.rms**2 for pose in poses]))
    covariances = noise**2 * np.array([pose.covariance for pose in poses])
    if mount == "hand":
        turned, shifts, covariances = inverted(turned, shifts, covariances)
    return replace(joints, positions=shifts[:, None], rotations=turned, covariances=covariances)


def inverted(
    turned: FloatArray, shifts: FloatArray, covariances: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Poses of the camera in the target's frame, instead of the other way round."""
    back = turned.transpose(0, 2, 1)
    there = -np.einsum("nij,nj->ni", back, shifts)
    # A displacement d and turn w of the target move the camera by -R'(d - w x p) and -R' w.
    change = np.zeros((len(back), 6, 6))
    change[:, :3, :3] = change[:, 3:, 3:] = -back
    change[:, :3, 3:] = -back @ skews(shifts)
    return back, there, np.asarray(change @ covariances @ change.transpose(0, 2, 1))
