"""Columns scaled to unit length before any factorization, so that no unit counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theodolite.arrays import FloatArray


class ScaledFactor(NamedTuple):
    """``columns = Q R diag(lengths)``, with ``Q R`` of unit columns."""

    #: The columns at unit length, (m, p).
    unit: FloatArray
    #: Their lengths, (p,); 1 for a column of zeros.
    lengths: FloatArray
    #: Upper triangular, (min(m, p), p).
    R: FloatArray


def unit_columns(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns (m, p) at unit length, and their lengths (p,); zeros stay zeros, of length 1."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return columns / lengths, lengths


def scaled_factor(columns: FloatArray) -> ScaledFactor:
    """Unit columns, their lengths and the triangular factor of the unit columns."""
    unit, lengths = unit_columns(columns)
    return ScaledFactor(unit, lengths, np.asarray(np.linalg.qr(unit, mode="r")))
