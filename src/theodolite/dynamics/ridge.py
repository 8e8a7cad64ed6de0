"""All standard parameters near to a prior, as near as cross-validation says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.consistent import is_consistent
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.estimation.identifiability import NO_EFFECT
from theodolite.estimation.scaling import unit_columns

#: Strengths of the prior to choose from, as parts of the largest eigenvalue of the data.
STRENGTHS = np.logspace(-12, 0, 49)


def fit_ridge(result: IdentifiedDynamics, prior: FloatArray) -> tuple[IdentifiedDynamics, float]:
    """The parameters, and the strength of the prior that was chosen.

    Minimises ``|R (x - x0) + z0|^2 + strength |D (x - x0)|^2`` with the columns scaled by D to unit
    length; the strength minimises generalized cross-validation [Golub, Heath & Wahba 1979].
    """
    reduction = result.solution.reduction.moved(prior - result.solution.values)
    norms = np.linalg.norm(reduction.R, axis=0)
    unit, lengths = unit_columns(np.where(norms > NO_EFFECT * norms.max(), reduction.R, 0.0))
    U, s, Vt = np.linalg.svd(unit)
    wanted = -U.T @ reduction.z
    outside = max(reduction.squares - float(reduction.z @ reduction.z), 0.0)
    strengths = STRENGTHS * s[0] ** 2
    shrinkage = s**2 / (s**2 + strengths[:, None])
    remaining = outside + (((1.0 - shrinkage) * wanted) ** 2).sum(axis=1)
    scores = remaining / (reduction.rows - shrinkage.sum(axis=1)) ** 2
    best = int(np.argmin(scores))
    change = Vt.T @ (s / (s**2 + strengths[best]) * wanted) / lengths
    ridge = replace(result, values=prior + change, standard=True, estimator=Estimator.RIDGE)
    return replace(ridge, consistent=is_consistent(ridge)), float(strengths[best])
