"""Folding a problem into a triangular factor, block by block, in constant memory.

Householder QR of each block stacked on the factor so far (TSQR). ``W'W`` is never formed: it
would lose half of the digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    factor: FloatArray = np.zeros((0, columns))
    for matrix in matrices:
        stacked = np.concatenate([factor, matrix]) if len(factor) else matrix
        factor = np.asarray(np.linalg.qr(stacked, mode="r"))
    if len(factor) < columns:
        factor = np.concatenate([factor, np.zeros((columns - len(factor), columns))])
    return factor


def reduce(problem: Problem, values: FloatArray, loss: Loss) -> Reduction:
    """Fold the whole problem at ``values``."""
    size = len(problem.parameters)
    costs, squares, sizes = [0.0], [0.0], [np.empty(0)]
    rows = 0

    def augmented() -> Iterator[FloatArray]:
        """[J r] of each block, weighted; its size and cost are noted in passing."""
        nonlocal rows
        for block in problem.blocks(values):
            # (p + 1, m): Fortran order for the factorization, so that it copies nothing twice.
            matrix = np.concatenate([block.jacobian.T, block.residual[None]])
            norms = np.sqrt(np.mean(block.residual.reshape(block.width, -1) ** 2, axis=0))
            if not loss.is_squared:
                matrix = matrix * np.tile(np.sqrt(loss.weights(norms)), block.width)
            costs.append(loss.cost(norms) * block.width)
            squares.append(float(matrix[-1] @ matrix[-1]))
            sizes.append(norms)
            rows += block.residual.size
            yield matrix.T

    factor = triangle(augmented(), size + 1)
    return Reduction(
        R=factor[:size, :size],
        z=factor[:size, size],
        cost=sum(costs),
        squares=sum(squares),
        rows=rows,
        sizes=np.concatenate(sizes),
    )
