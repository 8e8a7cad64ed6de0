"""Pieces of a long recording, filtered with so much overlap that the seams do not show.

What a low-pass makes of a piece is wrong at the piece's ends and right further inside: the error of
an end fades as the response of the filter does, by the radius of its slowest pole with each sample.
So a piece is read with as many samples more as it takes to fade to rounding, and these are dropped
afterwards. The spline through uneven times fades by at least half with each row, since its
equations are diagonally dominant by a factor of two. Samples that decimation keeps are counted from
the start of the whole stretch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from theodolite.dynamics.decimation import Decimation
from theodolite.dynamics.filtering import (
    FEWEST_PERIODS,
    ORDER,
    Run,
    coarsening,
    edge_samples,
    smooth_samples,
)
from theodolite.dynamics.long_recording import LongSource, Stretch
from theodolite.dynamics.tree import Tree

#: What is left of the error of an end where a piece begins.
FADED = float(np.finfo(float).eps)
#: Rows after which the end of a spline does not show: 2^-60.
SPLINE_ROWS = 60
#: Half the length of SciPy's filter in front of decimation, in samples that are kept; and two
#: central differences.
DECIMATION_HALF, DIFFERENCES = 10, 2
#: Rows of a piece, about.
PIECE_ROWS = 1 << 17


def overlap_samples(cutoff: float, rate: float) -> int:
    """Samples in which the end of a piece fades."""
    from scipy.signal import butter

    _, poles, _ = butter(ORDER, cutoff, fs=rate, output="zpk")
    fading = int(np.ceil(np.log(FADED) / np.log(np.abs(poles).max())))
    return fading + DECIMATION_HALF * coarsening(rate, cutoff) + DIFFERENCES


@dataclass(frozen=True, eq=False)
class Piece:
    """Samples that decimation keeps of a stretch, and all that is needed to compute them."""

    source: LongSource
    dynamics: Tree
    cutoff: float
    #: Time of the first row of the stretch, and its samples per second.
    first: float
    rate: float
    #: Rows to read.
    rows: tuple[int, int]
    #: Even samples to compute, and those of them that count after coarsening, from the first of
    #: the stretch.
    even: tuple[int, int]
    coarse: tuple[int, int]

    def run(self) -> Run:
        """Even samples for the regressor, as `filter_recording` finds them in the whole."""
        recorded = self.source.read(*self.rows)
        times = np.arange(*self.even) * (1.0 / self.rate)
        even = recorded.at_even_times(recorded.times - self.first, times, self.rate)
        state, torques = smooth_samples(even, self.cutoff, self.dynamics)
        coarser = coarsening(self.rate, self.cutoff)
        start = self.even[0] // coarser
        keep = slice(self.coarse[0] - start, self.coarse[1] - start)
        rate = self.rate / coarser
        return Run(
            state[keep],
            torques[keep],
            rate,
            Decimation.below(self.cutoff, rate),
            name=self.source.name,
            cutoff=self.cutoff,
        )


def cut_pieces(
    source: LongSource,
    stretch: Stretch,
    dynamics: Tree,
    cutoff: float,
    piece_rows: int = PIECE_ROWS,
) -> Iterator[Piece]:
    """Pieces whose kept samples are, one after the other, those of the whole stretch.

    None where the stretch is too short for the low-pass.
    """
    rate, samples = stretch.rate, stretch.samples
    coarser = coarsening(rate, cutoff)
    decimation = Decimation.below(cutoff, rate / coarser)
    edge = edge_samples(rate / coarser, cutoff)
    count = decimation.count(-(-samples // coarser) - 2 * edge)
    if samples < FEWEST_PERIODS * rate / cutoff:
        return
    overlap = overlap_samples(cutoff, rate)
    each = max(1, piece_rows // (coarser * decimation.factor))
    for kept in range(0, count, each):
        inside = decimation.input_rows(slice(kept, min(kept + each, count)))
        coarse = (edge + inside.start, edge + inside.stop)
        # Every coarser sample is counted from the first of the stretch.
        begin = max(0, coarse[0] * coarser - overlap) // coarser * coarser
        end = min(samples, (coarse[1] - 1) * coarser + 1 + overlap)
        rows = stretch.rows_around(begin / rate, end / rate, SPLINE_ROWS)
        yield Piece(source, dynamics, cutoff, stretch.first, rate, rows, (begin, end), coarse)
