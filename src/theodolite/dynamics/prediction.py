"""Torques predicted with identified parameters, beside those that were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.dynamics.drives import Drives
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.preparation import Recorded, prepare_runs
from theodolite.dynamics.result import IdentifiedDynamics
from theodolite.dynamics.torque import TorqueProblem, comparable_scales
from theodolite.dynamics.tree import Tree


@dataclass(frozen=True, eq=False)
class Prediction:
    """Torques measured and predicted on a run, (rows, motors), N m or, of slides, N."""

    times: FloatArray
    measured: FloatArray
    predicted: FloatArray
    #: Cut-off of the low-pass, Hz; 0 without one.
    cutoff: float = 0.0
    #: Which motors slide, (motors,); None where none does.
    slides: BoolArray | None = None
    #: The same with the model as it is: only the torques are low-passed, at every sample. This is
    #: what the literature states; a model that is low-passed along with them looks better.
    unfiltered: Prediction | None = None

    @property
    def judged(self) -> Prediction:
        """What a verdict is about: the model as it is."""
        return self if self.unfiltered is None else self.unfiltered

    @property
    def sliding(self) -> BoolArray:
        """Which motors slide, (motors,)."""
        nothing = np.zeros(self.measured.shape[1], dtype=bool)
        return nothing if self.slides is None else self.slides

    @property
    def error(self) -> float:
        """||predicted - measured|| / ||measured||, of all joints.

        Where some turn and some slide, that is the root mean square of the two kinds' own relative
        errors, each as often as it has joints.
        """
        scales = comparable_scales(self.measured, self.sliding)
        return _relative(scales * (self.predicted - self.measured), scales * self.measured)

    @property
    def joint_errors(self) -> tuple[float, ...]:
        """The same of each joint."""
        return tuple(
            _relative(p - m, m) for p, m in zip(self.predicted.T, self.measured.T, strict=True)
        )

    @property
    def rms(self) -> FloatArray:
        """Root mean square of each joint's error, N m or N."""
        return np.sqrt(((self.predicted - self.measured) ** 2).mean(axis=0))


def _relative(error: FloatArray, whole: FloatArray) -> float:
    size = float(np.linalg.norm(whole))
    return float(np.linalg.norm(error)) / size if size > 0 else float("inf")


def predict(result: IdentifiedDynamics, recordings: Recorded) -> Prediction:
    """Torques of recordings, predicted with identified parameters.

    Recordings are filtered at the cut-off of the fit: a lower one would flatter the prediction.
    """
    dynamics, cutoff = result.dynamics, result.parameters.cutoff
    runs = prepare_runs(recordings, cutoff=cutoff, dynamics=dynamics)
    return predict_torques(dynamics, runs, result.named(), result.problem.drives)


def predict_torques(
    dynamics: Tree, runs: Sequence[Run], values: Mapping[str, float], drives: Drives
) -> Prediction:
    """With parameters by name; those that are not named are zero."""
    problem = TorqueProblem(dynamics, runs, drives=drives, payload=True, loads=values)
    vector = np.array([values.get(name, 0.0) for name in problem.names])
    starts = np.cumsum([0.0, *(len(run.state) / run.rate for run in problem.runs)])
    cutoff = problem.runs[0].cutoff
    plain = None
    if cutoff:
        plain = Prediction(
            np.concatenate(
                [
                    start + np.arange(len(run.state)) / run.rate
                    for start, run in zip(starts, problem.runs, strict=False)
                ]
            ),
            np.concatenate([run.smooth_torques() for run in problem.runs]),
            np.concatenate(problem.predict_samples(vector)),
            cutoff,
            dynamics.slides,
        )
    return Prediction(
        np.concatenate(
            [start + run.times for start, run in zip(starts, problem.runs, strict=False)]
        ),
        problem.measured(),
        problem.predict(vector),
        cutoff,
        dynamics.slides,
        plain,
    )
