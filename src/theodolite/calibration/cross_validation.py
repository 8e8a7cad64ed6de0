"""What a robot is worth on given measurements, and on some that a fit has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.result import Errors, ErrorSummary, HeldOut
from theodolite.estimation.loss import Loss
from theodolite.estimation.solver import Solution, solve
from theodolite.model.machine import Machine

#: Held out only where the rest still has this many rows per identifiable parameter.
ROWS_PER_PARAMETER = 2.0


def deviations(robot: Machine, data: Dataset, method: Method) -> dict[str, FloatArray]:
    """The robot's error on each observation it can make, by quantity, SI.

    A nominal mechanism may be unable to close its loops where the real one was measured.
    """
    possible = robot.closes(data.motors)
    if not possible.all():
        data = data.take(np.flatnonzero(possible))
    problem = method.problem(robot, data, noise=Noise())
    return problem.errors(np.array([parameter.value for parameter in problem.parameters]))


def summary(robot: Machine, data: Dataset, method: Method) -> Errors:
    """The robot's errors on some data, summarised."""
    found = deviations(robot, data, method)
    return {quantity: ErrorSummary.of(values) for quantity, values in found.items()}


def split(
    data: Dataset, part: float, rng: np.random.Generator
) -> tuple[Dataset, Dataset, int] | None:
    """Data to fit, data to judge and how many groups those are; None where there are too few."""
    groups = data.groups()
    count = int(groups.max()) + 1 if len(groups) else 0
    held = round(part * count)
    if held < 1 or count - held < 1:
        return None
    chosen = np.isin(groups, rng.permutation(count)[:held])
    return data.take(np.flatnonzero(~chosen)), data.take(np.flatnonzero(chosen)), held


def judge(
    robot: Machine,
    data: Dataset,
    method: Method,
    full: Solution,
    *,
    noise: Noise,
    gains: bool,
    loss: Loss | None,
    part: float,
    rng: np.random.Generator,
) -> HeldOut | None:
    """Fit some of the data and predict the rest; None where there are too few for both."""
    parts = split(data, part, rng)
    if parts is None:
        return None
    fit, unseen, count = parts
    rows = full.reduction.rows * len(fit) / len(data)
    if rows < ROWS_PER_PARAMETER * full.identifiability.rank:
        return None
    problem = method.problem(robot, fit, noise=noise, gains=gains)
    values = solve(problem, loss=loss).values
    after = informed(method, problem.found(values))
    return HeldOut(
        count,
        summary(robot, unseen, method),
        summary(problem.calibrated(values), unseen, after),
    )


def informed(method: Method, found: Mapping[str, Any]) -> Method:
    """The method, knowing what was found besides the robot, if it can use that."""
    inform = getattr(method, "informed", None)
    return method if inform is None else inform(found)
