"""Drive gains, N m/A, from recordings that hold torques and currents: their ratio.

Both are noisy, and which one more is not known, so neither is taken for exact: the gain is the
ratio of their deviations from the mean, ``sqrt(sum tau^2 / sum i^2)``, which lies between the two
ratios that take one of them for exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drive_gains import DriveGains
from theodolite.dynamics.preparation import Recorded, prepare_groups
from theodolite.dynamics.torque_noise import correlation_factor
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.descent import Status
from theodolite.estimation.statistics import NORMAL_95

#: Torques and currents that share less of their variation than this are not of one motor.
TOGETHER = 0.5


def gains_from_torques(
    dynamics: Tree, torques: Recorded, currents: Recorded, *, trim: bool = True
) -> DriveGains:
    """Gains from the same recordings read twice: with torques, and with currents in their place."""
    groups = prepare_groups([torques, currents], trim=trim, dynamics=dynamics)
    tau, i = (np.concatenate([run.measured() for run in runs]) for runs in groups)
    if tau.shape != i.shape:
        raise InputError(
            f"torques of {len(tau)} samples and currents of {len(i)} do not belong together",
            remedy="Take both from the same file",
        )
    gains, errors, left = np.array([_ratio(t, c) for t, c in zip(tau.T, i.T, strict=True)]).T
    return DriveGains(
        gains,
        errors,
        NORMAL_95 * errors,
        Status.CONVERGED,
        left,
        np.sqrt((tau**2).mean(axis=0)),
        tuple(_doubts(dynamics.motor_names, tau, i)),
        covariance=np.diag(errors**2),
    )


def _ratio(torque: FloatArray, current: FloatArray) -> tuple[float, float, float]:
    """Gain, its standard error, and what is left of the current, A."""
    t, c = torque - torque.mean(), current - current.mean()
    if not t.any() or not c.any():
        raise InputError(
            "a torque or a current never changes", remedy="Check the columns, and move every joint"
        )
    shared = float(t @ c) / np.sqrt(float(t @ t) * float(c @ c))
    gain = float(np.copysign(np.sqrt((t @ t) / (c @ c)), shared))
    left = c - t / gain
    # Neighbouring samples say nearly the same.
    independent = max(len(t) / correlation_factor(left), 2.0)
    error = abs(gain) * np.sqrt(max(1.0 - shared**2, 0.0) / independent)
    return gain, float(error), float(left.std())


def _doubts(names: Sequence[str], tau: FloatArray, i: FloatArray) -> list[str]:
    doubts = []
    for name, t, c in zip(names, tau.T, i.T, strict=True):
        shared = float(np.corrcoef(t, c)[0, 1])
        if abs(shared) < TOGETHER:
            doubts.append(
                f"torque and current of joint {name} have little in common (correlation "
                f"{shared:.2f}): do not trust its gain. Check that both are of this joint"
            )
    return doubts
