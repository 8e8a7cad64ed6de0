"""What all geometric problems share: candidates, blocks and whitening."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.conditions import with_inputs
from theodolite.calibration.data import Dataset
from theodolite.calibration.noise import Noise
from theodolite.calibration.open_loops import LoopProblem
from theodolite.calibration.quantities import Displacements
from theodolite.calibration.weights import Share, balanced
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Block, Problem
from theodolite.estimation.reduction import Reduction
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics
from theodolite.model.machine import Machine, Tip
from theodolite.model.parameters import Parameter

#: Part of its size that keeps a covariance positive despite rounding.
ROUNDING = 1e-14


class GeometricProblem(ABC):
    """A problem whose residuals come from the tip of a robot's chain."""

    @property
    def constraint(self) -> bool:
        return False

    @property
    def warm_start(self) -> Problem | None:
        return None

    def __init__(
        self,
        robot: Machine,
        data: Dataset,
        noise: Noise,
        *,
        gains: bool = False,
        extra: Sequence[Parameter] = (),
        fixed: Container[str] = (),
    ) -> None:
        self.robot, self.data, self.noise = robot, with_inputs(data, robot), noise
        everything = (*robot.parameters, *extra)
        priorities = [robot.priority(parameter) for parameter in everything]
        self._columns: IntArray = np.array(
            [
                index
                for index, (parameter, priority) in enumerate(
                    zip(everything, priorities, strict=True)
                )
                if priority > 0 and (gains or not parameter.gain) and parameter.name not in fixed
            ],
            dtype=np.intp,
        )
        #: The candidates that belong to the robot; whatever else there is comes after them.
        self.links = self._columns[self._columns < len(robot.parameters)]
        self.parameters = tuple(everything[index] for index in self._columns)
        self.priorities = tuple(priorities[index] for index in self._columns)
        self._start = np.array([parameter.value for parameter in everything])
        self.motor_noise = noise.motors(robot.joint_types)
        #: Another way to the factor of all rows, where they are not all in ``data``.
        self.fold: Callable[[GeometricProblem, FloatArray, Loss], Reduction] | None = None

    def reduced(self, values: FloatArray, loss: Loss) -> Reduction | None:
        return None if self.fold is None else self.fold(self, values, loss)

    def with_noise(self, noise: Noise) -> Self:
        """The same problem with other weights."""
        changed = copy(self)
        changed.noise = noise
        changed.motor_noise = noise.motors(self.robot.joint_types)
        return changed

    def full_values(self, values: FloatArray) -> FloatArray:
        """Values of all parameters, candidates and others."""
        full = self._start.copy()
        full[self._columns] = values
        return full

    def calibrated(self, values: FloatArray) -> Machine:
        """The robot with the candidates at the given values."""
        return self.robot.with_values(self.full_values(values)[: len(self.robot.parameters)])

    def extras(self, values: FloatArray) -> dict[str, Any]:
        """Nothing but the robot, unless a method says otherwise."""
        return {}

    def constrained(self) -> LoopProblem | None:
        """With passive joints as unknowns of their own, for Lagrange multipliers; or None."""
        return None

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        """The Jacobian itself decides, unless a method says otherwise."""
        return None

    def error_rows(self, name: str) -> IntArray:
        """The row of the data from which each of the ``errors`` of that name comes."""
        return np.arange(len(self.data))

    def displacements(self, name: str, values: FloatArray) -> Displacements | None:
        """Which way the ``errors`` of that name point; None where they are no displacements."""
        return None

    def noise_seen(self, solution: Solution) -> Noise | None:
        """Nothing about the noise, unless positions and orientations can be balanced."""
        return balanced(self, solution)

    def shares(self, solution: Solution, statistics: Statistics) -> tuple[Share, ...]:
        """A single source needs no comparison with others."""
        return ()

    @abstractmethod
    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        """Physical error of each observation, by quantity."""

    def _target_index(self, name: str) -> int:
        """Which of the robot's targets the data call by this name."""
        known = self.robot.target_names
        if name not in known:
            raise InputError(
                f"robot '{self.robot.name}' has no target '{name}'",
                where=self.data.name,
                allowed=[repr(target) for target in known],
                remedy="Add the target to the robot file or locate it from the data",
            )
        return known.index(name)

    def _motion(self, full: FloatArray, motors: FloatArray, target: int = 0) -> Tip:
        return self.robot.motion(full, motors, target)

    def _block(
        self,
        error: FloatArray,
        jacobian: FloatArray,
        whitener: FloatArray | float,
        rows: IntArray | slice,
    ) -> Block:
        """A block from errors (n, width) and derivatives (n, width, candidates) of rows (n,).

        ``whitener`` is one number, (width,) or lower triangular (n, width, width).
        """
        n, width = error.shape
        size = len(self._columns)
        # Samples last, as the chain lays them out. One pass whitens and gathers.
        columns = np.empty((size + 1, width, n))
        J, e = jacobian.transpose(2, 1, 0), error.T
        if np.ndim(whitener) == 3:
            np.einsum("nij,pjn->pin", whitener, J, out=columns[:-1])
            np.einsum("nij,jn->in", whitener, e, out=columns[-1])
        else:
            scale = np.asarray(whitener)[..., None]
            np.multiply(J, scale, out=columns[:-1])
            np.multiply(e, scale, out=columns[-1])
        if isinstance(rows, slice):
            rows = np.arange(rows.start, rows.stop)
        return Block(columns.reshape(size + 1, width * n), width, rows)

    def _whitener(self, sigmas: FloatArray, derivative: FloatArray) -> FloatArray:
        """Inverse Cholesky factor of sensor noise plus joint noise seen through the robot."""
        if not self.noise.moves:
            return 1.0 / sigmas
        by_motor = self.robot.to_motors(derivative) * self.motor_noise
        covariance = by_motor @ by_motor.transpose(0, 2, 1) + np.diag(sigmas**2)
        # Many rows that share the error of few joints: sensor noise that drowns in rounding.
        size = np.einsum("nii->n", covariance) * ROUNDING
        covariance += size[:, None, None] * np.eye(len(sigmas))
        return np.linalg.inv(np.linalg.cholesky(covariance))
