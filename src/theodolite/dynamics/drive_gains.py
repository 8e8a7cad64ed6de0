"""Drive gains, N m/A, from runs with and without a known payload.

Currents alone determine everything up to a scale: a robot twice as heavy with gains twice as large
draws the same currents. A known payload sets that scale. Noise is in the currents, so the residual
is too:

    i_j = (W_j X + y_j) / g_j      y: torque of the known payload, in the runs with it

Its mass alone is enough: then its centre and inertia are further unknowns, and y is that of the
mass at the flange.

Gains as factors of noisy currents, ``g_j i_j = W_j X + y_j``, would be too small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import FRICTION, Drive, Drives, holds
from theodolite.dynamics.filtering import Cutoff, Run, mark_loaded
from theodolite.dynamics.inertia import INERTIAL, RigidBody
from theodolite.dynamics.machine_dynamics import MachineDynamics, require_serial
from theodolite.dynamics.preparation import Recorded, prepare_groups
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_checks import check_runs
from theodolite.dynamics.torque_noise import estimate_noise
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.descent import Status
from theodolite.estimation.problem import Block
from theodolite.estimation.solver import Solution, solve
from theodolite.estimation.statistics import statistics
from theodolite.model.parameters import Group, Parameter, Unit

#: A payload shows in a joint if it adds this many deviations of its residual.
SHOWN = 1.0
#: A gain so many times what is usual comes from a payload whose centre is not known.
UNLIKE = 5.0
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
    #: Warnings about recordings and payload, in words.
    warnings: tuple[str, ...] = ()
    #: Of all gains together, (motors, motors).
    covariance: FloatArray | None = None

    @property
    def good(self) -> bool:
        """Converged, without any warning."""
        return self.status.good and not self.warnings


class _CurrentProblem:
    """Currents against the regressor and gains; linear as long as no gains are known."""

    warm_start = None
    constraint = False

    def __init__(
        self,
        torques: TorqueProblem,
        payload: FloatArray,
        sigmas: FloatArray,
        gains: FloatArray | None = None,
        free: FloatArray | None = None,
    ) -> None:
        """From the problem of robot and payload with currents in place of torques.

        ``free`` (10, k) are directions in which the payload is unknown.

        ``gains`` from the linear problem are good to themselves: a prior that a payload outweighs
        by far, and that holds the gain of a joint that the payload does not load.
        """
        self.torques, self.payload, self.sigmas = torques, payload, sigmas
        self.free = np.zeros((len(INERTIAL), 0)) if free is None else free
        self.linear = gains is None
        robot = torques.parameters[: len(torques.parameters) - len(INERTIAL)]
        carried = torques.parameters[len(robot) : len(robot) + self.free.shape[1]]
        self.size = len(robot) + len(carried)
        names = torques.dynamics.motor_names
        means, tolerances = (
            (np.ones(len(names)), np.full(len(names), np.inf)) if gains is None else (gains, gains)
        )
        own = [
            Parameter(f"g{name}", mean, Unit.GAIN, Group.ARM, place, place, tolerance=tolerance)
            for place, (name, mean, tolerance) in enumerate(
                zip(names, means.tolist(), tolerances.tolist(), strict=True), self.size
            )
        ]
        self.parameters = (*robot, *carried, *own)
        # The gains first: what depends on them is regrouped, not they.
        last = len(self.parameters)
        self.priorities = (*range(self.size, 0, -1), *range(last + len(names), last, -1))

    def structure(self, values: FloatArray) -> Iterator[FloatArray] | None:
        return None

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        X, gains = values[: self.size], values[self.size :]
        for whole in self.torques.tables():
            load, currents = whole[-len(INERTIAL) - 1 : -1], -whole[-1]
            unknown = np.tensordot(self.free.T, load, axes=1)
            table = np.concatenate([whole[: -len(INERTIAL) - 1], unknown])
            torques = np.tensordot(X, table, axes=1) + np.tensordot(self.payload, load, axes=1)
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
    dynamics: MachineDynamics,
    without: Recorded,
    loaded: Recorded,
    payload: RigidBody | float,
    *,
    drives: Drives = FRICTION,
    cutoff: float | Cutoff | None = None,
    trim: bool = True,
) -> DriveGains:
    """Gains from recordings with currents in place of torques, without and with a payload.

    ``payload`` is the known body in the flange's frame, or its mass alone, kg.
    """
    serial = require_serial(dynamics, "drive gains are identified only for serial robots")
    if holds(drives, Drive.LOAD):
        raise InputError(
            "friction under load needs torques, and gains are identified from currents",
            remedy="Leave that term out",
        )
    groups = prepare_groups([without, loaded], cutoff=cutoff, trim=trim, dynamics=serial)
    runs = mark_loaded(*groups)
    carried, free = _known_payload(serial, payload)
    problem = TorqueProblem(serial, runs, drives=drives, payload=True).stored()
    solution, sigmas = _solve(problem, carried, free)
    size = len(solution.values) - serial.motors
    spread = statistics(solution, noise_known=True)
    base = list(solution.identifiability.base)
    places = [base.index(p) if p in base else -1 for p in range(size, len(solution.values))]
    covariance = np.where(
        np.array(places)[:, None] < 0, np.nan, spread.covariance[np.ix_(places, places)]
    )
    covariance = np.where(np.array(places) < 0, np.nan, covariance)
    gains, loads = solution.values[size:].copy(), _payload_torques(serial, runs, carried)
    lost = gains <= 0
    if lost.any():
        # A gain is positive: of one that the data do not show, only what is usual is known.
        gains[lost] = _likely(gains)[lost]
        covariance[lost], covariance[:, lost] = 0.0, 0.0
        covariance[lost, lost] = gains[lost] ** 2
    errors = np.sqrt(np.diag(covariance))
    weak = [
        f"the gain of joint {serial.motor_names[joint]} is not determined by these recordings; "
        "the typical gain of the other joints is used instead, with a correspondingly wide interval"
        for joint in np.flatnonzero(lost).tolist()
    ]
    weak += [
        f"the payload hardly loads joint {serial.motor_names[joint]} ({loads[joint]:.2g} N m): do "
        "not trust its gain. Mount the payload off that axis, or move that joint more"
        for joint in np.flatnonzero(~lost & (loads < SHOWN * sigmas * gains)).tolist()
    ]
    return DriveGains(
        gains,
        errors,
        spread.quantile() * errors,
        solution.status,
        sigmas,
        loads,
        (*check_runs(serial, runs).warnings, *weak),
        covariance,
    )


def _known_payload(
    dynamics: Dynamics, payload: RigidBody | float
) -> tuple[FloatArray, FloatArray | None]:
    """Ten parameters in the last link's frame, and the directions in which they are unknown."""
    if isinstance(payload, RigidBody):
        return dynamics.payload_parameters(payload), None
    at_flange = RigidBody(payload, np.zeros(3))
    return dynamics.payload_parameters(at_flange), dynamics.flange_to_link()[:, :-1]


def _solve(
    problem: TorqueProblem, payload: FloatArray, free: FloatArray | None
) -> tuple[Solution, FloatArray]:
    """Parameters and gains, and the long-run deviations of the currents that weighed the joints."""
    motors = problem.dynamics.motors
    sigmas = np.ones(motors)
    # With a centre that is not known the linear problem has no scale: it begins at the flange.
    solution = solve(_CurrentProblem(problem, payload, sigmas))
    gains, start = solution.values[-motors:], solution.values
    if (free is None and (gains <= 0).any()) or not (gains > 0).any():
        raise InputError(
            f"the gain of joint {int(np.argmin(gains)) + 1} would be negative",
            remedy="Check the payload, and which recordings carry it",
        )
    if free is not None:
        gains = _likely(gains)
        size = _CurrentProblem(problem, payload, sigmas, gains, free).size
        start = np.concatenate([np.zeros(size), gains])
    for _ in range(ROUNDS):
        currents = _CurrentProblem(problem, payload, sigmas, gains, free)
        solution = solve(currents, start=start)
        start = solution.values
        parts = [block.residual.reshape(motors, -1) for block in currents.blocks(solution.values)]
        share = solution.identifiability.rank / motors
        # Of whitened residuals: what is left to correct.
        residuals = np.concatenate(parts, axis=1).T
        sigmas = sigmas * estimate_noise(residuals, problem.measured() / sigmas, share).long_run
    return solution, sigmas


def _likely(gains: FloatArray) -> FloatArray:
    """Gains of which those that cannot be are what most of the others are."""
    usual = float(np.median(gains[gains > 0]))
    possible = (gains > usual / UNLIKE) & (gains < UNLIKE * usual)
    return np.where(possible, gains, usual)


def _payload_torques(dynamics: Tree, runs: Sequence[Run], payload: FloatArray) -> FloatArray:
    """What a payload adds to the torques of the runs that carry it, rms, (motors,)."""
    carrying = [run for run in runs if run.loaded]
    problem = TorqueProblem(dynamics, carrying, drives=(), payload=True)
    values = np.zeros(len(problem.parameters))
    values[-len(INERTIAL) :] = payload
    return np.asarray(np.sqrt((problem.predict(values) ** 2).mean(axis=0)))
