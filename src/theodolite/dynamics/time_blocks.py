"""Recordings in blocks of time, to predict what a fit has not seen.

What a model lacks comes back slowly, so neighbouring samples say nearly the same: whole blocks of
time are left out together. Every block is folded into a triangular factor once; fits without some
of them, and their errors there, are linear algebra on these factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.dynamics.filtering import Run
from theodolite.estimation.reduction import triangle

#: Blocks, parts into which they are split, and how many times they are split anew.
BLOCKS, FOLDS, SPLITS = 20, 5, 3
#: Samples before decimation that decide; of longer recordings every block gives its share.
MOST_SAMPLES = 20_000
#: Every split is the same each time.
SEED = 0


def time_blocks(runs: Sequence[Run], count: int = BLOCKS, most: int = MOST_SAMPLES) -> list[Run]:
    """Blocks of time of about equal length, each short enough that all together are not too many.

    A run that is too short to be divided is one block.
    """
    samples = sum(len(run.state) for run in runs)
    blocks = []
    for run in runs:
        length = len(run.state)
        shortest = len(run.decimation.taps) + run.decimation.factor
        number = max(1, min(round(count * length / samples), length // shortest))
        edges = np.linspace(0, length, number + 1).astype(int)
        longest = max(shortest, int(most * length / samples / number))
        for start, stop in pairwise(edges.tolist()):
            rows = slice(start, min(stop, start + longest))
            blocks.append(replace(run, state=run.state[rows], torques=run.torques[rows]))
    return blocks


@dataclass(frozen=True, eq=False)
class BlockFactors:
    """Factors of the whitened ``[W -tau]`` of each block, (columns + 1, columns + 1) each."""

    factors: tuple[FloatArray, ...]
    #: Equations in each block.
    rows: IntArray

    @staticmethod
    def of(tables: Sequence[FloatArray], whitening: FloatArray) -> BlockFactors:
        """From tables (columns + 1, motors, n) of the blocks, the last column -torque."""
        factors = []
        for table in tables:
            white = np.matmul(whitening, table).reshape(len(table), -1).T
            factors.append(triangle([white], len(table)))
        return BlockFactors(
            tuple(factors), np.array([table.shape[1] * table.shape[2] for table in tables])
        )

    def columns(self, places: Sequence[int]) -> BlockFactors:
        """The same with some of the columns."""
        kept = [*places, -1]
        return BlockFactors(tuple(factor[:, kept] for factor in self.factors), self.rows)

    def together(self, blocks: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Factor and right-hand side of some blocks."""
        size = self.factors[0].shape[1]
        whole = triangle([np.concatenate([self.factors[block] for block in blocks])], size)
        return whole[: size - 1, : size - 1], -whole[: size - 1, -1]

    def squares(self, block: int, values: FloatArray) -> float:
        """Mean square of the whitened errors of given values on a block."""
        errors = self.factors[block] @ np.append(values, 1.0)
        return float(errors @ errors) / max(int(self.rows[block]), 1)


def splits(blocks: int) -> list[list[list[int]]]:
    """Several ways to leave out each block once: of each, which blocks are left out together."""
    rng = np.random.default_rng(SEED)
    folds = min(FOLDS, blocks)
    found = []
    for _ in range(SPLITS):
        part = rng.permutation(blocks) % folds
        found.append([np.flatnonzero(part == fold).tolist() for fold in range(folds)])
    return found
