"""One result for any size of robot and any unit of its slides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.calibration.sizes import grown, joint_factors
from tests.dynamics.simulated import (
    grown_dynamics,
    grown_recording,
    recorded_scara,
    simulated,
)
from tests.quick import some_of
from theodolite.dynamics.base_parameters import Analysis, find_base_parameters
from theodolite.dynamics.constants import relations_in_words
from theodolite.dynamics.drives import Drive, State
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.excitation.limits import Limits
from theodolite.dynamics.filtering import filter_recording
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.judge import write_verdict
from theodolite.dynamics.machine_dynamics import build_dynamics
from theodolite.dynamics.prediction import Prediction, predict
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque_checks import exchange_errors
from theodolite.dynamics.torque_noise import estimate_noise
from theodolite.model.parameters import Unit

FACTORS = [0.01, 100.0]


@pytest.mark.parametrize("factor", [1.0, *FACTORS])
def test_exact_forces_do_not_hide_wrong_torques(factor: float) -> None:
    """An RRPR arm whose slide is exact while every hinge is off by half, at any size."""
    rng = np.random.default_rng(0)
    slides = np.array([False, False, True, False])
    measured = rng.standard_normal((100, 4)) * np.where(slides, 20.0, factor)
    predicted = measured * np.where(slides, 1.0, 1.5)
    off = Prediction(np.arange(100.0), measured, predicted, slides=slides)
    assert off.error == pytest.approx(0.5 * np.sqrt(3 / 4), rel=1e-12)
    assert "do not use it" in write_verdict(None, off)[1]


@pytest.mark.parametrize("slides", [None, np.zeros(3, dtype=bool), np.ones(3, dtype=bool)])
def test_one_kind_of_joint_is_judged_by_one_norm(slides: np.ndarray | None) -> None:
    measured, predicted = np.random.default_rng(0).standard_normal((2, 50, 3))
    whole = np.linalg.norm(predicted - measured) / np.linalg.norm(measured)
    assert Prediction(np.arange(50.0), measured, predicted, slides=slides).error == whole


@pytest.mark.parametrize("factor", [1e-3, *FACTORS, 25.0])
@pytest.mark.parametrize("name", ["puma560", "ur10e", "panda", "stanford"])
def test_base_parameters_are_the_same_at_any_size(name: str, factor: float) -> None:
    robot = th.robots.load(name)
    usual = set(find_base_parameters(Dynamics(robot)).identifiable)
    dynamics = Dynamics(grown(robot, factor))
    for analysis in Analysis:
        assert set(find_base_parameters(dynamics, analysis=analysis).identifiable) == usual


@pytest.mark.parametrize("factor", [1e-3, 0.1, *FACTORS])
@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "rx90"])
def test_relations_are_written_alike_at_any_size(name: str, factor: float) -> None:
    """The lengths' names stand for their values, whatever these are."""
    robot = th.robots.load(name)
    usual, other = (
        relations_in_words(dynamics, find_base_parameters(dynamics))
        for dynamics in (Dynamics(robot), Dynamics(grown(robot, factor)))
    )
    assert other == usual


@pytest.mark.parametrize("factor", FACTORS)
def test_predictions_are_judged_alike_at_any_size(factor: float) -> None:
    robot, recording = recorded_scara(1)
    errors = []
    for dynamics, own in (
        (Dynamics(robot), recording),
        (grown_dynamics(robot, factor), grown_recording(robot, recording, factor)),
    ):
        run = filter_recording(own, cutoff=5.0)
        errors.append(predict(identify_dynamics(dynamics, run), run).error)
    assert errors[1] == pytest.approx(errors[0], rel=1e-5)


@pytest.mark.parametrize("factor", FACTORS)
def test_exchanged_torques_are_judged_alike_at_any_size(factor: float) -> None:
    robot, recording = recorded_scara(1)
    usual = exchange_errors(Dynamics(robot), filter_recording(recording, cutoff=5.0))
    other = exchange_errors(
        grown_dynamics(robot, factor),
        filter_recording(grown_recording(robot, recording, factor), cutoff=5.0),
    )
    hinges = np.array([0, 1, 3])
    both = np.ix_(hinges, hinges)
    np.testing.assert_allclose(other[both], usual[both], rtol=1e-6)


@pytest.mark.parametrize(
    "estimator",
    some_of([Estimator.WEIGHTED, Estimator.CORRELATED, Estimator.ROBUST], [Estimator.CORRELATED]),
)
@pytest.mark.parametrize("lighter", some_of([1e-12, 1e6], [1e-12]))
def test_a_joint_weighs_alike_whatever_its_torque(estimator: Estimator, lighter: float) -> None:
    """A robot of feathers, and one of lead: the same noise, in parts of the torque."""
    dynamics, run, _ = simulated(3)
    usual = identify_dynamics(dynamics, run, estimator=estimator)
    other = identify_dynamics(
        dynamics, replace(run, torques=lighter * run.torques), estimator=estimator
    )
    np.testing.assert_allclose(other.noise.long_run, lighter * usual.noise.long_run, rtol=1e-6)
    np.testing.assert_allclose(other.base_values, lighter * usual.base_values, rtol=1e-6)


def test_exact_torques_have_a_weight() -> None:
    """Also those of a joint that never has any."""
    _, run, _ = simulated(3, noise=0.0)
    torques = run.torques * np.array([1, 1, 1, 1, 1, 0])
    noise = estimate_noise(np.zeros_like(torques), torques)
    usual = np.sqrt((torques**2).mean(axis=0))
    np.testing.assert_allclose(noise.sigmas[:5], 1e-9 * usual[:5])
    assert noise.sigmas[5] == pytest.approx(1e-9 * usual.max())
    assert np.isfinite(noise.whitening).all()


@pytest.mark.parametrize("factor", [1e-4, *FACTORS, 0.05, 1e4])
@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_frames_are_told_apart_alike_at_any_size(name: str, factor: float) -> None:
    """A ten-thousandth of a length makes other frames, rounding of a file does not."""
    robot = grown(th.robots.load(name), factor)
    lengths = {p.name: p.value for p in robot.parameters if p.unit is Unit.METRE and p.value}
    frames = Dynamics(robot).frames
    for change, same in ((1e-4, False), (1e-12, True)):
        moved = {symbol: value * (1 + change) for symbol, value in lengths.items()}
        assert (Dynamics(robot.with_values(moved)).frames == frames) is same


def test_frames_of_usual_arms_stay_what_they_were() -> None:
    """Files of parameters name their frames."""
    assert Dynamics(th.robots.puma560()).frames == "f7837ba784ab7ae9"
    assert build_dynamics(th.robots.load("delta")).frames == "e9918e3bb73dde61"


@pytest.mark.parametrize("factor", FACTORS)
def test_default_limits_of_slides_are_parts_of_their_stroke(factor: float) -> None:
    """Planned in any unit, a slide takes as long for its stroke; hinges keep theirs."""
    robot = th.robots.scara()
    usual, other = Limits.of(Dynamics(robot)), Limits.of(Dynamics(grown(robot, factor)))
    units = joint_factors(robot, factor)
    np.testing.assert_allclose(other.velocity, usual.velocity * units)
    np.testing.assert_allclose(other.acceleration, usual.acceleration * units)
    hinges = np.array([0, 1, 3])
    assert (other.velocity[hinges] == 2.0).all()
    assert (other.acceleration[hinges] == 6.0).all()


@pytest.mark.parametrize("speed", [0.1, 0.3])
def test_slides_have_a_stribeck_speed_of_their_own(speed: float) -> None:
    """A tenth of a metre for each radian."""
    dynamics = Dynamics(th.robots.scara(), stribeck_speed=speed)
    qd = np.array([[speed, speed, 0.1 * speed, speed]])
    state = State(np.zeros((1, 4)), qd, np.zeros((1, 4)))
    drives = (Drive.STRIBECK,)
    table = dynamics.regressor(state, drives)
    for motor, suffix in enumerate(dynamics.motor_names):
        place = dynamics.columns(drives).index(("fs", suffix))
        assert table[place, motor, 0] == pytest.approx(np.exp(-1))
