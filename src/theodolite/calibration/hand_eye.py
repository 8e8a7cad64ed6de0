"""Where camera and target stand, in closed form, from the poses that pictures show.

A picture shows the target in the camera's frame at A_i. The robot says how its tip stood in the
world, M_i, or the world in its tip. Two unknown poses join them,

    A_i = C M_i B

of which the rotations follow from R_C' R_Ai = R_Mi R_B, linear in R_C' and R_B, and then the
shifts from R_C R_Mi t_B + t_C = t_Ai - R_C t_Mi. Some pictures may be wrong, so the solution is
looked for in small random samples, and the one that most pictures agree with is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.model.poses import Poses

#: Pictures in a sample, and how many samples are tried: with three pictures in ten wrong, a
#: hundred samples of five miss a good one once in ten million times.
SAMPLE, SAMPLES = 5, 100
#: Rotations are determined if no other pair fits nearly as well: the second smallest singular
#: value, as part of the largest.
DETERMINED = 1e-3
#: A picture agrees if it is no further off than so many times the typical one, or than rounding.
AGREES, ROUNDING = 5.0, 1e-6


@dataclass(frozen=True, eq=False)
class HandEye:
    """A = C M B, and which pictures agree with it."""

    camera: Poses
    target: Poses
    agree: BoolArray


def apart(one: Poses, other: Poses, length: float) -> FloatArray:
    """How far poses are apart, (n,): angles in radians, and distances as parts of a length."""
    turn = one.rotation.transpose(0, 2, 1) @ other.rotation
    angles = np.arccos(np.clip((np.trace(turn, axis1=1, axis2=2) - 1) / 2, -1.0, 1.0))
    return angles + np.linalg.norm(one.position - other.position, axis=1) / length


def solve_hand_eye(
    seen: Poses, moved: Poses, length: float, rng: np.random.Generator | None = None
) -> HandEye | None:
    """C and B from what pictures show and how the robot stood; None if that does not tell.

    ``length`` says how many metres weigh as much as a radian.
    """
    count = len(seen)
    rng = rng or np.random.default_rng(0)
    samples = [np.arange(count)]
    if count > SAMPLE:
        samples += [rng.choice(count, SAMPLE, replace=False) for _ in range(SAMPLES)]
    best, least = None, np.inf
    for rows in samples:
        pair = _linear(seen.take(rows), moved.take(rows))
        if pair is None:
            continue
        off = _misfit(seen, moved, pair, length)
        typical = float(np.median(off))
        if typical < least:
            best, least = off, typical
    if best is None:
        return None
    agree = best <= max(AGREES * least, ROUNDING)
    pair = _linear(seen.take(agree), moved.take(agree))
    if pair is None:
        return None
    off = _misfit(seen, moved, pair, length)
    return HandEye(*pair, off <= max(AGREES * float(np.median(off)), ROUNDING))


def misfit_of(found: HandEye | None, seen: Poses, moved: Poses, length: float) -> float:
    """How far off the middle pose is, radians and parts of a length; infinite without any."""
    if found is None:
        return float("inf")
    return float(np.median(_misfit(seen, moved, (found.camera, found.target), length)))


def scale_of(found: HandEye, seen: Poses, moved: Poses) -> float:
    """How many times as large as stated the target is, by how far the robot moved it.

    s t_A = R_C R_M t_B + R_C t_M + t_C, linear in s, t_B and t_C; the rotations know no size.
    """
    seen, moved = seen.take(found.agree), moved.take(found.agree)
    facing, n = found.camera.rotation[0], int(found.agree.sum())
    matrix = np.concatenate(
        [
            seen.position[:, :, None],
            -(facing @ moved.rotation),
            np.broadcast_to(-np.eye(3), (n, 3, 3)),
        ],
        axis=2,
    )
    wanted = moved.position @ facing.T
    return float(np.linalg.lstsq(matrix.reshape(-1, 7), wanted.ravel(), rcond=None)[0][0])


def middle(poses: Poses, length: float) -> Poses:
    """Of several estimates of one pose, the one that the others are nearest to."""
    far = [
        float(np.median(apart(Poses(poses.rotation[[i]], poses.position[[i]]), poses, length)))
        for i in range(len(poses))
    ]
    best = int(np.argmin(far))
    return poses.take(np.array([best]))


def _misfit(seen: Poses, moved: Poses, pair: tuple[Poses, Poses], length: float) -> FloatArray:
    camera, target = pair
    return apart(seen, camera.then(moved).then(target), length)


def _linear(seen: Poses, moved: Poses) -> tuple[Poses, Poses] | None:
    """The least-squares solution; None where the rotations do not determine it."""
    n = len(seen)
    if n < 3:
        return None
    # Rows of X R_A - R_M Y = 0, X = R_C' and Y = R_B, by their nine elements each.
    matrix = np.zeros((n, 3, 3, 18))
    for i in range(3):
        for j in range(3):
            matrix[:, i, j, 3 * i : 3 * i + 3] = seen.rotation[:, :, j]
            matrix[:, i, j, 9 + j : 18 : 3] = -moved.rotation[:, i, :]
    _, sizes, directions = np.linalg.svd(matrix.reshape(-1, 18), full_matrices=False)
    if sizes[-2] < DETERMINED * sizes[0]:
        return None
    x, y = directions[-1].reshape(2, 3, 3)
    if np.linalg.det(x) < 0:
        x, y = -x, -y
    back, turn = _rotation(x), _rotation(y)
    facing = back.T
    matrix = np.concatenate([facing @ moved.rotation, np.tile(np.eye(3), (n, 1, 1))], axis=2)
    wanted = seen.position - moved.position @ facing.T
    shifts = np.linalg.lstsq(matrix.reshape(-1, 6), wanted.ravel(), rcond=None)[0]
    return Poses.one(facing, shifts[3:]), Poses.one(turn, shifts[:3])


def _rotation(matrix: FloatArray) -> FloatArray:
    """The nearest rotation."""
    U, _, Vt = np.linalg.svd(matrix)
    return U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
