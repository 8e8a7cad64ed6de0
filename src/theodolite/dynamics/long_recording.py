"""Recordings larger than memory: where they are interrupted, and excerpts that fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.recording import FEWEST_ROWS, GAP, LONGEST_STEP, Recording
from theodolite.errors import InputError

#: Rows of times that are read at once.
AT_ONCE = 1 << 20
#: Rows between those whose time is kept to find others by.
STRIDE = 4096
#: Excerpts that stand for the whole where it has to fit in memory, and rows of each.
EXCERPTS, EXCERPT_ROWS = 8, 50_000


class LongSource(Protocol):
    """Rows of a recording that are read where they are needed. Sent to workers, so picklable."""

    @property
    def name(self) -> str: ...

    @property
    def rows(self) -> int: ...

    def times(self, start: int, stop: int) -> FloatArray:
        """Times of some rows, s."""

    def read(self, start: int, stop: int) -> Recording:
        """All of some rows."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Rows of a long recording without an interruption."""

    start: int
    stop: int
    #: Times of the first and last row, s.
    first: float
    last: float
    #: Samples per second, by the median step.
    rate: float
    #: Time of every `STRIDE`-th row.
    index: FloatArray

    @property
    def samples(self) -> int:
        """Even samples of the whole stretch."""
        return int(np.ceil((self.last - self.first) / (1.0 / self.rate)))

    def rows_around(self, since: float, until: float, margin: int) -> tuple[int, int]:
        """Rows that hold two times, in seconds from the first row, and some more."""
        before, after = np.searchsorted(self.index - self.first, [since, until])
        start = self.start + STRIDE * (int(before) - 1) - margin
        return max(self.start, start), min(self.stop, self.start + STRIDE * int(after) + 1 + margin)


def find_stretches(source: LongSource) -> list[Stretch]:
    """The stretches between interruptions that are long enough, as of a short recording."""
    if source.rows < FEWEST_ROWS:
        raise InputError(
            f"only {source.rows} rows", where=source.name, allowed=f"{FEWEST_ROWS} or more"
        )
    usual = _median_step(source, 0, source.rows)
    longest = max(GAP * usual, LONGEST_STEP)
    edges = [0]
    for start, steps in _steps(source, 0, source.rows):
        if (steps <= 0).any():
            row = start + int(np.argmax(steps <= 0)) + 2
            raise InputError(
                f"row {row}: the time does not increase", where=source.name,
                remedy="Sort the rows, and name the files in the order of their times",
            )  # fmt: skip
        edges += (start + 1 + np.flatnonzero(steps > longest)).tolist()
    edges.append(source.rows)
    whole = len(edges) == 2
    return [
        _stretch(source, start, stop, usual if whole else None)
        for start, stop in pairwise(edges)
        if stop - start >= FEWEST_ROWS
    ]


def _stretch(source: LongSource, start: int, stop: int, step: float | None) -> Stretch:
    step = _median_step(source, start, stop) if step is None else step
    # Copies: views would keep all times in memory.
    index = [
        source.times(first, min(first + AT_ONCE, stop))[::STRIDE].copy()
        for first in range(start, stop, AT_ONCE)
    ]
    kept = np.concatenate(index)
    last = float(source.times(stop - 1, stop)[0])
    return Stretch(start, stop, float(kept[0]), last, 1.0 / step, kept)


def _steps(source: LongSource, start: int, stop: int) -> Iterator[tuple[int, FloatArray]]:
    """Differences of times, with the row that the first is from."""
    for first in range(start, stop - 1, AT_ONCE):
        yield first, np.diff(source.times(first, min(first + AT_ONCE + 1, stop)))


def _median_step(source: LongSource, start: int, stop: int) -> float:
    """The very median that sorting all steps would give."""
    count = stop - start - 1
    if count <= AT_ONCE:
        return float(np.median(np.diff(source.times(start, stop))))

    def steps() -> Iterator[FloatArray]:
        return (part for _, part in _steps(source, start, stop))

    # Of an even number, the mean of the two in the middle.
    middle = sorted({(count - 1) // 2, count // 2})
    return float(np.mean([_ranked(steps, rank) for rank in middle]))


def _ranked(parts: Callable[[], Iterator[FloatArray]], rank: int) -> float:
    """The number of a rank among positive ones, by counting their digits, 16 bits at a time.

    Positive numbers are ordered as their bits are. Each pass fixes the next digit.
    """
    found = 0
    for shift in (48, 32, 16, 0):
        counts = np.zeros(1 << 16, dtype=np.int64)
        for part in parts():
            bits = np.maximum(part, 0.0).view(np.int64) >> shift
            counts += np.bincount(bits[(bits >> 16) == found] & 0xFFFF, minlength=1 << 16)
        below = np.cumsum(counts)
        digit = int(np.searchsorted(below, rank, side="right"))
        rank -= int(below[digit - 1]) if digit else 0
        found = (found << 16) | digit
    return float(np.array(found, dtype=np.int64).view(np.float64))


def read_excerpts(source: LongSource, stretches: list[Stretch]) -> list[Recording]:
    """Excerpts spread over the whole, those in which a joint moves; all of it if that is short."""
    total = sum(each.stop - each.start for each in stretches)
    if total <= EXCERPTS * EXCERPT_ROWS:
        return [source.read(each.start, each.stop) for each in stretches]
    found = []
    for number in range(EXCERPTS):
        place = int((number + 0.5) * total / EXCERPTS)
        for each in stretches:
            if place < each.stop - each.start:
                break
            place -= each.stop - each.start
        start = max(each.start, min(each.start + place, each.stop - EXCERPT_ROWS))
        found.append(source.read(start, min(start + EXCERPT_ROWS, each.stop)))
    return [excerpt for excerpt in found if excerpt.moves] or found
