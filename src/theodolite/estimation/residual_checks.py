"""Do the residuals look like noise: normal, and each independent of the one before?

Both tests are of whitened residuals e, divided by their standard deviation. Normality is tested by
skewness and kurtosis [Jarque & Bera 1980]: n/6 (g1^2 + g2^2/4) is chi-square with 2 degrees of
freedom. Independence is tested by the correlation of each observation with the next one of the same
width: sum e_t . e_(t+1) / sum e_t . e_t has the variance 1/n. What drifts, or is missing from the
model, makes neighbours alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.problem import Problem

#: Fewer residuals than this say nothing about their distribution.
ENOUGH = 20
#: Points of the normal plot.
LEVELS = 101


@dataclass(frozen=True, eq=False)
class ResidualChecks:
    """How far the residuals are from independent normal noise."""

    count: int
    skewness: float
    #: Beyond that of a normal distribution.
    kurtosis: float
    #: Chance of such a skewness and kurtosis where the noise is normal.
    normal_chance: float
    #: Correlation of each observation with the next, and its chance where they are independent.
    neighbours: float
    neighbours_chance: float
    #: Quantiles at ``levels`` in standard deviations, for a normal plot.
    quantiles: FloatArray

    @property
    def levels(self) -> FloatArray:
        """Probabilities of the quantiles."""
        return (np.arange(len(self.quantiles)) + 0.5) / max(len(self.quantiles), 1)


def check_residuals(problem: Problem, values: FloatArray) -> ResidualChecks | None:
    """The tests at a solution; None for residuals that are too few or are rounding."""
    from scipy.special import chdtrc, erfc

    parts: list[FloatArray] = []
    products = squares = 0.0
    pairs = 0
    for block in problem.blocks(values):
        e = block.residual.reshape(block.width, -1).T
        parts.append(e.ravel())
        if block.rows is not None and len(e) > 1:
            e = e[np.argsort(block.rows, kind="stable")]
            products += float(np.sum(e[:-1] * e[1:]))
            squares += float(np.sum(e**2))
            pairs += e.size - e.shape[1]
    everything = np.concatenate(parts) if parts else np.empty(0)
    size = float(np.std(everything)) if len(everything) else 0.0
    if len(everything) < ENOUGH or not size > 0.0:
        return None
    standard = (everything - everything.mean()) / size
    skewness, kurtosis = float(np.mean(standard**3)), float(np.mean(standard**4) - 3.0)
    count = len(standard)
    jarque_bera = count / 6.0 * (skewness**2 + kurtosis**2 / 4.0)
    neighbours = products / squares if squares > 0.0 else 0.0
    return ResidualChecks(
        count,
        skewness,
        kurtosis,
        float(chdtrc(2, jarque_bera)),
        neighbours,
        float(erfc(abs(neighbours) * np.sqrt(pairs / 2.0))) if pairs else 1.0,
        np.quantile(standard, (np.arange(LEVELS) + 0.5) / LEVELS),
    )
