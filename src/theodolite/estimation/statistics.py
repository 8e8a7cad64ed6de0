"""How sure we are: covariance, intervals and correlations of the base parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.solver import Solution


@dataclass(frozen=True, eq=False)
class Statistics:
    """Uncertainty of the base parameters, in the order of ``Identifiability.base``."""

    covariance: FloatArray
    degrees_of_freedom: int
    #: Standard deviation of the whitened residuals: 1 if the noise model is right.
    sigma: float

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
    """From the triangular factor at the solution, without inverting ``W'W``."""
    reduction = solution.reduction
    columns = reduction.R[:, solution.identifiability.base]
    count = columns.shape[1]
    degrees = reduction.rows - count
    scale = np.linalg.norm(columns, axis=0)
    safe = np.where(scale > 0, scale, 1.0)
    R = np.linalg.qr(columns / safe, mode="r")
    inverse = np.linalg.pinv(R, rcond=1e-14) / safe[:, None]
    sigma = float(np.sqrt(reduction.squares / degrees)) if degrees > 0 else float("nan")
    variance = 1.0 if noise_known or degrees <= 0 else sigma**2
    return Statistics(variance * inverse @ inverse.T, degrees, sigma)
