"""Figures with their 95 % intervals.

Means have Student's interval, 3 S has that of a chi-square variance. The length of a mean vector
has that of a noncentral chi-square distribution, n b^2 / s^2 with s the scatter along b, widened as
Student's is: it holds for zero too, where lengths are biased.
l_bar + 3 S_l scales with the scatter, so its interval comes from drawing normal scatter of the same
shape. The largest of k values lies between the largest lower and the largest upper end of intervals
that hold all together, each at 1 - 0.05 / k (Bonferroni): at least 95 %, as the k are much alike.
The largest over n cycles estimates what n cycles of normal scatter reach on average,
mean + e_n sigma; its interval is that of a noncentral t distribution. Changes between two blocks
combine the intervals of both by their squares (Zou and Donner).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray

CONFIDENCE = 0.95
#: A value and the ends of its interval.
Interval = tuple[float, float, float]
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


def figure(symbol: str, name: str, found: Interval | float, unit: str, of: Counted) -> Figure:
    """A figure from its value, or from its value and interval."""
    value, low, high = found if isinstance(found, tuple) else (found, float("nan"), float("nan"))
    return Figure(symbol, name, value, unit, low, high, *of)


def mean_interval(values: FloatArray, confidence: float = CONFIDENCE) -> Interval:
    """The mean and its interval."""
    from scipy.special import stdtrit

    mean, count = float(np.mean(values)), len(values)
    if count < 2:
        return mean, float("nan"), float("nan")
    half = float(stdtrit(count - 1, 0.5 + confidence / 2) * np.std(values, ddof=1) / count**0.5)
    return mean, mean - half, mean + half


def spread_interval(values: FloatArray, confidence: float = CONFIDENCE) -> Interval:
    """3 S and its interval."""
    from scipy.special import chdtri

    count = len(values)
    if count < 2:
        return float("nan"), float("nan"), float("nan")
    spread = 3.0 * float(np.std(values, ddof=1))
    tail = (1.0 - confidence) / 2
    ends = [((count - 1) / float(chdtri(count - 1, p))) ** 0.5 for p in (tail, 1.0 - tail)]
    return spread, spread * ends[0], spread * ends[1]


def length_interval(vectors: FloatArray, confidence: float = CONFIDENCE) -> Interval:
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
    tail = (1.0 - confidence) / 2
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
    if square <= 3.0 * (count - 1) / (count - 3) * float(fdtri(3, count - 3, confidence)):
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


def repeatability_interval(positions: FloatArray, confidence: float = CONFIDENCE) -> Interval:
    """RP and its interval: the ratio to the truth is as that of normal scatter of this shape."""
    from scipy.special import ndtri

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
    # Ratios of scatters are nearly log-normal, which tells of chances far smaller than one draw.
    ratios = np.log(repeatability(drawn) / truth)
    half = float(ndtri(0.5 + confidence / 2) * ratios.std(ddof=1))
    middle = float(ratios.mean())
    return value, value / float(np.exp(middle + half)), value / float(np.exp(middle - half))


def largest(interval: Callable[[int, float], Interval], count: int) -> Interval:
    """The largest of some values and its interval: of each, by its number and confidence."""
    found = np.array([interval(one, 1.0 - (1.0 - CONFIDENCE) / count) for one in range(count)])
    value, low, high = found.max(axis=0)
    return float(value), float(low), float(high)


def largest_of_cycles(values: FloatArray, *, least: float = -np.inf) -> Interval:
    """The largest of n values and the interval of what it is on average over sets of n.

    Values are never below ``least``.
    """
    from scipy.special import nctdtrit

    count = len(values)
    value, scatter = float(np.max(values)), float(np.std(values, ddof=1)) if count > 1 else 0.0
    if count < 2:
        return value, float("nan"), float("nan")
    above = mean_of_largest(count) * count**0.5
    tail = (1.0 - CONFIDENCE) / 2
    # (mu + e sigma - mean) / (S / sqrt(n)) has this distribution.
    ends = (float(nctdtrit(count - 1, above, p)) for p in (tail, 1.0 - tail))
    mean, unit = float(np.mean(values)), scatter / count**0.5
    low, high = (max(mean + end * unit, least) for end in ends)
    return value, low, high


def mean_of_largest(count: int) -> float:
    """How far the largest of n normal values lies above their mean on average, in sigmas."""
    from scipy.integrate import quad
    from scipy.special import ndtr

    # The mean is the integral of 1 - F above zero less that of F below it.
    upper = quad(lambda x: 1.0 - float(ndtr(x)) ** count, 0.0, 12.0)[0]
    lower = quad(lambda x: float(ndtr(x)) ** count, -12.0, 0.0)[0]
    return float(upper - lower)


def change(one: Interval, other: Interval) -> Interval:
    """The size of the difference of two independent values, and its interval from both of theirs.

    Each end is as far from the difference as the two ends that lead there are from their values,
    added by their squares [Zou2008].
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    low = a - b - float(np.hypot(a - a_low, b_high - b))
    high = a - b + float(np.hypot(a_high - a, b - b_low))
    return greatest_size((a - b, low, high))


def greatest_size(values: Interval) -> Interval:
    """The same of a size, from the value with its sign."""
    value, low, high = values
    crosses = low < 0.0 < high
    return abs(value), 0.0 if crosses else min(abs(low), abs(high)), max(abs(low), abs(high))
