"""The energy model, without accelerations: differences of h [Gautier1991, eq. 11], or its rate.

    integral of tau' q' dt from a to b  =  (h(b) - h(a)) X        energy
    tau' q'                             =  dh/dt X                power

Only differences count: the energy itself has a constant that no torque shows. Friction stores
nothing, so its columns are the work and the power it takes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import drive_energy, drive_torque
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.torque import LinearModel
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import BLOCK, slices


class EnergyProblem(LinearModel):
    """Work of the motors between consecutive samples against differences of the energy.

    A run that is thinned out is taken from each remaining sample to the next; the work between them
    is the trapezoidal sum over all samples.
    """

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for run in self.runs:
            every = run.thinning.every
            for rows in slices((len(run.state) - 1) // every, max(1, BLOCK // every)):
                samples = slice(rows.start * every, rows.stop * every + 1)
                power = (run.torques[samples] * run.state.qd[samples]).sum(axis=1)
                taken = _cumulated(_friction_power(self, run, samples), run.rate)
                table = (_energy(self, run, samples) + taken)[:, ::every]
                change = np.diff(table, axis=1)
                error = values @ change - np.diff(_cumulated(power, run.rate)[::every])
                yield Block(np.concatenate([change, error[None]]), 1)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"energy": np.concatenate([np.abs(b.residual) for b in self.blocks(values)])}


class PowerProblem(LinearModel):
    """Power of the motors against the rate of the energy, both after the same low-pass.

    The derivative falls to the low-pass, so that no acceleration is needed.
    """

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for run, rows in self.pieces():
            source = run.thinning.source(rows)
            state = run.state[source]
            change = run.thinning.rate_of_change(_energy(self, run, source), run.rate)
            change = change + run.thinning.thinned(_friction_power(self, run, source))
            power = run.thinning.thinned((run.torques[source] * state.qd).sum(axis=1))
            yield Block(np.concatenate([change, (values @ change - power)[None]]), 1)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"power": np.concatenate([np.abs(b.residual) for b in self.blocks(values)])}


def _energy(problem: LinearModel, run: Run, rows: slice) -> FloatArray:
    """The row h at some samples, (columns, n), with that of a payload."""
    table = problem.dynamics.energy(run.state[rows], problem.drives)
    return problem.chosen(table, loaded=run.loaded)


def _friction_power(problem: LinearModel, run: Run, rows: slice) -> FloatArray:
    """Power that goes into what stores nothing, (columns, n)."""
    state, tree = run.state[rows], problem.dynamics
    columns = tree.columns(problem.drives)
    table = np.zeros((len(columns), len(state)))
    for motor, name in enumerate(tree.motor_names):
        for drive in problem.drives:
            if drive_energy(drive, state, motor) is None:
                torque = drive_torque(drive, state, motor, tree.stribeck_speed)
                table[columns.index((drive.value, name))] = torque * state.qd[:, motor]
    return problem.chosen(table, loaded=False)


def _cumulated(power: FloatArray, rate: float) -> FloatArray:
    """Its integral from the first sample on, by the trapezoidal rule."""
    steps = (power[..., 1:] + power[..., :-1]) / (2 * rate)
    return np.concatenate([np.zeros((*power.shape[:-1], 1)), np.cumsum(steps, axis=-1)], axis=-1)
