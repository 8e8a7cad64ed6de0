"""Measurements larger than memory: each piece becomes a factor, here or elsewhere, and is gone.

All rows determine the parameters. What has to see the rows themselves (placing the robot, choosing
the model, outliers, checks, what is held out) sees an excerpt: runs of rows that follow each other,
spread over the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.conditions import with_conditions, with_order
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.merging import Each, in_turn, merge_tree
from theodolite.estimation.reduction import Reduction, merged, reduce
from theodolite.estimation.threads import single_thread
from theodolite.model.machine import Machine

#: Rows of a piece, and rows before it that are read with it: they say how its joints last moved.
PIECE_ROWS, ROWS_BEFORE = 1 << 17, 1 << 12
#: Runs of rows in an excerpt, and rows of each.
RUNS, RUN_ROWS = 40, 500


class LongData(Protocol):
    """Measurements that are read where they are needed. Sent to workers, so picklable."""

    @property
    def name(self) -> str: ...

    @property
    def rows(self) -> int: ...

    def read(self, *runs: tuple[int, int]) -> Dataset:
        """Some of the rows, from one to before another, one run after the other."""
        ...


@dataclass(frozen=True, eq=False)
class Pieces:
    """All rows of long data, and how the work on them is shared out."""

    source: LongData
    #: Runs a function on many tasks.
    each: Each = in_turn
    piece_rows: int = PIECE_ROWS

    def excerpt(self) -> Dataset:
        """Rows that stand for the whole."""
        rows = self.source.rows
        if rows <= RUNS * RUN_ROWS:
            return self.source.read((0, rows))
        starts = np.linspace(0, rows - RUN_ROWS, RUNS).astype(int).tolist()
        return self.source.read(*((start, start + RUN_ROWS) for start in starts))

    def said(self, seen: int) -> str:
        """What people should know of a result."""
        return (
            f"all {self.source.rows} rows determine the parameters; start, choice of the model, "
            f"outliers, checks and errors come from {seen} rows spread over them"
        )

    def check(
        self, method: Method, loss: Loss | None, *, rows_as_time: bool, only: Sequence[str]
    ) -> None:
        """Refuse what needs all rows at once."""
        refused = {
            f"the method '{method.name}'": not method.rows_alone,
            "a robust loss": loss is not None and not loss.is_squared,
            "the order of rows as time": rows_as_time,
            "finding single parameters anew": bool(only),
        }
        for what, asked in refused.items():
            if asked:
                raise InputError(
                    f"{what} needs measurements that fit in memory",
                    where=self.source.name,
                    remedy="Give a part of them",
                )

    def over(
        self, problem: CalibrationProblem, method: Method, *, gains: bool, at: Machine | None
    ) -> CalibrationProblem:
        """The problem of the excerpt, with the factor of all rows.

        Basis functions that depend on the robot are taken where it is ``at``.
        """
        assert isinstance(problem, GeometricProblem)
        names = tuple(parameter.name for parameter in problem.parameters)
        bounds = range(0, self.source.rows, self.piece_rows)

        def fold(problem: GeometricProblem, values: FloatArray, loss: Loss) -> Reduction:
            assert loss.is_squared
            tasks = [
                PieceTask(
                    self.source,
                    (start, min(start + self.piece_rows, self.source.rows)),
                    problem.robot,
                    method,
                    problem.noise,
                    gains,
                    at,
                    names,
                    values,
                )
                for start in bounds
            ]
            whole = merge_tree(self.each(fold_piece, tasks), _both)
            assert whole is not None
            return whole

        folded = copy(problem)
        folded.fold = fold
        return folded


@dataclass(frozen=True, eq=False)
class PieceTask:
    """A piece, and where its factor is wanted."""

    source: LongData
    rows: tuple[int, int]
    robot: Machine
    method: Method
    noise: Noise
    gains: bool
    at: Machine | None
    names: tuple[str, ...]
    values: FloatArray


def fold_piece(task: PieceTask) -> Reduction:
    """The factor of one piece."""
    start, stop = task.rows
    before = max(0, start - ROWS_BEFORE)
    data = task.source.read((before, stop))
    data = with_order(data, task.robot)
    data = data.take(np.arange(start - before, len(data)))
    if task.at is not None:
        told = with_conditions(data, task.at)
        data = replace(told, motors=task.at.inputs(told.motors, told.columns))
    problem = task.method.problem(task.robot, data, noise=task.noise, gains=task.gains)
    if tuple(parameter.name for parameter in problem.parameters) != task.names:
        raise InputError(
            f"rows {start + 1} to {stop} have other unknowns than the rest",
            where=task.source.name,
            allowed="the same targets and no sessions",
        )
    with single_thread():
        return _without_sizes(reduce(problem, task.values, Loss()))


def _without_sizes(part: Reduction) -> Reduction:
    """Nothing that grows with the rows."""
    return replace(part, sizes=np.empty(0), widths=np.empty(0, dtype=np.intp))


def _both(one: Reduction, other: Reduction) -> Reduction:
    return merged([one, other])
