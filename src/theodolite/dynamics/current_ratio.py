"""Drive gains, N m/A, from recordings that hold torques and currents: their ratio.

Both are noisy, and which one more is not known, so neither is taken for exact: the gain is the
ratio of their deviations, ``sqrt(sum tau^2 / sum i^2)``, which lies between the two ratios that
take one of them for exact.

A current holds the friction of the gear, a torque that is measured behind the gear does not. So
what goes with the joint's speed, with its direction or with neither is taken off both first, unless
nothing else is left; where much is left that they do not share, the torque is taken for exact.
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
#: What is not shared beyond this is no noise.
MOSTLY_SHARED = 0.95
#: Of the variation of a torque: with less than this beside friction, that is what is compared.
LEAST_LOAD = 0.02


def gains_from_torques(
    dynamics: Tree, torques: Recorded, currents: Recorded, *, trim: bool = True
) -> DriveGains:
    """Gains from the same recordings read twice: with torques, and with currents in their place."""
    groups = prepare_groups([torques, currents], trim=trim, dynamics=dynamics)
    tau, i = (np.concatenate([run.measured() for run in runs]) for runs in groups)
    speeds = np.concatenate([run.decimation.apply(run.state.qd.T).T for run in groups[0]])
    if tau.shape != i.shape:
        raise InputError(
            f"torques of {len(tau)} samples and currents of {len(i)} do not belong together",
            remedy="Take both from the same file",
        )
    gains, errors, left = np.array(
        [_ratio(t, c, v) for t, c, v in zip(tau.T, i.T, speeds.T, strict=True)]
    ).T
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


def _ratio(
    torque: FloatArray, current: FloatArray, speed: FloatArray
) -> tuple[float, float, float]:
    """Gain, its standard error, and what is left of the current, A."""
    t, c = torque - torque.mean(), current - current.mean()
    of_friction = np.column_stack([np.ones_like(speed), speed, np.sign(speed)])
    Q = np.linalg.svd(of_friction, full_matrices=False)[0]
    rest_t, rest_c = (one - Q @ (Q.T @ one) for one in (t, c))
    if rest_t @ rest_t > LEAST_LOAD * (t @ t) and rest_c @ rest_c > LEAST_LOAD * (c @ c):
        t, c = rest_t, rest_c
    if not t.any() or not c.any():
        raise InputError(
            "a torque or a current never changes", remedy="Check the columns, and move every joint"
        )
    shared = float(t @ c) / np.sqrt(float(t @ t) * float(c @ c))
    gain = float(np.copysign(np.sqrt((t @ t) / (c @ c)), shared))
    if abs(shared) < MOSTLY_SHARED:
        # So much that they do not share is friction of other shapes, which only currents hold.
        gain /= abs(shared)
    left = c - t / gain
    # Neighbouring samples say nearly the same.
    independent = max(len(t) / correlation_factor(left), 2.0)
    error = abs(gain / shared) * np.sqrt(max(1.0 - shared**2, 0.0) / independent)
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
