"""A payload from runs with and without it: ten parameters of a body fixed to the last link.

In runs without the payload its columns are zero; in the others they are those of the last link. So
the robot is identified by all runs and the payload by the difference between them
[Khalil, Gautier & Lemoine 2007].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.filtering import Run, with_and_without
from theodolite.dynamics.identify import FRICTION, IdentifiedDynamics, Way, identify_dynamics
from theodolite.dynamics.inertia import INERTIAL, pseudo_inertia, taken_apart
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import LOAD
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
    found: IdentifiedDynamics

    @property
    def seen(self) -> bool:
        """Is there a payload at all, beyond what noise makes of nothing?"""
        return self.mass > self.found.statistics.quantile() * self.mass_error


def identify_payload(
    dynamics: Dynamics,
    without: Sequence[Run],
    loaded: Sequence[Run],
    *,
    drives: Sequence[Drive] = FRICTION,
    way: Way = Way.WEIGHTED,
) -> Payload:
    """What the robot carried in the loaded runs and not in the others."""
    runs = with_and_without(without, loaded)
    found = identify_dynamics(dynamics, runs, drives=drives, way=way, payload=True)
    known = found.identifiability
    names = known.identifiable
    missing = [f"{symbol}{LOAD}" for symbol in INERTIAL if f"{symbol}{LOAD}" not in names]
    if missing:
        raise InputError(
            f"the runs do not determine {', '.join(missing)} of the payload",
            remedy="Record motions that turn the payload about every axis",
        )
    places = [names.index(f"{symbol}{LOAD}") for symbol in INERTIAL]
    to_flange = np.linalg.inv(dynamics.flange_to_link())
    body = to_flange @ found.base_values[places]
    covariance = found.statistics.covariance[np.ix_(places, places)]
    covariance = to_flange @ covariance @ to_flange.T
    mass_error = float(np.sqrt(covariance[9, 9]))
    if body[9] < -found.statistics.quantile() * mass_error:
        raise InputError(
            f"the payload's mass comes out as {body[9]:.3g} kg",
            remedy="Exchange the runs, if those with the payload were given first",
        )
    mass, centre, inertia = taken_apart(body)
    slope = np.concatenate([np.eye(3), -centre[:, None]], axis=1) / mass
    errors = np.sqrt(np.diag(slope @ covariance[6:, 6:] @ slope.T))
    spread = _inertia_slopes(body)
    inertia_errors = np.sqrt(np.einsum("ijk,kl,ijl->ij", spread, covariance, spread))
    bodily = float(np.linalg.eigvalsh(np.array(pseudo_inertia(body)))[0]) > 0
    return Payload(
        mass,
        mass_error,
        centre,
        errors,
        inertia,
        inertia_errors,
        bodily,
        body,
        covariance,
        found,
    )


def _inertia_slopes(body: FloatArray) -> FloatArray:
    """Derivative of the inertia about the centre by the ten parameters, (3, 3, 10)."""
    steps = 1e-6 * np.eye(10)
    return np.stack(
        [(taken_apart(body + step)[2] - taken_apart(body - step)[2]) / 2e-6 for step in steps],
        axis=2,
    )
