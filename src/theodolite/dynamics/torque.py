"""Joint torques: residual = W X - tau, linear in the inertial and drive parameters X.

The regressor is filled block by block and folded into a triangular factor, so that the memory does
not grow with the recording; base parameters come from the routine that serves every method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.dynamics.drives import ROTORS, Drive, State
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model.parameters import Group, Parameter, Unit

UNITS = {
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ", "Ia"), Unit.INERTIA),
    **dict.fromkeys(("MX", "MY", "MZ"), Unit.MOMENT),
    "M": Unit.MASS,
    **dict.fromkeys(("fv", "fva"), Unit.VISCOUS),
    **dict.fromkeys(("fc", "off", "fs"), Unit.TORQUE),
    "k": Unit.STIFFNESS,
}
#: Ranges of random samples: rad or m per second, and per second squared.
RANDOM_RANGES = (2.0, 5.0)
#: Samples per block: the regressor of a six-axis arm is filled fastest with this many.
SAMPLES = 4096
#: Numbers of a regressor that are stored rather than computed again for every pass: 32 MB.
STORED = 4_000_000
#: Suffix of the parameters of a payload.
PAYLOAD_SUFFIX = "L"


def random_state(dynamics: Tree, count: int, rng: np.random.Generator) -> State:
    """Random positions, velocities and accelerations."""
    shape = (count, dynamics.motors)
    speeds = (rng.uniform(-limit, limit, shape) for limit in RANDOM_RANGES)
    return State(dynamics.random_positions(count, rng), *speeds)


def comparable_scales(torques: FloatArray, slides: BoolArray) -> FloatArray:
    """Factors that make the forces of slides as large as the torques of hinges, (motors,).

    Newtons cannot be added to newton metres, but what each is of its own kind's usual size can. All
    factors are 1 where there is one kind of joint, or nothing to compare.
    """
    scales = np.ones(len(slides))
    if slides.any() and not slides.all():
        of_hinges, of_slides = (_rms(torques[:, kind]) for kind in (~slides, slides))
        if of_hinges > 0 and of_slides > 0:
            scales[slides] = of_hinges / of_slides
    return scales


def _rms(torques: FloatArray) -> float:
    return float(np.sqrt(np.mean(torques**2)))


class RegressorProblem:
    """What torques, energy and power have in common: columns, and runs to take them from."""

    warm_start = None
    constraint = False

    def __init__(
        self,
        dynamics: Tree,
        runs: Run | Sequence[Run],
        *,
        drives: Sequence[Drive] = ROTORS,
        payload: bool = False,
        only: Sequence[str] | None = None,
    ) -> None:
        """With ``payload``, its ten parameters; ``only`` keeps some of all columns, by name."""
        self.dynamics, self.drives, self.payload = dynamics, tuple(drives), payload
        self.runs = (runs,) if isinstance(runs, Run) else tuple(runs)
        for run in self.runs:
            if run.torques.shape != run.state.qd.shape or run.torques.shape[1] != dynamics.motors:
                raise InputError(
                    f"torques of the shape {run.torques.shape} do not fit velocities of "
                    f"{run.state.qd.shape} and {dynamics.motors} motors",
                    where=run.name,
                )
        self.symbols = dynamics.columns(drives)
        if payload:
            self.symbols += [(symbol, PAYLOAD_SUFFIX) for symbol in INERTIAL]
        names = [symbol + suffix for symbol, suffix in self.symbols]
        unknown = sorted(set(only or ()) - set(names))
        if unknown:
            raise InputError(f"there is no parameter {', '.join(unknown)}", allowed=names)
        #: Indices of the columns that are used; None where all are.
        self._selected = None if only is None else [names.index(name) for name in only]
        if self._selected is not None:
            self.symbols = [self.symbols[index] for index in self._selected]
        self.parameters = tuple(
            Parameter(symbol + suffix, 0.0, UNITS[symbol], Group.ARM, place, place)
            for place, (symbol, suffix) in enumerate(self.symbols)
        )
        # The order of the columns is the order of choice: those of further links are regrouped.
        self.priorities = tuple(range(len(self.parameters), 0, -1))

    @property
    def names(self) -> list[str]:
        """Names of the parameters, in the order of the columns."""
        return [parameter.name for parameter in self.parameters]

    @property
    def rows(self) -> int:
        """Samples of all runs that remain after decimation."""
        return sum(run.rows for run in self.runs)

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None

    def regressor(self, run: Run, rows: slice, *, out: FloatArray | None = None) -> FloatArray:
        """Columns of the torques at some samples of a run, (columns, motors, n)."""
        table = self.dynamics.regressor(run.state[rows], self.drives, out=out)
        return self.select(table, loaded=run.loaded)

    def select(self, table: FloatArray, *, loaded: bool) -> FloatArray:
        """The columns that are used, of all (columns, ...), with those of a payload."""
        if self.payload:
            # A payload is fixed to the last link: its columns are the last link's, or nothing.
            columns = self.dynamics.columns(self.drives)
            first = max(place for place, (symbol, _) in enumerate(columns) if symbol == INERTIAL[0])
            table = np.concatenate([table, table[first : first + len(INERTIAL)] * float(loaded)])
        return table if self._selected is None else table[self._selected]

    def row_blocks(self) -> Iterator[tuple[Run, slice]]:
        """Runs in blocks of remaining samples, each from a bounded number of recorded ones."""
        for run in self.runs:
            for rows in slices(run.rows, max(1, SAMPLES // run.decimation.factor)):
                yield run, rows


class TorqueProblem(RegressorProblem):
    """Measured torques against the torque regressor d."""

    def __init__(
        self,
        dynamics: Tree,
        runs: Run | Sequence[Run],
        *,
        drives: Sequence[Drive] = ROTORS,
        payload: bool = False,
        only: Sequence[str] | None = None,
        whitening: FloatArray | None = None,
    ) -> None:
        """``whitening`` (motors, motors) makes the torques' noise white; by default, none."""
        super().__init__(dynamics, runs, drives=drives, payload=payload, only=only)
        self.whitening = whitening
        self._stored: list[FloatArray] | None = None

    def weighted(self, whitening: FloatArray) -> TorqueProblem:
        """The same problem with other weights."""
        changed = copy(self)
        changed.whitening = whitening
        return changed

    def stored(self) -> TorqueProblem:
        """The same with its regressor in memory for further passes, where it is small enough."""
        if self.rows * self.dynamics.motors * len(self.parameters) > STORED:
            return self
        changed = copy(self)
        changed._stored = list(self.tables())
        return changed

    def tables(self) -> Iterator[FloatArray]:
        """Regressor and, last, -torque after the low-pass, (columns + 1, motors, n), to be read."""
        if self._stored is not None:
            yield from self._stored
            return
        for run, rows in self.row_blocks():
            yield run.decimation.apply(self._table(run, run.decimation.input_rows(rows)))

    def _table(self, run: Run, rows: slice) -> FloatArray:
        """Regressor and -torque at some samples, in memory of their own."""
        size = len(self.dynamics.columns(self.drives))
        table = np.zeros((size + 1, self.dynamics.motors, rows.stop - rows.start))
        columns = self.regressor(run, rows, out=table[:size])
        if self.payload or self._selected is not None:
            # Other columns than those that were filled in place.
            table = np.concatenate([columns, table[:1]])
        table[-1] = -run.torques[rows].T
        return table

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        """Residual and Jacobian; every block has memory of its own."""
        for table in self.tables():
            if self.whitening is not None:
                columns = np.matmul(self.whitening, table)
            else:
                columns = table if self._stored is None else table.copy()
            if values.any():
                columns[-1] += np.tensordot(values, columns[:-1], axes=1)
            yield Block(columns.reshape(len(columns), -1), self.dynamics.motors)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"torque": np.linalg.norm(self.predict(values) - self.measured(), axis=1)}

    def measured(self) -> FloatArray:
        """Torques after the low-pass, (rows of all runs, motors)."""
        return np.concatenate([run.measured() for run in self.runs])

    def predict(self, values: FloatArray) -> FloatArray:
        """Torques of given parameters after the same low-pass, (rows of all runs, motors)."""
        if self._stored is not None:
            parts = [np.tensordot(values, table[:-1], axes=1).T for table in self._stored]
            return np.concatenate(parts)
        parts = []
        for run, rows in self.row_blocks():
            table = self.regressor(run, run.decimation.input_rows(rows))
            parts.append(run.decimation.apply(np.tensordot(values, table, axes=1)).T)
        return np.concatenate(parts)
