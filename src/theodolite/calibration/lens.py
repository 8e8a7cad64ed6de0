"""A camera with a lens: projection with radial and tangential distortion, exact derivatives.

The model of Brown and Conrady with the usual names, so that intrinsics can be exchanged:

    x, y   = X / Z, Y / Z
    r2     = x^2 + y^2,   s = 1 + k1 r2 + k2 r2^2 + k3 r2^3
    xd, yd = x s + 2 p1 x y + p2 (r2 + 2 x^2),   y s + p1 (r2 + 2 y^2) + 2 p2 x y
    u, v   = fx xd + cx, fy yd + cy
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from theodolite.arrays import FloatArray

NAMES = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")


@dataclass(frozen=True)
class Lens:
    """Focal lengths and principal point in pixels, distortion without unit."""

    fx: float
    fy: float
    cx: float
    cy: float
    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0

    @property
    def values(self) -> FloatArray:
        return np.array(astuple(self))

    @staticmethod
    def of(values: FloatArray) -> Lens:
        return Lens(*(float(value) for value in values))

    @property
    def matrix(self) -> FloatArray:
        """The camera matrix, (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def distortion(self) -> FloatArray:
        return np.array([self.k1, self.k2, self.p1, self.p2, self.k3])

    def project(self, points: FloatArray) -> FloatArray:
        """Pixels (n, 2) of points (n, 3) in the camera's frame."""
        return projected(points, self.values)[0]


def projected(points: FloatArray, lens: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pixels (n, 2), their derivatives by the points (n, 2, 3) and by the lens (n, 2, 9)."""
    fx, fy, cx, cy, k1, k2, p1, p2, k3 = lens
    X, Y, Z = points.T
    x, y = X / Z, Y / Z
    r2 = x**2 + y**2
    s = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
    ds = k1 + r2 * (2 * k2 + 3 * r2 * k3)
    xd = x * s + 2 * p1 * x * y + p2 * (r2 + 2 * x**2)
    yd = y * s + p1 * (r2 + 2 * y**2) + 2 * p2 * x * y
    pixels = np.column_stack([fx * xd + cx, fy * yd + cy])
    cross = 2 * x * y * ds + 2 * p1 * x + 2 * p2 * y
    dxx = s + 2 * x**2 * ds + 2 * p1 * y + 6 * p2 * x
    dyy = s + 2 * y**2 * ds + 6 * p1 * y + 2 * p2 * x
    by_points = np.empty((len(points), 2, 3))
    for row, (scale, by_x, by_y) in enumerate(((fx, dxx, cross), (fy, cross, dyy))):
        by_points[:, row, 0] = scale * by_x / Z
        by_points[:, row, 1] = scale * by_y / Z
        by_points[:, row, 2] = -scale * (by_x * x + by_y * y) / Z
    by_lens = np.zeros((len(points), 2, 9))
    by_lens[:, 0, 0], by_lens[:, 1, 1] = xd, yd
    by_lens[:, 0, 2] = by_lens[:, 1, 3] = 1.0
    for column, power in ((4, 1), (5, 2), (8, 3)):
        by_lens[:, 0, column], by_lens[:, 1, column] = fx * x * r2**power, fy * y * r2**power
    by_lens[:, 0, 6], by_lens[:, 1, 6] = 2 * fx * x * y, fy * (r2 + 2 * y**2)
    by_lens[:, 0, 7], by_lens[:, 1, 7] = fx * (r2 + 2 * x**2), 2 * fy * x * y
    return pixels, by_points, by_lens
