"""Twists (translation, rotation) and how they change from frame to frame."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray


def skew(vector: FloatArray) -> FloatArray:
    """The matrix of the cross product: skew(a) b = a x b."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def adjoint(R: FloatArray, p: FloatArray) -> FloatArray:
    """Twists of a frame, seen from the one in which it stands at (R, p): (6, 6)."""
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = R
    matrix[:3, 3:] = skew(p) @ R
    return matrix


def skews(vectors: FloatArray) -> FloatArray:
    """Matrices of cross products with many vectors, (n, 3, 3)."""
    matrices = np.zeros((len(vectors), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrices[:, j, k], matrices[:, k, j] = -vectors[:, i], vectors[:, i]
    return matrices
