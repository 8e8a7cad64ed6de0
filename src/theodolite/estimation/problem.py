"""The contract between what is measured and what is identified.

`identification` knows this file and no method: whatever yields whitened residuals with their
exact derivatives is identifiable, solvable and reportable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from theodolite.arrays import FloatArray, IntArray
from theodolite.model.parameters import Parameter


class Block(NamedTuple):
    """Some rows of the problem, whitened: with the right noise model their variance is 1."""

    #: Jacobian and residual side by side, transposed, (p + 1, m): to LAPACK, columns.
    columns: FloatArray
    #: Rows per observation. Rows are component-major: reshape to (width, observations).
    width: int
    #: Row of the data from which each observation comes, (observations,); None: from no one row.
    rows: IntArray | None = None

    @property
    def residual(self) -> FloatArray:
        """(m,)"""
        return self.columns[-1]

    @property
    def jacobian(self) -> FloatArray:
        """Derivative of the residual, (m, p)."""
        return self.columns[:-1].T


class Linearized(NamedTuple):
    """Errors F and closures G of all measurements, with derivatives by constants and joints.

    The first axis counts the measurements; the errors are whitened.
    """

    F: FloatArray
    F_C: FloatArray
    F_a: FloatArray
    G: FloatArray
    G_C: FloatArray
    G_a: FloatArray


class ConstrainedProblem(Protocol):
    """Errors and closures whose passive joints are unknowns of their own."""

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...

    @property
    def priorities(self) -> tuple[int, ...]: ...

    @property
    def passive(self) -> FloatArray:
        """Where the passive joints start, (n, passive)."""
        ...

    def slices(self) -> Iterator[slice]: ...

    def linearized(self, values: FloatArray, passive: FloatArray, rows: slice) -> Linearized: ...


class Problem(Protocol):
    """A nonlinear least-squares problem over named parameters."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The candidates for identification; their values are where to start."""
        ...

    @property
    def priorities(self) -> tuple[int, ...]:
        """One positive priority per candidate; higher ones are kept first."""
        ...

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        """Residual and Jacobian, in blocks of bounded size, each with memory of its own.

        Where the residual vanishes for a machine of no size, as link and plane residuals do, the
        Jacobian is taken at the nearest configurations that satisfy the constraint: the derivative
        of the residual without its noise. See docs/architecture.md.
        """
        ...

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        """Matrices (m, p) whose stack decides what is identifiable; None: the Jacobian does."""
        ...

    @property
    def constraint(self) -> bool:
        """Is the Jacobian taken where the residual vanishes? See ``blocks``."""
        ...

    @property
    def warm_start(self) -> Problem | None:
        """A better behaved problem in the same parameters to start from; or None."""
        ...

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        """Physical error of each observation, by quantity: metres, radians."""
        ...
