"""Joint torques: residual = W X - tau, linear in the inertial and drive parameters X.

The regressor is filled block by block and folded into a triangular factor, so that the memory does
not grow with the recording; base parameters come from the routine that serves every method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.measure.problem import Block
from theodolite.measure.slicing import slices
from theodolite.model.dynamics import Drive, State, Tree
from theodolite.model.parameters import Group, Parameter, Unit

UNITS = {
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ", "Ia"), Unit.INERTIA),
    **dict.fromkeys(("MX", "MY", "MZ"), Unit.MOMENT),
    "M": Unit.MASS,
    "fv": Unit.VISCOUS,
    "fc": Unit.TORQUE,
    "off": Unit.TORQUE,
    "k": Unit.STIFFNESS,
}
#: Ranges of random samples: rad or m per second, and per second squared.
RANDOM = (2.0, 5.0)


def inertial_parameters(
    dynamics: Tree, drives: Sequence[Drive], values: FloatArray | None = None
) -> tuple[Parameter, ...]:
    """The columns of the regressor as parameters, zero unless values are given."""
    columns = dynamics.columns(drives)
    values = np.zeros(len(columns)) if values is None else values
    return tuple(
        Parameter(symbol + suffix, float(value), UNITS[symbol], Group.ARM, index, index)
        for index, ((symbol, suffix), value) in enumerate(zip(columns, values, strict=True))
    )


def random_state(dynamics: Tree, count: int, rng: np.random.Generator) -> State:
    """Random positions, velocities and accelerations."""
    shape = (count, dynamics.motors)
    speeds = (rng.uniform(-limit, limit, shape) for limit in RANDOM)
    return State(dynamics.random_positions(count, rng), *speeds)


class _Linear:
    """A problem that is linear in inertial parameters."""

    shrinks = False
    forerunner = None

    def __init__(self, dynamics: Tree, state: State, drives: Sequence[Drive]) -> None:
        self.dynamics, self.state, self.drives = dynamics, state, tuple(drives)
        self.parameters = inertial_parameters(dynamics, drives)
        # The order of the columns is the order of choice: regrouped are those of further links.
        self.priorities = tuple(range(len(self.parameters), 0, -1))

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None

    def _slice(self, rows: slice) -> State:
        return State(self.state.q[rows], self.state.qd[rows], self.state.qdd[rows])


class TorqueProblem(_Linear):
    """Measured torques against the torque regressor d."""

    def __init__(
        self,
        dynamics: Tree,
        state: State,
        torques: FloatArray | None = None,
        *,
        drives: Sequence[Drive] = (Drive.ROTOR,),
        sigmas: FloatArray | None = None,
    ) -> None:
        super().__init__(dynamics, state, drives)
        shape = state.qd.shape
        self.torques = np.zeros(shape) if torques is None else torques
        if self.torques.shape != shape:
            raise InputError(
                f"there are torques of the shape {self.torques.shape} for joints of {shape}"
            )
        self.sigmas = np.ones(dynamics.motors) if sigmas is None else sigmas

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for rows in slices(len(self.state.q)):
            table = self.dynamics.regressor(self._slice(rows), self.drives)
            error = np.tensordot(values, table, axes=1) - self.torques[rows].T
            columns = np.concatenate([table, error[None]]) / self.sigmas[:, None]
            yield Block(columns.reshape(len(columns), -1), self.dynamics.motors)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"torque": np.linalg.norm(self.predicted(values) - self.torques, axis=1)}

    def predicted(self, values: FloatArray) -> FloatArray:
        """Torques of given parameters, (n, joints)."""
        parts = [
            np.tensordot(values, self.dynamics.regressor(self._slice(rows), self.drives), axes=1).T
            for rows in slices(len(self.state.q))
        ]
        return np.concatenate(parts)


class EnergyProblem(_Linear):
    """The energy model h between consecutive samples [Gautier1991, eq. 11]: h(t_b) - h(t_a).

    Only differences count: the energy itself has a constant that no torque shows.
    """

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        table = np.diff(self.dynamics.energy(self.state, self.drives), axis=1)
        yield Block(np.concatenate([table, np.zeros((1, table.shape[1]))]), 1)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {}
