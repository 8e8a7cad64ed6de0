"""Orientation measure: a sensor gives the orientation of the tool, and nothing else.

residual = log(R(q, phi) R_measured')
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model import rotations
from theodolite.model.machine import Machine, Tip

#: A nominal robot whose tool is turned further off than this is another one, or stands elsewhere.
ELSEWHERE = 0.5


class OrientationProblem(GeometricProblem):
    """Measured orientations against the tool's."""

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        sigmas = np.full(3, self.noise.orientation)
        for rows in slices(len(self.data)):
            motion = self._motion(full, self.data.motors[rows])
            error = self._error(motion, rows)
            bend = rotations.left_inverse(error)
            jacobian = bend @ motion.twist_jacobian(self.links)[:, 3:]
            by_basis = bend @ motion.twist_basis_jacobian()[:, 3:] if self.noise.moves else error
            yield self._block(error, jacobian, self._whitener(sigmas, by_basis), rows)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        found = [np.empty(0)]
        for rows in slices(len(self.data)):
            error = self._error(self._motion(full, self.data.motors[rows]), rows)
            found.append(np.linalg.norm(error, axis=1))
        return {"orientation": np.concatenate(found)}

    def _error(self, motion: Tip, rows: slice) -> FloatArray:
        if self.data.rotations is None:
            raise InputError("the data hold no orientations", where=self.data.name)
        return rotations.log(motion.rotation @ self.data.rotations[rows].transpose(0, 2, 1))


class Orientation(Method):
    """Orientations alone: the angles of a robot, none of its lengths."""

    name: ClassVar[str] = "orientation"
    title: ClassVar[str] = "orientation measure"
    noises: ClassVar[tuple[str, ...]] = ("orientation",)
    gauge: ClassVar[Gauge] = Gauge.LENGTHS
    reads: ClassVar[bool] = True
    rows_alone: ClassVar[bool] = True

    @property
    def needs(self) -> tuple[str, ...]:
        return ("rotations",)

    def check(self, robot: Machine, data: Dataset) -> None:
        check_turned(self, robot, data)

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> OrientationProblem:
        return OrientationProblem(robot, data, noise, gains=gains)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        motors = robot.random_motors(points, rng)
        return Dataset(motors, rotations=np.ascontiguousarray(robot.poses(motors)[0]))

    def points_for(self, robot: Machine) -> int:
        return len(robot.parameters)


def check_turned(method: Method, robot: Machine, data: Dataset) -> None:
    """Refuse orientations that no small error of the robot explains."""
    problem = method.problem(robot, data, noise=Noise.guess(robot.reach()))
    errors = problem.errors(np.array([p.value for p in problem.parameters]))["orientation"]
    error = float(np.sqrt(np.mean(errors**2)))
    if error > ELSEWHERE:
        raise InputError(
            f"the tool of the nominal '{robot.name}' is turned {np.degrees(error):.0f} deg (rms) "
            "from what was measured",
            where=data.name,
            remedy="Turn base and tool in the robot file as sensor and target are turned, and "
            "check that the file is from this robot",
        )
