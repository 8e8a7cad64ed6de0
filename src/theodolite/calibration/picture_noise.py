"""Two kinds of noise in pictures: of each mark, and of the whole picture.

Marks scatter within their picture. The robot is never quite where its joints say, and that shifts
all marks of a picture together. What no pose of the target could explain is noise of the marks;
what is left of the poses, beyond that, is noise of the joints:

    r_i = T_i d + e_i    T_i: how the pose moves the marks of picture i, (2m, 6)
    within: (I - Q_i Q_i') r_i has the variance s^2, Q_i an orthonormal basis of T_i
    between: b_i = Q_i' r_i has the covariance s^2 I + j^2 A_i, A_i from the joints' Jacobian

j makes the sum of b_i' (s^2 I + j^2 A_i)^-1 b_i what it should be: the number of poses times six,
less the parameters fitted to them. Where some pictures may be wrong, it makes the median right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray

#: Noise of the joints is looked for up to this many radians, and found to this part.
LARGEST, PRECISION = 0.3, 1e-4
#: Below this part of what the pixels' noise explains it is nothing.
SMALLEST = 1e-7


@dataclass(frozen=True, eq=False)
class Pictures:
    """Some pictures with equally many marks: errors (n, 2m), by poses (n, 2m, 6), by joints."""

    errors: FloatArray
    by_pose: FloatArray
    #: By joints in units in which all are equally noisy, (n, 2m, joints).
    by_joint: FloatArray


@dataclass(frozen=True)
class PictureNoise:
    """Standard deviations: of a mark's coordinates, px; of the joints, rad."""

    pixel: float
    joint: float


def picture_noise(
    pictures: Iterable[Pictures], *, lens: int, poses: int, robust: bool = False
) -> PictureNoise | None:
    """The noise that residuals show; None where there are too few of them.

    ``lens`` parameters were fitted to what is within pictures, and ``poses`` to the rest.
    """
    within, degrees, count = 0.0, -float(lens), 0
    values, shapes = [], []
    for some in pictures:
        Q = np.linalg.qr(some.by_pose)[0]
        b = np.einsum("nij,ni->nj", Q, some.errors)
        inside = some.errors - np.einsum("nij,nj->ni", Q, b)
        within += float(np.sum(inside**2))
        degrees += inside.size - b.size
        count += len(b)
        through = Q.transpose(0, 2, 1) @ some.by_joint
        sizes, axes = np.linalg.eigh(through @ through.transpose(0, 2, 1))
        values.append(np.einsum("nij,ni->nj", axes, b) ** 2)
        shapes.append(np.maximum(sizes, 0.0))
    if degrees < 1.0 or not count:
        return None
    variance = max(within / degrees, np.finfo(float).tiny)
    squares, slopes = np.concatenate(values), np.concatenate(shapes)
    freedom = squares.size - poses
    if freedom < 1:
        return PictureNoise(float(np.sqrt(variance)), 0.0)
    return PictureNoise(
        float(np.sqrt(variance)), _joint(squares, slopes, variance, freedom, robust=robust)
    )


def _joint(
    squares: FloatArray, slopes: FloatArray, variance: float, freedom: int, *, robust: bool
) -> float:
    from scipy.special import chdtri

    wanted = freedom / squares.size
    typical = float(chdtri(6, 0.5)) / 6

    def excess(joint: float) -> float:
        sizes = (squares / (variance + joint**2 * slopes)).mean(axis=1)
        size = np.median(sizes) / typical if robust else np.mean(sizes)
        return float(size) / wanted - 1.0

    if excess(0.0) <= 0.0:
        return 0.0
    if excess(LARGEST) >= 0.0:
        return LARGEST
    # In logarithms, from where the joints' part drowns in the pixels'.
    low = SMALLEST * np.sqrt(variance / max(float(slopes.max()), np.finfo(float).tiny))
    high = LARGEST
    while high / low > 1.0 + PRECISION:
        middle = np.sqrt(low * high)
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return float(high)
