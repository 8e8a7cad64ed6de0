"""The array types of the core. Leading axes are samples unless a comment says otherwise."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]


def frozen(values: ArrayLike) -> FloatArray:
    """A read-only copy: values are shared freely and never change under their holder."""
    array: NDArray[Any] = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def seen(points: FloatArray) -> BoolArray:
    """Which of some points (..., k) have all their numbers, (...): NaN means not seen."""
    return np.asarray(np.isfinite(points).all(axis=-1))
