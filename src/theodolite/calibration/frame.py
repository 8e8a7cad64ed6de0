"""Frame measure: a sensor gives the position and orientation of the tool.

residual = [ P(q, phi) - P_measured ; log(R(q, phi) R_measured') ]    [Khalil1996, eq. 3]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from theodolite.arrays import FloatArray, seen
from theodolite.calibration.analytic import Measured
from theodolite.calibration.configurations import observed_poses
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Start, Started
from theodolite.calibration.noise import Noise
from theodolite.calibration.parallel import check_legs
from theodolite.calibration.quantities import Displacements
from theodolite.calibration.sensor import SensorMethod, SensorProblem
from theodolite.calibration.tip_fold import fold_poses
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Block
from theodolite.estimation.reduction import Reduction
from theodolite.estimation.slicing import slices
from theodolite.model import rotations
from theodolite.model.machine import Machine, Tip


class FrameProblem(SensorProblem):
    """Measured poses against the chain's tip."""

    def reduced(self, values: FloatArray, loss: Loss) -> Reduction | None:
        own = super().reduced(values, loss)
        return own or fold_poses(self, values, loss)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        sigmas = np.repeat([self.noise.position, self.noise.orientation], 3)
        for rows in slices(len(self.data)):
            motion = self._motion(full, self.data.motors[rows], self.target)
            error = self._error(motion, full, rows)
            bend = rotations.left_inverse(error[:, 3:])
            jacobian = _bent(motion.twist_jacobian(self.links), bend)
            if self._stations:
                moved = self._moved(motion.position - error[:, :3], error[:, 3:], full, rows)
                jacobian = np.concatenate([jacobian, moved], axis=2)
            white: FloatArray = 1.0 / sigmas
            if self.data.covariances is not None:
                white = self._pose_whitener(bend, full, rows, motion)
            elif self.noise.moves:
                white = self._whitener(sigmas, _bent(motion.twist_basis_jacobian(), bend))
            yield self._block(error, jacobian, white, rows)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        error = self._all_errors(values)
        return {
            "position": np.linalg.norm(error[:, :3], axis=1),
            "orientation": np.linalg.norm(error[:, 3:], axis=1),
        }

    def displacements(self, name: str, values: FloatArray) -> Displacements | None:
        if name != "position":
            return None
        targets = (self.data.targets[0],) * len(self.data)
        return Displacements(targets, -self._all_errors(values)[:, :3])

    def _all_errors(self, values: FloatArray) -> FloatArray:
        """Of all rows, (n, 6)."""
        full = self.full_values(values)
        return np.concatenate(
            [
                self._error(self._motion(full, self.data.motors[rows], self.target), full, rows)
                for rows in slices(len(self.data))
            ]
        )

    def _moved(
        self, points: FloatArray, turns: FloatArray, full: FloatArray, rows: slice
    ) -> FloatArray:
        """Derivatives by where the sensor stood in each session, (n, 6, 6 s)."""
        where, numbers = self._own(full), np.arange(rows.start, rows.stop)
        return np.concatenate(
            [
                self._stations.derivative(where, points, numbers),
                self._stations.turn_derivative(where, turns, numbers),
            ],
            axis=1,
        )

    def _pose_whitener(
        self, bend: FloatArray, full: FloatArray, rows: slice, motion: Tip
    ) -> FloatArray:
        """Inverse Cholesky factor of the poses' own covariances plus joint noise."""
        assert self.data.covariances is not None
        covariance = self.data.covariances[rows]
        if self._stations:
            covariance = self._stations.covariances(self._own(full), covariance, rows)
        covariance = _bent(covariance, bend)
        covariance = _bent(covariance.transpose(0, 2, 1), bend)
        by_motor = self.robot.to_motors(_bent(motion.twist_basis_jacobian(), bend))
        by_motor = by_motor * self.motor_noise
        covariance = covariance + by_motor @ by_motor.transpose(0, 2, 1)
        return np.linalg.inv(np.linalg.cholesky(covariance))

    @property
    def target(self) -> int:
        """The robot's index of what was measured."""
        return self._target_index(self.data.targets[0])

    def _error(self, motion: Tip, full: FloatArray, rows: slice) -> FloatArray:
        if self.data.positions is None or self.data.rotations is None:
            raise InputError("the data hold no poses", where=self.data.name)
        points, turned = self.data.positions[rows, 0], self.data.rotations[rows]
        if self._stations:
            where, numbers = self._own(full), np.arange(rows.start, rows.stop)
            points = self._stations.points(where, points, numbers)
            turned = self._stations.turned(where, turned, numbers)
        turn = rotations.log(motion.rotation @ turned.transpose(0, 2, 1))
        return np.concatenate([motion.position - points, turn], axis=1)


def _bent(twists: FloatArray, bend: FloatArray) -> FloatArray:
    """Twists (n, 6, k) with their rotation rows turned into changes of the rotation vector."""
    # Samples last in memory, as the chain made it, so that the block's reshape stays a view.
    bent = twists.copy(order="K")
    bent[:, 3:] = np.einsum("nij,njk->nik", bend, twists[:, 3:])
    return bent


class Frame(SensorMethod):
    """Frame measure."""

    name: ClassVar[str] = "frame"
    title: ClassVar[str] = "frame measure"
    noises: ClassVar[tuple[str, ...]] = ("position", "orientation")
    shows: ClassVar[Measured | None] = Measured.POSE

    @property
    def needs(self) -> tuple[str, ...]:
        return ("positions", "rotations")

    def start(self, robot: Machine, data: Dataset, start: Start) -> Started:
        if start is Start.AUTO:
            check_legs(robot, data)
        return super().start(robot, data, start)

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> FrameProblem:
        if data.positions is not None and not (there := seen(data.positions[:, 0])).all():
            raise InputError(
                f"line {data.line(np.argmin(there))}: the tool has an orientation but no position",
                where=data.name,
                remedy="Complete the row or leave it out",
            )
        return FrameProblem(robot, data, noise, gains=gains, stations=self.stations)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 1
    ) -> Dataset:
        return observed_poses(robot, points, rng)

    def points_for(self, robot: Machine) -> int:
        return max(12, len(robot.parameters) // 2)
