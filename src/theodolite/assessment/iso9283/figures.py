"""Figures with their 95 % intervals.

Means have Student's interval, 3 S has that of a chi-square variance. The length of a mean vector
has that of a noncentral chi-square distribution, n b^2 / s^2 with s the scatter along b, widened as
Student's is: it holds for zero too, where lengths are biased.
l_bar + 3 S_l scales with the scatter, so its interval comes from drawing normal scatter of the same
shape. Largest values over several places have intervals from drawing cycles again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray, IntArray

CONFIDENCE = 0.95
#: Data sets that are drawn for an interval.
DRAWN = 1000


@dataclass(frozen=True)
class Figure:
    """One quantity: SI, with its interval."""

    symbol: str
    name: str
    value: float
    #: m, rad, s, m/s or 1.
    unit: str
    low: float = float("nan")
    high: float = float("nan")
    #: The pose, or what else it is of.
    where: str = ""
    cycles: int = 0
    #: Cycles that the standard asks for at least.
    required: int = 0

    @property
    def enough(self) -> bool:
        return self.cycles >= self.required


class Counted(NamedTuple):
    """What a figure is of, and how many cycles it has of those that are asked for."""

    where: str
    cycles: int
    required: int


def figure(
    symbol: str, name: str, found: tuple[float, float, float] | float, unit: str, of: Counted
) -> Figure:
    """A figure from its value, or from its value and interval."""
    value, low, high = found if isinstance(found, tuple) else (found, float("nan"), float("nan"))
    return Figure(symbol, name, value, unit, low, high, *of)


def mean_interval(values: FloatArray) -> tuple[float, float, float]:
    """The mean and its interval."""
    from scipy.special import stdtrit

    mean, count = float(np.mean(values)), len(values)
    if count < 2:
        return mean, float("nan"), float("nan")
    half = float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2) * np.std(values, ddof=1) / count**0.5)
    return mean, mean - half, mean + half


def spread_interval(values: FloatArray) -> tuple[float, float, float]:
    """3 S and its interval."""
    from scipy.special import chdtri

    count = len(values)
    if count < 2:
        return float("nan"), float("nan"), float("nan")
    spread = 3.0 * float(np.std(values, ddof=1))
    tail = (1.0 - CONFIDENCE) / 2
    ends = [((count - 1) / float(chdtri(count - 1, p))) ** 0.5 for p in (tail, 1.0 - tail)]
    return spread, spread * ends[0], spread * ends[1]


def length_interval(vectors: FloatArray) -> tuple[float, float, float]:
    """The length of the mean of vectors (n, 3) and its interval."""
    from scipy.optimize import brentq
    from scipy.special import chndtr, fdtri, ndtri, stdtrit

    mean, count = vectors.mean(axis=0), len(vectors)
    length = float(np.linalg.norm(mean))
    if count < 4:
        return length, float("nan"), float("nan")
    covariance = np.cov(vectors.T)
    along = mean / length if length > 0 else np.eye(3)[0]
    scatter = float(np.sqrt(max(along @ covariance @ along, 0.0)))
    if scatter <= 1e-12 * max(length, 1e-12):
        return length, length, length
    ratio = count * length**2 / scatter**2
    tail = (1.0 - CONFIDENCE) / 2
    ends = []
    for chance in (1.0 - tail, tail):

        def beyond(root: float, chance: float = chance) -> float:
            # So far out that it underflows, the chance is nothing.
            return float(np.nan_to_num(chndtr(ratio, 3, root**2))) - chance

        top = ratio**0.5 + 20.0
        ends.append(0.0 if beyond(0.0) <= 0.0 else float(brentq(beyond, 0.0, top)))
    # The scatter is estimated too: as much wider as Student's interval is than the normal one.
    wider = float(stdtrit(count - 1, 1.0 - tail) / ndtri(1.0 - tail))
    low, high = (root * scatter / count**0.5 for root in ends)
    # Across the mean the scatter may be larger: is nothing possible, by Hotelling's test?
    square = count * float(mean @ np.linalg.pinv(covariance, hermitian=True) @ mean)
    if square <= 3.0 * (count - 1) / (count - 3) * float(fdtri(3, count - 3, CONFIDENCE)):
        low = 0.0
    # A mean that is nearer to the command than chance has it still is as uncertain as any.
    high = max(high, scatter / count**0.5)
    return length, max(length - wider * (length - low), 0.0), length + wider * abs(high - length)


def repeatability(positions: FloatArray) -> FloatArray:
    """l_bar + 3 S_l of positions (..., n, 3) about their barycentre, (...)."""
    away = positions - positions.mean(axis=-2, keepdims=True)
    lengths = np.linalg.norm(away, axis=-1)
    found: FloatArray = lengths.mean(axis=-1) + 3.0 * lengths.std(axis=-1, ddof=1)
    return found


def repeatability_interval(positions: FloatArray) -> tuple[float, float, float]:
    """RP and its interval: the ratio to the truth is as that of normal scatter of this shape."""
    count = len(positions)
    if count < 4:
        value = float(repeatability(positions)) if count > 1 else float("nan")
        return value, float("nan"), float("nan")
    value = float(repeatability(positions))
    scale = float(np.abs(positions - positions.mean(axis=0)).max())
    if scale == 0.0:
        return 0.0, 0.0, 0.0
    values, axes = np.linalg.eigh(np.cov(positions.T))
    root = axes * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((DRAWN, count, 3)) @ root.T
    # The truth of that scatter, from a sample that is as good as endless.
    truth = float(repeatability(rng.standard_normal((20_000, 3)) @ root.T))
    ratios = repeatability(drawn) / truth
    tail = (1.0 - CONFIDENCE) / 2
    low, high = np.quantile(ratios, [tail, 1.0 - tail])
    return value, value / float(high), value / float(low)


def drawn_interval(
    statistic: Callable[[IntArray], float], count: int
) -> tuple[float, float, float]:
    """A statistic of cycles, and its interval by drawing cycles again, reflected about it.

    Largest values come out too large from few cycles, and larger still from cycles drawn again:
    what is too much there is taken off here.
    """
    value = statistic(np.arange(count))
    if count < 4:
        return value, float("nan"), float("nan")
    rng = np.random.default_rng(0)
    again = np.array([statistic(rng.integers(0, count, count)) for _ in range(DRAWN // 4)])
    tail = (1.0 - CONFIDENCE) / 2
    low, high = np.quantile(again, [tail, 1.0 - tail])
    return value, max(2 * value - float(high), 0.0), max(2 * value - float(low), 0.0)
