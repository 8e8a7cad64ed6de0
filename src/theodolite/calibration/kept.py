"""After a repair: some parameters anew, the others as an earlier calibration left them.

The others are not fixed. They are known as well as that calibration knew them: its covariance is
their prior, so that what is found anew carries their uncertainty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.result import Result
from theodolite.errors import InputError
from theodolite.estimation.prior import Prior
from theodolite.estimation.problem import Problem
from theodolite.model.machine import Machine


@dataclass(frozen=True, eq=False)
class Kept:
    """What is to be found, and what is known of the rest."""

    only: tuple[str, ...]
    #: The others that an earlier calibration determined, and their covariance.
    others: tuple[str, ...]
    covariance: FloatArray
    #: Names of the machine's parameters; what else a problem has belongs to the measurement.
    machine: frozenset[str]

    @staticmethod
    def of(robot: Machine, only: Sequence[str], after: Result | None) -> Kept:
        """Refuses names that the robot does not have."""
        known = [parameter.name for parameter in robot.parameters]
        unknown = [name for name in only if name not in known]
        if unknown:
            raise InputError(f"'{robot.name}' has no parameter '{unknown[0]}'", allowed=known)
        order = () if after is None else after.order
        places = [at for at, name in enumerate(order) if name in known and name not in only]
        covariance: FloatArray = np.zeros((0, 0))
        if after is not None:
            covariance = after.statistics.covariance[np.ix_(places, places)]
        others = tuple(order[at] for at in places)
        return Kept(tuple(only), others, covariance, frozenset(known))

    def prior(self, problem: Problem) -> tuple[IntArray, Prior]:
        """The parameters that may change, and what is known of them."""
        names = [parameter.name for parameter in problem.parameters]
        there = [name for name in self.others if name in names]
        anew = [name for name in names if name in self.only or name not in self.machine]
        free = np.array([names.index(name) for name in (*anew, *there)], dtype=np.intp)
        chosen = [self.others.index(name) for name in there]
        covariance = self.covariance[np.ix_(chosen, chosen)]
        wide = np.array([problem.parameters[index].tolerance for index in free[: len(anew)]])
        tolerances = np.concatenate([wide, np.sqrt(np.diag(covariance))])
        factor = np.zeros((len(free), len(free)))
        factor[: len(anew), : len(anew)] = np.diag(1.0 / wide)
        if there:
            # Scaled, so that metres and radians do not spoil the factor.
            scale = tolerances[len(anew) :]
            correlations = covariance / np.outer(scale, scale)
            triangle = np.linalg.cholesky(correlations)
            factor[len(anew) :, len(anew) :] = np.linalg.inv(triangle) / scale
        mean = np.array([problem.parameters[index].value for index in free])
        return free, Prior(mean, factor, tolerances, np.full(len(free), -1))
