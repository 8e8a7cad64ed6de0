"""Joint torques: residual = W X - tau, linear in the inertial and drive parameters X.

The regressor is filled block by block and folded into a triangular factor, so that the memory does
not grow with the recording; base parameters come from the routine that serves every method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive, State
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.tree import ROTORS, Tree
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
RANDOM = (2.0, 5.0)
#: Samples per block: the regressor of a six-axis arm is filled fastest with so many.
SAMPLES = 4096
#: Suffix of the parameters of a payload.
LOAD = "L"


def random_state(dynamics: Tree, count: int, rng: np.random.Generator) -> State:
    """Random positions, velocities and accelerations."""
    shape = (count, dynamics.motors)
    speeds = (rng.uniform(-limit, limit, shape) for limit in RANDOM)
    return State(dynamics.random_positions(count, rng), *speeds)


class LinearModel:
    """What torques, energy and power have in common: columns, and runs to take them from."""

    shrinks = False
    forerunner = None

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
                    f"there are torques of the shape {run.torques.shape} for velocities of "
                    f"{run.state.qd.shape} and {dynamics.motors} motors",
                    where=run.name,
                )
        columns = dynamics.columns(drives)
        if payload:
            columns += [(symbol, LOAD) for symbol in INERTIAL]
        names = [symbol + suffix for symbol, suffix in columns]
        unknown = sorted(set(only or ()) - set(names))
        if unknown:
            raise InputError(f"there is no parameter {', '.join(unknown)}", allowed=names)
        #: Indices of the columns that are used; None where all are.
        self._used = None if only is None else [names.index(name) for name in only]
        used = range(len(names)) if self._used is None else self._used
        self.parameters = tuple(
            Parameter(names[column], 0.0, UNITS[columns[column][0]], Group.ARM, place, place)
            for place, column in enumerate(used)
        )
        # The order of the columns is the order of choice: regrouped are those of further links.
        self.priorities = tuple(range(len(self.parameters), 0, -1))

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None

    def regressor(self, run: Run, rows: slice, *, out: FloatArray | None = None) -> FloatArray:
        """Columns of the torques at some samples of a run, (columns, motors, n)."""
        table = self.dynamics.regressor(run.state[rows], self.drives, out=out)
        return self.chosen(table, loaded=run.loaded)

    def chosen(self, table: FloatArray, *, loaded: bool) -> FloatArray:
        """The columns that are used, of all (columns, ...), with those of a payload."""
        if self.payload:
            # A payload is fixed to the last link: its columns are the last link's, or nothing.
            columns = self.dynamics.columns(self.drives)
            first = max(place for place, (symbol, _) in enumerate(columns) if symbol == INERTIAL[0])
            table = np.concatenate([table, table[first : first + len(INERTIAL)] * float(loaded)])
        return table if self._used is None else table[self._used]

    def pieces(self) -> Iterator[tuple[Run, slice]]:
        """Runs in pieces of remaining samples, each from a bounded number of recorded ones."""
        for run in self.runs:
            for rows in slices(run.rows, max(1, SAMPLES // run.thinning.every)):
                yield run, rows


class TorqueProblem(LinearModel):
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

    def weighted(self, whitening: FloatArray) -> TorqueProblem:
        """The same with other weights."""
        changed = copy(self)
        changed.whitening = whitening
        return changed

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for run, rows in self.pieces():
            columns = self._columns(run, run.thinning.source(rows))
            if values.any():
                columns[-1] += np.tensordot(values, columns[:-1], axes=1)
            columns = run.thinning.thinned(columns)
            if self.whitening is not None:
                columns = np.matmul(self.whitening, columns)
            yield Block(columns.reshape(len(columns), -1), self.dynamics.motors)

    def _columns(self, run: Run, rows: slice) -> FloatArray:
        """Regressor and, last, the residual at zero, (columns + 1, motors, n), in new memory."""
        size = len(self.dynamics.columns(self.drives))
        table = np.zeros((size + 1, self.dynamics.motors, rows.stop - rows.start))
        chosen = self.regressor(run, rows, out=table[:size])
        if self.payload or self._used is not None:
            # Other columns than those that were filled in place.
            table = np.concatenate([chosen, table[:1]])
        table[-1] = -run.torques[rows].T
        return table

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"torque": np.linalg.norm(self.predicted(values) - self.measured(), axis=1)}

    def measured(self) -> FloatArray:
        """Torques after the low-pass, (rows of all runs, motors)."""
        return np.concatenate([run.measured() for run in self.runs])

    def predicted(self, values: FloatArray) -> FloatArray:
        """Torques of given parameters after the same low-pass."""
        parts = []
        for run, rows in self.pieces():
            torques = np.tensordot(values, self.regressor(run, run.thinning.source(rows)), axes=1)
            parts.append(run.thinning.thinned(torques).T)
        return np.concatenate(parts)
