"""Folding a problem into a triangular factor, block by block, in constant memory.

Householder QR of each block stacked on the factor so far (TSQR). ``W'W`` is never formed: it
would lose half of the digits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.identification.loss import Loss
from theodolite.measure.problem import Problem


@dataclass(frozen=True, eq=False)
class Reduction:
    """All that least squares needs of a problem at one point: ``|r + J dx|`` for every dx."""

    #: Upper triangular, (p, p); J = Q R.
    R: FloatArray
    #: Q' r, (p,).
    z: FloatArray
    #: Robust cost: the sum of squares for the plain loss.
    cost: float
    #: Sum of weighted squares.
    squares: float
    rows: int
    #: Whitened size of every observation, sqrt(mean square), for robust scales.
    sizes: FloatArray


def triangle(matrices: Iterable[FloatArray], columns: int) -> FloatArray:
    """The triangular factor (columns, columns) of stacked matrices (m, columns)."""
    factor = np.zeros((0, columns))
    for matrix in matrices:
        if len(factor):
            matrix = np.concatenate([factor, matrix])
        factor = np.linalg.qr(matrix, mode="r")
    if len(factor) < columns:
        factor = np.concatenate([factor, np.zeros((columns - len(factor), columns))])
    return factor


def reduce(problem: Problem, values: FloatArray, loss: Loss) -> Reduction:
    """Fold the whole problem at ``values``."""
    size = len(problem.parameters)
    factor = np.zeros((0, size + 1))
    cost = squares = 0.0
    rows = 0
    sizes = []
    for block in problem.blocks(values):
        # (p + 1, m): Fortran order for the factorization, so that it copies nothing twice.
        augmented = np.concatenate([block.jacobian.T, block.residual[None]])
        norms = np.sqrt(np.mean(block.residual.reshape(block.width, -1) ** 2, axis=0))
        if not loss.is_squared:
            augmented = augmented * np.tile(np.sqrt(loss.weights(norms)), block.width)
        cost += loss.cost(norms) * block.width
        squares += float(augmented[-1] @ augmented[-1])
        rows += block.residual.size
        sizes.append(norms)
        matrix = augmented.T
        if len(factor):
            matrix = np.concatenate([factor, matrix])
        factor = np.linalg.qr(matrix, mode="r")
    if len(factor) < size + 1:
        factor = np.concatenate([factor, np.zeros((size + 1 - len(factor), size + 1))])
    return Reduction(
        factor[:size, :size],
        factor[:size, size],
        cost,
        squares,
        rows,
        np.concatenate(sizes) if sizes else np.empty(0),
    )
