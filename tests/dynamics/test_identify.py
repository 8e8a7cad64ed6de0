"""Identification from torques: coverage, all estimators, energy and power, bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from tests.dynamics.simulated import puma, recorded, simulated, torques_of
from theodolite.dynamics import torque
from theodolite.dynamics.base_parameters import base_values
from theodolite.dynamics.consistent import fit_consistent, is_consistent
from theodolite.dynamics.coverage import check_excitation
from theodolite.dynamics.drives import FRICTION, State
from theodolite.dynamics.estimators import Estimator, Model
from theodolite.dynamics.filtering import Run, filter_recording
from theodolite.dynamics.identify import IdentifiedDynamics
from theodolite.dynamics.identify import identify_dynamics as identify_any
from theodolite.dynamics.inertia import INERTIAL, mass_properties, pseudo_inertia
from theodolite.dynamics.judge import write_verdict
from theodolite.dynamics.prediction import Prediction, predict
from theodolite.dynamics.preparation import Recorded
from theodolite.dynamics.ridge import fit_ridge
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_noise import correlation_factor
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.descent import Status
from theodolite.reproduce import renaud_dynamics


def identify_dynamics(dynamics: Tree, recordings: Recorded, **options: Any) -> IdentifiedDynamics:
    """With the usual friction, by weighted least squares, unless a test says otherwise."""
    plain = options.get("model", Model.TORQUE) is Model.TORQUE
    usual = {"drives": FRICTION, "estimator": Estimator.WEIGHTED if plain else None}
    return identify_any(dynamics, recordings, **(usual | options))


def expected(found: IdentifiedDynamics, truth: dict[str, float]) -> np.ndarray:
    known = found.identifiability
    return base_values(known, np.array([truth[p.name] for p in known.parameters]))


def inside(found: IdentifiedDynamics, truth: dict[str, float]) -> np.ndarray:
    return np.abs(found.base_values - expected(found, truth)) <= found.statistics.half_widths()


def test_intervals_hold_with_white_noise() -> None:
    """95 % coverage between 93 and 97 %, over 60 simulated identifications."""
    hits = [inside(identify_dynamics(d, run), t) for d, run, t in map(simulated, range(60))]
    assert 0.93 < np.concatenate(hits).mean() < 0.97


@pytest.mark.parametrize(
    ("estimator", "cutoff"),
    [(Estimator.WEIGHTED, None), (Estimator.ORDINARY, None), (Estimator.ORDINARY, 20.0)],
)
def test_intervals_hold_for_filtered_recordings(estimator: Estimator, cutoff: float | None) -> None:
    """The same with all steps: positions only, white torque noise, filters, decimation."""
    hits = []
    for seed in range(40 if estimator is Estimator.WEIGHTED else 15):
        dynamics, recording, truth = recorded(seed)
        # Noise that differs from joint to joint.
        noise = np.random.default_rng(seed).standard_normal(recording.q.shape)
        own = recording.torques + noise * np.array([4.0, 3.0, 2.0, 0.5, 0.2, 0.1])
        run = filter_recording(replace(recording, torques=own), cutoff=cutoff)
        hits.append(inside(identify_dynamics(dynamics, run, estimator=estimator), truth))
    assert 0.93 < np.concatenate(hits).mean() < 0.97


def test_coloured_noise_widens_the_intervals() -> None:
    """Noise that persists for ten samples: plain weights would be far too sure."""
    hits, naive = [], []
    for seed in range(25):
        dynamics, run, truth = simulated(seed, noise=0.0)
        rng = np.random.default_rng(seed)
        white = rng.standard_normal((len(run.torques) + 200, 6))
        coloured = lfilter([1.0], [1.0, -0.8], white, axis=0)
        found = identify_dynamics(
            dynamics, replace(run, torques=run.torques + 0.3 * coloured[200:])
        )
        hits.append(inside(found, truth))
        off = np.abs(found.base_values - expected(found, truth))
        naive.append(off <= found.statistics.half_widths() / np.sqrt(found.noise.factors.mean()))
    assert np.concatenate(hits).mean() > 0.88
    assert np.concatenate(naive).mean() < 0.75


def test_correlation_factor_of_known_series() -> None:
    """(1 + a) / (1 - a) for a first-order process; 1 for white noise."""
    rng = np.random.default_rng(0)
    white = rng.standard_normal(50_000)
    assert correlation_factor(white) == pytest.approx(1.0, abs=0.05)
    series = lfilter([1.0], [1.0, -0.6], white)
    assert correlation_factor(series) == pytest.approx(4.0, rel=0.1)


def test_correlated_joints_are_weighed_together() -> None:
    """Noise common to all joints: making samples white together gains, on average."""
    gains = []
    for seed in range(8):
        dynamics, run, truth = simulated(seed, noise=0.1)
        common = 2.0 * np.random.default_rng(seed).standard_normal((len(run.torques), 1))
        run = replace(run, torques=run.torques + common)
        errors = []
        for estimator in (Estimator.WEIGHTED, Estimator.CORRELATED):
            found = identify_dynamics(dynamics, run, estimator=estimator)
            errors.append(np.linalg.norm(found.base_values - expected(found, truth)))
        gains.append(errors[0] / errors[1])
    assert np.median(gains) > 2.0


def test_robust_identification_ignores_wrong_samples() -> None:
    dynamics, run, truth = simulated(5)
    torques = run.torques.copy()
    torques[::25] += 80.0
    wrong = replace(run, torques=torques)
    errors = {}
    for estimator in (Estimator.WEIGHTED, Estimator.ROBUST):
        found = identify_dynamics(dynamics, wrong, estimator=estimator)
        errors[estimator] = np.linalg.norm(found.base_values - expected(found, truth))
    assert errors[Estimator.ROBUST] < 0.3 * errors[Estimator.WEIGHTED]


def test_consistent_parameters_are_bodies_and_predict_as_well() -> None:
    dynamics, run, _ = simulated(3)
    weighted = identify_dynamics(dynamics, run)
    found = fit_consistent(weighted)
    assert is_consistent(found)
    for joint in range(1, 7):
        body = [found.named()[f"{n}{joint}"] for n in INERTIAL]
        assert np.linalg.eigvalsh(np.array(pseudo_inertia(body)))[0] > 0
        # Bodies, not needles or specks at the other end of the hall.
        mass, centre, inertia = mass_properties(np.array(body))
        smallest, _, largest = np.linalg.eigvalsh(inertia)
        assert smallest > 0.01 * largest
        assert np.linalg.norm(centre) < 1.0
        assert 0.05 < mass < 50
    assert predict(found, run).error < 1.05 * predict(weighted, run).error


def test_essential_parameters_are_fewer_and_predict_as_well() -> None:
    dynamics, run, _ = simulated(3)
    weighted = identify_dynamics(dynamics, run)
    few = identify_dynamics(dynamics, run, estimator=Estimator.ESSENTIAL)
    assert few.identifiability.rank < weighted.identifiability.rank
    assert np.nanmax(few.relative_deviations) <= 30.0
    assert predict(few, run).error < 1.1 * predict(weighted, run).error


def test_ridge_keeps_a_right_prior_and_leaves_a_wrong_one() -> None:
    dynamics, run, truth = simulated(3)
    found = identify_dynamics(dynamics, run)
    names = [p.name for p in found.problem.parameters]
    right = np.array([truth[name] for name in names])
    drawn = fit_ridge(found, right)
    assert np.linalg.norm(drawn.values - right) < 0.2 * np.linalg.norm(found.values - right)
    assert drawn.consistent
    wrong = fit_ridge(found, 5.0 * right)
    assert predict(wrong, run).error < 1.05 * predict(found, run).error


@pytest.mark.parametrize("model", [Model.ENERGY, Model.POWER])
def test_energy_and_power_need_no_acceleration(model: Model) -> None:
    """Torques of another motion from work or power alone: exact but for filters without noise."""
    dynamics, recording, truth = recorded(7, noise=0.0, rate=200.0, seconds=60.0)
    run = filter_recording(recording, cutoff=20.0)
    found = identify_dynamics(dynamics, run, model=model)
    _, other, _ = recorded(8, noise=0.0, rate=200.0, truth=truth)
    assert predict(found, filter_recording(other, cutoff=20.0)).error < 1e-3


def test_payload_columns_need_loaded_runs() -> None:
    """Without a loaded run nothing of the payload is seen."""
    dynamics, run, _ = simulated(0)
    found = identify_dynamics(dynamics, run, payload=True)
    lost = found.identifiability.names(found.identifiability.no_effect)
    assert {f"{symbol}L" for symbol in INERTIAL} <= set(lost)


def test_a_recording_that_does_not_move_a_joint_is_not_enough() -> None:
    dynamics, run, _ = simulated(0)
    assert not check_excitation(identify_dynamics(dynamics, run))
    q, qd, qdd = run.state.q.copy(), run.state.qd.copy(), run.state.qdd.copy()
    q[:, 4:], qd[:, 4:], qdd[:, 4:] = 0.3, 0.0, 0.0
    still = replace(run, state=type(run.state)(q, qd, qdd))
    (words,) = check_excitation(identify_dynamics(dynamics, still))
    assert "of 58 parameters" in words
    assert "exciting motion" in words


@pytest.mark.parametrize("estimator", [Estimator.WEIGHTED, Estimator.ESSENTIAL])
def test_the_status_says_what_the_warning_says(estimator: Estimator) -> None:
    """Motions so small that some parameters hardly show: one rule for both."""
    dynamics, run, truth = simulated(3)
    statuses = []
    for part in (1.0, 0.2, 0.05, 0.02):
        state = State(*(part * each for each in (run.state.q, run.state.qd, run.state.qdd)))
        noise = 0.5 * np.random.default_rng(0).standard_normal(run.torques.shape)
        small = replace(run, state=state, torques=torques_of(dynamics, state, truth) + noise)
        found = identify_dynamics(dynamics, small, estimator=estimator)
        assert bool(check_excitation(found)) == (found.status is Status.ILL_CONDITIONED)
        statuses.append(found.status)
    # Essential parameters are those that show.
    weak = 3 if estimator is Estimator.WEIGHTED else 0
    assert statuses == [Status.CONVERGED] * (4 - weak) + [Status.ILL_CONDITIONED] * weak


def test_whole_bodies_say_their_own_base_values() -> None:
    """Base values of consistent bodies are those of the bodies, not of the fit before."""
    dynamics, run, _ = simulated(3)
    weighted = identify_dynamics(dynamics, run)
    found = fit_consistent(weighted)
    base = np.zeros(len(found.values))
    base[found.identifiability.base] = found.base_values
    np.testing.assert_allclose(
        found.problem.predict(base), found.problem.predict(found.values), atol=1e-6
    )
    assert np.abs(found.base_values - weighted.base_values).max() > 1e-6


def test_an_interrupted_recording_is_as_good() -> None:
    """Three seconds missing in the middle: nothing is invented between the parts."""
    dynamics, recording, truth = recorded(3, noise=0.5, seconds=25.0)
    keep = (recording.times < 8) | (recording.times > 11)
    broken = replace(
        recording,
        times=recording.times[keep],
        q=recording.q[keep],
        torques=recording.torques[keep],
    )
    found = identify_dynamics(dynamics, broken)
    assert inside(found, truth).mean() > 0.85
    _, other, _ = recorded(4, noise=0.5, truth=truth)
    assert predict(found, filter_recording(other)).error < 0.02


def test_verdicts() -> None:
    measured = np.random.default_rng(0).standard_normal((100, 2)) * 10
    times = np.arange(100.0)
    for factor, word, good in (
        (1.02, "good.", True),
        (1.1, "usable", True),
        (1.5, "not use", False),
    ):
        ok, words = write_verdict(None, Prediction(times, measured, factor * measured))
        assert ok is good
        assert word in words
        assert "worst" not in words
    one = measured * np.array([1.01, 2.5])
    words = write_verdict(None, Prediction(times, measured, one))[1]
    assert "do not use it" in words
    assert "Joint 2 is the worst, off by 150 %" in words


def test_a_joint_that_is_lost_is_not_usable() -> None:
    """14.6 % of all torques with one small joint off by 271 %: that joint has no model."""
    measured = np.random.default_rng(0).standard_normal((100, 2)) * np.array([10.0, 0.5])
    predicted = measured * np.array([1.05, 3.71])
    ok, words = write_verdict(None, Prediction(np.arange(100.0), measured, predicted))
    assert not ok
    assert "single joints by all of their own torque (joint 2 271 %)" in words


def test_wrong_shapes_and_names_are_refused() -> None:
    dynamics, run, _ = simulated(0)
    with pytest.raises(InputError, match="torques of the shape"):
        TorqueProblem(dynamics, Run(run.state, run.torques[:, :5]))
    with pytest.raises(InputError, match="there is no parameter XX9"):
        TorqueProblem(puma(), run, only=["XX9"])


def test_parameters_without_effect_are_not_called_ill_conditioned() -> None:
    """Nothing of a base link but its turning shows: no parameter at all is identifiable."""
    dynamics, run, _ = simulated(0)
    found = identify_dynamics(dynamics, run, only=["XX1", "MX1"], estimator=Estimator.ORDINARY)
    assert found.identifiability.rank == 0
    assert found.status is Status.NOT_IDENTIFIABLE


@pytest.mark.parametrize("stored", [0, 10**9])
def test_a_stored_regressor_changes_nothing(monkeypatch: pytest.MonkeyPatch, stored: int) -> None:
    """Large recordings are computed again for every pass, small ones are kept in memory."""
    dynamics, recording, _ = recorded(3)
    run = filter_recording(recording)
    usual = identify_dynamics(dynamics, run, estimator=Estimator.ROBUST)
    monkeypatch.setattr(torque, "STORED", stored)
    found = identify_dynamics(dynamics, run, estimator=Estimator.ROBUST)
    np.testing.assert_allclose(found.values, usual.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.statistics.covariance, usual.statistics.covariance, rtol=1e-7)


def test_the_h4_of_renaud() -> None:
    for figure in renaud_dynamics.figures():
        assert figure.agrees, figure
