"""Position measure: a sensor gives the position of one or more targets.

residual = P(q, phi) - P_measured                     [Khalil1996, eqs. 3-5]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Gauge
from theodolite.calibration.noise import Noise
from theodolite.calibration.open_loops import LoopProblem
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model.machine import Machine


class PositionProblem(GeometricProblem):
    """Measured positions against the chain's tips."""

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        sigmas = np.full(3, self.noise.position)
        for target, measured in self._targets():
            for rows in slices(len(self.data)):
                motion = self._motion(full, self.data.motors[rows], target)
                white: FloatArray | float = 1.0 / self.noise.position
                if self.noise.moves:
                    white = self._whitener(motion, sigmas, motion.position_basis_jacobian())
                yield self._block(
                    motion.position - measured[rows], motion.position_jacobian(self._links), white
                )

    def constrained(self) -> LoopProblem:
        return LoopProblem(self, self._links)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        distances = [
            np.linalg.norm(
                self._motion(full, self.data.motors[rows], target).position - measured[rows], axis=1
            )
            for target, measured in self._targets()
            for rows in slices(len(self.data))
        ]
        return {"position": np.concatenate(distances)}

    def _targets(self) -> Iterator[tuple[int, FloatArray]]:
        """The robot's index and the measurements of each target in the data."""
        if self.data.positions is None:
            raise InputError("the data hold no positions", where=self.data.name)
        for number, name in enumerate(self.data.targets):
            yield self._target_index(name), self.data.positions[:, number]


class Position:
    """Position measure."""

    name: ClassVar[str] = "position"
    title: ClassVar[str] = "position measure"
    gauge: ClassVar[Gauge] = Gauge.NONE

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> PositionProblem:
        return PositionProblem(robot, data, noise, gains=gains)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        motors = robot.random_motors(points, rng)
        targets = range(len(robot.target_names))
        positions = [robot.motion(robot.values, motors, target).position for target in targets]
        return Dataset(motors, positions=np.stack(positions, axis=1), targets=robot.target_names)

    def points_for(self, robot: Machine) -> int:
        return len(robot.parameters)
