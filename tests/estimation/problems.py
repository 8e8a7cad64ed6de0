"""Small problems without robots, for tests against dense linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.estimation.problem import Block, Problem
from theodolite.model.parameters import Group, Parameter, Unit

#: Residuals (n, w) and their derivatives (n, w, p) at given values.
Residual = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def parameters(
    values: FloatArray | list[float], tolerances: FloatArray | list[float] | None = None
) -> tuple[Parameter, ...]:
    """x0, x1, ... with given values and tolerances; unlimited ones if none are given."""
    if tolerances is None:
        tolerances = [np.inf] * len(values)
    return tuple(
        Parameter(f"x{i}", float(v), Unit.ONE, Group.SENSOR, i, 0, tolerance=float(t))
        for i, (v, t) in enumerate(zip(values, tolerances, strict=True))
    )


@dataclass(frozen=True, eq=False)
class SmallProblem:
    """Some functions of some parameters."""

    residual: Residual
    parameters: tuple[Parameter, ...]
    priorities: tuple[int, ...] = ()
    #: Blocks into which the observations are cut.
    pieces: int = 1
    #: Data row of each observation; None: from no one row.
    rows: IntArray | None = None
    warm_start: Problem | None = None
    constraint: bool = False
    #: What decides identifiability, if not the Jacobian.
    matrix: FloatArray | None = None
    #: Values at which the problem was seen.
    seen: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.priorities:
            object.__setattr__(self, "priorities", (1,) * len(self.parameters))

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        self.seen.append(values.copy())
        r, J = self.residual(values)
        for part in np.array_split(np.arange(len(r)), self.pieces):
            columns = np.concatenate([J[part], r[part, :, None]], axis=2)
            # Component-major: all first components, then all second ones.
            flat = columns.transpose(1, 0, 2).reshape(-1, columns.shape[2])
            rows = None if self.rows is None else self.rows[part]
            yield Block(flat.T.copy(), r.shape[1], rows)

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None if self.matrix is None else iter([self.matrix])

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {}


def linear(A: FloatArray, b: FloatArray) -> Residual:
    """A x - b for A (n, p), b (n,) or A (n, w, p), b (n, w)."""
    if A.ndim == 2:
        A, b = A[:, None, :], b[:, None]
    return lambda x: (A @ x - b, A)


def decay(t: FloatArray, y: FloatArray, sigma: float = 1.0) -> Residual:
    """(a exp(-k t) + c - y) / sigma, for the parameters a, k, c."""

    def residual(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        a, k, c = x
        e = np.exp(-k * t)
        J = np.column_stack([e, -a * t * e, np.ones_like(t)])
        return ((a * e + c - y) / sigma)[:, None], (J / sigma)[:, None, :]

    return residual
