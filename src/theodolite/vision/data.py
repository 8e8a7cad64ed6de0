"""What marks in pictures say of a robot: pixels to adjust a bundle to, or poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.lens import Lens
from theodolite.model.twists import skews
from theodolite.vision.board import Board
from theodolite.vision.detection import Detection
from theodolite.vision.poses import seen_pose


class Sight(NamedTuple):
    """A board in a picture: the row of the joints, which camera and board, and its marks."""

    row: int
    camera: int
    board: int
    marks: Detection


def pixel_data(
    joints: Dataset, sights: Sequence[Sight], boards: Sequence[Board], names: Sequence[str] = ()
) -> Dataset:
    """One row for each mark; ``joints`` has one for each picture, ``names`` the pictures' names.

    Cameras and boards are counted from 1 where there are several.
    """
    counts = [len(sight.marks.ids) for sight in sights]
    rows = np.repeat([sight.row for sight in sights], counts)
    cameras = 1 + np.repeat([sight.camera for sight in sights], counts)
    boards_seen = 1 + np.repeat([sight.board for sight in sights], counts)
    kept = np.unique(rows)
    return replace(
        joints.take(rows),
        pixels=np.concatenate([sight.marks.pixels for sight in sights]),
        points=np.concatenate([boards[s.board].points[s.marks.ids] for s in sights]),
        sets=np.searchsorted(kept, rows),
        pictures=tuple(names[row] for row in kept) if len(names) else (),
        cameras=cameras if len(set(cameras.tolist())) > 1 else None,
        boards=boards_seen if len(boards) > 1 else None,
    )


def pose_data(
    joints: Dataset, seen: Sequence[Detection], board: Board, lens: Lens, *, mount: str = "ground"
) -> Dataset:
    """One pose for each picture: of the board in the camera's frame, or the other way round."""
    poses = [seen_pose(*detection.marks(board), lens) for detection in seen]
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
