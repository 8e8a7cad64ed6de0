"""Losses: how much a large residual counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray

#: Thresholds that keep 95 % efficiency on normal noise.
HUBER_THRESHOLD = 1.345
CAUCHY_THRESHOLD = 2.385
#: Turns a median absolute deviation into a standard deviation for normal noise.
MAD_TO_SIGMA = 1.4826


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

    def scaled_to(self, sizes: FloatArray) -> Loss:
        """The same shape with its scale from the median size."""
        scale = float(np.median(sizes)) * MAD_TO_SIGMA
        return replace(self, scale=max(scale, np.finfo(float).tiny))

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
        """Sum of the losses; the weights are its derivative by half the squared size."""
        if self.shape is Shape.SQUARED:
            return float(sizes @ sizes)
        u = sizes / self.scale
        if self.shape is Shape.HUBER:
            k = HUBER_THRESHOLD
            each = np.where(u <= k, u**2, 2 * k * u - k**2)
        else:
            each = CAUCHY_THRESHOLD**2 * np.log1p((u / CAUCHY_THRESHOLD) ** 2)
        return float(each.sum()) * self.scale**2
