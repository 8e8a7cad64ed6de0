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
from theodolite.calibration.lens import (
    BROWN,
    FISHEYE,
    MODELS,
    Lens,
    angles_from_axis,
    projected,
)
from theodolite.calibration.scene import KnownLens
from theodolite.errors import InputError
from theodolite.model.rotations import exp
from theodolite.model.twists import skews
from theodolite.vision.opencv import opencv

#: Points on a board, (m, 3), and the pixels in which they were seen, (m, 2).
Marks = tuple[FloatArray, FloatArray]

#: Pictures needed to calibrate a lens, and marks to find a pose.
FEWEST_PICTURES, FEWEST_MARKS = 5, 4
#: Refinements of one pose, and of a lens; they converge quadratically.
REFINEMENTS, LENS_REFINEMENTS = 8, 30
#: Steps of a lens below this part of its standard errors end the refinement.
CONVERGED = 1e-6
#: Directions of a lens that pictures determine less than this, relative to the best, are left.
HARDLY = 1e-13
#: Standard deviation of a rich model's coefficients before any picture; a noise to start with, px.
ANY_COEFFICIENT, FIRST_NOISE = 3.0, 0.1
#: A focal length whose standard error is above this part of it is hardly known.
HARDLY_KNOWN = 0.05
#: Of a board's size: points this near to a plane are on it.
FLAT = 1e-6


@dataclass(frozen=True, eq=False)
class CalibratedLens:
    """A lens with its uncertainty."""

    lens: Lens
    #: Of the numbers of its model, in their order, (k, k).
    covariance: FloatArray
    #: Root mean square of the pixel residuals, per coordinate.
    rms: float
    #: The same of each picture.
    by_picture: tuple[float, ...] = ()

    @property
    def known(self) -> KnownLens:
        """What is known of it now."""
        return KnownLens(self.lens, self.covariance)


def calibrate_lens(
    marks: Sequence[Marks], *, size: tuple[int, int] | None = None, model: str = BROWN
) -> CalibratedLens:
    """Focal lengths, principal point and distortion from pictures of a flat board.

    ``size`` is that of the pictures, by default as large as the marks need.
    """
    if len(marks) < FEWEST_PICTURES:
        raise InputError(
            f"only {len(marks)} pictures show the board", allowed=f"{FEWEST_PICTURES} or more"
        )
    if model not in MODELS:
        raise InputError(f"there is no lens model '{model}'", allowed=list(MODELS))
    for points, _ in marks:
        if len(points) < FEWEST_MARKS or np.ptp(points[:, 2]) > FLAT * np.ptp(points, axis=0).max():
            raise InputError(
                "a lens can be found only from flat boards with four marks or more",
                remedy="Give the lens",
            )
    if size is None:
        width, height = np.ceil(np.max([pixels.max(axis=0) for _, pixels in marks], axis=0))
        size = (int(width) + 1, int(height) + 1)
    start, poses = _first_guess(marks, size, model)
    try:
        return _refined(marks, start, poses, model)
    except np.linalg.LinAlgError as error:
        raise _undetermined(model) from error


def _first_guess(
    marks: Sequence[Marks], size: tuple[int, int], model: str
) -> tuple[FloatArray, list[tuple[FloatArray, FloatArray]]]:
    """OpenCV's lens and poses."""
    cv2 = opencv()

    try:
        if model == FISHEYE:
            places = [points.reshape(1, -1, 3) for points, _ in marks]
            pixels = [seen.reshape(1, -1, 2) for _, seen in marks]
            flags = cv2.fisheye.CALIB_RECOMPUTE_EXTRINSIC | cv2.fisheye.CALIB_FIX_SKEW
            _, matrix, distortion, turns, shifts = cv2.fisheye.calibrate(
                places, pixels, size, None, None, flags=flags
            )
        else:
            # Richer models start from this one: OpenCV's own start may be far from any lens.
            _, matrix, distortion, turns, shifts = cv2.calibrateCamera(
                [points.astype(np.float32) for points, _ in marks],
                [seen.astype(np.float32)[:, None] for _, seen in marks],
                *(size, None, None),
            )
    except cv2.error as error:
        raise _undetermined(model) from error
    pinhole = [matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]]
    known = np.ravel(distortion)[: len(MODELS[model]) - 4]
    start = np.array([*pinhole, *known, *np.zeros(len(MODELS[model]) - 4 - len(known))])
    poses = [_pose(turn, shift) for turn, shift in zip(turns, shifts, strict=True)]
    if not np.isfinite(start).all():
        raise _undetermined(model)
    return start, poses


def check_determined(found: CalibratedLens) -> None:
    """Refuse a lens whose focal lengths are hardly known, as where no picture is tilted."""
    widths = np.sqrt(np.maximum(np.diag(found.covariance)[:2], 0.0))
    if (widths > HARDLY_KNOWN * found.lens.values[:2]).any():
        raise _undetermined(found.lens.model)


def _undetermined(model: str) -> InputError:
    return InputError(
        f"the pictures do not determine a lens of the model '{model}'",
        allowed=list(MODELS),
        remedy="Give the lens, take pictures that are tilted and in all corners, or choose a "
        "simpler model",
    )


def _refined(
    marks: Sequence[Marks],
    lens: FloatArray,
    poses: list[tuple[FloatArray, FloatArray]],
    model: str,
) -> CalibratedLens:
    """Lens and all poses together; each pose is eliminated, so the cost is linear in pictures."""
    free = len(lens)
    # Many coefficients can do the same: those of rich models stay near zero where they may.
    prior = np.zeros(free)
    prior[4:] = 0.0 if model in (BROWN, FISHEYE) else 1.0 / ANY_COEFFICIENT**2
    variance = FIRST_NOISE**2
    for _ in range(LENS_REFINEMENTS):
        normal, gradient = np.zeros((free, free)), np.zeros(free)
        parts = []
        squares, count = [], 0.0
        for one, (turn, shift) in zip(marks, poses, strict=True):
            error, by_pose, by_lens = _rows(one, lens, turn, shift, model)
            Q, R = np.linalg.qr(by_pose)
            across = by_lens - Q @ (Q.T @ by_lens)
            rest = error - Q @ (Q.T @ error)
            normal += across.T @ across
            gradient += across.T @ rest
            squares.append(float(rest @ rest))
            count += len(error) - 6
            parts.append((Q, R, error, by_lens))
        normal += np.diag(variance * prior)
        gradient += variance * prior * lens
        scale = np.sqrt(np.diag(normal))
        if not np.isfinite(normal).all() or not scale.all():
            raise _undetermined(model)
        inverse = np.linalg.pinv(normal / np.outer(scale, scale), rcond=HARDLY, hermitian=True)
        inverse = inverse / np.outer(scale, scale)
        step = -inverse @ gradient
        lens = lens + step
        poses = [
            _moved(pose, -np.linalg.solve(R, Q.T @ (error + by_lens @ step)))
            for pose, (Q, R, error, by_lens) in zip(poses, parts, strict=True)
        ]
        variance = sum(squares) / max(count - free, 1.0)
        widths = np.sqrt(variance * np.maximum(np.diag(inverse), 0.0))
        if (np.abs(step) <= CONVERGED * widths).all():
            break
    if not Lens.plausible(lens):
        raise _undetermined(model)
    field = max(
        float(angles_from_axis(points @ turn.T + shift).max())
        for (points, _), (turn, shift) in zip(marks, poses, strict=True)
    )
    return CalibratedLens(
        Lens.of(lens, model, field),
        variance * inverse,
        float(np.sqrt(variance)),
        tuple(
            float(np.sqrt(part / (2 * len(points))))
            for part, (points, _) in zip(squares, marks, strict=True)
        ),
    )


def _rows(
    marks: Marks, lens: FloatArray, turn: FloatArray, shift: FloatArray, model: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pixel errors (2 n,) and derivatives by the pose (2 n, 6) and the lens (2 n, k)."""
    arm = marks[0] @ turn.T
    pixels, by_points, by_lens = projected(arm + shift, lens, model)
    by_pose = np.concatenate([by_points, by_points @ -skews(arm)], axis=2)
    error = (pixels - marks[1]).ravel()
    return error, by_pose.reshape(-1, 6), by_lens.reshape(-1, len(lens))


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
    #: Distance of each mark from where the pose puts it, px, (m,).
    errors: FloatArray


def seen_pose(points: FloatArray, pixels: FloatArray, lens: Lens) -> SeenPose:
    """The pose of a board from its marks in one picture."""
    cv2 = opencv()

    marks = (points, pixels)
    if len(points) < FEWEST_MARKS:
        raise InputError(
            f"a picture shows {len(points)} marks", allowed=f"{FEWEST_MARKS} or more for a pose"
        )
    flat = np.ptp(points[:, 2]) <= FLAT * np.ptp(points, axis=0).max()
    flag = cv2.SOLVEPNP_IPPE if flat else cv2.SOLVEPNP_SQPNP
    try:
        _, turns, shifts, _ = cv2.solvePnPGeneric(
            points, straightened(pixels, lens)[:, None], np.eye(3), None, flags=flag
        )
    except cv2.error as error:
        raise InputError("the marks of a picture show no pose") from error
    # A flat board has two candidates; the better one after refinement is the pose.
    guesses = [_pose(turn, shift) for turn, shift in zip(turns, shifts, strict=True)]
    found = [_fitted(marks, lens, guess) for guess in guesses if _is_finite(guess)]
    candidates = [pose for pose in found if pose is not None]
    if not candidates:
        raise InputError("the marks of a picture show no pose: they may be on one line")
    return min(candidates, key=lambda pose: pose.rms)


def straightened(pixels: FloatArray, lens: Lens) -> FloatArray:
    """Directions (n, 2) in which pixels look, the lens undone."""
    cv2 = opencv()

    if lens.model == FISHEYE:
        found = cv2.fisheye.undistortPoints(pixels[:, None], lens.matrix, lens.distortion)
    else:
        criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-12)
        found = cv2.undistortPointsIter(
            pixels[:, None], lens.matrix, lens.distortion, None, None, criteria
        )
    flat: FloatArray = found[:, 0]
    return flat


def _is_finite(pose: tuple[FloatArray, FloatArray]) -> bool:
    return bool(np.isfinite(pose[0]).all() and np.isfinite(pose[1]).all())


def _fitted(marks: Marks, lens: Lens, pose: tuple[FloatArray, FloatArray]) -> SeenPose | None:
    """The pose refined; None where it runs away."""
    for _ in range(REFINEMENTS):
        error, by_pose, _ = _rows(marks, lens.values, *pose, lens.model)
        if not (np.isfinite(error).all() and np.isfinite(by_pose).all()):
            return None
        pose = _moved(pose, -np.linalg.lstsq(by_pose, error, rcond=None)[0])
    error, by_pose, _ = _rows(marks, lens.values, *pose, lens.model)
    if not (np.isfinite(error).all() and np.isfinite(by_pose).all()):
        return None
    inverse = np.linalg.pinv(by_pose)
    rms = float(np.sqrt(error @ error / max(len(error) - 6, 1)))
    sizes = np.linalg.norm(error.reshape(-1, 2), axis=1)
    return SeenPose(pose[0], pose[1], inverse @ inverse.T, rms, sizes)
