"""Torques along a motion, by what causes them, with intervals.

The torques of a rigid machine are M(q) q'' + c(q, q') + g(q), so three evaluations of the same
regressor tell inertia, Coriolis and gravity apart; the drives add theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive, State, holds
from theodolite.dynamics.inertia import INERTIAL
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.torque import SAMPLES
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.slicing import slices
from theodolite.estimation.statistics import NORMAL_95


@dataclass(frozen=True, eq=False)
class MotionTorques:
    """Torques by cause, N m or, of slides, N, (n, motors) each; their sum is the total."""

    inertia: FloatArray
    coriolis: FloatArray
    gravity: FloatArray
    #: Springs and known torques of the mechanism.
    springs: FloatArray
    #: All that a drive adds: friction, constants, ripple.
    friction: FloatArray
    #: Half-widths of 95 % intervals for a measured torque; NaN where nothing is known of it.
    half_widths: FloatArray

    @property
    def total(self) -> FloatArray:
        return self.inertia + self.coriolis + self.gravity + self.springs + self.friction

    def __repr__(self) -> str:
        n, motors = self.inertia.shape
        return f"MotionTorques: {n} samples of {motors} motors"


def predict_motion(
    dynamics: Tree,
    parameters: DynamicParameters,
    state: State,
    *,
    payload: FloatArray | None = None,
) -> MotionTorques:
    """Torques of identified parameters along a motion.

    ``payload`` are ten parameters in the last link's frame. The intervals hold the uncertainty of
    the parameters and what the fit left of its own torques, where these are known.
    """
    parameters.check_frames(dynamics)
    drives = parameters.drives
    columns = dynamics.columns(drives)
    values = parameters.vector(dynamics.names(drives))
    if payload is not None:
        last = max(place for place, (symbol, _) in enumerate(columns) if symbol == INERTIAL[0])
        values[last : last + len(INERTIAL)] += payload
    rigid = np.array([s in INERTIAL or s == Drive.ROTOR.value for s, _ in columns])
    springs = np.array([s not in INERTIAL and Drive(s).elastic for s, _ in columns])
    parts = []
    for rows in slices(len(state), SAMPLES):
        own = dynamics.assemble(state[rows])
        still = np.zeros_like(own.qd)
        table = dynamics.regressor(own, drives, values=values)
        whole, held, at_rest = (
            np.tensordot(values[rigid], each[rigid], axes=1).T
            for each in (
                table,
                dynamics.regressor(replace(own, qd=still), drives, values=values),
                dynamics.regressor(replace(own, qd=still, qdd=still), drives, values=values),
            )
        )
        others = np.tensordot(values[~rigid & ~springs], table[~rigid & ~springs], axes=1).T
        of_springs = np.tensordot(values[springs], table[springs], axes=1).T
        if (known := dynamics.known_torques(own)) is not None:
            of_springs = of_springs + known.T
        parts.append(
            MotionTorques(
                held - at_rest,
                whole - held,
                at_rest,
                of_springs,
                others,
                _half_widths(dynamics, parameters, table, values),
            )
        )
    return MotionTorques(
        *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(MotionTorques))
    )


def _half_widths(
    dynamics: Tree, parameters: DynamicParameters, table: FloatArray, values: FloatArray
) -> FloatArray:
    """95 % intervals of measured torques, by parameters and by what the fit left, (n, motors)."""
    if parameters.covariance is None:
        return np.full(table.shape[:0:-1], np.nan)
    if holds(parameters.drives, Drive.LOAD):
        table = table.copy()
        dynamics.linearise_load(table, parameters.drives, values)
    names = dynamics.names(parameters.drives)
    base = table[[names.index(name) for name in parameters.base]]
    root = np.linalg.cholesky(_positive(parameters.covariance))
    spread = np.tensordot(root.T, base, axes=1)
    variances = (spread**2).sum(axis=0).T
    left = np.array(parameters.deviations or (0.0,) * dynamics.motors)
    return np.asarray(NORMAL_95 * np.sqrt(variances + left**2))


def _positive(covariance: FloatArray) -> FloatArray:
    """A covariance whose rounding does not make it indefinite."""
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    unit = covariance / np.outer(scale, scale) + 1e-12 * np.eye(len(scale))
    return unit * np.outer(scale, scale)


def simulate_recording(
    dynamics: Tree,
    parameters: DynamicParameters,
    times: FloatArray,
    state: State,
    *,
    noise: FloatArray | float | None = None,
    position_noise: float = 0.0,
    payload: FloatArray | None = None,
    rng: np.random.Generator,
) -> Recording:
    """What would be recorded along a motion: positions and torques with white noise.

    ``noise`` of the torques, N m or N, is by default what the fit of the parameters left.
    """
    size = parameters.deviations or 0.0 if noise is None else noise
    given = np.asarray(size, dtype=np.float64).reshape(-1)
    if len(given) not in (1, dynamics.motors):
        raise InputError(
            f"{len(given)} numbers for the noise",
            allowed=f"one, or one for each of {dynamics.motors}",
        )
    deviations = np.broadcast_to(given, (dynamics.motors,))
    if not (deviations >= 0).all() or not position_noise >= 0:
        raise InputError("a negative noise", allowed="0 or more")
    torques = predict_motion(dynamics, parameters, state, payload=payload).total
    q = state.q[:, : dynamics.motors]
    return Recording(
        times,
        q + position_noise * rng.standard_normal(q.shape),
        torques + deviations * rng.standard_normal(torques.shape),
        name="simulated",
        slides=dynamics.slides,
    )
