"""Lens and poses from detected marks, with covariances.

OpenCV gives the first estimates. The last word is a least-squares fit on our own projection, whose
exact derivatives also give the covariance of lens and poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.lens import Lens, projected
from theodolite.errors import InputError
from theodolite.model.rotations import exp
from theodolite.model.twists import skews
from theodolite.vision.board import Board
from theodolite.vision.detection import Detection
from theodolite.vision.opencv import opencv

#: Pictures needed to calibrate a lens.
FEWEST_PICTURES = 5
#: Refinements of one pose; they converge quadratically.
REFINEMENTS = 8


@dataclass(frozen=True, eq=False)
class CalibratedLens:
    """A lens with its uncertainty."""

    lens: Lens
    #: Covariance of fx fy cx cy k1 k2 p1 p2 k3, (9, 9).
    covariance: FloatArray
    #: Root mean square of the pixel residuals, per coordinate.
    rms: float


def calibrate_lens(seen: Sequence[Detection], board: Board) -> CalibratedLens:
    """Focal lengths, principal point and distortion from pictures of a board."""
    cv2 = opencv()

    if len(seen) < FEWEST_PICTURES:
        raise InputError(
            f"only {len(seen)} pictures show the board", allowed=f"{FEWEST_PICTURES} or more"
        )
    sizes = {detection.size for detection in seen}
    if len(sizes) > 1:
        raise InputError(f"the pictures have different sizes: {sorted(sizes)}")
    places = [board.points[detection.ids].astype(np.float32) for detection in seen]
    pixels = [detection.pixels.astype(np.float32)[:, None] for detection in seen]
    _, matrix, distortion, turns, shifts = cv2.calibrateCamera(
        places, pixels, sizes.pop(), None, None
    )
    start = np.array([matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2], *distortion[0, :5]])
    poses = [_pose(turn, shift) for turn, shift in zip(turns, shifts, strict=True)]
    return _refined(seen, board, start, poses)


def _refined(
    seen: Sequence[Detection],
    board: Board,
    lens: FloatArray,
    poses: list[tuple[FloatArray, FloatArray]],
) -> CalibratedLens:
    """Lens and all poses together; each pose is eliminated, so the cost is linear in pictures."""
    for _ in range(REFINEMENTS):
        normal, gradient = np.zeros((9, 9)), np.zeros(9)
        parts = []
        squares = count = 0.0
        for detection, (turn, shift) in zip(seen, poses, strict=True):
            error, by_pose, by_lens = _rows(detection, board, lens, turn, shift)
            Q, R = np.linalg.qr(by_pose)
            free = by_lens - Q @ (Q.T @ by_lens)
            rest = error - Q @ (Q.T @ error)
            normal += free.T @ free
            gradient += free.T @ rest
            squares += float(rest @ rest)
            count += len(error) - 6
            parts.append((Q, R, error, by_lens))
        scale = np.sqrt(np.diag(normal))
        step = -np.linalg.solve(normal / np.outer(scale, scale), gradient / scale) / scale
        lens = lens + step
        poses = [
            _moved(pose, -np.linalg.solve(R, Q.T @ (error + by_lens @ step)))
            for pose, (Q, R, error, by_lens) in zip(poses, parts, strict=True)
        ]
    variance = squares / max(count - 9, 1.0)
    covariance = variance * np.linalg.inv(normal / np.outer(scale, scale)) / np.outer(scale, scale)
    return CalibratedLens(Lens.of(lens), covariance, float(np.sqrt(variance)))


def _rows(
    detection: Detection, board: Board, lens: FloatArray, turn: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pixel errors (2 n,) and derivatives by the pose (2 n, 6) and the lens (2 n, 9)."""
    arm = board.points[detection.ids] @ turn.T
    pixels, by_points, by_lens = projected(arm + shift, lens)
    by_pose = np.concatenate([by_points, by_points @ -skews(arm)], axis=2)
    error = (pixels - detection.pixels).ravel()
    return error, by_pose.reshape(-1, 6), by_lens.reshape(-1, 9)


def _pose(turn: Any, shift: Any) -> tuple[FloatArray, FloatArray]:
    """OpenCV's rotation vector and shift."""
    return exp(np.asarray(turn, dtype=np.float64).reshape(1, 3))[0], np.asarray(shift).ravel()


def _moved(pose: tuple[FloatArray, FloatArray], step: FloatArray) -> tuple[FloatArray, FloatArray]:
    turn, shift = pose
    return exp(step[None, 3:])[0] @ turn, shift + step[:3]


@dataclass(frozen=True, eq=False)
class SeenPose:
    """Where a board is in the camera's frame."""

    rotation: FloatArray
    position: FloatArray
    #: Of displacement and turn in the camera's axes, (6, 6), for a pixel noise of 1.
    covariance: FloatArray
    #: Root mean square of the pixel residuals, per coordinate.
    rms: float


def seen_pose(detection: Detection, board: Board, lens: Lens) -> SeenPose:
    """The pose of a board from its marks in one picture."""
    cv2 = opencv()

    places = board.points[detection.ids]
    flag = cv2.SOLVEPNP_IPPE
    _, turns, shifts, _ = cv2.solvePnPGeneric(
        places, detection.pixels[:, None], lens.matrix, lens.distortion, flags=flag
    )
    # A flat board has two candidates; the better one after refinement is the pose.
    candidates = [
        _fitted(detection, board, lens, _pose(turn, shift))
        for turn, shift in zip(turns, shifts, strict=True)
    ]
    return min(candidates, key=lambda pose: pose.rms)


def _fitted(
    detection: Detection, board: Board, lens: Lens, pose: tuple[FloatArray, FloatArray]
) -> SeenPose:
    for _ in range(REFINEMENTS):
        error, by_pose, _ = _rows(detection, board, lens.values, *pose)
        pose = _moved(pose, -np.linalg.lstsq(by_pose, error, rcond=None)[0])
    error, by_pose, _ = _rows(detection, board, lens.values, *pose)
    inverse = np.linalg.pinv(by_pose)
    rms = float(np.sqrt(error @ error / max(len(error) - 6, 1)))
    return SeenPose(pose[0], pose[1], inverse @ inverse.T, rms)
