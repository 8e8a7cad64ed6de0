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
from theodolite.estimation.threads import single_thread

#: Rows factorized at a time: few enough to stay in the cache.
PIECE = 500
#: Columns that are eliminated together.
PANEL = 8
#: Matrices with fewer entries are factorized by NumPy: loading SciPy's LAPACK would take longer.
LARGE = 50_000


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
    factor: FloatArray = np.zeros((0, columns))
    for matrix in matrices:
        fold = _fold_in_panels if matrix.size >= LARGE else _fold_at_once
        factor = fold(factor, matrix)
    return _square(factor)


def _square(factor: FloatArray) -> FloatArray:
    """A factor of few rows with the rows of zeros that it lacks."""
    missing = factor.shape[1] - len(factor)
    return np.concatenate([factor, np.zeros((missing, factor.shape[1]))]) if missing else factor


def _fold_at_once(factor: FloatArray, matrix: FloatArray) -> FloatArray:
    """The factor of a factor on top of a matrix."""
    return np.asarray(np.linalg.qr(np.concatenate([factor, matrix]), mode="r"))


def _fold_in_panels(factor: FloatArray, matrix: FloatArray) -> FloatArray:
    """The same piece by piece and several columns at a time, three times as fast."""
    from scipy.linalg.lapack import dtpqrt

    factor = _square(factor)
    panel = min(PANEL, len(factor))
    # Entered here again, since SciPy may just have loaded a LAPACK of its own.
    with single_thread():
        for start in range(0, len(matrix), PIECE):
            factor, *_ = dtpqrt(0, panel, factor, matrix[start : start + PIECE])
    return np.triu(factor)


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
