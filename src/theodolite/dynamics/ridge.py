"""All standard parameters near to a prior, as near as blocks of time left out say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.consistent import is_consistent, weighted_data
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.prior_weight import choose_weight
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.estimation.identifiability import NO_EFFECT
from theodolite.estimation.scaling import unit_columns
from theodolite.estimation.threads import single_thread

#: Weights of the prior to choose from, as parts of the largest singular value of the data.
WEIGHTS = tuple(np.logspace(-10, 0, 21).tolist())


def fit_ridge(result: IdentifiedDynamics, prior: FloatArray) -> IdentifiedDynamics:
    """Minimise ``|R x - t|^2 + (weight s)^2 |D (x - x0)|^2``.

    The columns are scaled by D to unit length; s is their largest singular value. How far the prior
    is off is not known, so intervals are those of the data alone.
    """
    R, target = weighted_data(result.solution.reduction, result.solution.values)
    # What has no effect stays at the prior: its column is rounding, whose length says nothing.
    norms = np.linalg.norm(R, axis=0)
    unit, lengths = unit_columns(np.where(norms > NO_EFFECT * norms.max(), R, 0.0))
    largest = float(np.linalg.norm(unit, 2))

    def fit(
        R: FloatArray, target: FloatArray, weight: float, _: FloatArray | None = None
    ) -> FloatArray:
        rows = np.diag(weight * largest * lengths)
        stacked, scale = unit_columns(np.concatenate([R, rows]))
        right = np.concatenate([target, rows @ prior])
        return np.asarray(np.linalg.lstsq(stacked, right, rcond=None)[0]) / scale

    weight, choice = choose_weight(result.problem, fit, WEIGHTS)
    with single_thread():
        values = fit(R, target, weight)
    ridge = replace(
        result,
        values=values,
        standard=True,
        estimator=Estimator.RIDGE,
        prior_weight=weight,
        weights=choice,
    )
    return replace(ridge, consistent=is_consistent(ridge))
