"""Position measure: a sensor gives the position of one or more targets.

residual = P(q, phi) - P_measured                     [Khalil1996, eqs. 3-5]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.analytic import Measured
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Method, Start
from theodolite.calibration.noise import Noise
from theodolite.calibration.open_loops import LoopProblem
from theodolite.calibration.placement import placed_start
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import BLOCK, slices
from theodolite.model.machine import Machine


class PositionProblem(GeometricProblem):
    """Measured positions against the chain's tips."""

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        if self.noise.moves:
            yield from self._together(full)
            return
        for target, measured in self._targets():
            for rows in slices(len(self.data)):
                motion = self._motion(full, self.data.motors[rows], target)
                yield self._block(
                    motion.position - measured[rows],
                    motion.position_jacobian(self._links),
                    1.0 / self.noise.position,
                    rows,
                )

    def _together(self, full: FloatArray) -> Iterator[Block]:
        """All targets of a configuration at once: they share the error of its joints."""
        targets = list(self._targets())
        sigmas = np.full(3 * len(targets), self.noise.position)
        for rows in slices(len(self.data), max(1, BLOCK // len(targets))):
            motors = self.data.motors[rows]
            motions = [self._motion(full, motors, target) for target, _ in targets]
            error = [
                motion.position - measured[rows]
                for motion, (_, measured) in zip(motions, targets, strict=True)
            ]
            jacobian = [motion.position_jacobian(self._links) for motion in motions]
            by_basis = [motion.position_basis_jacobian() for motion in motions]
            white = self._whitener(sigmas, np.concatenate(by_basis, axis=1))
            yield self._block(
                np.concatenate(error, axis=1), np.concatenate(jacobian, axis=1), white, rows
            )

    def constrained(self) -> LoopProblem | None:
        return LoopProblem.of(self, self._links)

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

    def error_rows(self) -> IntArray:
        return np.tile(np.arange(len(self.data)), len(self.data.targets))

    def _targets(self) -> Iterator[tuple[int, FloatArray]]:
        """The robot's index and the measurements of each target in the data."""
        if self.data.positions is None:
            raise InputError("the data hold no positions", where=self.data.name)
        for number, name in enumerate(self.data.targets):
            yield self._target_index(name), self.data.positions[:, number]


class Position(Method):
    """Position measure."""

    name: ClassVar[str] = "position"
    title: ClassVar[str] = "position measure"
    shows: ClassVar[Measured | None] = Measured.POSITION

    @property
    def needs(self) -> tuple[str, ...]:
        return ("positions",)

    def start(self, robot: Machine, data: Dataset, start: Start) -> tuple[Machine, bool]:
        return placed_start(robot, data, self, start)

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
