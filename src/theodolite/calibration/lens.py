"""A camera with a lens: projection through four models of distortion, exact derivatives.

The models and their names are OpenCV's, so that intrinsics can be exchanged. With x, y = X/Z, Y/Z
and r2 = x^2 + y^2:

    brown        s = 1 + k1 r2 + k2 r2^2 + k3 r2^3
    rational     s = (1 + k1 r2 + k2 r2^2 + k3 r2^3) / (1 + k4 r2 + k5 r2^2 + k6 r2^3)
                 xd, yd = x s + 2 p1 x y + p2 (r2 + 2 x^2),  y s + p1 (r2 + 2 y^2) + 2 p2 x y
    thin-prism   the same with s1 r2 + s2 r2^2 added to xd, and s3 r2 + s4 r2^2 to yd
    fisheye      a = atan(r), xd, yd = (x, y) / r * a (1 + k1 a^2 + k2 a^4 + k3 a^6 + k4 a^8)

    u, v = fx xd + cx, fy yd + cy
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.errors import InputError, shown

BROWN = "brown"
FISHEYE = "fisheye"
_PINHOLE = ("fx", "fy", "cx", "cy")
_RADIAL = ("k1", "k2", "p1", "p2", "k3")
#: The numbers of each model, in OpenCV's order.
MODELS: dict[str, tuple[str, ...]] = {
    BROWN: (*_PINHOLE, *_RADIAL),
    "rational": (*_PINHOLE, *_RADIAL, "k4", "k5", "k6"),
    "thin-prism": (*_PINHOLE, *_RADIAL, "k4", "k5", "k6", "s1", "s2", "s3", "s4"),
    FISHEYE: (*_PINHOLE, "k1", "k2", "k3", "k4"),
}
#: Numbers beyond these belong to no lens.
LARGEST_PIXELS, LARGEST_COEFFICIENT, SMALLEST_FOCUS = 1e6, 1e4, 1.0
#: How far beyond the field that its pictures covered a lens is believed.
BEYOND = 1.1
#: Nearer to the axis than this, in radians, a fisheye is a pinhole.
ON_AXIS = 1e-9


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
    k4: float = 0.0
    k5: float = 0.0
    k6: float = 0.0
    s1: float = 0.0
    s2: float = 0.0
    s3: float = 0.0
    s4: float = 0.0
    model: str = BROWN
    #: How far from its axis it was calibrated, radians; None where that is not known.
    field: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or self.model not in MODELS:
            raise InputError(f"there is no lens model {self.model!r}", allowed=list(MODELS))
        for name in self.names:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise InputError(f"{name} of a lens is {shown(value)}", allowed="a number")
        if not Lens.plausible(self.values):
            raise InputError(
                "lens parameters are out of range",
                allowed=f"fx and fy above 0 and, like cx and cy, below {LARGEST_PIXELS:g} px; "
                f"coefficients below {LARGEST_COEFFICIENT:g}",
            )
        if self.field is not None and not 0.0 < self.field <= np.pi:
            raise InputError(f"the field of a lens is {self.field}", allowed="0 to pi, radians")
        own = {name for names in MODELS.values() for name in names} - set(self.names)
        odd = sorted(name for name in own if getattr(self, name))
        if odd:
            raise InputError(
                f"a lens of the model '{self.model}' has no {odd[0]}", allowed=list(self.names)
            )

    @staticmethod
    def plausible(values: FloatArray) -> bool:
        """Are these the numbers of any lens?"""
        pixels, coefficients = np.abs(values[:4]), np.abs(values[4:])
        # NaN is neither below nor above anything.
        small = (pixels < LARGEST_PIXELS).all() and (coefficients < LARGEST_COEFFICIENT).all()
        return bool(small and (values[:2] > SMALLEST_FOCUS).all())

    @property
    def names(self) -> tuple[str, ...]:
        """What its numbers are called."""
        return MODELS[self.model]

    @property
    def values(self) -> FloatArray:
        return np.array([getattr(self, name) for name in self.names])

    @staticmethod
    def of(values: FloatArray, model: str = BROWN, field: float | None = None) -> Lens:
        """A lens from the numbers of its model."""
        if model not in MODELS or len(values) != len(MODELS[model]):
            raise InputError(
                f"{len(values)} numbers for a lens of the model {model!r}",
                allowed=[f"{name}: {len(names)}" for name, names in MODELS.items()],
            )
        named: dict[str, Any] = dict(zip(MODELS[model], map(float, values), strict=True))
        return Lens(**named, model=model, field=field)

    @property
    def matrix(self) -> FloatArray:
        """The camera matrix, (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @property
    def distortion(self) -> FloatArray:
        """OpenCV's coefficients of the model."""
        return self.values[4:]

    def project(self, points: FloatArray) -> FloatArray:
        """Pixels (n, 2) of points (n, 3) in the camera's frame."""
        return projected(np.asarray(points, dtype=np.float64), self.values, self.model)[0]

    def covers(self, points: FloatArray) -> BoolArray:
        """Which points (n, 3) are in the field that its own pictures covered?"""
        if self.field is None:
            return np.ones(len(points), dtype=bool)
        return np.asarray(angles_from_axis(points) <= BEYOND * self.field)


def angles_from_axis(points: FloatArray) -> FloatArray:
    """Angles between the camera's axis and points (n, 3), radians."""
    return np.arctan2(np.hypot(points[:, 0], points[:, 1]), points[:, 2])


def projected(
    points: FloatArray, lens: FloatArray, model: str = BROWN
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pixels (n, 2), their derivatives by the points (n, 2, 3) and by the lens (n, 2, k)."""
    distorted = _fisheye if model == FISHEYE else _brown
    flat, by_points, by_distortion = distorted(points, lens[4:])
    focal = lens[:2]
    by_lens = np.zeros((len(points), 2, len(lens)))
    by_lens[:, 0, 0], by_lens[:, 1, 1] = flat.T
    by_lens[:, 0, 2] = by_lens[:, 1, 3] = 1.0
    by_lens[:, :, 4:] = focal[:, None] * by_distortion
    return focal * flat + lens[2:4], focal[:, None] * by_points, by_lens


def _brown(points: FloatArray, distortion: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distorted directions (n, 2) and their derivatives, for all models but the fisheye."""
    k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4 = np.pad(distortion, (0, 12 - len(distortion)))
    X, Y, Z = points.T
    x, y = X / Z, Y / Z
    r2 = x**2 + y**2
    over, under = 1 + r2 * (k1 + r2 * (k2 + r2 * k3)), 1 + r2 * (k4 + r2 * (k5 + r2 * k6))
    s = over / under
    ds = (k1 + r2 * (2 * k2 + 3 * r2 * k3) - s * (k4 + r2 * (2 * k5 + 3 * r2 * k6))) / under
    xd = x * s + 2 * p1 * x * y + p2 * (r2 + 2 * x**2) + r2 * (s1 + r2 * s2)
    yd = y * s + p1 * (r2 + 2 * y**2) + 2 * p2 * x * y + r2 * (s3 + r2 * s4)
    cross = 2 * x * y * ds + 2 * p1 * x + 2 * p2 * y
    prism_x, prism_y = 2 * (s1 + 2 * r2 * s2), 2 * (s3 + 2 * r2 * s4)
    slopes = (
        (s + 2 * x**2 * ds + 2 * p1 * y + 6 * p2 * x + x * prism_x, cross + y * prism_x),
        (cross + x * prism_y, s + 2 * y**2 * ds + 6 * p1 * y + 2 * p2 * x + y * prism_y),
    )
    by_points = np.empty((len(points), 2, 3))
    for row, (by_x, by_y) in enumerate(slopes):
        by_points[:, row, 0], by_points[:, row, 1] = by_x / Z, by_y / Z
        by_points[:, row, 2] = -(by_x * x + by_y * y) / Z
    by_distortion = np.zeros((len(points), 2, len(distortion)))
    by_distortion[:, 0, 2], by_distortion[:, 1, 2] = 2 * x * y, r2 + 2 * y**2
    by_distortion[:, 0, 3], by_distortion[:, 1, 3] = r2 + 2 * x**2, 2 * x * y
    radial = [(0, r2 / under), (1, r2**2 / under), (4, r2**3 / under)]
    radial += [(4 + power, -s * r2**power / under) for power in (1, 2, 3)]
    for column, factor in radial[: 3 if len(distortion) == 5 else 6]:
        by_distortion[:, 0, column], by_distortion[:, 1, column] = x * factor, y * factor
    if len(distortion) == 12:
        by_distortion[:, 0, 8] = by_distortion[:, 1, 10] = r2
        by_distortion[:, 0, 9] = by_distortion[:, 1, 11] = r2**2
    return np.column_stack([xd, yd]), by_points, by_distortion


def _fisheye(
    points: FloatArray, distortion: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distorted directions (n, 2) and their derivatives, where radii grow with the angle."""
    X, Y, Z = points.T
    side = np.hypot(X, Y)
    angle = np.arctan2(side, Z)
    off = angle > ON_AXIS
    side = np.where(off, side, 1.0)
    powers = angle[:, None] ** (2 * np.arange(5))
    factors = np.concatenate([[1.0], distortion])
    radius, slope = angle * (powers @ factors), powers @ (factors * (2 * np.arange(5) + 1))
    # The direction is (X, Y) g, where g = radius / side tends to 1 / Z on the axis.
    g = np.where(off, radius / side, 1.0 / Z)
    size = X**2 + Y**2 + Z**2
    by_side = np.where(off, (slope * Z / size - g) / side, 0.0)
    by_depth = np.where(off, -slope / size, -1.0 / Z**2)
    by_points = np.empty((len(points), 2, 3))
    for row, one in enumerate((X, Y)):
        for column, other in enumerate((X, Y)):
            by_points[:, row, column] = one * by_side * other / side + (g if row == column else 0.0)
        by_points[:, row, 2] = one * by_depth
    turn = np.where(off, angle / side, 1.0 / Z)
    by_distortion = np.stack([X, Y], axis=1)[:, :, None] * (turn[:, None] * powers[:, 1:])[:, None]
    return np.column_stack([X * g, Y * g]), by_points, by_distortion
