"""Losses: how much a large residual counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray, IntArray

#: Thresholds that keep 95 % efficiency on normal noise.
HUBER_THRESHOLD = 1.345
CAUCHY_THRESHOLD = 2.385


class Shape(Enum):
    """Families of loss functions."""

    SQUARED = "squared"
    HUBER = "huber"
    CAUCHY = "cauchy"


@dataclass(frozen=True)
class Loss:
    """A loss on the whitened size of an observation, at a given scale of ordinary noise."""

    shape: Shape = Shape.SQUARED
    scale: float = 1.0

    @property
    def is_squared(self) -> bool:
        return self.shape is Shape.SQUARED

    def scaled_to(self, sizes: FloatArray, widths: IntArray) -> Loss:
        """The same shape with its scale from the median size of observations of some widths.

        For normal noise the size of w components, sqrt(mean square), has the median
        sqrt(median of chi-square(w) / w): 0.6745 for one, 0.888 for three.
        """
        scale = float(np.median(sizes / _median_size(widths))) if len(sizes) else 0.0
        return replace(self, scale=max(scale, np.finfo(float).tiny))

    def variance(self, sizes: FloatArray, widths: IntArray, parameters: float) -> float:
        """What takes the place of the residuals' variance in the covariance of the estimate.

        K^2 E(psi^2) / E(psi')^2 with psi = weight * residual and Huber's factor K for the number of
        parameters [Huber1981, 7.6]. For an observation of w components the mean diagonal of psi' is
        weight + slope / w.
        """
        rows = int(widths.sum())
        if rows <= parameters:
            return float("nan")
        u = sizes / self.scale
        weights = self.weights(sizes)
        psi = float(widths @ (weights * sizes) ** 2) / (rows - parameters)
        slopes = weights + self._weight_slope(u, weights) / widths
        mean = float(widths @ slopes) / rows
        scatter = float(widths @ (slopes - mean) ** 2) / rows
        factor = 1.0 + parameters / rows * scatter / mean**2
        return factor**2 * psi / mean**2

    def _weight_slope(self, u: FloatArray, weights: FloatArray) -> FloatArray:
        """u times the derivative of the weight by u."""
        if self.shape is Shape.HUBER:
            return np.where(u > HUBER_THRESHOLD, -weights, 0.0)
        if self.shape is Shape.CAUCHY:
            slope: FloatArray = -2.0 * (u / CAUCHY_THRESHOLD) ** 2 * weights**2
            return slope
        return np.zeros_like(u)

    def weights(self, sizes: FloatArray) -> FloatArray:
        """Weight of the squared residual, (n,)."""
        u = sizes / self.scale
        if self.shape is Shape.HUBER:
            return np.minimum(1.0, HUBER_THRESHOLD / np.maximum(u, HUBER_THRESHOLD))
        if self.shape is Shape.CAUCHY:
            weights: FloatArray = 1.0 / (1.0 + (u / CAUCHY_THRESHOLD) ** 2)
            return weights
        return np.ones_like(u)

    def cost(self, sizes: FloatArray) -> float:
        """Sum of the losses; the weights are its derivative with respect to the squared size."""
        if self.shape is Shape.SQUARED:
            return float(sizes @ sizes)
        u = sizes / self.scale
        if self.shape is Shape.HUBER:
            k = HUBER_THRESHOLD
            each = np.where(u <= k, u**2, 2 * k * u - k**2)
        else:
            each = CAUCHY_THRESHOLD**2 * np.log1p((u / CAUCHY_THRESHOLD) ** 2)
        return float(each.sum()) * self.scale**2


def _median_size(widths: IntArray) -> FloatArray:
    """Median of sqrt(mean square) of so many standard normal numbers."""
    from scipy.special import chdtri

    kinds, place = np.unique(widths, return_inverse=True)
    medians: FloatArray = np.sqrt(chdtri(kinds, 0.5) / kinds)[place]
    return medians
