"""Is an identification good enough, and why not? In numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.dynamics.coverage import check_excitation
from theodolite.dynamics.filtering import Cutoff, mark_loaded
from theodolite.dynamics.inertia import INERTIAL, RigidBody
from theodolite.dynamics.machine_dynamics import MachineDynamics, require_serial
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.prediction import Prediction, predict_torques
from theodolite.dynamics.preparation import Recorded, prepare_runs
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.torque import PAYLOAD_SUFFIX
from theodolite.dynamics.torque_checks import check_runs
from theodolite.errors import InputError

#: A prediction with this relative error is no better than none.
USELESS = 1.0
#: A model with a joint that is off by more of its torque is not called good.
POOR = 0.5
#: A joint is worse than the others if its error is this many times the usual one.
WORSE = 3.0
#: An error on unseen data this many times that of the fit means that the fit learned its noise.
OVERFITTED = 2.0


@dataclass(frozen=True)
class Accuracy:
    """Errors relative to the torque up to which a prediction is good, and is usable.

    The recordings of real arms in docs/explanation/dynamics.md are predicted to 2 to 5 %; at 15 % a
    controller that uses the model still gets 85 % of the torque from it.
    """

    good: float = 0.06
    usable: float = 0.15

    def __post_init__(self) -> None:
        if not 0 < self.good <= self.usable < np.inf:
            raise InputError(
                f"good up to {100 * self.good:g} %, usable up to {100 * self.usable:g} %",
                allowed="torque errors above 0 %, good not above usable",
            )


@dataclass(frozen=True, eq=False)
class Judgement:
    """How good parameters are, by the torques that they predict."""

    #: Torques that the parameters were fitted to, and torques that they had not seen.
    fit: Prediction | None
    check: Prediction | None
    #: Is the error small enough?
    accurate: bool
    #: Why, in a sentence.
    verdict: str
    #: Warnings about the result, and notes that are only worth knowing, in words.
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Accurate, without any warning."""
        return self.accurate and not self.warnings

    @property
    def decisive(self) -> Prediction:
        """The prediction that the verdict is about: that of unseen torques, if there is one."""
        shown = self.fit if self.check is None else self.check
        assert shown is not None
        return shown


def judge_identification(
    result: IdentifiedDynamics,
    check: Recorded = (),
    *,
    accuracy: Accuracy | None = None,
    trim: bool = True,
) -> Judgement:
    """Judge a result by its own runs and, if given, by recordings that it has not seen.

    Those are filtered at the cut-off of the fit: a lower one would flatter the result.
    """
    runs = result.problem.runs
    unseen = prepare_runs(
        check, cutoff=result.parameters.cutoff, trim=trim, dynamics=result.dynamics
    )
    values, drives = result.named(), result.problem.drives
    fit = predict_torques(result.dynamics, runs, values, drives)
    checked = predict_torques(result.dynamics, unseen, values, drives) if unseen else None
    own = check_runs(result.dynamics, runs)
    other = check_runs(result.dynamics, unseen, named=True)
    warnings = [
        *other.warnings,
        *own.warnings,
        *check_excitation(result),
        *_unexplained_joints(fit.judged),
    ]
    notes = [*own.notes, *other.notes]
    status = result.body_status
    if status is not None and status.advice:
        (notes if status.good else warnings).append(f"{status.value} {status.advice}")
    accurate, verdict = write_verdict(fit, checked, accuracy)
    return Judgement(fit, checked, accurate, verdict, tuple(warnings), tuple(notes))


def validate_parameters(
    dynamics: MachineDynamics,
    parameters: DynamicParameters,
    recordings: Recorded,
    *,
    payload: RigidBody | None = None,
    accuracy: Accuracy | None = None,
    cutoff: float | Cutoff | None = None,
    trim: bool = True,
) -> Judgement:
    """Judge parameters by recordings that they were not fitted to.

    ``payload`` is a known body in the flange's frame that the robot carried; ``cutoff`` is by
    default that of the fit.
    """
    parameters.check_frames(dynamics)
    values = dict(parameters.values)
    if payload is not None:
        serial = require_serial(dynamics, "payloads are supported only for serial robots")
        carried = serial.payload_parameters(payload).tolist()
        values |= {
            f"{symbol}{PAYLOAD_SUFFIX}": value
            for symbol, value in zip(INERTIAL, carried, strict=True)
        }
    runs = prepare_runs(
        recordings,
        cutoff=parameters.cutoff if cutoff is None else cutoff,
        trim=trim,
        dynamics=dynamics,
    )
    if payload is not None:
        runs = mark_loaded([], runs)
    check = predict_torques(dynamics, runs, values, parameters.drives)
    accurate, verdict = write_verdict(None, check, accuracy)
    checks = check_runs(dynamics, runs)
    return Judgement(None, check, accurate, verdict, checks.warnings, checks.notes)


def write_verdict(
    fit: Prediction | None, check: Prediction | None, accuracy: Accuracy | None = None
) -> tuple[bool, str]:
    """Is the error small enough, by unseen torques if there are any, and why, in a sentence."""
    limits = accuracy or Accuracy()
    shown = fit if check is None else check
    assert shown is not None
    decisive = shown.judged
    percent = f"{100 * decisive.error:.1f} % of the torque"
    which = "the torques of its own recording" if check is None else "torques it has not seen"
    lost = [joint for joint, error in enumerate(decisive.joint_errors) if not error < USELESS]
    accurate = decisive.error <= limits.usable and not lost
    single = bool(lost) and decisive.error <= limits.usable
    if single:
        worst = ", ".join(f"joint {j + 1} {100 * decisive.joint_errors[j]:.0f} %" for j in lost)
        words = (
            f"The model misses {which} by {percent}, but single joints by all of their own torque "
            f"({worst}): do not use it for these."
        )
    elif not accurate:
        words = f"The model misses {which} by {percent}: do not use it."
    elif check is None:
        words = f"The model fits {which} to {percent}; check another recording to judge it."
    elif decisive.error <= limits.good and max(decisive.joint_errors) <= POOR:
        words = f"The model predicts {which} to {percent}: good."
    else:
        words = f"The model predicts {which} to {percent}: usable, not good."
    if fit is not None and check is not None:
        words += _overfitting(fit.judged, decisive, limits)
    return accurate, words + ("" if single else _worst_joint(decisive, limits))


def _overfitting(fit: Prediction, check: Prediction, limits: Accuracy) -> str:
    if check.error <= max(OVERFITTED * fit.error, limits.good):
        return ""
    return (
        f" It fits its own data to {100 * fit.error:.1f} %, so either the motion does not "
        "excite the robot enough, or conditions differed between the runs."
    )


def _worst_joint(prediction: Prediction, limits: Accuracy) -> str:
    errors = prediction.joint_errors
    worst = int(np.argmax(errors))
    others = np.delete(errors, worst)
    if not len(others) or errors[worst] <= max(WORSE * float(np.median(others)), limits.usable):
        return ""
    return f" Joint {worst + 1} is the worst, off by {100 * errors[worst]:.0f} % of its torque."


def _unexplained_joints(fit: Prediction) -> list[str]:
    """Joints whose torques the model does not explain at all, in words."""
    return [
        f"the torque of joint {joint + 1} is not explained: the model is off by "
        f"{100 * error:.0f} % of it. Check its columns, or add friction terms"
        for joint, error in enumerate(fit.joint_errors)
        if not error < USELESS
    ]
