"""Recordings in pieces: block by block for bounded memory, or a few rows spread over all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theodolite.arrays import IntArray

#: Configurations per block: large enough for speed, small enough to stay near the cache.
BLOCK = 2048


def slices(rows: int, size: int = BLOCK) -> Iterator[slice]:
    """Consecutive pieces of at most ``size`` rows."""
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


def spread(rows: int, count: int) -> IntArray:
    """At most ``count`` row numbers, evenly spread."""
    if rows <= count:
        return np.arange(rows)
    return np.unique(np.linspace(0, rows - 1, count).astype(np.intp))
