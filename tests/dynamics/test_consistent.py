"""Bodies that can exist: exact data, a solver that fails, a solver that is missing."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.simulated import simulated
from theodolite.dynamics.consistent import is_consistent
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.judge import judge_identification
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.result import BodyStatus
from theodolite.errors import MissingExtraError
from theodolite.estimation.descent import Status


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_exact_data_and_any_size_of_robot_have_bodies(noise: float, scale: float) -> None:
    """Noise that is all but zero, micronewtons and meganewtons: the solver copes with all."""
    dynamics, run, _ = simulated(3, noise=noise)
    run = replace(run, torques=scale * run.torques)
    found = th.identify_dynamics(dynamics, run, estimator=Estimator.CONSISTENT)
    assert found.body_status is BodyStatus.SOLVED
    assert found.status is Status.CONVERGED
    assert is_consistent(found)
    weighted = th.identify_dynamics(dynamics, run)
    assert predict(found, run).error < 1.01 * predict(weighted, run).error + 1e-6


def test_a_solver_that_fails_is_a_status_with_advice() -> None:
    """Torques that are all zero are those of no body at all."""
    dynamics, run, _ = simulated(3)
    run = replace(run, torques=0 * run.torques)
    found = th.identify_dynamics(dynamics, run, estimator=Estimator.CONSISTENT)
    assert found.status is BodyStatus.SOLVER_FAILED
    assert not found.consistent
    assert not found.standard
    weighted = th.identify_dynamics(dynamics, run)
    np.testing.assert_array_equal(found.values, weighted.values)
    words = judge_identification(found).warnings[-1]
    assert "The solver found no bodies" in words
    assert "Check the units of the torques" in words


@pytest.mark.parametrize("outcome", ["raises", "infeasible", "no solver"])
def test_whatever_the_solver_says(monkeypatch: pytest.MonkeyPatch, outcome: str) -> None:
    import cvxpy

    dynamics, run, _ = simulated(3)

    def solve(self, **options: object) -> None:
        if outcome == "raises":
            raise cvxpy.SolverError("numerical problems")

    monkeypatch.setattr(cvxpy.Problem, "solve", solve)
    if outcome == "no solver":
        monkeypatch.setattr(cvxpy, "installed_solvers", lambda: ["SCS"])
        with pytest.raises(MissingExtraError, match=r"pip install 'theodolite\[consistent\]'"):
            th.identify_dynamics(dynamics, run, estimator=Estimator.CONSISTENT)
        return
    found = th.identify_dynamics(dynamics, run, estimator=Estimator.CONSISTENT)
    assert found.status is BodyStatus.SOLVER_FAILED


def test_a_missing_library_is_said_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    dynamics, run, _ = simulated(3)
    with pytest.raises(MissingExtraError) as caught:
        th.identify_dynamics(dynamics, run, estimator=Estimator.CONSISTENT)
    assert caught.value.extra == "consistent"
    assert "\n" not in str(caught.value)
