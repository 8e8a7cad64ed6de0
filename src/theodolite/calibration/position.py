"""Position measure: a sensor gives the position of one or more targets.

residual = P(q, phi) - P_measured                     [Khalil1996, eqs. 3-5]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray, seen
from theodolite.calibration.analytic import Measured
from theodolite.calibration.data import Dataset
from theodolite.calibration.noise import Noise
from theodolite.calibration.quantities import Displacements
from theodolite.calibration.sensor import SensorMethod, SensorProblem
from theodolite.calibration.tip_fold import fold_positions
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Block
from theodolite.estimation.reduction import Reduction
from theodolite.estimation.slicing import BLOCK, slices
from theodolite.model.machine import Machine, Tip


class PositionProblem(SensorProblem):
    """Measured positions against the chain's tips."""

    def reduced(self, values: FloatArray, loss: Loss) -> Reduction | None:
        own = super().reduced(values, loss)
        return own or fold_positions(self, values, loss)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        if self.noise.moves:
            yield from self._together(full)
            return
        for target, measured, there in self.targets():
            for rows in _pieces(there, BLOCK):
                motion = self._motion(full, self.data.motors[rows], target)
                error, jacobian = self._compared(motion, measured[rows], full, rows)
                yield self._block(error, jacobian, 1.0 / self.noise.position, rows)

    def _together(self, full: FloatArray) -> Iterator[Block]:
        """All targets of a configuration at once: they share the error of its joints."""
        everything = self.targets()
        visible = np.column_stack([there for _, _, there in everything])
        # Rows in which the same targets were seen are of one shape.
        for pattern in np.unique(visible, axis=0):
            targets = [one for one, wanted in zip(everything, pattern, strict=True) if wanted]
            alike = np.all(visible == pattern, axis=1)
            sigmas = np.full(3 * len(targets), self.noise.position)
            for rows in _pieces(alike, max(1, BLOCK // max(1, len(targets)))):
                motors = self.data.motors[rows]
                motions = [self._motion(full, motors, target) for target, _, _ in targets]
                pairs = [
                    self._compared(motion, measured[rows], full, rows)
                    for motion, (_, measured, _) in zip(motions, targets, strict=True)
                ]
                by_basis = [motion.position_basis_jacobian() for motion in motions]
                yield self._block(
                    np.concatenate([error for error, _ in pairs], axis=1),
                    np.concatenate([jacobian for _, jacobian in pairs], axis=1),
                    self._whitener(sigmas, np.concatenate(by_basis, axis=1)),
                    rows,
                )

    def _compared(
        self, motion: Tip, measured: FloatArray, full: FloatArray, rows: slice | IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Errors (n, 3) of tips, and their derivatives (n, 3, candidates)."""
        jacobian = motion.position_jacobian(self.links)
        if not self._stations:
            return motion.position - measured, jacobian
        where, numbers = self._own(full), np.arange(len(self.data))[rows]
        points = self._stations.points(where, measured, numbers)
        moved = self._stations.derivative(where, points, numbers)
        return motion.position - points, np.concatenate([jacobian, moved], axis=2)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        parts = [np.linalg.norm(part, axis=1) for part in self._apart(values)]
        return {"position": np.concatenate([np.empty(0), *parts])}

    def displacements(self, name: str, values: FloatArray) -> Displacements | None:
        names = [
            target
            for target, (_, _, there) in zip(self.data.targets, self.targets(), strict=True)
            for _ in range(int(there.sum()))
        ]
        return Displacements(tuple(names), np.concatenate([np.empty((0, 3)), *self._apart(values)]))

    def _apart(self, values: FloatArray) -> Iterator[FloatArray]:
        """From the robot's tips to where they were measured, piece by piece, (n, 3)."""
        full = self.full_values(values)
        for target, measured, there in self.targets():
            for rows in _pieces(there, BLOCK):
                points = measured[rows]
                if self._stations:
                    numbers = np.arange(len(self.data))[rows]
                    points = self._stations.points(self._own(full), points, numbers)
                yield points - self._motion(full, self.data.motors[rows], target).position

    def error_rows(self, name: str) -> IntArray:
        return np.concatenate([np.flatnonzero(there) for _, _, there in self.targets()])

    def targets(self) -> list[tuple[int, FloatArray, BoolArray]]:
        """The robot's index of each target in the data, its measurements, and where it was seen."""
        if self.data.positions is None:
            raise InputError("the data hold no positions", where=self.data.name)
        each = [self.data.positions[:, number] for number in range(len(self.data.targets))]
        indices = [self._target_index(name) for name in self.data.targets]
        return [(index, one, seen(one)) for index, one in zip(indices, each, strict=True)]


def _pieces(chosen: BoolArray, size: int) -> Iterator[slice | IntArray]:
    """Some of the rows, piece by piece; slices where all are meant, which need no copy."""
    if chosen.all():
        yield from slices(len(chosen), size)
        return
    rows = np.flatnonzero(chosen)
    for piece in slices(len(rows), size):
        yield rows[piece]


class Position(SensorMethod):
    """Position measure."""

    name: ClassVar[str] = "position"
    title: ClassVar[str] = "position measure"
    shows: ClassVar[Measured | None] = Measured.POSITION

    @property
    def needs(self) -> tuple[str, ...]:
        return ("positions",)

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> PositionProblem:
        return PositionProblem(robot, data, noise, gains=gains, stations=self.stations)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        motors = robot.random_motors(points, rng)
        targets = range(len(robot.target_names))
        positions = [robot.motion(robot.values, motors, target).position for target in targets]
        return Dataset(motors, positions=np.stack(positions, axis=1), targets=robot.target_names)

    def points_for(self, robot: Machine) -> int:
        return len(robot.parameters)
