"""Inclination: a level or an accelerometer on the tool shows which way is down.

residual = (u, v) . R(q, phi)' g

g points down: along -z of the world, in which the base rows place the robot. u and v are two
directions across the measured one in the tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.orientation import check_turned
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model import rotations
from theodolite.model.machine import Machine, Tip

#: Which way is down, in the tool's frame: any length.
COLUMNS = ("gx", "gy", "gz")
#: In the world.
DOWN = np.array([0.0, 0.0, -1.0])


class InclinationProblem(GeometricProblem):
    """The direction of gravity in the tool against the one measured."""

    def __init__(self, robot: Machine, data: Dataset, noise: Noise, *, gains: bool = False) -> None:
        super().__init__(robot, data, noise, gains=gains)
        self._measured = measured_directions(data)
        self._across = _across(self._measured)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        sigmas = np.full(2, self.noise.orientation)
        for rows in slices(len(self.data)):
            motion = self._motion(full, self.data.motors[rows])
            # A turn w of the tool in the world: d(R' g) = R' [g] w.
            turn = self._across[rows] @ motion.rotation.transpose(0, 2, 1)
            turn = turn @ rotations.skew(DOWN[None])[0]
            error = self._error(motion, rows)
            jacobian = turn @ motion.twist_jacobian(self.links)[:, 3:]
            by_basis = turn @ motion.twist_basis_jacobian()[:, 3:] if self.noise.moves else error
            yield self._block(error, jacobian, self._whitener(sigmas, by_basis), rows)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        found = [np.empty(0)]
        for rows in slices(len(self.data)):
            seen = self._motion(full, self.data.motors[rows]).rotation.transpose(0, 2, 1)
            cosine = np.einsum("nij,j,ni->n", seen, DOWN, self._measured[rows])
            sine = np.linalg.norm(
                np.einsum("nij,njk,k->ni", self._across[rows], seen, DOWN), axis=1
            )
            found.append(np.arctan2(sine, cosine))
        return {"orientation": np.concatenate(found)}

    def _error(self, motion: Tip, rows: slice) -> FloatArray:
        seen = motion.rotation.transpose(0, 2, 1) @ DOWN
        return np.asarray(np.einsum("nki,ni->nk", self._across[rows], seen))


class Inclination(Method):
    """Which way is down, seen from the tool."""

    name: ClassVar[str] = "inclination"
    title: ClassVar[str] = "inclination of the tool"
    noises: ClassVar[tuple[str, ...]] = ("orientation",)
    gauge: ClassVar[Gauge] = Gauge.LENGTHS
    columns: ClassVar[tuple[str, ...]] = COLUMNS
    reads: ClassVar[bool] = True
    rows_alone: ClassVar[bool] = True

    def check(self, robot: Machine, data: Dataset) -> None:
        check_turned(self, robot, data)

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> InclinationProblem:
        return InclinationProblem(robot, data, noise, gains=gains)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        return self.observe_at(robot, robot.random_motors(points, rng))

    def observe_at(self, robot: Machine, motors: FloatArray) -> Dataset:
        seen = robot.poses(motors)[0].transpose(0, 2, 1) @ DOWN
        return Dataset(motors, columns=dict(zip(COLUMNS, seen.T, strict=True)))

    def with_reading_noise(self, exact: Dataset, noise: Noise, rng: np.random.Generator) -> Dataset:
        seen = np.column_stack([exact.columns[name] for name in COLUMNS])
        turn = rotations.exp(noise.orientation * rng.standard_normal(seen.shape))
        read = dict(zip(COLUMNS, np.einsum("nij,nj->in", turn, seen), strict=True))
        return replace(exact, columns={**exact.columns, **read})

    def points_for(self, robot: Machine) -> int:
        return 2 * len(robot.parameters)


def measured_directions(data: Dataset) -> FloatArray:
    """Unit vectors in the tool, (n, 3)."""
    missing = [name for name in COLUMNS if name not in data.columns]
    if missing:
        raise InputError(
            f"an inclination needs the columns {', '.join(missing)}",
            where=data.name,
            remedy="Give the direction of gravity in the tool, of any length",
        )
    given = np.column_stack([data.columns[name] for name in COLUMNS])
    sizes = np.linalg.norm(given, axis=1)
    if (sizes <= 0.0).any():
        raise InputError(
            f"line {data.line(np.argmin(sizes))}: gx, gy and gz are all zero", where=data.name
        )
    return np.asarray(given / sizes[:, None])


def _across(directions: FloatArray) -> FloatArray:
    """Two directions across each, (n, 2, 3)."""
    return np.asarray(np.linalg.svd(directions[:, None])[2][:, 1:])
