"""Sums over a long series of residuals that its pieces can be added up to: squares and lags.

A piece keeps its products up to a lag, and its first and last samples, so that the products across
the seam to the next piece can be added. Memory does not grow with the series.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.torque_noise import TorqueNoise, integrated, least_deviations

#: Lags that are summed. At the usual 20 samples per second these are 100 s: slower residuals are no
#: noise but another robot, and their correlation factor is cut there.
LAGS = 2000


@dataclass(frozen=True, eq=False)
class ResidualSeries:
    """Residuals (n, motors) in sums."""

    count: int
    sums: FloatArray
    #: Sum of e(t) e(t + lag), (lags + 1, motors).
    products: FloatArray
    #: The first and last samples, up to the number of lags.
    head: FloatArray
    tail: FloatArray

    @staticmethod
    def of(residuals: FloatArray, lags: int = LAGS) -> ResidualSeries:
        count, motors = residuals.shape
        spectrum = np.abs(np.fft.rfft(residuals, 2 * count, axis=0)) ** 2
        products = np.zeros((lags + 1, motors))
        found = np.fft.irfft(spectrum, 2 * count, axis=0)[:count][: lags + 1]
        products[: len(found)] = found
        # Squares as they are: a transform rounds them all alike.
        products[0] = (residuals**2).sum(axis=0)
        head, tail = residuals[:lags].copy(), residuals[max(0, count - lags) :].copy()
        return ResidualSeries(count, residuals.sum(axis=0), products, head, tail)

    def followed_by(self, other: ResidualSeries) -> ResidualSeries:
        """Both, one after the other."""
        from scipy.signal import correlate

        lags = len(self.products) - 1
        products = self.products + other.products
        before, after = self.tail, other.head
        for motor in range(products.shape[1]):
            # Entry k is the sum of before(i) after(j) with j - i = k - len(before) + 1.
            across = correlate(after[:, motor], before[:, motor], mode="full", method="fft")
            # In the joined series after(j) stands len(before) + j - i behind before(i).
            reach = min(lags, len(across))
            products[1 : reach + 1, motor] += across[:reach]
        return ResidualSeries(
            self.count + other.count,
            self.sums + other.sums,
            products,
            np.concatenate([self.head, other.head])[:lags] if self.count < lags else self.head,
            np.concatenate([self.tail, other.tail])[-lags:] if other.count < lags else other.tail,
        )

    def correlation_factors(self) -> FloatArray:
        """Integrated autocorrelation of each motor, at least 1; see `torque_noise`."""
        lags = min(len(self.products), self.count)
        if self.count < 4:
            return np.ones(len(self.sums))
        mean = self.sums / self.count
        # Less the mean: sums of all but the last, and of all but the first samples.
        last = np.cumsum(np.concatenate([np.zeros((1, len(mean))), self.tail[::-1]]), axis=0)[:lags]
        first = np.cumsum(np.concatenate([np.zeros((1, len(mean))), self.head]), axis=0)[:lags]
        number = (self.count - np.arange(lags))[:, None]
        centred = self.products[:lags] - mean * (2 * self.sums - first - last) + number * mean**2
        return np.array([integrated(column) for column in centred.T])

    def noise(self, mean_squares: FloatArray, fitted: float) -> TorqueNoise:
        """Noise of the motors, as `estimate_noise` finds it from the residuals themselves."""
        sigmas = np.sqrt(self.products[0] / max(self.count - fitted, 1.0))
        return TorqueNoise(
            np.maximum(sigmas, least_deviations(mean_squares)),
            self.correlation_factors(),
            np.eye(len(sigmas)),
        )
