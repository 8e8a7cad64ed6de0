"""Rotation errors and their exact derivatives.

With phi = log(E), a small rotation dx of the world on the left of E changes phi by
``left_inverse(phi) dx``, and one on its right by ``right_inverse(phi) dx``:

    J_l^-1 = I - [phi]/2 + c [phi]^2,   J_r^-1 = I + [phi]/2 + c [phi]^2,
    c = 1/t^2 - (1 + cos t) / (2 t sin t),   t = |phi|.
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray

#: Below this angle c is taken from its series 1/12 + t^2/720, exact to rounding there.
SMALL_ANGLE = 1e-2


def about(axis: int, angle: float) -> FloatArray:
    """The rotation (3, 3) about one of the axes 0, 1, 2."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[j, j] = matrix[k, k] = np.cos(angle)
    matrix[k, j] = np.sin(angle)
    matrix[j, k] = -matrix[k, j]
    return matrix


def log(rotations: FloatArray) -> FloatArray:
    """Rotation vectors (n, 3) of rotation matrices (n, 3, 3)."""
    from scipy.spatial.transform import Rotation

    if not len(rotations):
        return np.empty((0, 3))
    vectors: FloatArray = Rotation.from_matrix(rotations).as_rotvec()
    return vectors


def exp(vectors: FloatArray) -> FloatArray:
    """Rotation matrices (n, 3, 3) of rotation vectors (n, 3)."""
    from scipy.spatial.transform import Rotation

    matrices: FloatArray = Rotation.from_rotvec(vectors).as_matrix()
    return matrices


def from_quaternion(quaternions: FloatArray) -> FloatArray:
    """Rotation matrices (n, 3, 3) of quaternions w, x, y, z (n, 4) of any length but zero."""
    from scipy.spatial.transform import Rotation

    matrices: FloatArray = Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_matrix()
    return matrices


def to_quaternion(rotations: FloatArray) -> FloatArray:
    """Unit quaternions w, x, y, z (n, 4) of rotation matrices (n, 3, 3)."""
    from scipy.spatial.transform import Rotation

    quaternions: FloatArray = Rotation.from_matrix(rotations).as_quat()[:, [3, 0, 1, 2]]
    return quaternions


def left_inverse(vectors: FloatArray) -> FloatArray:
    """Derivative of log(exp(dx) E) at dx = 0, (n, 3, 3)."""
    return _inverse(vectors, -0.5)


def right_inverse(vectors: FloatArray) -> FloatArray:
    """Derivative of log(E exp(dx)) at dx = 0, (n, 3, 3)."""
    return _inverse(vectors, 0.5)


def _inverse(vectors: FloatArray, half: float) -> FloatArray:
    angle = np.linalg.norm(vectors, axis=1)
    small = angle < SMALL_ANGLE
    safe = np.where(small, 1.0, angle)
    series = 1 / 12 + angle**2 / 720
    closed = 1 / safe**2 - (1 + np.cos(safe)) / (2 * safe * np.sin(safe))
    c = np.where(small, series, closed)[:, None, None]
    cross = skew(vectors)
    return np.eye(3) + half * cross + c * (cross @ cross)


def skew(vectors: FloatArray) -> FloatArray:
    """Matrices (n, 3, 3) that multiply as the cross product with each vector does."""
    matrices = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    matrices[:, 0, 1], matrices[:, 0, 2], matrices[:, 1, 2] = -z, y, -x
    matrices[:, 1, 0], matrices[:, 2, 0], matrices[:, 2, 1] = z, -y, x
    return matrices
