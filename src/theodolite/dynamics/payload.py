"""A payload from runs with and without it: ten parameters of a body fixed to the last link.

In runs without the payload its columns are zero; in the others they are those of the last link. So
the robot is identified by all runs and the payload by the difference between them
[Khalil, Gautier & Lemoine 2007].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drives
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.filtering import Cutoff, mark_loaded
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.inertia import INERTIAL, PLACES, is_body, mass_properties
from theodolite.dynamics.machine_dynamics import MachineDynamics, require_serial
from theodolite.dynamics.preparation import Recorded, prepare_groups
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.torque import PAYLOAD_SUFFIX
from theodolite.dynamics.torque_checks import check_runs
from theodolite.errors import InputError


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
    #: Could a body have these ten parameters?
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
) -> Payload:
    """What the robot carried in the loaded recordings and not in the others."""
    serial = require_serial(dynamics, "payloads are identified only for serial robots")
    groups = prepare_groups([without, loaded], cutoff=cutoff, trim=trim, slides=serial.slides)
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
    parameters = to_flange @ result.base_values[places]
    covariance = result.statistics.covariance[np.ix_(places, places)]
    covariance = to_flange @ covariance @ to_flange.T
    mass_error = float(np.sqrt(covariance[9, 9]))
    if parameters[9] < -result.statistics.quantile() * mass_error:
        raise InputError(
            f"the payload's mass is {parameters[9]:.3g} kg",
            remedy="Exchange the recordings if the one with the payload was given first",
        )
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
        is_body(parameters),
        parameters,
        covariance,
        result,
        check_runs(serial, runs).warnings,
    )


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
