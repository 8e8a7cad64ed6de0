"""A payload from runs with and without it: ten parameters of a body fixed to the last link.

In runs without the payload its columns are zero; in the others they are those of the last link. So
the robot is identified by all runs and the payload by the difference between them
[Khalil, Gautier & Lemoine 2007].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.body_prior import BodyPrior
from theodolite.dynamics.consistent import nearest_bodies
from theodolite.dynamics.drives import Drives
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.filtering import Cutoff, mark_loaded
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.inertia import (
    INERTIAL,
    PLACES,
    inertial_parameters,
    is_body,
    mass_properties,
    pseudo_inertia,
)
from theodolite.dynamics.machine_dynamics import MachineDynamics, require_serial
from theodolite.dynamics.preparation import Recorded, prepare_groups
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.torque import PAYLOAD_SUFFIX, TorqueProblem
from theodolite.dynamics.torque_checks import check_runs
from theodolite.dynamics.torque_noise import estimate_noise
from theodolite.errors import InputError
from theodolite.estimation.reduction import triangle
from theodolite.estimation.scaling import unit_columns
from theodolite.estimation.threads import single_thread

#: Rounds in which noise and gains settle, and the relative error below which a gain is exact.
ROUNDS, NEGLIGIBLE_GAIN = 6, 1e-6
#: Weight of the ball against the data, in squares of standard deviations.
BALL_WEIGHT = 0.1


@dataclass(frozen=True, eq=False)
class Payload:
    """An identified payload, in the flange's frame, with standard errors."""

    mass: float
    mass_error: float
    #: m, (3,).
    centre: FloatArray
    centre_errors: FloatArray
    #: About the centre, kg m2, (3, 3).
    inertia: FloatArray
    inertia_errors: FloatArray
    #: Could a body have the ten parameters that fit best? Else they are those of the nearest one.
    consistent: bool
    #: The ten parameters in the flange's frame, and their covariance.
    parameters: FloatArray
    covariance: FloatArray
    #: Robot and payload together.
    result: IdentifiedDynamics
    #: Warnings about the recordings, in words.
    warnings: tuple[str, ...] = ()

    @property
    def detected(self) -> bool:
        """Is the mass larger than noise alone would make it?"""
        return self.mass > self.result.statistics.quantile() * self.mass_error

    @property
    def good(self) -> bool:
        """A payload was detected, and there are no warnings."""
        return self.detected and not self.warnings


def identify_payload(
    dynamics: MachineDynamics,
    without: Recorded,
    loaded: Recorded,
    *,
    drives: Drives | None = None,
    estimator: Estimator = Estimator.WEIGHTED,
    cutoff: float | Cutoff | None = None,
    trim: bool = True,
    gain_errors: FloatArray | None = None,
) -> Payload:
    """What the robot carried in the loaded recordings and not in the others.

    ``gain_errors`` is the relative covariance of the gains that turned currents into torques,
    (motors, motors).
    """
    serial = require_serial(dynamics, "payloads are identified only for serial robots")
    groups = prepare_groups([without, loaded], cutoff=cutoff, trim=trim, dynamics=serial)
    runs = mark_loaded(*groups)
    result = identify_dynamics(serial, runs, drives=drives, estimator=estimator, payload=True)
    names = result.identifiability.identifiable
    wanted = [f"{symbol}{PAYLOAD_SUFFIX}" for symbol in INERTIAL]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InputError(
            f"the runs do not determine {', '.join(missing)} of the payload",
            remedy="Record motions that turn the payload about every axis",
        )
    places = [names.index(name) for name in wanted]
    to_flange = np.linalg.inv(serial.flange_to_link())
    values, spread = result.base_values, result.statistics.covariance
    if gain_errors is not None:
        values, spread = fit_with_gains(result, gain_errors)
    parameters: FloatArray = np.asarray(to_flange @ values[places])
    covariance = to_flange @ spread[np.ix_(places, places)] @ to_flange.T
    mass_error = float(np.sqrt(covariance[9, 9]))
    if parameters[9] < -result.statistics.quantile() * mass_error:
        raise InputError(
            f"the payload's mass is {parameters[9]:.3g} kg",
            remedy="Exchange the recordings if the one with the payload was given first",
        )
    possible = is_body(parameters)
    if not possible and parameters[9] > 0:
        parameters = _nearest_body(parameters, covariance)
    mass, centre, inertia = mass_properties(parameters)
    by_moments = np.concatenate([np.eye(3), -centre[:, None]], axis=1) / mass
    by_parameters = _inertia_slopes(parameters)
    inertia_variances = np.einsum("ijk,kl,ijl->ij", by_parameters, covariance, by_parameters)
    return Payload(
        mass,
        mass_error,
        centre,
        np.sqrt(np.diag(by_moments @ covariance[6:, 6:] @ by_moments.T)),
        inertia,
        np.sqrt(inertia_variances),
        possible,
        parameters,
        covariance,
        result,
        check_runs(serial, runs).warnings,
    )


def fit_with_gains(
    result: IdentifiedDynamics, gain_errors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Base values and their covariance, with the gains as unknowns that are known to some degree.

    ``tau_j = exp(d_j) W_j x`` with d of the covariance ``gain_errors``: all joints have to carry
    the same bodies, so they correct each other's gains. By Gauss-Newton's method; noise is in the
    torques, so the unknown factor is not theirs, which would draw it to zero.
    """
    problem, base = result.problem, result.identifiability.base
    size, motors = len(problem.parameters), problem.dynamics.motors
    least = NEGLIGIBLE_GAIN**2 * np.eye(motors)
    prior = np.linalg.inv(np.linalg.cholesky(gain_errors + least))
    share, measured = result.identifiability.rank / motors, problem.measured()
    values, off = np.zeros(size), np.zeros(motors)
    values[base] = result.base_values
    with single_thread():
        for _ in range(ROUNDS):
            factor = _factor_with_gains(problem, values, off)
            rows = np.concatenate(
                [
                    factor[:, [*base, *range(size, size + motors)]],
                    np.concatenate([np.zeros((motors, len(base))), prior], axis=1),
                ]
            )
            unit, lengths = unit_columns(rows)
            Q, R = np.linalg.qr(unit)
            right = np.concatenate([factor[:, -1], prior @ off])
            step = -np.linalg.solve(R, Q.T @ right) / lengths
            values[base] += step[: len(base)]
            off = off + step[len(base) :]
            # What is left of the torques says how noisy they are once the gains are right.
            left = problem.predict(values) * np.exp(off) - measured
            problem = problem.weighted(estimate_noise(left, measured, share).whitening)
        half = np.linalg.inv(R).T / lengths
    return values[base], np.asarray(half.T @ half)[: len(base), : len(base)]


def _factor_with_gains(problem: TorqueProblem, values: FloatArray, off: FloatArray) -> FloatArray:
    """The triangular factor of the derivatives by parameters and gains, and of the residual."""
    size, motors = len(problem.parameters), problem.dynamics.motors
    width = size + motors + 1
    factor: FloatArray = np.zeros((0, width))
    scale = np.exp(off)[:, None]
    for table in problem.tables():
        torques = np.tensordot(values, table[:-1], axes=1)
        by_gain = np.zeros((motors, *table.shape[1:]))
        for motor in range(motors):
            by_gain[motor, motor] = torques[motor] * scale[motor]
        residual = scale * torques + table[-1]
        columns = np.concatenate([scale * table[:-1], by_gain, residual[None]])
        if problem.whitening is not None:
            columns = np.matmul(problem.whitening, columns)
        factor = triangle([factor, columns.reshape(width, -1).T], width)
    return factor


def _nearest_body(parameters: FloatArray, covariance: FloatArray) -> FloatArray:
    """The body that the data contradict least, drawn a little to a ball at the same place."""
    mass, centre, _ = mass_properties(parameters)
    # As large as its inertia is uncertain: the data do not tell any more.
    moment = float(np.sqrt(np.trace(covariance[:6, :6]) / 6))
    ball = pseudo_inertia(inertial_parameters(mass, centre, moment * np.eye(3)))
    nothing = np.empty(0, dtype=np.intp)
    prior = BodyPrior(
        np.arange(10)[None], np.array([ball]), nothing, np.empty(0), nothing, np.empty(0), 10
    )
    scale = np.sqrt(np.diag(covariance))
    root = np.linalg.inv(np.linalg.cholesky(covariance / np.outer(scale, scale))) / scale
    return nearest_bodies(root, root @ parameters, prior, BALL_WEIGHT).values


def _inertia_slopes(parameters: FloatArray) -> FloatArray:
    """Derivative of the inertia about the centre by the ten parameters, (3, 3, 10)."""
    c = parameters[6:9] / parameters[9]
    slopes = np.zeros((3, 3, 10))
    for column, (i, j) in enumerate(PLACES):
        slopes[i, j, column] = slopes[j, i, column] = 1.0
    # J - (MS'MS 1 - MS MS') / M, with MS = M c.
    for axis in range(3):
        unit = np.eye(3)[axis]
        slopes[:, :, 6 + axis] = np.outer(unit, c) + np.outer(c, unit) - 2 * c[axis] * np.eye(3)
    slopes[:, :, 9] = (c @ c) * np.eye(3) - np.outer(c, c)
    return slopes
