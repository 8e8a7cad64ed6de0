"""Base inertial parameters [Gautier1991]: which there are, how the others are regrouped, values."""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Problem
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import examine
from theodolite.estimation.threads import single_thread


def base_parameters(problem: Problem) -> Identifiability:
    """Base parameters of a linear problem, from its samples."""
    values = np.zeros(len(problem.parameters))
    with single_thread():
        return examine(problem, values, reduce(problem, values, Loss()))


def base_values(known: Identifiability, standard: FloatArray) -> FloatArray:
    """Values of the base parameters from standard ones: X1 + beta X2 [Gautier1991, eq. 20]."""
    return standard[known.base] + known.relations @ standard[known.regrouped]
