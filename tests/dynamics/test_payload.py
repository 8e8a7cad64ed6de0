"""Payloads and drive gains: simulated runs with and without a load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.dynamics.simulated import GAINS, puma, recorded, true_values
from theodolite.dynamics.current_ratio import gains_from_torques
from theodolite.dynamics.drive_gains import identify_gains
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.filtering import Run, filter_recording
from theodolite.dynamics.inertia import (
    RigidBody,
    change_of_frame,
    inertial_parameters,
    is_body,
    mass_properties,
)
from theodolite.dynamics.payload import _inertia_slopes, fit_with_gains, identify_payload
from theodolite.errors import InputError

MASS, CENTRE = 4.0, np.array([0.02, -0.05, 0.1])
INERTIA = np.diag([0.02, 0.03, 0.025])
BODY = RigidBody(MASS, CENTRE, INERTIA)


def runs(seed: int, gains: np.ndarray | None = None) -> tuple[Run, Run]:
    """Without and with the payload; with gains, currents."""
    truth = true_values(np.random.default_rng(seed))
    load = puma().payload_parameters(BODY)
    found = []
    for number, carried in enumerate((None, load)):
        _, recording, _ = recorded(10 * seed + number, noise=1.0, truth=truth, load=carried)
        if gains is not None:
            recording = replace(recording, torques=recording.torques / gains)
        found.append(filter_recording(recording))
    return found[0], found[1]


def test_payload_within_its_intervals() -> None:
    scores = []
    for seed in range(6):
        without, loaded = runs(seed)
        found = identify_payload(puma(), [without], [loaded], drives=FRICTION)
        assert found.mass == pytest.approx(MASS, rel=0.02)
        np.testing.assert_allclose(found.centre, CENTRE, atol=5e-3)
        scores += [(found.mass - MASS) / found.mass_error]
        scores += ((found.centre - CENTRE) / found.centre_errors).tolist()
    # 24 standard scores: their spread is one.
    assert 0.6 < np.std(scores) < 1.5


def test_no_payload_is_said() -> None:
    """Two runs without one: no mass beyond its interval."""
    truth = true_values(np.random.default_rng(0))
    plain = [filter_recording(recorded(seed, noise=1.0, truth=truth)[1]) for seed in (1, 2)]
    assert not identify_payload(puma(), plain[:1], plain[1:]).detected


def test_exchanged_runs_are_said() -> None:
    without, loaded = runs(0)
    with pytest.raises(InputError, match="Exchange the recordings"):
        identify_payload(puma(), [loaded], [without])


def test_drive_gains_from_a_known_payload() -> None:
    scores = []
    for seed in range(4):
        without, loaded = runs(seed, GAINS)
        found = identify_gains(puma(), [without], [loaded], BODY)
        assert found.status.good
        np.testing.assert_allclose(found.gains, GAINS, rtol=0.03)
        scores += ((found.gains - GAINS) / found.errors).tolist()
    # 24 standard scores: two in a thousand times beyond these bounds.
    assert 0.58 < np.std(scores) < 1.45
    assert abs(np.mean(scores)) < 0.6


def test_joints_that_the_payload_does_not_load_are_named() -> None:
    """A payload on the last axis says nothing about the last gain."""
    truth = true_values(np.random.default_rng(0))
    dynamics = puma()
    # The last joint of a KK table turns about z of its link.
    load = inertial_parameters(4.0, np.array([0.0, 0.0, 0.1]), np.diag([1e-4, 1e-4, 2e-5]))
    body = RigidBody(*mass_properties(np.linalg.inv(dynamics.flange_to_link()) @ load))
    pair = []
    for seed, carried in ((1, None), (2, load)):
        _, recording, _ = recorded(seed, noise=1.0, truth=truth, load=carried)
        run = filter_recording(replace(recording, torques=recording.torques / GAINS))
        pair.append(run)
    found = identify_gains(dynamics, pair[:1], pair[1:], body)
    assert any("hardly loads joint 6" in words for words in found.warnings)
    assert not any("joint 2" in words for words in found.warnings)


def test_bodies_move_with_their_frames() -> None:
    """Ten parameters in another frame: by the formula of Huygens, by point masses, and back."""
    rng = np.random.default_rng(0)
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    p, x = rng.uniform(-1, 1, (2, 3))
    point, moved = (inertial_parameters(1.0, place, np.zeros((3, 3))) for place in (x, R @ x + p))
    np.testing.assert_allclose(change_of_frame(R, p) @ point, moved, atol=1e-12)
    body = inertial_parameters(3.0, x, np.diag([0.1, 0.2, 0.25]))
    mass, centre, inertia = mass_properties(change_of_frame(R, p) @ body)
    assert mass == pytest.approx(3.0)
    np.testing.assert_allclose(centre, R @ x + p, atol=1e-12)
    np.testing.assert_allclose(inertia, R @ np.diag([0.1, 0.2, 0.25]) @ R.T, atol=1e-12)


def test_bodies_that_cannot_exist_are_refused() -> None:
    inertia = "this inertia is not physically possible"
    for mass, moments, words in (
        (0.0, [1, 1, 1], "a body of 0 kg"),
        (-1.0, [1, 1, 1], "a body of -1 kg"),
        (1.0, [1, 1, 3], inertia),
        (1.0, [-1, 1, 1], inertia),
    ):
        with pytest.raises(InputError, match=words):
            RigidBody(mass, np.zeros(3), np.diag(np.array(moments, dtype=float)))
    # A plate is a limit that is allowed, and so is a point.
    RigidBody(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.0]))
    RigidBody(1.0, np.zeros(3))


def test_errors_of_the_inertia_follow_from_those_of_the_parameters() -> None:
    """The derivative of the inertia about the centre, against differences."""
    body = RigidBody(3.0, np.array([0.1, -0.2, 0.3]), np.diag([0.1, 0.2, 0.25])).parameters
    slopes = _inertia_slopes(body)
    for column, step in enumerate(1e-6 * np.eye(10)):
        ahead, behind = (mass_properties(body + side * step)[2] for side in (1, -1))
        np.testing.assert_allclose(slopes[:, :, column], (ahead - behind) / 2e-6, atol=1e-8)


def test_the_mass_alone_is_enough_for_the_gains() -> None:
    """Centre and inertia unknown: gains of joints that carry the mass, within their intervals."""
    scores = []
    for seed in range(3):
        without, loaded = runs(seed, GAINS)
        found = identify_gains(puma(), [without], [loaded], MASS)
        assert found.status.good
        np.testing.assert_allclose(found.gains[:3], GAINS[:3], rtol=0.05)
        scores += ((found.gains - GAINS) / found.errors)[:5].tolist()
    # 15 standard scores: two in a thousand times beyond these bounds.
    assert 0.45 < np.std(scores) < 1.58
    with pytest.raises(InputError, match="a body of -1 kg"):
        identify_gains(puma(), [without], [loaded], -1.0)


def test_torques_and_currents_of_one_recording_give_the_gains() -> None:
    """Noise in both: 95 % intervals by the scatter of many recordings."""
    scores = []
    for seed in range(12):
        _, recording, _ = recorded(seed, noise=0.0)
        rng = np.random.default_rng(seed)
        size = 0.05 * recording.torques.std(axis=0)
        tau = recording.torques + size * rng.standard_normal(recording.q.shape)
        current = (recording.torques + size * rng.standard_normal(recording.q.shape)) / GAINS
        found = gains_from_torques(
            puma(), replace(recording, torques=tau), replace(recording, torques=current)
        )
        scores += ((found.gains - GAINS) / found.errors).tolist()
        assert found.good
    assert 0.8 < np.std(scores) < 1.25
    assert abs(np.mean(scores)) < 0.4


def test_a_current_of_another_joint_is_said() -> None:
    _, recording, _ = recorded(0, noise=0.5)
    swapped = replace(recording, torques=recording.torques[:, [1, 0, 2, 3, 4, 5]])
    found = gains_from_torques(puma(), recording, swapped)
    assert "torque and current of joint 1 have little in common" in found.warnings[0]


def covered(seeds: range) -> float:
    """How often the mass is within its interval, with gains that are known to 5 %."""
    hits = []
    for seed in seeds:
        rng = np.random.default_rng(1000 + seed)
        without, loaded = runs(seed)
        wrong = 1.0 + 0.05 * rng.standard_normal(6)
        pair = [replace(run, torques=run.torques * wrong) for run in (without, loaded)]
        found = identify_payload(
            puma(), pair[:1], pair[1:], drives=FRICTION, gain_errors=0.05**2 * np.eye(6)
        )
        width = found.result.statistics.quantile() * found.mass_error
        hits.append(abs(found.mass - MASS) <= width)
    return float(np.mean(hits))


def test_uncertain_gains_widen_the_intervals_of_a_payload() -> None:
    """Without them the intervals would be far too narrow; with them nearly all hold the mass."""
    assert covered(range(7)) >= 0.7
    without, loaded = runs(0)
    plain = identify_payload(puma(), [without], [loaded], drives=FRICTION)
    wide = identify_payload(
        puma(), [without], [loaded], drives=FRICTION, gain_errors=0.05**2 * np.eye(6)
    )
    assert wide.mass_error > 3 * plain.mass_error


@pytest.mark.study
def test_intervals_of_a_payload_hold_with_uncertain_gains() -> None:
    assert 0.93 <= covered(range(400)) <= 0.97


def test_certain_gains_change_nothing() -> None:
    without, loaded = runs(0)
    plain = identify_payload(puma(), [without], [loaded], drives=FRICTION)
    found, covariance = fit_with_gains(plain.result, 1e-20 * np.eye(6))
    np.testing.assert_allclose(found, plain.result.base_values, rtol=1e-2, atol=2e-3)
    spread = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(spread, plain.result.statistics.standard_errors, rtol=0.1)


def test_the_inertia_of_a_payload_can_exist() -> None:
    """A small load in much noise: what fits best need not be a body; what is given is one."""
    truth = true_values(np.random.default_rng(0))
    load = puma().payload_parameters(RigidBody(1.0, np.array([0.0, 0.0, 0.05]), 1e-4 * np.eye(3)))
    moved = 0
    for seed in range(4):
        pair = [
            filter_recording(recorded(10 * seed + n, noise=2.0, truth=truth, load=carried)[1])
            for n, carried in enumerate((None, load))
        ]
        found = identify_payload(puma(), pair[:1], pair[1:], drives=FRICTION)
        moved += not found.consistent
        assert np.linalg.eigvalsh(found.inertia)[0] > 0
        assert is_body(found.parameters)
        assert abs(found.mass - 1.0) < 3 * found.mass_error
    assert moved > 0
