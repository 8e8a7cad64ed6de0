"""What robots of one make have in common: mean and spread of each parameter over a fleet.

Each robot's measurements are a linear model of its parameters about the solution,
``|R x - t|^2``, in which what is not the make's (base, tool, targets) has been eliminated. With
``x ~ N(mean, spread^2)`` over the fleet, mean and spread are found by expectation maximisation
[Dempster 1977]: no parameter has to be determined by one robot alone, and what no robot shows stays
as its tolerance says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.model.parameters import Parameter, placing

#: Rounds of expectation and maximisation, and the change in tolerances at which they end.
ROUNDS, SETTLED = 300, 1e-4
#: How often robots are looked through for odd ones, and how many must be left.
LOOKS, FEWEST_ALIKE = 4, 4
#: No spread is known to be smaller than this part of a tolerance.
LEAST = 1e-3
#: The median deviation says as much of a scale as this part of the values would by their squares.
MEDIAN = 0.37
#: Rate of false alarms over all parameters, and over all robots and parameters.
ALARMS = 0.05


@dataclass(frozen=True, eq=False)
class Information:
    """What one robot's measurements say of the parameters that its make has in common."""

    names: tuple[str, ...]
    #: Upper triangular, (p, p), and right-hand side (p,): ``|R x - t|^2``, x relative to nominal.
    R: FloatArray
    target: FloatArray


def information(parameters: Sequence[Parameter], R: FloatArray, target: FloatArray) -> Information:
    """Of parameters that all may differ, those of the make, with the others eliminated.

    ``R dx = target`` in all parameters, dx relative to their nominal values; base and tool have
    their tolerances as a prior.
    """
    own = placing(parameters)
    common = np.setdiff1d(np.arange(len(parameters)), own)
    tolerances = np.array([parameters[index].tolerance for index in own])
    rows = np.zeros((len(own), len(parameters) + 1))
    rows[np.arange(len(own)), own] = 1.0 / tolerances
    stacked = np.concatenate([np.column_stack([R, target]), rows])
    order = np.concatenate([own, common, [len(parameters)]])
    # Eliminated columns come first: what is left of the factor knows nothing of them.
    whole: FloatArray = np.asarray(np.linalg.qr(stacked[:, order], mode="r"))
    factor = whole[len(own) :, len(own) :]
    size = len(common)
    square = np.zeros((size, size + 1))
    square[: min(len(factor), size)] = factor[:size]
    names = tuple(parameters[index].name for index in common)
    return Information(names, square[:, :-1], square[:, -1])


@dataclass(frozen=True, eq=False)
class Population:
    """Parameters of a make, relative to nominal, and those of its robots."""

    names: tuple[str, ...]
    #: Mean over the fleet, its standard error, and the spread from robot to robot, (p,).
    mean: FloatArray
    mean_error: FloatArray
    spread: FloatArray
    #: What is known of each robot in the end, and how well, (robots, p).
    robots: FloatArray
    robot_errors: FloatArray
    #: How many robots' worth of measurements tell the mean of each parameter, (p,).
    worth: FloatArray

    def common(self) -> list[int]:
        """Parameters whose mean is not what the nominal robot says: a wrong nominal.

        The spread is estimated from as few robots as the mean, so this is Student's test. Of fewer
        than two robots' worth, nothing can be said.
        """
        from scipy.special import stdtr

        degrees = np.maximum(self.worth - 1.0, 1e-9)
        sizes = np.abs(self.mean) / self.mean_error
        chances = np.where(self.worth > 2.0, 2.0 * stdtr(degrees, -sizes), 1.0)
        return _holm(chances)

    def outliers(self) -> list[tuple[int, int, float]]:
        """Robots that are not like the others: robot, parameter, and how many deviations."""
        from scipy.special import stdtrit

        middle = np.median(self.robots, axis=0)
        scale = 1.4826 * np.median(np.abs(self.robots - middle), axis=0)
        # What all robots have alike, or nobody knows, shows no outliers.
        scale = np.maximum(scale, np.sqrt(np.mean(self.robot_errors**2, axis=0)))
        deviations = np.abs(self.robots - middle) / scale
        # The scale is known as well as from so many robots.
        degrees = MEDIAN * (len(self.robots) - 1)
        limit = -float(stdtrit(degrees, ALARMS / 2 / max(deviations.size, 1)))
        worst = deviations.argmax(axis=1)
        found = [
            (robot, int(place), float(deviations[robot, place]))
            for robot, place in enumerate(worst)
            if deviations[robot, place] > limit
        ]
        return sorted(found, key=lambda one: -one[2])

    def trends(self, days: FloatArray) -> list[tuple[int, float]]:
        """Parameters that drift with the day of production: parameter, and change per day."""
        from scipy.special import stdtr

        n = len(days)
        centred = days - days.mean()
        if n < 4 or not np.ptp(days) > 0:
            return []
        off = self.robots - self.robots.mean(axis=0)
        slopes = centred @ off / (centred @ centred)
        left = off - np.outer(centred, slopes)
        errors = np.sqrt((left**2).sum(axis=0) / (n - 2) / (centred @ centred))
        sure = np.abs(slopes) / np.maximum(errors, np.finfo(float).tiny)
        return [(place, float(slopes[place])) for place in _holm(2.0 * stdtr(n - 2, -sure))]


def _holm(chances: FloatArray) -> list[int]:
    """Which are significant together, at a rate of false alarms for all [Holm 1979]."""
    found = []
    for number, place in enumerate(np.argsort(chances)):
        if chances[place] > ALARMS / (len(chances) - number):
            break
        found.append(int(place))
    return found


def population(members: Sequence[Information], tolerances: FloatArray) -> Population:
    """Mean and spread of the parameters over robots of one make; odd robots have no say in them."""
    # Tolerances are the unit, so that lengths and angles are of one size.
    R = np.stack([one.R for one in members]) * tolerances
    target = np.stack([one.target for one in members])
    alike = np.ones(len(members), dtype=bool)
    for _ in range(LOOKS):
        mean, spread = _mean_and_spread(R[alike], target[alike])
        values, covariance = _posteriors(R, target, mean, spread)
        errors = np.sqrt(np.einsum("nii->ni", covariance))
        # How well the mean is known: each robot says x_i, off by its own error and by the spread.
        known = np.maximum(1.0 - errors[alike] ** 2 / spread**2, 0.0)
        weight = np.maximum(known.sum(axis=0), 1.0 / len(members))
        # The most likely spread is that about the robots' own mean: too small by one degree.
        unbiased = spread * np.sqrt(weight / np.maximum(weight - 1.0, 0.5))
        found = Population(
            members[0].names,
            mean * tolerances,
            unbiased / np.sqrt(weight) * tolerances,
            spread * tolerances,
            values * tolerances,
            errors * tolerances,
            weight,
        )
        before, alike = alike, np.ones(len(members), dtype=bool)
        alike[[robot for robot, _, _ in found.outliers()]] = False
        if (alike == before).all() or alike.sum() < FEWEST_ALIKE:
            break
    return found


def _mean_and_spread(R: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Expectation maximisation, in tolerances."""
    size = target.shape[1]
    mean, spread = np.zeros(size), np.ones(size)
    for _ in range(ROUNDS):
        values, covariance = _posteriors(R, target, mean, spread)
        variances = np.einsum("nii->ni", covariance)
        before = mean, spread
        mean = values.mean(axis=0)
        spread = np.sqrt(((values - mean) ** 2 + variances).mean(axis=0))
        spread = np.maximum(spread, LEAST)
        change = max(np.abs(mean - before[0]).max(), np.abs(spread - before[1]).max())
        if change < SETTLED:
            break
    return mean, spread


def _posteriors(
    R: FloatArray, target: FloatArray, mean: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Each robot's parameters, given all: means (n, p) and covariances (n, p, p)."""
    n, size = target.shape
    prior = np.broadcast_to(np.diag(1.0 / spread), (n, size, size))
    Q, triangle = np.linalg.qr(np.concatenate([R, prior], axis=1))
    right = np.concatenate([target, np.broadcast_to(mean / spread, (n, size))], axis=1)
    inverse = np.linalg.inv(triangle)
    values = np.einsum("nij,nj->ni", inverse, np.einsum("nki,nk->ni", Q, right))
    return values, inverse @ inverse.transpose(0, 2, 1)
