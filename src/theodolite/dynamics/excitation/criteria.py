"""How well a regressor determines its parameters, and how that changes with its entries.

Columns are scaled to unit length, so that no unit counts. The condition number is that of the
largest and smallest singular value; since these change places, the optimiser sees a smooth bound of
it, with sums of powers instead of extremes.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.scaling import scaled_factor

#: Power of the smooth condition number: high enough that the extremes dominate.
POWER = 10.0
#: Singular values of unit columns below this count as zero.
LEAST = 1e-12


class Criterion(Enum):
    """What a motion is chosen by."""

    #: A small condition number.
    CONDITION = "condition"
    #: A large log det.
    LOGDET = "logdet"


def condition_number(W: FloatArray) -> float:
    """Of columns scaled to unit length, (rows, columns)."""
    s = np.linalg.svd(scaled_factor(W).R, compute_uv=False)
    return float(s[0] / max(s[-1], LEAST))


def log_det(W: FloatArray) -> float:
    """Logarithm of det(W'W) of columns scaled to unit length; 0 where all are orthogonal."""
    s = np.linalg.svd(scaled_factor(W).R, compute_uv=False)
    return float(2 * np.log(np.maximum(s, LEAST)).sum())


def evaluate_criterion(W: FloatArray, criterion: Criterion) -> tuple[float, FloatArray]:
    """A number to make small, and its derivative by every entry of W."""
    unit, lengths, R = scaled_factor(W)
    U, s, Vt = np.linalg.svd(R)
    s = np.maximum(s, LEAST)
    if criterion is Criterion.CONDITION:
        # Relative to the extremes, so that powers stay within range.
        low, high = (s[-1] / s) ** POWER, (s / s[0]) ** POWER
        value = (np.log(high.sum()) + np.log(low.sum())) / POWER + np.log(s[0] / s[-1])
        by_s = (high / high.sum() - low / low.sum()) / s
    else:
        value = -2 * np.log(s).sum() / len(s)
        by_s = -2 / (s * len(s))
    # d value / d unit, with unit = Q R: Q U diag(by_s) V'.
    by_R = (U * by_s) @ Vt
    if s[-1] <= LEAST:
        G = np.linalg.qr(unit)[0] @ by_R
        return float(value), (G - unit * (G * unit).sum(axis=0)) / lengths
    # Also of what scaling to unit length takes off: all in one product with the long matrix.
    M = np.linalg.solve(R, by_R)
    M -= np.diag((R * (R @ M)).sum(axis=0))
    return float(value), unit @ (M / lengths)
