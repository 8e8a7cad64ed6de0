"""Line: the tip touches a ruler, or a laser beam, whose place is known or identified along.

    residual = (u, v) . (P(q) - (1 - s) A - s B),   s = w . (P(q) - A0) / |B0 - A0|

A and B are two points of the line. They start at A0 and B0, a reach apart or as far as the points
are, and move along u and v, across w = (B0 - A0) / |B0 - A0|: four lengths in all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from theodolite.arrays import FloatArray, frozen
from theodolite.calibration.configurations import touching
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Gauge
from theodolite.calibration.noise import Noise
from theodolite.calibration.tip_method import TipGoal, TipMethod, TipProblem, TipResidual
from theodolite.errors import InputError, shown
from theodolite.model.machine import Machine

#: Direction of the line that simulations touch unless told otherwise: along no axis.
GENERAL_DIRECTION = (0.48, 0.80, 0.36)
_NAMES = ("au", "av", "bu", "bv")


@dataclass(frozen=True)
class Line(TipMethod):
    """Points on one straight line: given, or identified along."""

    name: ClassVar[str] = "line"
    title: ClassVar[str] = "points on a line"
    gauge: ClassVar[Gauge] = Gauge.SIMILARITY
    options: ClassVar[frozenset[str]] = frozenset({"line"})
    vanishes: ClassVar[bool] = True

    #: A point and a direction, (6,), metres; None: unknown.
    line: FloatArray | None = None
    #: Two points (2, 3) that the unknowns are about.
    ends: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.line is None:
            return
        line = np.asarray(self.line, dtype=np.float64)
        if line.shape != (6,) or not np.isfinite(line).all() or not line[3:].any():
            raise InputError(
                f"the line is {shown(self.line)}", allowed="x, y, z of a point, and a direction"
            )
        point, direction = line[:3], line[3:] / np.linalg.norm(line[3:])
        object.__setattr__(self, "line", frozen(line))
        object.__setattr__(self, "ends", frozen([point, point + direction]))

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> TipProblem:
        method = self if self.ends is not None else replace(self, ends=_nearest(robot, data))
        return super(Line, method).problem(robot, data, noise=noise, gains=gains)

    def unknowns(self, robot: Machine, data: Dataset) -> Mapping[str, float]:
        return {} if self.line is not None else dict.fromkeys(_NAMES, 0.0)

    def residual(self, tip: FloatArray, unknowns: FloatArray, data: Dataset) -> TipResidual:
        assert self.ends is not None
        start, across, along, length = _axes(self.ends)
        a, b = unknowns.reshape(2, 2) if len(unknowns) else np.zeros((2, 2))
        offset = tip - start
        s = offset @ along / length
        error = offset @ across.T - (1 - s)[:, None] * a - s[:, None] * b
        by_tip = across - np.outer(b - a, along) / length
        by_ends = np.zeros((len(tip), 2, len(unknowns)))
        if len(unknowns):
            for component in range(2):
                by_ends[:, component, component] = -(1 - s)
                by_ends[:, component, 2 + component] = -s
        return TipResidual(error, np.broadcast_to(by_tip, (len(tip), 2, 3)), by_ends)

    def describe(self, unknowns: Mapping[str, float]) -> dict[str, Any]:
        if not unknowns:
            return {}
        assert self.ends is not None
        _, across, _, _ = _axes(self.ends)
        offsets = np.array([unknowns[name] for name in _NAMES]).reshape(2, 2)
        return {"line": {"points_m": (self.ends + offsets @ across).tolist()}}

    def with_extras(self, extras: Mapping[str, Any]) -> Line:
        if self.line is not None:
            return self
        return replace(self, ends=frozen(extras["line"]["points_m"]))

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        """Touches of this line, or of one of general direction through the workspace."""
        line = self.line
        if line is None:
            middle = robot.poses(robot.random_motors(64, rng))[1].mean(axis=0)
            line = np.concatenate([middle, GENERAL_DIRECTION])
        method = Line(line)
        motors = touching(
            robot,
            lambda count: TipGoal(method, np.empty(0), Dataset(np.zeros((count, 1)))),
            points,
            rng,
            what="the line",
        )
        return Dataset(motors)


def _axes(ends: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Start, two directions across (2, 3), the direction along, and the length."""
    span = ends[1] - ends[0]
    length = float(np.linalg.norm(span))
    along = span / length
    across = np.linalg.svd(along[None])[2][1:]
    return ends[0], across, along, length


def _nearest(robot: Machine, data: Dataset) -> FloatArray:
    """Two points of the line nearest to the nominal robot's tips, as far apart as these are."""
    closing = data.motors[robot.can_close(data.motors)]
    points = robot.motion(robot.values, closing).position
    middle = points.mean(axis=0)
    along = np.linalg.svd(points - middle, full_matrices=False)[2][0]
    places = (points - middle) @ along
    low, high = float(places.min()), float(places.max())
    if high - low <= 0.0:
        low, high = low - (robot.reach() or 1.0), high + (robot.reach() or 1.0)
    return frozen([middle + low * along, middle + high * along])
