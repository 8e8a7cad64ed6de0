"""Folding a problem into a triangular factor, block by block, in constant memory.

Householder QR of each block stacked on the factor so far (TSQR). ``W'W`` is never formed: it
would lose half of the digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Problem

#: Rows factorized at a time: few enough to stay in the cache.
PIECE = 1000


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
    #: Whitened size of every observation, sqrt(mean square), and its number of components.
    sizes: FloatArray
    widths: IntArray

    def moved(self, step: FloatArray) -> Reduction:
        """The same after a step so small that the linear model is exact."""
        z = self.z + self.R @ step
        change = float(z @ z - self.z @ self.z)
        return replace(
            self,
            z=z,
            cost=max(self.cost + change, 0.0),
            squares=max(self.squares + change, 0.0),
        )


def triangle(matrices: Iterable[FloatArray], columns: int) -> FloatArray:
    """The triangular factor (columns, columns) of stacked matrices (m, columns)."""
    # Transposed throughout, so that LAPACK's columns are contiguous.
    lower = np.tri(columns)
    factor: FloatArray = np.zeros((columns, 0))
    for matrix in matrices:
        for start in range(0, len(matrix), PIECE):
            piece = matrix[start : start + PIECE].T
            stacked = np.concatenate([factor, piece], axis=1)
            reflected, _ = np.linalg.qr(stacked.T, mode="raw")
            rows = min(columns, stacked.shape[1])
            factor = reflected[:, :rows] * lower[:, :rows]
    missing = np.zeros((columns, columns - factor.shape[1]))
    return np.concatenate([factor, missing], axis=1).T


def reduce(problem: Problem, values: FloatArray, loss: Loss) -> Reduction:
    """Fold the whole problem at ``values``."""
    size = len(problem.parameters)
    costs, squares = [0.0], [0.0]
    sizes: list[FloatArray] = [np.empty(0)]
    widths: list[IntArray] = [np.empty(0, dtype=np.intp)]
    rows = 0

    def augmented() -> Iterator[FloatArray]:
        """[J r] of each block, weighted; its size and cost are noted in passing."""
        nonlocal rows
        for block in problem.blocks(values):
            columns = block.columns
            norms = np.sqrt(np.mean(block.residual.reshape(block.width, -1) ** 2, axis=0))
            if not loss.is_squared:
                columns = columns * np.tile(np.sqrt(loss.weights(norms)), block.width)
            costs.append(loss.cost(norms) * block.width)
            squares.append(float(columns[-1] @ columns[-1]))
            sizes.append(norms)
            widths.append(np.full(len(norms), block.width))
            rows += block.residual.size
            yield columns.T

    factor = triangle(augmented(), size + 1)
    return Reduction(
        R=factor[:size, :size],
        z=factor[:size, size],
        cost=sum(costs),
        squares=sum(squares),
        rows=rows,
        sizes=np.concatenate(sizes),
        widths=np.concatenate(widths),
    )
