"""What a robot is worth on given measurements, and on some that a fit has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.result import Choice, Errors, ErrorSummary, HeldOut, Tried
from theodolite.errors import InfeasibleError
from theodolite.estimation.solver import Change, Solution, solve
from theodolite.model.machine import Machine
from theodolite.model.parameters import external

#: Held out only where the rest still has this many rows per identifiable parameter.
ROWS_PER_PARAMETER = 2.0
#: Parts into which measurements are split to choose between models.
FOLDS = 5
#: Iterations in which the nominal robot is placed: what is left of its errors decides nothing.
PLACING = 8
#: Keeps ratios of exact predictions finite.
TINY = float(np.finfo(float).tiny)
#: A larger model must predict better by this many standard errors of the difference.
CLEARLY = 2.0

#: Poses the problem of some of the data; fits it, from given values if there are any.
Pose = Callable[[Dataset], CalibrationProblem]
Fit = Callable[[CalibrationProblem], Solution]


def residuals(robot: Machine, data: Dataset, method: Method) -> dict[str, FloatArray]:
    """The robot's error on each observation it can make, by quantity, SI.

    A nominal mechanism may be unable to close its loops where the real one was measured.
    """
    possible = robot.can_close(data.motors)
    if not possible.all():
        data = data.take(np.flatnonzero(possible))
    problem = method.problem(robot, data, noise=Noise.guess(robot.reach()))
    return problem.errors(nominal_values(problem))


def summarise(robot: Machine, data: Dataset, method: Method) -> Errors:
    """The robot's errors on some data, summarised."""
    return summary(residuals(robot, data, method))


def summary(errors: dict[str, FloatArray]) -> Errors:
    return {quantity: ErrorSummary.of(values) for quantity, values in errors.items()}


def nominal_values(problem: CalibrationProblem) -> FloatArray:
    return np.array([parameter.value for parameter in problem.parameters])


def nominal_placed(problem: CalibrationProblem) -> FloatArray:
    """Values with nominal links, and base, tool and sensor fitted to the data.

    Anything less would credit a calibration with finding out where the robot stands.
    """
    free = external(problem.parameters)
    if not len(free):
        return nominal_values(problem)
    try:
        return solve(problem, free=free, change=Change.ALL, max_iterations=PLACING).values
    except InfeasibleError:
        return nominal_values(problem)


def folds(groups: IntArray, count: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Rows to leave out, group by group: each group once. Groups below 0 are never left out."""
    number = int(groups.max(initial=-1)) + 1
    for part in np.array_split(rng.permutation(number), min(count, number)):
        yield np.flatnonzero(np.isin(groups, part))


def hold_out(
    data: Dataset, part: float, pose: Pose, fit: Fit, method: Method, rng: np.random.Generator
) -> HeldOut | None:
    """Fit some of the data and predict the rest; None where there are too few for both."""
    groups = data.groups()
    count = int(groups.max(initial=-1)) + 1
    left_out = round(part * count)
    if left_out < 1 or count - left_out < 1:
        return None
    chosen = np.isin(groups, rng.permutation(count)[:left_out])
    problem = pose(data.take(np.flatnonzero(~chosen)))
    solution = fit(problem)
    if solution.reduction.rows < ROWS_PER_PARAMETER * solution.identifiability.rank:
        return None
    unseen = data.take(np.flatnonzero(chosen))
    before, after = (
        summarise(problem.calibrated(values), unseen, method.with_extras(problem.extras(values)))
        for values in (nominal_placed(problem), solution.values)
    )
    return HeldOut(left_out, before, after)


@dataclass(frozen=True)
class Model:
    """One of the models to choose from."""

    name: str
    pose: Pose


def choose(
    models: tuple[Model, Model], data: Dataset, fit: Fit, method: Method, rng: np.random.Generator
) -> Choice | None:
    """The larger of two models if it clearly predicts unseen data better; else the smaller.

    Every measurement is left out once, sets and pictures together. None: too few data to tell.
    """
    scores: list[list[float]] = []
    for rows in folds(data.groups(), FOLDS, rng):
        rest = np.setdiff1d(np.arange(len(data)), rows)
        if not len(rest) or not len(rows):
            return None
        errors = []
        for model in models:
            problem = model.pose(data.take(rest))
            solution = fit(problem)
            if solution.reduction.rows < ROWS_PER_PARAMETER * solution.identifiability.rank:
                return None
            knowing = method.with_extras(problem.extras(solution.values))
            robot = problem.calibrated(solution.values)
            errors.append(summarise(robot, data.take(rows), knowing))
        smaller, larger = errors
        scores.append(
            [
                float(np.mean([errors[q].rms / max(smaller[q].rms, TINY) for q in smaller]))
                for errors in (smaller, larger)
            ]
        )
    if len(scores) < 2:
        return None
    table = np.array(scores)
    gain = table[:, 0] - table[:, 1]
    scatter = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    better = bool(gain.mean() > CLEARLY * scatter)
    tried = tuple(
        Tried(model.name, float(column.mean()), float(column.std(ddof=1) / np.sqrt(len(column))))
        for model, column in zip(models, table.T, strict=True)
    )
    return Choice(models[1].name if better else models[0].name, tried)
