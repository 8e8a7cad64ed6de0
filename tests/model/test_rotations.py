"""Derivatives of rotation vectors, near zero and near half a turn."""

from __future__ import annotations

import numpy as np
import pytest

from tests.random_robots import central_differences
from theodolite.model import rotations


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 9.999e-3, 1.0001e-2, 0.5, 2.0, 3.0])
def test_inverse_jacobians_equal_differences(angle: float) -> None:
    vector = angle * np.array([[0.36, -0.48, 0.8]])
    frame = rotations.exp(vector)

    def left(x: np.ndarray) -> np.ndarray:
        return rotations.log(rotations.exp(x[None]) @ frame)[0]

    def right(x: np.ndarray) -> np.ndarray:
        return rotations.log(frame @ rotations.exp(x[None]))[0]

    zero = np.zeros(3)
    for function, exact in ((left, rotations.left_inverse), (right, rotations.right_inverse)):
        np.testing.assert_allclose(
            exact(vector)[0], central_differences(function, zero, 1e-5), atol=1e-8
        )
