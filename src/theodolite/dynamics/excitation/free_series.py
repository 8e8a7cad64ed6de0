"""Fourier series of one part of a motion as free numbers: every set of them is within the limits.

Each motor's series is scaled so that a smooth maximum of what it uses of its limits is a share
below one; that share is a free number as well.
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.dynamics.excitation.limits import Limits
from theodolite.dynamics.excitation.trajectory import FourierBasis, FourierPart

#: Power of the smooth maximum: it exceeds the largest value by a few percent at most.
POWER = 24.0
#: Part of every limit that the search may use, so that the motion is strictly within.
MARGIN = 0.99
#: Samples of each part in the search, per harmonic; the result is checked with FINER times as many.
SAMPLES, FINER = 16, 20


class FreeSeries:
    """One part: free numbers (size of the basis, and a share, per motor) and its motion."""

    def __init__(self, basis: FourierBasis, limits: Limits) -> None:
        self.basis, self.limits = basis, limits
        self.motors = len(limits.lower)
        self.samples = SAMPLES * basis.harmonics
        times = basis.duration * np.arange(self.samples) / self.samples
        self.tables = basis.tables(times)

    @property
    def size(self) -> int:
        return (self.basis.size + 1) * self.motors

    def random(self, rng: np.random.Generator) -> FloatArray:
        p = rng.standard_normal((self.basis.size, self.motors))
        share = rng.uniform(0.0, 3.0, (1, self.motors))
        return np.concatenate([p, share]).ravel()

    def _scaled(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Coefficients p, what they use of the limits, its smooth maximum, and the share."""
        from scipy.special import expit

        free = x.reshape(self.basis.size + 1, self.motors)
        p, share = free[:-1], MARGIN * np.asarray(expit(free[-1]))
        limits = (self.limits.half, self.limits.velocity, self.limits.acceleration)
        used = np.concatenate(
            [table @ p / limit for table, limit in zip(self.tables, limits, strict=True)]
        )
        largest = np.abs(used).max(axis=0)
        norm = largest * (np.abs(used / largest) ** POWER).sum(axis=0) ** (1 / POWER)
        return p, used, norm, share

    def coefficients(self, x: FloatArray) -> FloatArray:
        p, _, norm, share = self._scaled(x)
        scaled = p * (share / norm)
        scaled[0] += self.limits.middle
        return scaled

    def state(self, x: FloatArray) -> State:
        coefficients = self.coefficients(x)
        return State(*(table @ coefficients for table in self.tables))

    def chain_rule(self, x: FloatArray, slopes: State) -> FloatArray:
        """Derivative by the free numbers, given that by the motion."""
        p, used, norm, share = self._scaled(x)
        by_coefficients = sum(
            table.T @ slope
            for table, slope in zip(self.tables, (slopes.q, slopes.qd, slopes.qdd), strict=True)
        )
        along = (by_coefficients * p).sum(axis=0)
        limits = (self.limits.half, self.limits.velocity, self.limits.acceleration)
        ratio = used / norm
        by_used = np.sign(ratio) * np.abs(ratio) ** (POWER - 1)
        by_norm = sum(
            table.T @ part / limit
            for table, part, limit in zip(self.tables, np.split(by_used, 3), limits, strict=True)
        )
        by_p = by_coefficients * (share / norm) - by_norm * (along * share / norm**2)
        by_share = along / norm * share * (1.0 - share / MARGIN)
        return np.concatenate([by_p, by_share[None]]).ravel()

    def build(self, x: FloatArray) -> FourierPart:
        """The part itself, scaled down where it exceeds its limits between the samples."""
        coefficients = self.coefficients(x)
        part = FourierPart(self.basis, coefficients)
        state = part.at(even_times(part, FINER))
        used = np.max(
            [
                np.abs(state.q - self.limits.middle).max(axis=0) / self.limits.half,
                np.abs(state.qd).max(axis=0) / self.limits.velocity,
                np.abs(state.qdd).max(axis=0) / self.limits.acceleration,
            ],
            axis=0,
        )
        away = coefficients.copy()
        away[0] -= self.limits.middle
        away *= np.minimum(1.0, MARGIN / used)
        away[0] += self.limits.middle
        return FourierPart(self.basis, away)


def even_times(part: FourierPart, finer: int) -> FloatArray:
    """Times of the samples of a part, so many times finer than in the search."""
    count = SAMPLES * part.basis.harmonics * finer
    return part.duration * np.arange(count) / count
