"""Which further terms predict measurements that a fit has not seen: choice by cross-validation.

Models differ by little once the geometry is right. So every model is linear about the geometric
solution, and leaving out a part of the data is linear algebra on triangular factors: one factor per
part, all but one folded together, one step, and the part that was left out is predicted. What is
neglected is of second order in errors of less than a millimetre.

Groups of terms are added one after the other, the best first, as long as the prediction gets better
by more than its own scatter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.cross_validation import ROWS_PER_PARAMETER
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem
from theodolite.calibration.term_groups import (
    AFTER,
    ALL_GROUPS,
    DRIFT,
    LOADED,
    Terms,
    check_groups,
    tolerances,
    variants,
    when,
)
from theodolite.errors import InputError
from theodolite.estimation.choice import Choice, Tell, select_forward
from theodolite.estimation.loss import Loss
from theodolite.estimation.prior import Prior
from theodolite.estimation.reduction import Reduction, merged, reduce_parts
from theodolite.estimation.solver import Solution
from theodolite.estimation.step import linear_step, noise_left
from theodolite.model.machine import Machine

#: Parts into which the measurements are split, and how many times they are split anew.
FOLDS, SPLITS = 5, 3
GEOMETRY, GAINS = "geometry", "gains"


@dataclass(frozen=True, eq=False)
class Model:
    """A robot with some further terms, with or without gains."""

    robot: Machine
    gains: bool = False
    groups: tuple[str, ...] = ()
    name: str = GEOMETRY

    def with_gains(self) -> Model:
        return replace(
            self, gains=True, groups=(*self.groups, GAINS), name=f"{self.name} + {GAINS}"
        )

    def with_group(
        self, group: str, shape: str, terms: Terms, data: Dataset | None = None
    ) -> Model:
        """The same with one more group of terms, in one of its shapes, for some data."""
        robot = self.robot
        held = {term.name for term in robot.terms}
        new = [term for term in terms if term.name not in held]
        return replace(
            self,
            robot=robot.with_terms((*robot.terms, *new)).with_tolerances(
                tolerances(robot, group, tuple(new), data)
            ),
            groups=(*self.groups, group),
            name=f"{self.name} + {shape}",
        )


@dataclass(frozen=True, eq=False)
class Wanted:
    """Which models are in question for a robot and its data."""

    robot: Machine
    data: Dataset
    gains: bool | None
    #: Groups that were asked for, and groups that may help.
    required: tuple[str, ...]
    optional: tuple[str, ...]

    @staticmethod
    def of(
        robot: Machine,
        data: Dataset,
        *,
        gains: bool | None,
        terms: Sequence[str] | None,
    ) -> Wanted:
        """``gains`` and ``terms`` None leave them open."""
        check_groups(tuple(terms or ()))
        if terms and not robot.takes_terms:
            raise InputError(
                f"'{robot.name}' has loops: error terms are not supported for machines with loops",
                remedy="Leave the terms out",
            )
        needy = [group for group in LOADED if group in (terms or ())]
        if needy and not robot.has_loads(list(data.columns)):
            raise InputError(
                f"terms '{needy[0]}' need known loads",
                where=data.name,
                allowed="masses in the robot file, or columns payload_kg, force_x_n ...",
                remedy="Take 'gravity' where no masses are known",
            )
        times = when(data)[1]
        if DRIFT in (terms or ()) and (times is None or not np.ptp(times) > 0.0):
            raise InputError(
                "a drift term needs the time at which each row was measured"
                if times is None
                else "all rows were measured at the same time, so there is no drift to see",
                where=data.name,
                remedy="Add a column time_s, or take the order of the rows as time",
            )
        has_gains = any(p.gain and robot.priority(p) > 0 for p in robot.parameters)
        if gains is None and not has_gains:
            gains = False
        free = terms is None and robot.takes_terms
        return Wanted(robot, data, gains, tuple(terms or ()), ALL_GROUPS if free else ())

    def first(self) -> list[Model]:
        """What is to be fitted at least, in each shape that it may take."""
        models = [Model(self.robot)]
        if self.gains:
            models = [model.with_gains() for model in models]
        for group in self.required:
            models = [
                model.with_group(group, shape, terms, self.data)
                for model in models
                for shape, terms in self._shapes(group).items()
            ]
        return models

    def larger(self, model: Model) -> list[Model]:
        """What may follow a model: one more group, or gains."""
        found = []
        if self.gains is None and GAINS not in model.groups:
            found.append(model.with_gains())
        for group in self.optional:
            if group in model.groups or AFTER.get(group, group) not in (group, *model.groups):
                continue
            shapes = self._shapes(group).items()
            found += [model.with_group(group, shape, terms, self.data) for shape, terms in shapes]
        return found

    def _shapes(self, group: str) -> dict[str, Terms]:
        return variants(self.robot, self.data, group)


Pose = Callable[[Model, Dataset], CalibrationProblem]


@dataclass(frozen=True, eq=False)
class Linearised:
    """Where models are compared: the geometric solution, by the names of its parameters."""

    data: Dataset
    values: dict[str, float]
    loss: Loss
    #: Which rows of the data stay together, (n,); -1: never left out.
    groups: IntArray
    #: For each split, in which part every row of the data is; -1: in none.
    parts: tuple[IntArray, ...]

    @staticmethod
    def about(
        problem: CalibrationProblem,
        solution: Solution,
        data: Dataset,
        rng: np.random.Generator,
    ) -> Linearised | None:
        """Splits in which sets, pictures and touches stay together; None: too few data."""
        groups = data.kept_together()
        number = int(groups.max(initial=-1)) + 1
        rows = solution.reduction.rows * (1.0 - 1.0 / FOLDS)
        if number < FOLDS or rows < ROWS_PER_PARAMETER * solution.identifiability.rank:
            return None
        parts = []
        for _ in range(SPLITS):
            part_of_group = np.append(rng.permutation(number) % FOLDS, -1)
            parts.append(part_of_group[groups])
        names = [parameter.name for parameter in problem.parameters]
        values = dict(zip(names, solution.values.tolist(), strict=True))
        return Linearised(data, values, solution.loss, groups, tuple(parts))

    def scores(self, model: Model, pose: Pose) -> FloatArray:
        """Mean held-out square of the whitened residuals of each group of rows, (groups,)."""
        problem = pose(model, self.data)
        values = np.array([self.values.get(p.name, p.value) for p in problem.parameters])
        splits = reduce_parts(problem, values, self.loss, self.parts)
        prior = Prior.of(problem.parameters)
        noise = noise_left(merged(splits[0]), prior, np.arange(len(values)))
        steps = [_without_each(parts, values, prior, noise) for parts in splits]
        found = np.zeros((2, int(self.groups.max()) + 1))
        for block in problem.blocks(values):
            if block.rows is None:
                continue
            group = self.groups[block.rows]
            kept = group >= 0
            for part, step in zip(self.parts, steps, strict=True):
                predicted = block.columns[:-1].T @ step.T + block.residual[:, None]
                each = predicted.reshape(block.width, len(group), -1)
                place = np.where(kept, part[block.rows], 0)[None, :, None]
                errors = np.take_along_axis(each, place, axis=2)[:, :, 0]
                squares = self._squares(np.sqrt(np.mean(errors**2, axis=0))) * block.width
                np.add.at(found[0], group[kept], squares[kept])
                np.add.at(found[1], group[kept], block.width)
        return found[0] / np.maximum(found[1], 1.0)

    def _squares(self, norms: FloatArray) -> FloatArray:
        """Squares of whitened errors, as the loss sees them."""
        return norms**2 if self.loss.is_squared else self.loss.weights(norms) * norms**2


def choose(
    at: Linearised,
    first: Sequence[Model],
    pose: Pose,
    larger: Callable[[Model], Sequence[Model]],
    tell: Tell | None = None,
) -> tuple[Model, Choice]:
    """The best model by forward selection; ``larger`` says what may follow a model."""
    return select_forward(
        first, larger, lambda model: at.scores(model, pose), lambda model: model.name, tell=tell
    )


def _without_each(
    parts: Sequence[Reduction], values: FloatArray, prior: Prior, noise: float
) -> FloatArray:
    """The step of a fit to all parts but one, for each of them, (parts, p).

    The last of the parts is what is never left out.
    """
    free = np.arange(len(values))
    return np.array(
        [
            linear_step(
                merged([*parts[:place], *parts[place + 1 :]]), values, prior, free, noise
            ).step
            for place in range(len(parts) - 1)
        ]
    )
