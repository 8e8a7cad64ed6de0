"""Methods of your own: say what the tip should satisfy, and everything else follows.

A tip method states a residual in metres that depends on where the tip is, on unknowns of its own
(such as the centre of a ball bar) and on columns of its own, with its derivatives with respect
to tip and unknowns. The derivatives with respect to the robot's parameters, the weights, what is
identifiable, outliers and held-out data are the same code as for built-in methods. How to write
one: docs/how-to/own-method.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.calibration.configurations import NEAREST_STEPS, satisfy
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model.machine import Machine, Tip
from theodolite.model.parameters import Group, Parameter, Unit


class TipResidual(NamedTuple):
    """How far n tips are from what they should satisfy, in w components, with derivatives."""

    #: (n, w), metres.
    error: FloatArray
    #: Derivative with respect to the tip's position, (n, w, 3).
    by_tip: FloatArray
    #: Derivative with respect to the unknowns in their order, (n, w, unknowns).
    by_unknowns: FloatArray


class TipMethod(Method):
    """A method whose residual depends on the position of the tip."""

    @abstractmethod
    def residual(self, tip: FloatArray, unknowns: FloatArray, data: Dataset) -> TipResidual:
        """The residual of tips (n, 3) for the rows of ``data``, at given unknowns."""

    def unknowns(self, robot: Machine, data: Dataset) -> Mapping[str, float]:
        """Lengths to identify besides the robot, by name, with their starting values in metres."""
        return {}

    def describe(self, unknowns: Mapping[str, float]) -> dict[str, Any]:
        """What a result says of the identified unknowns, and `with_extras` is told."""
        return dict(unknowns)

    #: Does the residual vanish for a robot of no size, as one that compares tips with each other
    #: does? Its derivative is then taken where it is zero, since noise would shrink the robot.
    vanishes: ClassVar[bool] = False

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> TipProblem:
        missing = [name for name in self.columns if name not in data.columns]
        if missing:
            raise InputError(
                f"the method '{self.name}' needs the column {missing[0]}",
                where=data.name,
                allowed=list(data.columns) or None,
                remedy=f"Give it in a file, or as Dataset(..., columns={{'{missing[0]}': ...}})",
            )
        return TipProblem(self, robot, data, noise, gains=gains)

    def points_for(self, robot: Machine) -> int:
        return 4 * len(robot.parameters)


@dataclass(frozen=True)
class TipGoal:
    """Tips that satisfy a method exactly."""

    method: TipMethod
    unknowns: FloatArray
    data: Dataset

    @property
    def components(self) -> int:
        return self.error_at(np.zeros((len(self.data), 3))).shape[1]

    @property
    def lengths(self) -> int:
        return self.components

    def error_at(self, tips: FloatArray) -> FloatArray:
        return self.method.residual(tips, self.unknowns, self.data).error

    def error(self, motion: Tip) -> FloatArray:
        return self.error_at(motion.position)

    def derivative(self, motion: Tip) -> FloatArray:
        by_tip = self.method.residual(motion.position, self.unknowns, self.data).by_tip
        return by_tip @ motion.position_basis_jacobian()

    def take(self, rows: BoolArray) -> TipGoal:
        return TipGoal(self.method, self.unknowns, self.data.take(np.flatnonzero(rows)))


class TipProblem(GeometricProblem):
    """The least-squares problem of a tip method."""

    def __init__(
        self, method: TipMethod, robot: Machine, data: Dataset, noise: Noise, *, gains: bool
    ) -> None:
        self._method = method
        self._unknowns = dict(method.unknowns(robot, data))
        taken = {parameter.name for parameter in robot.parameters} & set(self._unknowns)
        if taken:
            raise InputError(
                f"'{sorted(taken)[0]}' is a parameter of '{robot.name}' and an unknown of the "
                f"method '{method.name}'",
                remedy="Rename the unknown",
            )
        # As wide as the robot: it may be anywhere.
        extra = [
            Parameter(
                *(name, float(value), Unit.METRE, Group.SENSOR, 0, column),
                tolerance=robot.reach() or 1.0,
            )
            for column, (name, value) in enumerate(self._unknowns.items())
        ]
        super().__init__(robot, data, noise, gains=gains, extra=extra)
        # What the method itself does not know comes first: the rest is relative to it.
        self.priorities = tuple(
            max(self.priorities) + 1 if parameter.group is Group.SENSOR else priority
            for parameter, priority in zip(self.parameters, self.priorities, strict=True)
        )

    @property
    def constraint(self) -> bool:
        return self._method.vanishes

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        for rows in slices(len(self.data)):
            motors, part = self.data.motors[rows], _rows(self.data, rows)
            motion = self._motion(full, motors)
            error, by_tip, by_unknowns = self._residual(motion.position, full, part)
            if self.constraint:
                motion = self._motion(full, self._satisfied(full, motors, part))
                _, by_tip, by_unknowns = self._residual(motion.position, full, part)
            jacobian = np.concatenate(
                [by_tip @ motion.position_jacobian(self.links), by_unknowns], axis=2
            )
            sigmas = np.full(error.shape[1], self.noise.position)
            by_basis = by_tip @ motion.position_basis_jacobian() if self.noise.moves else error
            yield self._block(error, jacobian, self._whitener(sigmas, by_basis), rows)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        sizes = []
        for rows in slices(len(self.data)):
            tip = self._motion(full, self.data.motors[rows]).position
            error = self._residual(tip, full, _rows(self.data, rows)).error
            sizes.append(np.linalg.norm(error, axis=1))
        return {"position": np.concatenate(sizes)}

    def extras(self, values: FloatArray) -> dict[str, Any]:
        own = self._own(self.full_values(values)).tolist()
        return self._method.describe(dict(zip(self._unknowns, own, strict=True)))

    def _own(self, full: FloatArray) -> FloatArray:
        return full[len(full) - len(self._unknowns) :]

    def _satisfied(self, full: FloatArray, motors: FloatArray, data: Dataset) -> FloatArray:
        """The nearest configurations in which the residual is zero."""
        goal = TipGoal(self._method, self._own(full), data)
        values = full[: len(self.robot.parameters)]
        there, found = satisfy(self.robot, goal, motors, values=values, steps=NEAREST_STEPS)
        return np.where(found[:, None], there, motors)

    def _residual(self, tip: FloatArray, full: FloatArray, data: Dataset) -> TipResidual:
        own = self._own(full)
        found = TipResidual(*map(np.asarray, self._method.residual(tip, own, data)))
        width = found.error.shape[1] if found.error.ndim == 2 else 1
        n = len(tip)
        wanted = ((n, width), (n, width, 3), (n, width, len(own)))
        for name, array, shape in zip(TipResidual._fields, found, wanted, strict=True):
            if array.shape != shape:
                raise InputError(
                    f"the residual of the method '{self._method.name}' has {name} of the shape "
                    f"{array.shape}",
                    allowed=" x ".join(map(str, shape)),
                )
        return found


def _rows(data: Dataset, rows: slice) -> Dataset:
    return data.take(np.arange(rows.start, rows.stop))
