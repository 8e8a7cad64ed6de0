"""Linear algebra over stacks of small matrices."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray

#: Singular values below this part of the largest count as zero.
SINGULAR = 1e-9


#: Correlations that differ by less, or are below zero by less, differ by rounding.
SYMMETRIC = 1e-6


def pseudo_inverse(matrices: FloatArray) -> FloatArray:
    """Pseudo-inverses of many small matrices; joints that do nothing stay where they are."""
    inverse: FloatArray
    if matrices.shape[1] == matrices.shape[2] and matrices.size:
        try:
            inverse = np.linalg.inv(matrices)
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.pinv(matrices, rcond=SINGULAR))
        # Inverting is several times faster; where it is not safe, do it again properly.
        sizes = np.abs(matrices).sum(axis=(1, 2)) * np.abs(inverse).sum(axis=(1, 2))
        unsafe = ~(sizes < 1e-2 / SINGULAR)
        inverse[unsafe] = np.linalg.pinv(matrices[unsafe], rcond=SINGULAR)
        return inverse
    inverse = np.linalg.pinv(matrices, rcond=SINGULAR)
    return inverse


def is_covariance(matrix: FloatArray) -> bool:
    """Is it finite, symmetric and, but for rounding, positive semidefinite?"""
    if not np.isfinite(matrix).all() or matrix.shape != matrix.T.shape:
        return False
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    safe = np.where(scale > 0, scale, 1.0)
    with np.errstate(all="ignore"):
        unit = matrix / safe[:, None] / safe
    if (np.diag(matrix) < 0).any() or not np.isfinite(unit).all():
        return False
    if not np.allclose(unit, unit.T, atol=SYMMETRIC):
        return False
    return bool(np.linalg.eigvalsh(unit).min(initial=0.0) > -SYMMETRIC)
