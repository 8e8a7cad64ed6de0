"""Torques along a motion: by cause, with intervals, and recordings that are simulated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.simulated import motion, puma, simulated, torques_of, true_values
from theodolite.dynamics.drives import FRICTION, State
from theodolite.dynamics.motion_torques import predict_motion, simulate_recording
from theodolite.dynamics.motions import prepare_motion
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.dynamics.recording import Recording
from theodolite.errors import InputError


def true_parameters(seed: int = 0, **changed: object) -> DynamicParameters:
    values = true_values(np.random.default_rng(seed))
    known = DynamicParameters(values, FRICTION, "puma560", puma().frames, standard=True)
    return replace(known, **changed)


def test_causes_add_up_and_are_what_they_say() -> None:
    """Against Pinocchio's own split would be a second robot; here by their definitions."""
    known = true_parameters()
    state = motion(np.random.default_rng(1), np.linspace(0, 5, 40))
    found = predict_motion(puma(), known, state)
    np.testing.assert_allclose(found.total, torques_of(puma(), state, dict(known.values)))
    # Inertia is linear in the accelerations, Coriolis quadratic in the speeds.
    twice = predict_motion(puma(), known, State(state.q, state.qd, 2 * state.qdd))
    np.testing.assert_allclose(twice.inertia, 2 * found.inertia, atol=1e-9)
    fast = predict_motion(puma(), known, State(state.q, 2 * state.qd, state.qdd))
    np.testing.assert_allclose(fast.coriolis, 4 * found.coriolis, atol=1e-9)
    assert not found.springs.any()
    assert np.isnan(found.half_widths).all()


def test_gravity_is_the_slope_of_the_potential_energy() -> None:
    known = true_parameters()
    state = motion(np.random.default_rng(2), np.linspace(0, 5, 10))
    values = known.vector(puma().names(()))
    still = np.zeros_like(state.q)

    def energy(q: np.ndarray) -> np.ndarray:
        return values @ puma().energy(State(q, still, still), ())

    step = 1e-6
    found = predict_motion(puma(), known, state).gravity
    for joint in range(6):
        e = step * np.eye(6)[joint]
        slope = (energy(state.q + e) - energy(state.q - e)) / (2 * step)
        np.testing.assert_allclose(found[:, joint], slope, atol=1e-6)


def test_intervals_hold_measured_torques() -> None:
    """95 % of the torques of another motion, with short recordings, where parameters matter."""
    inside = []
    for seed in range(12):
        dynamics, run, truth = simulated(seed, samples=60)
        found = th.identify_dynamics(
            dynamics, run, drives=FRICTION, estimator=th.Estimator.WEIGHTED
        ).parameters
        rng = np.random.default_rng(100 + seed)
        state = motion(rng, np.linspace(0, 10, 200))
        torques = torques_of(dynamics, state, truth)
        torques = torques + 0.5 * rng.standard_normal(torques.shape)
        guess = predict_motion(dynamics, found, state)
        assert guess.half_widths.mean() > 1.03 * 1.96 * np.mean(found.deviations)
        inside.append(np.abs(guess.total - torques) <= guess.half_widths)
    assert 0.93 < np.mean(inside) < 0.97


def test_a_simulated_recording_gives_its_parameters_back() -> None:
    known = true_parameters()
    rng = np.random.default_rng(3)
    times = np.arange(0, 20, 0.01)
    recording = simulate_recording(
        puma(), known, times, motion(rng, times), noise=0.3, position_noise=1e-6, rng=rng
    )
    found = th.identify_dynamics(puma(), recording, drives=FRICTION)
    state = motion(np.random.default_rng(9), times)
    ours = predict_motion(puma(), found.parameters, state).total
    true = predict_motion(puma(), known, state).total
    assert np.linalg.norm(ours - true) < 0.01 * np.linalg.norm(true)
    with pytest.raises(InputError, match="negative noise"):
        simulate_recording(puma(), known, times, motion(rng, times), noise=-1.0, rng=rng)


def test_a_payload_is_carried_along() -> None:
    known = true_parameters()
    state = motion(np.random.default_rng(1), np.linspace(0, 5, 40))
    load = puma().payload_parameters(th.RigidBody(4.0, np.array([0.0, 0.05, 0.1]), np.eye(3)))
    with_it = predict_motion(puma(), known, state, payload=load)
    np.testing.assert_allclose(
        with_it.total, torques_of(puma(), state, dict(known.values), load=load), atol=1e-9
    )


def test_positions_alone_are_differentiated() -> None:
    times = np.arange(0, 10, 0.005)
    state = motion(np.random.default_rng(1), times)
    recorded = Recording(times, state.q, np.zeros_like(state.q))
    at, found = prepare_motion(recorded, cutoff=10.0)
    rows = np.searchsorted(times, at + 1e-9) - 1
    np.testing.assert_allclose(found.qd, state.qd[rows], atol=2e-3)
    np.testing.assert_allclose(found.qdd, state.qdd[rows], atol=2e-2)
    whole = replace(recorded, qd=state.qd, qdd=state.qdd)
    assert prepare_motion(whole)[1].qdd is whole.qdd


def test_an_interrupted_motion_is_not_invented() -> None:
    times = np.arange(0, 10, 0.005)
    state = motion(np.random.default_rng(1), times)
    keep = (times < 4) | (times > 7)
    broken = Recording(times[keep], state.q[keep], np.zeros_like(state.q[keep]))
    with pytest.raises(InputError, match=r"interrupted 4\.0 s after its start"):
        prepare_motion(broken, cutoff=10.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"base": ("XX9",), "covariance": np.eye(1)},
        {"base": ("ZZ1",), "covariance": np.eye(1), "deviations": (1.0, 2.0)},
    ],
)
def test_a_covariance_of_other_parameters_is_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match="covariance belongs to other parameters"):
        true_parameters(**wrong).check_frames(puma())
