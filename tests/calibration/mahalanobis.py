"""Whether covariances are right, from few calibrations.

Counting which intervals hold the truth throws away how far off the others are. The squared distance
of an estimate from the truth, weighed with its covariance, does not: over runs with k parameters
each, its mean is k, and relative to that it scatters by sqrt(2 / (k runs)). Intervals that hold 93
or 97 % instead of 95 are a relative change of this mean by -15 or +20 %.
"""

from __future__ import annotations

import numpy as np


def squared_distance(error: np.ndarray, covariance: np.ndarray) -> float:
    """e' C^-1 e, about as large as there are components where C is right."""
    scale = np.sqrt(np.diag(covariance))
    return float(
        error / scale @ np.linalg.solve(covariance / np.outer(scale, scale), error / scale)
    )


def relative_scatter(parameters: int, runs: int) -> float:
    """Standard deviation of the mean squared distance per parameter."""
    return float(np.sqrt(2.0 / (parameters * runs)))
