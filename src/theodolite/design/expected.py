"""Errors to be expected after a calibration, before anything is measured."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.design.information import Information


def expected_error(known: Information, chosen: IntArray, task: FloatArray) -> float:
    """Root mean square error of the tip over a task, after a calibration by some candidates, m."""
    return _error(known.of(chosen), task)


def error_curve(
    known: Information, chosen: IntArray, counts: IntArray, task: FloatArray
) -> FloatArray:
    """The same for the first so many of them, (counts,)."""
    return np.array([expected_error(known, chosen[:count], task) for count in counts])


def scaled_error(known: Information, chosen: IntArray, task: FloatArray, noise: float) -> float:
    """The same with noise so many times as large; priors stay."""
    rows = known.J[chosen].reshape(-1, known.J.shape[2])
    return _error(known.prior + rows.T @ rows / noise**2, task)


def _error(information: FloatArray, task: FloatArray) -> float:
    # Parameters that nothing is known of, and that do not matter, may leave it singular.
    spread = np.linalg.pinv(information, hermitian=True, rcond=1e-14)
    return float(np.sqrt(max(float(np.sum(task * spread)), 0.0)))
