"""How sure we are: covariance, intervals and correlations.

A 95 % interval is a posterior one: it holds 95 % of the time over robots whose errors are drawn
from their tolerances. Where the data determine a parameter, the tolerance plays no part and the
interval holds for every robot. Where they do not, it is about two tolerances wide, and holds for
every robot whose error is within them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.scaling import scaled_factor
from theodolite.estimation.solver import Solution

#: Half-width of a normal 95 % interval, in standard deviations.
NORMAL_95 = 1.959964


@dataclass(frozen=True, eq=False)
class Statistics:
    """Uncertainty of the parameters that were free to change, in the order of ``Solution.free``.

    For base parameters this is the order of ``Identifiability.base``.
    """

    covariance: FloatArray
    degrees_of_freedom: int
    #: Standard deviation of the whitened residuals: 1 if the noise model is right.
    sigma: float
    #: The one that the covariance assumes: ``sigma``, or 1 where the noise is known.
    noise: float = 1.0

    @property
    def standard_errors(self) -> FloatArray:
        errors: FloatArray = np.sqrt(np.diag(self.covariance))
        return errors

    @property
    def correlations(self) -> FloatArray:
        errors = self.standard_errors
        safe = np.where(errors > 0, errors, 1.0)
        matrix: FloatArray = self.covariance / np.outer(safe, safe)
        return matrix

    def quantile(self, confidence: float = 0.95) -> float:
        """Standard errors in the half-width of a confidence interval, by Student's t."""
        from scipy.special import stdtrit

        if self.degrees_of_freedom < 1:
            return float("inf")
        return float(stdtrit(self.degrees_of_freedom, 0.5 + confidence / 2))

    def half_widths(self, confidence: float = 0.95) -> FloatArray:
        """Half-widths of the confidence intervals."""
        if self.degrees_of_freedom < 1:
            return np.full(len(self.covariance), np.inf)
        return self.quantile(confidence) * self.standard_errors


def statistics(solution: Solution, *, noise_known: bool) -> Statistics:
    """From the triangular factor at the solution, without inverting ``W'W``.

    With a prior of factor F the covariance is ``v (R'R + v F'F)^-1``, where v is the variance of
    the whitened residuals. What the data leave open costs no degree of freedom.
    """
    variance = 1.0 if noise_known else _variance(solution, float(len(solution.changed)))
    inverse, count = _inverse(solution, variance)
    if not noise_known and solution.prior is not None:
        variance = _variance(solution, count)
        inverse, count = _inverse(solution, variance)
    degrees = int(np.floor(solution.reduction.rows - count + 1e-9))
    left = float(np.sqrt(_variance(solution, count))) if degrees > 0 else float("nan")
    if degrees <= 0:
        variance = 1.0
        inverse, _ = _inverse(solution, variance)
    return Statistics(variance * inverse @ inverse.T, degrees, left, float(np.sqrt(variance)))


def estimate_factor(solution: Solution, statistics: Statistics) -> FloatArray:
    """X with X X' = covariance / variance: what turns derivatives into leverage."""
    return _inverse(solution, statistics.noise**2)[0]


def _variance(solution: Solution, parameters: float) -> float:
    """Variance of the whitened residuals with so many parameters fitted; 1 if it cannot be told."""
    reduction = solution.reduction
    if reduction.rows <= parameters:
        return 1.0
    if solution.loss.is_squared:
        return reduction.squares / (reduction.rows - parameters)
    return solution.loss.variance(reduction.sizes, reduction.widths, parameters)


def _inverse(solution: Solution, variance: float) -> tuple[FloatArray, float]:
    """X with X X' = (R'R + v F'F)^-1, and how many parameters the data determine."""
    free = solution.changed
    columns = solution.reduction.R[:, free]
    prior = np.zeros((0, len(free))) if solution.prior is None else solution.prior.factor
    stacked = np.concatenate([columns, np.sqrt(variance) * prior])
    factor = scaled_factor(stacked)
    inverse: FloatArray = np.linalg.pinv(factor.R, rcond=1e-14) / factor.lengths[:, None]
    return inverse, float(np.sum((columns @ inverse) ** 2))
