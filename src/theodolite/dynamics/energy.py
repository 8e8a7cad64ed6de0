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
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.torque import RegressorProblem
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import BLOCK, slices


class EnergyProblem(RegressorProblem):
    """Work of the motors between consecutive samples against differences of the energy.

    Of a decimated run, from each remaining sample to the next; the work between them is the
    trapezoidal sum over all samples.
    """

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for run in self.runs:
            factor = run.decimation.factor
            for rows in slices((len(run.state) - 1) // factor, max(1, BLOCK // factor)):
                samples = slice(rows.start * factor, rows.stop * factor + 1)
                torques = self.unknown_torques(run, samples)
                power = (torques * run.state.qd[samples]).sum(axis=1)
                lost = _integral(_lost_power(self, run, samples), run.rate)
                table = (_energy(self, run, samples) + lost)[:, ::factor]
                change = np.diff(table, axis=1)
                error = values @ change - np.diff(_integral(power, run.rate)[::factor])
                yield Block(np.concatenate([change, error[None]]), 1)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"energy": np.concatenate([np.abs(b.residual) for b in self.blocks(values)])}


class PowerProblem(RegressorProblem):
    """Power of the motors against the rate of the energy, both after the same low-pass.

    The low-pass is differentiated instead of the energy, so that no acceleration is needed.
    """

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        for run, rows in self.row_blocks():
            samples = run.decimation.input_rows(rows)
            change = run.decimation.differentiate(_energy(self, run, samples), run.rate)
            change = change + run.decimation.apply(_lost_power(self, run, samples))
            torques = self.unknown_torques(run, samples)
            power = (torques * run.state[samples].qd).sum(axis=1)
            power = run.decimation.apply(power)
            yield Block(np.concatenate([change, (values @ change - power)[None]]), 1)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"power": np.concatenate([np.abs(b.residual) for b in self.blocks(values)])}


def _energy(problem: RegressorProblem, run: Run, rows: slice) -> FloatArray:
    """The row h at some samples, (columns, n), with that of a payload."""
    table = problem.dynamics.energy(run.state[rows], problem.drives)
    return problem.select(table, loaded=run.loaded)


def _lost_power(problem: RegressorProblem, run: Run, rows: slice) -> FloatArray:
    """Power that is lost in friction, which stores nothing, (columns, n)."""
    table = problem.dynamics.lost_power(run.state[rows], problem.drives)
    return problem.select(table, loaded=False)


def _integral(power: FloatArray, rate: float) -> FloatArray:
    """The integral from the first sample on, by the trapezoidal rule."""
    steps = (power[..., 1:] + power[..., :-1]) / (2 * rate)
    return np.concatenate([np.zeros((*power.shape[:-1], 1)), np.cumsum(steps, axis=-1)], axis=-1)
