"""Parallel filtering: the same low-pass for torques and for every column of the regressor.

A model linear in its parameters stays true when both sides pass the same filter [Renaud2006,
5.2.1], also where a column jumps, as that of Coulomb friction does. The filter is symmetric, so it
shifts nothing, and finite, so it works block by block. Little is left above its cut-off, so one
sample in a few carries nearly all the information; what folds back does so on both sides alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError

#: Length of the low-pass in samples that are kept: long enough to be steep, short enough to leave
#: most of a recording.
KEPT_LENGTH = 8


@dataclass(frozen=True, eq=False)
class Decimation:
    """A symmetric low-pass, then one sample in ``factor``; by default all samples as they are.

    The length of ``taps`` less one is a multiple of ``factor``.
    """

    taps: FloatArray = field(default_factory=lambda: np.ones(1))
    factor: int = 1

    @staticmethod
    def below(cutoff: float, rate: float) -> Decimation:
        """Keeps what lies below a cut-off, Hz, at about twice that rate."""
        from scipy.signal import firwin

        factor = max(1, int(rate / (2.0 * cutoff)))
        # Zero at both ends, so that the derivative is a filter of the same length.
        inside = np.asarray(firwin(KEPT_LENGTH * factor - 1, cutoff, fs=rate))
        return Decimation(np.pad(inside, 1), factor)

    def count(self, samples: int) -> int:
        """How many of some samples are kept."""
        return max(0, (samples - len(self.taps)) // self.factor + 1)

    def check_length(self, samples: int, name: str) -> None:
        """Refuse fewer samples than the low-pass filter is long."""
        if self.count(samples) < 1:
            raise InputError(
                f"{samples} samples are too few for a low-pass filter of length {len(self.taps)}",
                where=name,
                remedy="Record for longer, or raise the cut-off",
            )

    def input_rows(self, rows: slice) -> slice:
        """The samples that some of the kept ones are computed from."""
        return slice(rows.start * self.factor, (rows.stop - 1) * self.factor + len(self.taps))

    def centres(self, rows: slice) -> slice:
        """The samples whose times some of the kept ones have."""
        half = len(self.taps) // 2
        return slice(
            rows.start * self.factor + half, (rows.stop - 1) * self.factor + half + 1, self.factor
        )

    def apply(self, table: FloatArray) -> FloatArray:
        """Low-pass and decimate along the last axis, only where the filter fits inside."""
        return self._filter(self.taps, table)

    def differentiate(self, table: FloatArray, rate: float) -> FloatArray:
        """The same for the table's time derivative; the filter is differentiated instead."""
        return rate * self._filter(self._derivative_taps, table)

    @cached_property
    def _derivative_taps(self) -> FloatArray:
        if len(self.taps) == 1:
            raise InputError("a derivative needs a low-pass filter", remedy="Give a cut-off")
        return np.convolve(self.taps, [0.5, 0.0, -0.5], mode="same")

    def _filter(self, taps: FloatArray, table: FloatArray) -> FloatArray:
        if len(taps) == 1:
            return table
        from scipy.signal import upfirdn

        first = (len(taps) - 1) // self.factor
        count = self.count(table.shape[-1])
        return np.asarray(upfirdn(taps, table, 1, self.factor, axis=-1))[..., first : first + count]


#: All samples as they are.
NO_DECIMATION = Decimation()
