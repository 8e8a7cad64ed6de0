"""Pictures that are plainly wrong: found before the fit, left out of it, and named.

Two pictures exchanged, a board turned over or another one: such a picture is wrong as a whole, and
by far. A robust fit is hardly moved by a few of them. What it leaves says how noisy marks and
joints are, by the median, and then which pictures are beyond any noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import LeftOut, Screened
from theodolite.calibration.noise import Noise
from theodolite.errors import InfeasibleError
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.outliers import find_outliers
from theodolite.estimation.solver import Solution, solve
from theodolite.estimation.statistics import statistics

if TYPE_CHECKING:
    from theodolite.calibration.camera import CameraProblem

#: Rounds of fitting and estimating the noise, and of taking pictures out.
ROUNDS = 4
#: Errors of a wrong picture are at least so many times those of the others; smaller ones may come
#: from what the model lacks, and are judged with everything else.
WRONG = 5.0
#: So many pictures at least must be left of each that is taken out.
MOST = 0.4


class Pose(Protocol):
    """Poses the problem of some of the data."""

    def __call__(self, data: Dataset, *, noise: Noise) -> CameraProblem: ...


def screened(pose: Pose, data: Dataset, noise: Noise) -> Screened:
    """The data without wrong pictures; the noise of the rest, where it is not known."""
    picture = data.configurations()
    wrong = np.zeros(int(picture.max(initial=-1)) + 1, dtype=bool)
    rest = data
    try:
        for _ in range(ROUNDS):
            problem, solution = _robust(pose, rest, noise)
            noise = problem.noise
            found = _wrong(problem, solution, rest, noise)
            if not found.any():
                break
            wrong[np.unique(picture[~wrong[picture]][found])] = True
            if wrong.mean() > MOST:
                # Not a few wrong pictures but something else, for the result to say.
                return Screened(data, noise)
            rest = data.take(np.flatnonzero(~wrong[picture]))
    except InfeasibleError:
        return Screened(data, noise)
    if not wrong.any():
        return Screened(data, noise)
    whole = pose(data, noise=noise)
    errors = whole.errors(solution.values)["pixel"]
    usual = _rms(errors[~wrong[picture]])
    left_out = tuple(
        LeftOut(data.picture(int(rows[0])), _rms(errors[rows]), usual)
        for rows in (np.flatnonzero(picture == number) for number in np.flatnonzero(wrong))
    )
    return Screened(rest, noise, left_out)


def _robust(pose: Pose, data: Dataset, noise: Noise) -> tuple[CameraProblem, Solution]:
    """A fit that few wrong pictures hardly move, with the noise that it shows."""
    problem, values = pose(data, noise=noise), None
    for _ in range(ROUNDS):
        solution = solve(problem, loss=Loss(Shape.CAUCHY), start=values, noise_known=noise.known)
        values = solution.values
        shown = None if noise.known else problem.noise_of(solution, robust=True)
        if shown is None:
            break
        problem = problem.with_noise(shown)
    return problem, solution


def _wrong(problem: Any, solution: Solution, data: Dataset, noise: Noise) -> BoolArray:
    """Rows of pictures that a robust fit rejects, and that are off by far more than the others."""
    judged = statistics(solution, noise_known=noise.known)
    outliers = find_outliers(problem, solution, judged, robust=True)
    picture = data.configurations()
    errors = problem.errors(solution.values)["pixel"]
    sizes = _by_picture(errors, picture)
    far = sizes > WRONG * np.median(sizes)
    rejected = np.zeros(len(sizes), dtype=bool)
    rejected[picture[outliers.rows]] = True
    return np.asarray((far & rejected)[picture])


def _by_picture(errors: FloatArray, picture: IntArray) -> FloatArray:
    """Root mean square error of each picture."""
    counts = np.bincount(picture)
    return np.sqrt(np.bincount(picture, weights=errors**2) / np.maximum(counts, 1))


def _rms(errors: FloatArray) -> float:
    """Per coordinate."""
    return float(np.sqrt(np.mean(errors**2) / 2)) if len(errors) else 0.0
