"""Joint torques: residual = W X - tau, linear in the inertial and drive parameters X.

Friction that grows with the load depends on X in two ways; there W is the derivative at given
loads, and a constant makes the torques right at them, as in Gauss-Newton's method.

The regressor is filled block by block and folded into a triangular factor, so that the memory does
not grow with the recording; base parameters come from the routine that serves every method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.dynamics.drives import ROTORS, USUAL_TEMPERATURE, Drive, Drives, State, holds
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.torque_fold import fold_compiled
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.problem import Block
from theodolite.estimation.reduction import Reduction
from theodolite.estimation.slicing import slices
from theodolite.model.parameters import Group, Parameter, Unit

UNITS = {
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ", "Ia"), Unit.INERTIA),
    **dict.fromkeys(("MX", "MY", "MZ"), Unit.MOMENT),
    "M": Unit.MASS,
    **dict.fromkeys(("fv", "fva"), Unit.VISCOUS),
    "fq": Unit.QUADRATIC,
    **dict.fromkeys(("fc", "off", "fs", "rs", "rc"), Unit.TORQUE),
    "fl": Unit.ONE,
    "ft": Unit.WARMTH,
    "k": Unit.STIFFNESS,
    "k2": Unit.SQUARE,
    "k3": Unit.CUBE,
    "ks": Unit.SPRING,
    "fp": Unit.FORCE,
}
#: Ranges of random samples: rad or m per second, and per second squared.
RANDOM_RANGES = (2.0, 5.0)
#: How much warmer than usual joints may be, K.
RANDOM_WARMTH = (0.0, 40.0)
#: Samples per block: the regressor of a six-axis arm is filled fastest with this many.
SAMPLES = 4096
#: Numbers of a regressor that are stored rather than computed again for every pass: 32 MB.
STORED = 4_000_000
#: Suffix of the parameters of a payload.
PAYLOAD_SUFFIX = "L"


def random_state(dynamics: Tree, count: int, rng: np.random.Generator) -> State:
    """Random positions, velocities and accelerations."""
    shape = (count, dynamics.motors)
    qd, qdd = (rng.uniform(-limit, limit, shape) for limit in RANDOM_RANGES)
    q = dynamics.random_positions(count, rng)
    return State(q, qd, qdd, USUAL_TEMPERATURE + rng.uniform(*RANDOM_WARMTH, shape))


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
        drives: Drives = ROTORS,
        payload: bool = False,
        only: Sequence[str] | None = None,
        prefer: Sequence[str] = (),
    ) -> None:
        """With ``payload``, its ten parameters; ``only`` keeps some of all columns, by name.

        Of dependent columns those that are named in ``prefer`` are kept first.
        """
        dynamics.check_drives(drives)
        self.dynamics, self.payload = dynamics, payload
        self.drives: Drives = drives if isinstance(drives, Mapping) else tuple(drives)
        self._loads: Mapping[str, float] | None = None
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
        unknown = sorted({*(only or ()), *prefer} - set(names))
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
        size = len(self.parameters)
        self.priorities = tuple(
            size - place + (size if parameter.name in prefer else 0)
            for place, parameter in enumerate(self.parameters)
        )

    @property
    def columns(self) -> IntArray:
        """Which of the robot's columns are used, in order; those of a payload come after them."""
        every = np.arange(len(self.dynamics.columns(self.drives)))
        return every if self._selected is None else np.array(self._selected, dtype=np.intp)

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
        values = self._load_values(loaded=run.loaded)
        table = self.dynamics.regressor(run.state[rows], self.drives, values=values, out=out)
        return self.select(table, loaded=run.loaded)

    def unknown_torques(self, run: Run, rows: slice) -> FloatArray:
        """What was recorded, less what needs no parameters, (n, motors)."""
        known = self.dynamics.known_torques(run.state[rows])
        return run.torques[rows] if known is None else run.torques[rows] - known.T

    @property
    def loaded(self) -> bool:
        """Does friction grow with the load, so that the columns depend on the parameters?"""
        return holds(self.drives, Drive.LOAD)

    def _load_values(self, *, loaded: bool) -> FloatArray | None:
        """Values of all columns of robot and payload that load the gears; None: any."""
        if self._loads is None or not self.loaded:
            return None
        own = self._loads
        values = np.array([own.get(name, 0.0) for name in self.dynamics.names(self.drives)])
        if self.payload and loaded:
            first = self._last_body
            carried = [own.get(f"{symbol}{PAYLOAD_SUFFIX}", 0.0) for symbol in INERTIAL]
            values[first : first + len(INERTIAL)] += carried
        return values

    @property
    def _last_body(self) -> int:
        """Where the columns of the last link begin, to which a payload is fixed."""
        columns = self.dynamics.columns(self.drives)
        return max(place for place, (symbol, _) in enumerate(columns) if symbol == INERTIAL[0])

    def select(self, table: FloatArray, *, loaded: bool) -> FloatArray:
        """The columns that are used, of all (columns, ...), with those of a payload."""
        if self.payload:
            # A payload is fixed to the last link: its columns are the last link's, or nothing.
            first = self._last_body
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
        drives: Drives = ROTORS,
        payload: bool = False,
        only: Sequence[str] | None = None,
        prefer: Sequence[str] = (),
        whitening: FloatArray | None = None,
        loads: Mapping[str, float] | None = None,
    ) -> None:
        """``whitening`` (motors, motors) makes the torques' noise white; by default, none.

        ``loads`` are the parameters by name that friction under load takes the load from.
        """
        super().__init__(dynamics, runs, drives=drives, payload=payload, only=only, prefer=prefer)
        self.whitening, self._loads = whitening, loads
        self._stored: list[FloatArray] | None = None

    def weighted(self, whitening: FloatArray) -> TorqueProblem:
        """The same problem with other weights."""
        changed = copy(self)
        changed.whitening = whitening
        return changed

    def under_load(self, values: FloatArray) -> TorqueProblem:
        """The same problem with the friction that these parameters load the gears to."""
        if not self.loaded:
            return self
        changed = copy(self)
        changed._loads = dict(zip(self.names, values.tolist(), strict=True))
        if self._stored is not None:
            changed._stored = None
            return changed.stored()
        return changed

    @property
    def is_stored(self) -> bool:
        """Is the regressor in memory?"""
        return self._stored is not None

    def stored(self) -> TorqueProblem:
        """The same with its regressor in memory for further passes, where it is small enough."""
        if self.rows * self.dynamics.motors * len(self.parameters) > STORED:
            return self
        changed = copy(self)
        changed._stored = list(self.tables())
        return changed

    def tables(self) -> Iterator[FloatArray]:
        """Derivative and, last, the residual of X = 0, low-passed, (columns + 1, motors, n).

        To be read, not changed.
        """
        if self._stored is not None:
            yield from self._stored
            return
        for run, rows in self.row_blocks():
            yield run.decimation.apply(self._table(run, run.decimation.input_rows(rows)))

    def _table(self, run: Run, rows: slice) -> FloatArray:
        """Derivative and, last, constant - torque at some samples, in memory of their own."""
        size = len(self.dynamics.columns(self.drives))
        table = np.zeros((size + 1, self.dynamics.motors, rows.stop - rows.start))
        values = self._load_values(loaded=run.loaded)
        state = run.state[rows]
        self.dynamics.regressor(state, self.drives, values=values, out=table[:size])
        last = -run.torques[rows].T
        if values is not None:
            last = last + self.dynamics.linearise_load(table[:size], self.drives, values)
        if (known := self.dynamics.known_torques(state)) is not None:
            last = last + known
        if self.payload or self._selected is not None:
            # Other columns than those that were filled in place.
            table = np.concatenate([self.select(table[:size], loaded=run.loaded), table[:1]])
        table[-1] = last
        return table

    def table(self, run: Run) -> FloatArray:
        """The same of a whole run."""
        rows = run.decimation.input_rows(slice(0, run.rows))
        return run.decimation.apply(self._table(run, rows))

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

    def reduced(self, values: FloatArray, loss: Loss) -> Reduction | None:
        """The fold of all samples while their rows are in the cache; None: go by ``blocks``."""
        return fold_compiled(self, values, loss)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"torque": np.linalg.norm(self.predict(values) - self.measured(), axis=1)}

    def measured(self) -> FloatArray:
        """Torques after the low-pass, (rows of all runs, motors)."""
        return np.concatenate([run.measured() for run in self.runs])

    def predict_samples(self, values: FloatArray) -> list[FloatArray]:
        """Torques of given parameters at every sample of each run, as they are, (n, motors)."""
        found = []
        for run in self.runs:
            parts = []
            for rows in slices(len(run.state), SAMPLES):
                table = self._table(run, rows)
                torques = np.tensordot(values, table[:-1], axes=1) + table[-1]
                parts.append(torques.T + run.torques[rows])
            found.append(np.concatenate(parts))
        return found

    def predict(self, values: FloatArray) -> FloatArray:
        """Torques of given parameters after the same low-pass, (rows of all runs, motors)."""
        parts = [
            (np.tensordot(values, table[:-1], axes=1) + table[-1]).T for table in self.tables()
        ]
        return np.concatenate(parts) + self.measured()
