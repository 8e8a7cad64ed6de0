"""Plane link: no sensor; the tip touches a plane, which is known or identified along.

    residual = n . P(q) - h                                        known plane  [Khalil1996, 5.1]
    residual = (m . (P(q) - o) + 1) / |m|,   m = (pa, pb, pc)    unknown plane  [Khalil1996, 5.2]

Both are distances in metres. GECARO writes a plane as a x + b y + c z + 1 = 0, which fails
for planes through the origin. The same form about another origin o does not: o is the world's
origin where the plane is far from it, and otherwise a point one reach off the plane.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.configurations import (
    PlaneGoal,
    satisfy,
    touching,
)
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model.machine import Machine, Tip
from theodolite.model.parameters import Group, Parameter, Unit

#: Newton steps from recorded configurations to the plane: they are millimetres from it.
TOUCHING_STEPS = 5
#: A plane nearer to the world's origin than this part of the reach is written about another.
NEAR_ORIGIN = 0.05
#: Direction of the plane that simulations use unless told otherwise: along no axis.
GENERAL_NORMAL = (0.36, 0.48, 0.80)


@dataclass(frozen=True)
class PlaneForm:
    """A plane as ``m . (P - o) + 1 = 0``."""

    origin: FloatArray
    coefficients: FloatArray

    @staticmethod
    def nearest(points: FloatArray, reach: float) -> PlaneForm:
        """The plane nearest to some points in the sense of least squared distances."""
        centre = points.mean(axis=0)
        normal = np.linalg.svd(points - centre, full_matrices=False)[2][-1]
        distance = float(normal @ centre)
        origin = np.zeros(3)
        if abs(distance) < NEAR_ORIGIN * reach:
            origin = -normal * reach
            distance += reach
        return PlaneForm(origin, -normal / distance)

    def unit(self) -> FloatArray:
        """Unit normal and distance (4,): ``n . P = h`` with h >= 0."""
        size = float(np.linalg.norm(self.coefficients))
        normal = -self.coefficients / size
        height = 1.0 / size + float(normal @ self.origin)
        return np.append(normal, height) if height >= 0 else -np.append(normal, height)


class _PlaneProblem(GeometricProblem):
    """Distances of the tip from a plane."""

    @property
    def constraint(self) -> bool:
        return True

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        """Distances at the recorded configurations, derivatives where they would vanish.

        A distance shrinks with the robot, so its own derivative, multiplied by the noise in it,
        would pull the robot towards no size.
        """
        full = self.full_values(values)
        planes = self._planes(full)
        robot_values = full[: len(self.robot.parameters)]
        for rows in slices(len(self.data)):
            motors, here = self.data.motors[rows], planes[rows]
            there, found = satisfy(
                self.robot, PlaneGoal(here), motors, values=robot_values, steps=TOUCHING_STEPS
            )
            touching = np.where(found[:, None], there, motors)
            error = _distance(self._motion(full, motors), here)[:, None]
            yield self._linearized(error, self._motion(full, touching), full, here, rows)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        planes = self._planes(full)
        distances = [
            np.abs(_distance(self._motion(full, self.data.motors[rows]), planes[rows]))
            for rows in slices(len(self.data))
        ]
        return {"position": np.concatenate(distances)}

    def _linearized(
        self, error: FloatArray, motion: Tip, full: FloatArray, planes: FloatArray, rows: slice
    ) -> Block:
        normals = planes[:, :3]
        along = np.einsum("nip,ni->pn", motion.position_jacobian(self.links), normals)
        jacobian = np.concatenate([along, self._plane_columns(motion, full).T])
        white: FloatArray | float = 1.0 / self.noise.position
        if self.noise.moves:
            by_basis = np.einsum("nib,ni->nb", motion.position_basis_jacobian(), normals)
            sigmas = np.array([self.noise.position])
            white = self._whitener(sigmas, by_basis[:, None])
        return self._block(error, jacobian[:, None].transpose(2, 1, 0), white, rows)

    @abstractmethod
    def _planes(self, full: FloatArray) -> FloatArray:
        """Unit normals and distances, (n, 4)."""

    def _plane_columns(self, motion: Tip, full: FloatArray) -> FloatArray:
        """Derivative of the distance by the plane's own parameters, (n, extra)."""
        return np.empty((len(motion.position), 0))


def _distance(motion: Tip, planes: FloatArray) -> FloatArray:
    return np.einsum("ni,ni->n", motion.position, planes[:, :3]) - planes[:, 3]


class KnownPlaneProblem(_PlaneProblem):
    """Distances from planes that are known."""

    def _planes(self, full: FloatArray) -> FloatArray:
        if self.data.planes is None:
            raise InputError(
                "the data do not say which plane was touched",
                where=self.data.name,
                remedy="Add columns plane_nx plane_ny plane_nz plane_h_mm, state the plane, "
                "or use the method 'plane'",
            )
        return self.data.planes


class UnknownPlaneProblem(_PlaneProblem):
    """Distances from one plane that is identified with the robot."""

    def __init__(self, robot: Machine, data: Dataset, noise: Noise, *, gains: bool = False) -> None:
        # Where the nominal loops stay open there is no tip yet.
        closing = data.motors[robot.can_close(data.motors)]
        points = robot.motion(robot.values, closing).position
        self.form = PlaneForm.nearest(points, robot.reach())
        plane = [
            Parameter(
                f"p{letter}",
                float(value),
                Unit.PER_METRE,
                Group.SENSOR,
                0,
                column,
                # As wide as the plane's own coefficients: it may be anywhere.
                tolerance=float(np.linalg.norm(self.form.coefficients)),
            )
            for column, (letter, value) in enumerate(
                zip("abc", self.form.coefficients, strict=True)
            )
        ]
        super().__init__(robot, data, noise, gains=gains, extra=plane)
        # The plane is always identified, and first: GECARO prints it before the robot's own.
        self.priorities = tuple(
            max(self.priorities) + 1 if parameter.group is Group.SENSOR else priority
            for parameter, priority in zip(self.parameters, self.priorities, strict=True)
        )

    def extras(self, values: FloatArray) -> dict[str, Any]:
        """The plane: unit normal, distance, and GECARO's a, b, c where they exist."""
        form = PlaneForm(self.form.origin, self.full_values(values)[-3:])
        unit = form.unit()
        exists = unit[3] > NEAR_ORIGIN * self.robot.reach()
        return {
            "plane": {
                "normal": unit[:3].tolist(),
                "distance_m": float(unit[3]),
                "abc_per_m": (-unit[:3] / unit[3]).tolist() if exists else None,
                "parameters_about_m": form.origin.tolist(),
            }
        }

    def _planes(self, full: FloatArray) -> FloatArray:
        m = full[-3:]
        normal = m / np.linalg.norm(m)
        height = normal @ self.form.origin - 1.0 / np.linalg.norm(m)
        return np.tile(np.append(normal, height), (len(self.data), 1))

    def _plane_columns(self, motion: Tip, full: FloatArray) -> FloatArray:
        m = full[-3:]
        size = np.linalg.norm(m)
        offset = motion.position - self.form.origin
        value = offset @ m + 1.0
        return offset / size - value[:, None] * m / size**3


@dataclass(frozen=True)
class _Plane(Method):
    """What the two plane methods share: points in a plane, unit normal and distance (4,)."""

    options: ClassVar[frozenset[str]] = frozenset({"plane"})
    plane: FloatArray | None = None

    def points_for(self, robot: Machine) -> int:
        return 4 * len(robot.parameters)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        plane = self._plane_for(robot, rng)
        motors = touching(
            robot,
            lambda count: PlaneGoal(np.tile(plane, (count, 1))),
            points,
            rng,
            what=f"the plane with normal ({plane[0]:.3g}, {plane[1]:.3g}, {plane[2]:.3g}) at "
            f"distance {1e3 * plane[3]:.1f} mm",
        )
        return Dataset(motors, planes=np.tile(plane, (points, 1)))

    def _plane_for(self, robot: Machine, rng: np.random.Generator) -> FloatArray:
        """The plane of the method, or one of general direction through the workspace."""
        if self.plane is not None:
            return self.plane
        centre = robot.poses(robot.random_motors(64, rng))[1].mean(axis=0)
        normal = np.array(GENERAL_NORMAL)
        height = float(normal @ centre)
        # Not through the origin, where the known and the unknown form would differ.
        height = height if abs(height) > NEAR_ORIGIN * robot.reach() else 0.1 * robot.reach()
        return np.append(normal, height)


@dataclass(frozen=True)
class PlaneKnown(_Plane):
    """Plane link with a known plane, this one or, without it, those of the data."""

    name: ClassVar[str] = "plane-known"
    title: ClassVar[str] = "plane link, known plane"
    rows_alone: ClassVar[bool] = True
    gauge: ClassVar[Gauge] = Gauge.SIMILARITY

    @property
    def needs(self) -> tuple[str, ...]:
        return ("planes",) if self.plane is None else ()

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> KnownPlaneProblem:
        if self.plane is not None:
            data = replace(data, planes=np.tile(self.plane, (len(data), 1)))
        return KnownPlaneProblem(robot, data, noise, gains=gains)


@dataclass(frozen=True)
class Plane(_Plane):
    """Plane link with an unknown plane; ``plane`` is only where simulations put it."""

    name: ClassVar[str] = "plane"
    title: ClassVar[str] = "plane link, unknown plane"
    gauge: ClassVar[Gauge] = Gauge.SIMILARITY

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        """An unknown plane stays unknown."""
        return replace(super().observe(robot, points, rng, per_set=per_set), planes=None)

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> UnknownPlaneProblem:
        return UnknownPlaneProblem(robot, data, noise, gains=gains)

    def with_extras(self, extras: Mapping[str, Any]) -> PlaneKnown:
        """Further touches are of the plane that was identified."""
        plane = extras["plane"]
        return PlaneKnown(np.append(plane["normal"], plane["distance_m"]))
