"""Parallel filtering: the same low-pass for torques and for every column of the regressor.

A model linear in its parameters stays true when both sides pass the same filter [Renaud2006,
5.2.1], also where a column jumps, as that of Coulomb friction does. The filter is symmetric, so it
shifts nothing, and finite, so it works block by block. Little is left above its cut-off, so one
sample in a few carries nearly all there is; what folds back does so on both sides alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError

#: Length of the low-pass in samples that are kept.
KEPT_LENGTH = 8


@dataclass(frozen=True, eq=False)
class Thinning:
    """A symmetric low-pass of which every so many-th sample is kept; by default, all as they are.

    The length of ``taps`` less one is a multiple of ``every``.
    """

    taps: FloatArray = field(default_factory=lambda: np.ones(1))
    every: int = 1

    @staticmethod
    def below(cutoff: float, rate: float) -> Thinning:
        """What lies below the cut-off, at twice its frequency."""
        from scipy.signal import firwin

        every = max(1, int(rate / (2.0 * cutoff)))
        # Zero at both ends, so that the derivative is a filter of the same length.
        inside = np.asarray(firwin(KEPT_LENGTH * every - 1, cutoff, fs=rate))
        return Thinning(np.pad(inside, 1), every)

    def count(self, samples: int) -> int:
        """Samples that remain of so many."""
        return max(0, (samples - len(self.taps)) // self.every + 1)

    def check(self, samples: int, name: str) -> None:
        if self.count(samples) < 1:
            raise InputError(
                f"{samples} samples are too few for a low-pass of {len(self.taps)}",
                where=name,
                remedy="Record for longer, or raise --cutoff",
            )

    def source(self, rows: slice) -> slice:
        """The samples that some of the remaining ones are made of."""
        return slice(rows.start * self.every, (rows.stop - 1) * self.every + len(self.taps))

    def middle(self, rows: slice) -> slice:
        """The samples at which the remaining ones stand."""
        half = len(self.taps) // 2
        return slice(
            rows.start * self.every + half, (rows.stop - 1) * self.every + half + 1, self.every
        )

    def thinned(self, table: FloatArray) -> FloatArray:
        """Low-passed and thinned out along the last axis, only where the filter fits inside."""
        return self._passed(self.taps, table)

    def rate_of_change(self, table: FloatArray, rate: float) -> FloatArray:
        """The same of the table's derivative by time, which falls to the filter."""
        return rate * self._passed(self._slopes, table)

    @cached_property
    def _slopes(self) -> FloatArray:
        if len(self.taps) == 1:
            raise InputError("a derivative needs a low-pass", remedy="Give a cut-off")
        return np.convolve(self.taps, [0.5, 0.0, -0.5], mode="same")

    def _passed(self, taps: FloatArray, table: FloatArray) -> FloatArray:
        if len(taps) == 1:
            return table
        from scipy.signal import upfirdn

        first = (len(taps) - 1) // self.every
        count = self.count(table.shape[-1])
        return np.asarray(upfirdn(taps, table, 1, self.every, axis=-1))[..., first : first + count]


#: All samples as they are.
WHOLE = Thinning()
