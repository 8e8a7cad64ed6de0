"""Folding a problem into a triangular factor, block by block, in constant memory.

Householder QR of each block stacked on the factor so far (TSQR). ``W'W`` is never formed: it
would lose half of the digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

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
LARGE = 10_000


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


@runtime_checkable
class FoldsItself(Protocol):
    """A problem with a faster way of its own to the same factor."""

    def reduced(self, values: FloatArray, loss: Loss) -> Reduction | None:
        """The whole problem at ``values``; None where its blocks are the better way."""
        ...


def merged(parts: Sequence[Reduction]) -> Reduction:
    """The reduction of several parts together."""
    size = len(parts[0].z)
    stacked = np.concatenate([np.column_stack([part.R, part.z]) for part in parts])
    factor = triangle([stacked], size + 1)
    beyond = sum(part.squares - float(part.z @ part.z) for part in parts)
    z = factor[:size, size]
    return Reduction(
        R=factor[:size, :size],
        z=z,
        cost=sum(part.cost for part in parts),
        squares=max(beyond + float(factor[:, size] @ factor[:, size]), 0.0),
        rows=sum(part.rows for part in parts),
        sizes=np.concatenate([part.sizes for part in parts]),
        widths=np.concatenate([part.widths for part in parts]),
    )


def triangle(matrices: Iterable[FloatArray], columns: int) -> FloatArray:
    """The triangular factor (columns, columns) of stacked matrices (m, columns)."""
    factor: FloatArray = np.zeros((0, columns))
    for matrix in matrices:
        factor = _folded(factor, matrix)
    return _square(factor)


def _folded(factor: FloatArray, matrix: FloatArray) -> FloatArray:
    """The factor of a factor on top of a matrix."""
    fold = _fold_in_panels if matrix.size >= LARGE else _fold_at_once
    return fold(factor, matrix)


def _folded_by_components(factor: FloatArray, columns: FloatArray, width: int) -> FloatArray:
    """The same for observations of several components, each with the columns that it sees.

    A motor sees nothing of the links before it: its rows begin with zeros, which leave the first
    rows of the factor alone. Half of the work is saved for an arm of six joints.
    """
    parts = columns.reshape(len(columns), width, -1)
    if columns.size < LARGE or width == 1:
        return _folded(factor, columns.T)
    # The last column holds the residuals.
    last = len(columns) - 1
    first = [
        next((at for at in range(last) if parts[at, component].any()), last)
        for component in range(width)
    ]
    if not any(first):
        return _folded(factor, columns.T)
    factor = _square(factor).copy()
    for component, start in enumerate(first):
        inner = factor[start:, start:]
        inner[...] = _square(_folded(inner, parts[start:, component].T))
    return factor


def _square(factor: FloatArray) -> FloatArray:
    """A factor of few rows with the rows of zeros that it lacks."""
    missing = factor.shape[1] - len(factor)
    return np.concatenate([factor, np.zeros((missing, factor.shape[1]))]) if missing else factor


def _fold_at_once(factor: FloatArray, matrix: FloatArray) -> FloatArray:
    """All of it by one call of NumPy."""
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
    """Fold the whole problem at ``values``, by its own compiled road where it has one that pays."""
    if isinstance(problem, FoldsItself) and (own := problem.reduced(values, loss)) is not None:
        return own
    whole = _Accumulator(len(problem.parameters), loss)
    for block in problem.blocks(values):
        whole.add(block.columns, block.width)
    return whole.reduction()


def reduce_parts(
    problem: Problem, values: FloatArray, loss: Loss, parts: Sequence[IntArray]
) -> list[list[Reduction]]:
    """Fold a problem by parts of its data, in one pass.

    Each of ``parts`` says of every row of the data in which part it is; the reductions come in the
    order of the parts. What belongs to no part (-1), or to no row, comes last.
    """
    size = len(problem.parameters)
    folds = [[_Accumulator(size, loss) for _ in range(part.max() + 2)] for part in parts]
    for block in problem.blocks(values):
        for part, accumulators in zip(parts, folds, strict=True):
            if block.rows is None:
                accumulators[-1].add(block.columns, block.width)
                continue
            of_row = part[block.rows]
            for number in np.unique(of_row):
                chosen = np.tile(of_row == number, block.width)
                accumulators[number].add(block.columns[:, chosen], block.width)
    return [[accumulator.reduction() for accumulator in row] for row in folds]


class _Accumulator:
    """A reduction in the making."""

    def __init__(self, size: int, loss: Loss) -> None:
        self.size, self.loss = size, loss
        self.factor: FloatArray = np.zeros((0, size + 1))
        self.cost = self.squares = 0.0
        self.rows = 0
        self.sizes: list[FloatArray] = [np.empty(0)]
        self.widths: list[IntArray] = [np.empty(0, dtype=np.intp)]

    def add(self, columns: FloatArray, width: int) -> None:
        """Fold [J r], transposed, of some observations of ``width`` components."""
        norms = np.sqrt(np.mean(columns[-1].reshape(width, -1) ** 2, axis=0))
        if not self.loss.is_squared:
            columns = columns * np.tile(np.sqrt(self.loss.weights(norms)), width)
        self.cost += self.loss.cost(norms) * width
        self.squares += float(columns[-1] @ columns[-1])
        self.sizes.append(norms)
        self.widths.append(np.full(len(norms), width))
        self.rows += columns.shape[1]
        self.factor = _folded_by_components(self.factor, columns, width)

    def reduction(self) -> Reduction:
        factor = _square(self.factor)
        return Reduction(
            R=factor[: self.size, : self.size],
            z=factor[: self.size, self.size],
            cost=self.cost,
            squares=self.squares,
            rows=self.rows,
            sizes=np.concatenate(self.sizes),
            widths=np.concatenate(self.widths),
        )
