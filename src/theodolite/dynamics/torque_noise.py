"""Noise of torques, as the residuals show it: of each joint, between joints, and along time.

Residuals of a real robot are not white: what the model lacks comes back slowly. A mean over N such
samples is as uncertain as one over N/f, with the correlation factor f = 1 + 2 (r1 + r2 + ...) of
their autocorrelation, so a joint weighs by its long-run deviation ``sigma sqrt f``. For white noise
f is 1 and intervals are exact; for noise that is slow, but not as slow as the motion, they nearly
are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray

#: Turns a median absolute deviation into a standard deviation for normal noise.
MAD_TO_SIGMA = 1.4826
#: The sum over lags ends where it is this many times shorter than the lag itself [Sokal 1997].
WINDOW = 5.0
#: Samples further off than this, in standard deviations, are outliers.
OUTLIER = 3.0
#: No joint counts as better than this part of its usual torque, which no sensor resolves: the
#: weight of exact data would be infinite.
LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class TorqueNoise:
    """Standard deviations of the joints' residuals, their correlations in time and in space."""

    #: N m, (motors,).
    sigmas: FloatArray
    #: Correlation factor along time, at least 1, (motors,).
    factors: FloatArray
    #: Correlations between joints, (motors, motors); the identity where they are neglected.
    correlations: FloatArray

    @property
    def long_run(self) -> FloatArray:
        """Deviations that count for a mean over time, N m."""
        return self.sigmas * np.sqrt(self.factors)

    @property
    def whitening(self) -> FloatArray:
        """The matrix that makes the residuals of one sample white, (motors, motors)."""
        return np.linalg.inv(np.linalg.cholesky(self.correlations)) / self.long_run


def estimate_noise(
    residuals: FloatArray,
    torques: FloatArray,
    fitted: float = 0.0,
    *,
    between_joints: bool = False,
    robust: bool = False,
) -> TorqueNoise:
    """Noise from residuals of torques (n, motors), with ``fitted`` parameters for each joint.

    With ``between_joints``, also the correlations of joints; with ``robust``, without outliers.
    """
    least = least_deviations((torques**2).mean(axis=0))
    if robust:
        usual = MAD_TO_SIGMA * np.median(np.abs(residuals), axis=0)
        sizes = np.sqrt(((residuals / np.maximum(usual, least)) ** 2).mean(axis=1))
        residuals = residuals[sizes < OUTLIER]
    sigmas = np.sqrt((residuals**2).sum(axis=0) / max(len(residuals) - fitted, 1.0))
    sigmas = np.maximum(sigmas, least)
    correlations = np.eye(len(sigmas))
    if between_joints and len(sigmas) > 1:
        scaled = residuals / np.sqrt(np.maximum((residuals**2).mean(axis=0), least**2))
        correlations = scaled.T @ scaled / len(scaled)
    factors = np.array([correlation_factor(column) for column in residuals.T])
    return TorqueNoise(sigmas, factors, correlations)


def least_deviations(squares: FloatArray) -> FloatArray:
    """The smallest deviation that counts, (motors,); of a joint without torque, that of others.

    ``squares`` are the mean squares of the torques.
    """
    usual = np.sqrt(squares)
    return LEAST * np.where(usual > 0, usual, usual.max(initial=0.0) or 1.0)


def correlation_factor(series: FloatArray) -> float:
    """Integrated autocorrelation of a series, at least 1."""
    n = len(series)
    if n < 4 or not np.any(series):
        return 1.0
    spectrum = np.abs(np.fft.rfft(series - series.mean(), 2 * n)) ** 2
    return integrated(np.fft.irfft(spectrum)[:n])


def integrated(correlation: FloatArray) -> float:
    """Integrated autocorrelation, at least 1, from the products at every lag."""
    if correlation[0] <= 0:
        return 1.0
    sums = 2.0 * np.cumsum(correlation / correlation[0]) - 1.0
    lags = np.arange(len(correlation))
    enough = np.flatnonzero(lags >= WINDOW * sums)
    return float(max(1.0, sums[enough[0] if len(enough) else -1]))
