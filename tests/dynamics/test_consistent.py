"""Bodies that can exist: exact data, any size, a second solver, intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.simulated import simulated
from theodolite.dynamics import consistent
from theodolite.dynamics.base_parameters import base_values
from theodolite.dynamics.body_prior import BARRIER, PATTERNS, BodyPrior
from theodolite.dynamics.consistent import is_consistent, nearest_bodies, weighted_data
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.judge import judge_identification
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.result import BodyStatus
from theodolite.estimation.descent import Status


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_exact_data_and_any_size_of_robot_have_bodies(noise: float, scale: float) -> None:
    """Noise that is all but zero, micronewtons and meganewtons: the search copes with all."""
    dynamics, run, _ = simulated(3, noise=noise)
    run = replace(run, torques=scale * run.torques)
    found = th.identify_dynamics(dynamics, run, drives=FRICTION)
    assert found.estimator is Estimator.CONSISTENT
    assert found.body_status is BodyStatus.SOLVED
    assert found.status is Status.CONVERGED
    assert is_consistent(found)
    weighted = th.identify_dynamics(dynamics, run, drives=FRICTION, estimator=Estimator.WEIGHTED)
    assert predict(found, run).error < 1.01 * predict(weighted, run).error + 1e-6


def test_a_semidefinite_programme_finds_the_same_bodies() -> None:
    """The same convex problem by another road: CVXPY with Clarabel."""
    import cvxpy

    dynamics, run, _ = simulated(3)
    weighted = th.identify_dynamics(dynamics, run, drives=FRICTION, estimator=Estimator.WEIGHTED)
    prior = BodyPrior.of(weighted.problem)
    R, target = weighted_data(weighted.solution.reduction, weighted.solution.values)
    ours = nearest_bodies(R, target, prior, 1.0)
    assert ours.settled
    # In units in which all columns are of one size; the minimum does not depend on them.
    unit = np.abs(ours.values) + 1e-3
    x = cvxpy.Variable(prior.size)
    values = cvxpy.multiply(unit, x)
    distance = cvxpy.sum(values[prior.positive] / prior.usual)
    distance -= BARRIER * cvxpy.sum(cvxpy.log(values[prior.positive] / prior.usual))
    distance += 0.5 * cvxpy.sum_squares(values[prior.signed] / prior.spread)
    for columns, P0 in zip(prior.bodies, prior.references, strict=True):
        P = sum(values[int(c)] * E for c, E in zip(columns, PATTERNS, strict=True))
        distance += cvxpy.trace(np.linalg.inv(P0) @ P) - cvxpy.log_det(P)
    cost = 0.5 * cvxpy.sum_squares((R * unit) @ x - target) + distance
    cvxpy.Problem(cvxpy.Minimize(cost)).solve(solver="CLARABEL")
    theirs = unit * x.value
    assert float(cost.value) == pytest.approx(
        0.5 * np.sum((R @ ours.values - target) ** 2) + prior.distance(ours.values), rel=1e-7
    )
    np.testing.assert_allclose(ours.values, theirs, rtol=1e-3, atol=1e-4)


def test_slope_and_curvature_of_the_prior_are_those_of_its_distance() -> None:
    dynamics, run, _ = simulated(1)
    problem = th.identify_dynamics(
        dynamics, run, drives=FRICTION, estimator=Estimator.WEIGHTED
    ).problem
    prior = BodyPrior.of(problem)
    rng = np.random.default_rng(0)
    at = prior.centre * (1 + 0.05 * rng.standard_normal(prior.size))
    at[prior.signed] = prior.spread * rng.standard_normal(len(prior.signed))
    assert np.isfinite(prior.distance(at))
    steps = 1e-6 * np.maximum(np.abs(at), 1e-3)
    for place in range(prior.size):
        e = np.zeros(prior.size)
        e[place] = steps[place]
        by_difference = (prior.distance(at + e) - prior.distance(at - e)) / (2 * steps[place])
        assert prior.slope(at)[place] == pytest.approx(by_difference, rel=1e-4, abs=1e-4)
    root = prior.curvature_root(at)
    e = steps * rng.standard_normal(prior.size)
    change = (prior.slope(at + e) - prior.slope(at - e)) / 2
    np.testing.assert_allclose(
        root.T @ root @ e, change, rtol=1e-4, atol=1e-6 * np.abs(change).max()
    )


def covered(seeds: range) -> float:
    """How often base values are within the intervals of consistent bodies."""
    hits = []
    for seed in seeds:
        dynamics, run, truth = simulated(seed)
        found = th.identify_dynamics(dynamics, run, drives=FRICTION)
        known = found.identifiability
        true = base_values(known, np.array([truth[p.name] for p in known.parameters]))
        hits.append(np.abs(found.base_values - true) <= found.statistics.half_widths())
    return float(np.concatenate(hits).mean())


def test_intervals_of_bodies_hold() -> None:
    assert 0.92 < covered(range(16)) < 0.98


@pytest.mark.study
def test_intervals_of_bodies_hold_over_many_robots() -> None:
    assert 0.93 < covered(range(200)) < 0.97


def test_torques_that_are_all_zero_are_no_model() -> None:
    """Bodies of next to no mass, and a verdict that says so."""
    dynamics, run, _ = simulated(3)
    run = replace(run, torques=0 * run.torques)
    found = th.identify_dynamics(dynamics, run, drives=FRICTION)
    judgement = judge_identification(found)
    assert not judgement.accurate
    assert "is not explained" in judgement.warnings[-1]


def test_a_search_that_fails_is_a_status_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    dynamics, run, _ = simulated(3)
    monkeypatch.setattr(consistent, "impossible_bodies", lambda *_: ["3"])
    found = th.identify_dynamics(dynamics, run, drives=FRICTION)
    assert found.status is BodyStatus.SOLVER_FAILED
    assert not found.consistent
    assert not found.standard
    monkeypatch.undo()
    weighted = th.identify_dynamics(dynamics, run, drives=FRICTION, estimator=Estimator.WEIGHTED)
    np.testing.assert_array_equal(found.values, weighted.values)
    words = judge_identification(found).warnings[-1]
    assert "No bodies were found" in words
    assert "Check the units of the torques" in words
