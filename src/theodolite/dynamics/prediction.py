"""How well identified parameters predict torques, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import Drive
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.identify import IdentifiedDynamics
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.tree import Tree

#: Errors relative to the torque up to which a prediction is good, and up to which it is usable.
GOOD, USABLE = 0.06, 0.15
#: A prediction with this error is no better than none.
WORSE_THAN_NONE = 1.0
#: A joint is worse than the others if its error is this many times the usual one.
WORSE = 3.0
#: An error on unseen data this many times that of the fit means that the fit learned its noise.
OVERFITTED = 2.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """Torques measured and predicted on a run, (rows, motors), N m."""

    times: FloatArray
    measured: FloatArray
    predicted: FloatArray

    @property
    def error(self) -> float:
        """||predicted - measured|| / ||measured||, of all joints."""
        return _relative(self.predicted - self.measured, self.measured)

    @property
    def joint_errors(self) -> tuple[float, ...]:
        """The same of each joint."""
        return tuple(
            _relative(p - m, m) for p, m in zip(self.predicted.T, self.measured.T, strict=True)
        )

    @property
    def rms(self) -> FloatArray:
        """Root mean square of each joint's error, N m."""
        return np.sqrt(((self.predicted - self.measured) ** 2).mean(axis=0))


def _relative(error: FloatArray, whole: FloatArray) -> float:
    size = float(np.linalg.norm(whole))
    return float(np.linalg.norm(error)) / size if size > 0 else float("inf")


def predict(
    dynamics: Tree, runs: Run | Sequence[Run], values: dict[str, float], drives: Sequence[Drive]
) -> Prediction:
    """With parameters by name; those that are not named are zero."""
    problem = TorqueProblem(dynamics, runs, drives=drives, payload=True)
    vector = np.array([values.get(parameter.name, 0.0) for parameter in problem.parameters])
    times, start = [], 0.0
    for run in problem.runs:
        times.append(start + run.times)
        start += len(run.state) / run.rate
    return Prediction(np.concatenate(times), problem.measured(), problem.predicted(vector))


def prediction(found: IdentifiedDynamics, runs: Run | Sequence[Run]) -> Prediction:
    """With identified parameters."""
    return predict(found.dynamics, runs, found.named(), found.problem.drives)


def unexplained(fit: Prediction) -> list[str]:
    """Joints whose torques a model would better leave alone, in words."""
    return [
        f"the torque of joint {joint + 1} is not explained: the model is off by "
        f"{100 * error:.0f} % of it. Look at its columns, or add terms of friction"
        for joint, error in enumerate(fit.joint_errors)
        if not error < WORSE_THAN_NONE
    ]


def verdict(
    unseen: Prediction, fit: Prediction | None = None, *, seen: bool = False
) -> tuple[bool, str]:
    """Is it good enough, and why, in a sentence; ``seen`` if it was fitted to these torques."""
    percent = f"{100 * unseen.error:.1f} % of the torque"
    which = "its own torques" if seen else "torques it has not seen"
    good = unseen.error <= USABLE
    if not good:
        words = f"The model misses {which} by {percent}: do not use it."
    elif seen:
        words = f"The model fits {which} to {percent}; --check another recording to judge it."
    elif unseen.error <= GOOD:
        words = f"The model predicts {which} to {percent}: good."
    else:
        words = f"The model predicts {which} to {percent}: usable, not good."
    if fit is not None and unseen.error > OVERFITTED * fit.error and unseen.error > GOOD:
        words += (
            f" It fits its own data to {100 * fit.error:.1f} %, so they do not excite the robot "
            "enough, or the runs differ."
        )
    worst = int(np.argmax(unseen.joint_errors))
    largest = unseen.joint_errors[worst]
    others = np.delete(unseen.joint_errors, worst)
    if len(others) and largest > max(WORSE * float(np.median(others)), USABLE):
        words += f" Joint {worst + 1} is the worst, off by {100 * largest:.0f} % of its torque."
    return good, words
