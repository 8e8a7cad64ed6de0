"""Drive gains, N m/A, from runs with and without a payload that is known.

Currents alone say everything up to a scale: a robot twice as heavy with gains twice as large draws
the same. A known payload sets that scale. Noise is in the currents, so the residual is too:

    i_j = (W_j X + y_j) / g_j      y: torque of the known payload, in the runs with it

Gains as factors of noisy currents, ``g_j i_j = W_j X + y_j``, would come out too small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.filtering import Run, with_and_without
from theodolite.dynamics.identify import FRICTION
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.torque import LinearModel, TorqueProblem
from theodolite.dynamics.torque_noise import TorqueNoise
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.problem import Block
from theodolite.estimation.solver import Solution, Status, solve
from theodolite.estimation.statistics import statistics
from theodolite.model.parameters import Group, Parameter, Unit

#: A payload shows in a joint if it adds this many deviations of its residual.
SHOWN = 1.0
#: Rounds of weighing the joints by their residuals.
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Identified gains with their standard errors, N m/A."""

    gains: FloatArray
    errors: FloatArray
    #: Half-widths of the 95 % intervals.
    half_widths: FloatArray
    status: Status
    #: Long-run deviations of the currents' residuals, A.
    sigmas: FloatArray
    #: Root mean square of what the payload adds to each torque, N m.
    loads: FloatArray

    def doubts(self, names: Sequence[str]) -> list[str]:
        """Joints that the payload loads too little to tell their gains, in words."""
        weak = np.flatnonzero(self.loads < SHOWN * self.sigmas * self.gains)
        return [
            f"the payload hardly loads joint {names[int(joint)]} ({self.loads[joint]:.2g} N m): "
            "its gain is not to be trusted. Mount it off that axis, or move that joint more"
            for joint in weak
        ]


class _Currents(LinearModel):
    """Currents against the regressor and gains; with ``linear``, gains as factors of currents."""

    def __init__(
        self,
        dynamics: Tree,
        runs: Sequence[Run],
        payload: FloatArray,
        sigmas: FloatArray,
        drives: Sequence[Drive],
        *,
        linear: bool,
    ) -> None:
        super().__init__(dynamics, runs, drives=drives, payload=True)
        self.known, self.sigmas, self.linear = payload, sigmas, linear
        self.size = len(self.parameters) - len(INERTIAL)
        gains = [
            Parameter(f"g{name}", 1.0, Unit.GAIN, Group.ARM, self.size + place, self.size + place)
            for place, name in enumerate(dynamics.motor_names)
        ]
        self.parameters = (*self.parameters[: self.size], *gains)
        # The gains first: what depends on them is regrouped, not they.
        last = len(self.parameters)
        self.priorities = (
            *range(self.size, 0, -1),
            *range(last + dynamics.motors, last, -1),
        )

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        X, gains = values[: self.size], values[self.size :]
        for run, rows in self.pieces():
            source = run.thinning.source(rows)
            table = run.thinning.thinned(self.regressor(run, source))
            table, load = table[: self.size], table[self.size :]
            currents = run.thinning.thinned(run.torques[source].T)
            torques = np.tensordot(X, table, axes=1) + np.tensordot(self.known, load, axes=1)
            by_gain = np.zeros((len(gains), *torques.shape))
            if self.linear:
                error = torques - gains[:, None] * currents
                for motor in range(len(gains)):
                    by_gain[motor, motor] = -currents[motor]
            else:
                error = torques / gains[:, None] - currents
                table = table / gains[:, None]
                for motor, gain in enumerate(gains):
                    by_gain[motor, motor] = -torques[motor] / gain**2
            columns = np.concatenate([table, by_gain, error[None]]) / self.sigmas[:, None]
            yield Block(columns.reshape(len(columns), -1), len(gains))

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        return {"current": np.concatenate([np.abs(b.residual) for b in self.blocks(values)])}


def identify_gains(
    dynamics: Tree,
    without: Sequence[Run],
    loaded: Sequence[Run],
    payload: FloatArray,
    *,
    drives: Sequence[Drive] = FRICTION,
) -> DriveGains:
    """From runs whose torques are currents; ``payload`` has ten parameters in the last link."""
    runs = with_and_without(without, loaded)
    sigmas = np.ones(dynamics.motors)
    start = solve(_Currents(dynamics, runs, payload, sigmas, drives, linear=True)).values
    size = len(start) - dynamics.motors
    if (start[size:] <= 0).any():
        joint = int(np.argmin(start[size:])) + 1
        raise InputError(
            f"the gain of joint {joint} comes out negative",
            remedy="Check the payload, and which runs carry it",
        )
    solution: Solution | None = None
    for _ in range(ROUNDS):
        problem = _Currents(dynamics, runs, payload, sigmas, drives, linear=False)
        solution = solve(problem, start=start)
        start = solution.values
        sigmas = sigmas * _long_run(problem, solution)
    assert solution is not None
    base = list(solution.identifiability.base)
    uncertain = statistics(solution, noise_known=True)
    deviations = uncertain.standard_errors
    errors = np.array(
        [
            float(deviations[base.index(place)]) if place in base else float("nan")
            for place in range(size, len(start))
        ]
    )
    widths = uncertain.quantile() * errors
    loads = _loads(dynamics, runs, payload, drives)
    return DriveGains(start[size:], errors, widths, solution.status, sigmas, loads)


def _loads(
    dynamics: Tree, runs: Sequence[Run], payload: FloatArray, drives: Sequence[Drive]
) -> FloatArray:
    """What a payload adds to the torques of the runs that carry it, rms, (motors,)."""
    problem = TorqueProblem(
        dynamics, [run for run in runs if run.loaded], drives=drives, payload=True
    )
    values = np.zeros(len(problem.parameters))
    values[-len(INERTIAL) :] = payload
    return np.asarray(np.sqrt((problem.predicted(values) ** 2).mean(axis=0)))


def _long_run(problem: _Currents, solution: Solution) -> FloatArray:
    """Long-run deviation of each motor's whitened residual."""
    motors = problem.dynamics.motors
    parts = [block.residual.reshape(motors, -1) for block in problem.blocks(solution.values)]
    share = solution.identifiability.rank / motors
    return TorqueNoise.of(np.concatenate(parts, axis=1).T, share, between_joints=False).long_run
