"""Sphere: the tip touches a ball whose centre is unknown, and its radius known or not.

residual = |P(q) - c| - r
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.configurations import touching
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Gauge
from theodolite.calibration.tip_method import TipGoal, TipMethod, TipResidual
from theodolite.errors import InputError, shown
from theodolite.model.machine import Machine

#: Radius of the ball that simulations touch unless told otherwise, as a part of the reach.
BALL = 0.15
_CENTRE = ("cx", "cy", "cz")


@dataclass(frozen=True)
class Sphere(TipMethod):
    """Points on one sphere."""

    name: ClassVar[str] = "sphere"
    title: ClassVar[str] = "points on a sphere"
    gauge: ClassVar[Gauge] = Gauge.SIMILARITY
    options: ClassVar[frozenset[str]] = frozenset({"radius"})
    vanishes: ClassVar[bool] = True

    #: Metres; None: identified along.
    radius: float | None = None
    #: Centre and radius as they were identified.
    identified: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if self.radius is not None and not 0.0 < float(self.radius) < np.inf:
            raise InputError(f"the radius is {shown(self.radius)}", allowed="a length above 0, m")

    def unknowns(self, robot: Machine, data: Dataset) -> Mapping[str, float]:
        if self.identified is not None:
            return self.identified
        closing = data.motors[robot.can_close(data.motors)]
        centre, radius = _nearest(robot.motion(robot.values, closing).position)
        found = dict(zip(_CENTRE, centre.tolist(), strict=True))
        return found if self.radius is not None else {**found, "radius": radius}

    def residual(self, tip: FloatArray, unknowns: FloatArray, data: Dataset) -> TipResidual:
        offset = tip - unknowns[:3]
        distance = np.linalg.norm(offset, axis=1)
        along = (offset / np.where(distance > 0.0, distance, 1.0)[:, None])[:, None]
        if self.radius is not None:
            return TipResidual((distance - self.radius)[:, None], along, -along)
        by_radius = np.full((len(tip), 1, 1), -1.0)
        return TipResidual(
            (distance - unknowns[3])[:, None], along, np.concatenate([-along, by_radius], axis=2)
        )

    def describe(self, unknowns: Mapping[str, float]) -> dict[str, Any]:
        radius = self.radius if self.radius is not None else unknowns["radius"]
        return {"sphere": {"centre_m": [unknowns[name] for name in _CENTRE], "radius_m": radius}}

    def with_extras(self, extras: Mapping[str, Any]) -> Sphere:
        sphere = extras["sphere"]
        found = dict(zip(_CENTRE, sphere["centre_m"], strict=True))
        if self.radius is None:
            found["radius"] = sphere["radius_m"]
        return replace(self, identified=found)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        """Touches of a ball in the middle of the workspace."""
        ball = Sphere(self.radius or BALL * (robot.reach() or 1.0))
        centre = robot.poses(robot.random_motors(64, rng))[1].mean(axis=0)
        motors = touching(
            robot,
            lambda count: TipGoal(ball, centre, Dataset(np.zeros((count, 1)))),
            points,
            rng,
            what=f"a ball of radius {1e3 * (ball.radius or 0.0):.1f} mm",
        )
        return Dataset(motors)


def _nearest(points: FloatArray) -> tuple[FloatArray, float]:
    """Centre and radius of the sphere nearest to some points: |P|^2 = 2 P . c + r^2 - |c|^2."""
    middle = points.mean(axis=0)
    around = points - middle
    matrix = np.column_stack([2.0 * around, np.ones(len(points))])
    *centre, rest = np.linalg.lstsq(matrix, np.sum(around**2, axis=1), rcond=None)[0]
    shift = np.array(centre)
    return middle + shift, float(np.sqrt(max(rest + shift @ shift, 0.0)))
