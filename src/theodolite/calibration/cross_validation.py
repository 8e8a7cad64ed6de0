"""What a robot is worth on given measurements, and on some that a fit has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.quantities import Displacements, are_exact
from theodolite.calibration.result import Errors, ErrorSummary, HeldOut
from theodolite.errors import InfeasibleError
from theodolite.estimation.solver import Change, Solution, solve
from theodolite.model.machine import Machine
from theodolite.model.parameters import placing

#: Held out only where the rest still has this many rows per identifiable parameter.
ROWS_PER_PARAMETER = 2.0
#: Iterations in which the nominal robot is placed: what is left of its errors decides nothing.
PLACING = 8

#: Poses the problem of some of the data; fits it, from given values if there are any.
Pose = Callable[[Dataset], CalibrationProblem]
Fit = Callable[[CalibrationProblem], Solution]


def residuals(robot: Machine, data: Dataset, method: Method) -> dict[str, FloatArray]:
    """The robot's error on each observation it can make, by quantity, SI."""
    problem, _ = judging(robot, data, method)
    return problem.errors(nominal_values(problem))


def judging(robot: Machine, data: Dataset, method: Method) -> tuple[CalibrationProblem, IntArray]:
    """A problem to judge a robot by, and the rows that it is about.

    A nominal mechanism may be unable to close its loops where the real one was measured.
    """
    possible = robot.can_close(data.motors)
    rows = np.flatnonzero(possible)
    if not possible.all():
        data = data.take(rows)
    return method.problem(robot, data, noise=Noise.guess(robot.reach())), rows


def all_displacements(
    problem: CalibrationProblem, names: Iterable[str], values: FloatArray
) -> dict[str, Displacements]:
    """Which way those of the named errors point that are displacements."""
    found = {name: problem.displacements(name, values) for name in names}
    return {name: one for name, one in found.items() if one is not None}


def summarise(robot: Machine, data: Dataset, method: Method) -> Errors:
    """The robot's errors on some data, summarised."""
    return summary(residuals(robot, data, method))


def summary(errors: dict[str, FloatArray]) -> Errors:
    return {quantity: ErrorSummary.of(values) for quantity, values in errors.items()}


def is_exact(errors: Errors, robot: Machine) -> bool:
    """Is all that is left rounding, or too small for any sensor?"""
    return are_exact({name: part.maximum for name, part in errors.items()}, robot.reach())


def nominal_values(problem: CalibrationProblem) -> FloatArray:
    return np.array([parameter.value for parameter in problem.parameters])


def nominal_placed(problem: CalibrationProblem) -> FloatArray:
    """Values with nominal links, and base, tool and sensor fitted to the data.

    Anything less would credit a calibration with finding out where the robot stands.
    """
    free = placing(problem.parameters)
    if not len(free):
        return nominal_values(problem)
    try:
        return solve(problem, free=free, change=Change.ALL, max_iterations=PLACING).values
    except InfeasibleError:
        return nominal_values(problem)


@dataclass(frozen=True, eq=False)
class Split:
    """Measurements held out, and the rest."""

    rest: Dataset
    unseen: Dataset
    #: How many groups of rows were held out.
    groups: int


def split_off(data: Dataset, part: float, rng: np.random.Generator) -> Split | None:
    """Hold out a part, sets and pictures together; None where there are too few."""
    chosen, groups = data.drawn(part, rng)
    if not groups:
        return None
    return Split(data.take(np.flatnonzero(~chosen)), data.take(np.flatnonzero(chosen)), groups)


def judge(split: Split, pose: Pose, fit: Fit, method: Method) -> HeldOut | None:
    """Fit the rest and predict what was held out; None where the rest is too little for that."""
    problem = pose(split.rest)
    solution = fit(problem)
    if solution.reduction.rows < ROWS_PER_PARAMETER * solution.identifiability.rank:
        return None
    before, after = (
        summarise(
            problem.calibrated(values), split.unseen, method.with_extras(problem.extras(values))
        )
        for values in (nominal_placed(problem), solution.values)
    )
    return HeldOut(split.groups, before, after, exact=is_exact(after, problem.robot))
