"""Torques in the wrong order, with the wrong sign, at the wrong time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.simulated import recorded
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.filtering import filter_recording
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.torque_checks import check_motion, check_runs, exchange_errors

PRISMATIC = th.Joint.PRISMATIC


def said(change) -> tuple[list[str], list[str]]:
    dynamics, recording, _ = recorded(3, noise=0.5)
    run = filter_recording(replace(recording, torques=change(recording.torques)))
    checks = check_runs(dynamics, [run])
    return list(checks.warnings), list(checks.notes)


def test_a_good_recording_is_not_doubted() -> None:
    assert said(lambda torques: torques) == ([], [])


def test_exchanged_columns_are_named() -> None:
    found, _ = said(lambda torques: torques[:, [0, 2, 1, 3, 4, 5]])
    assert len(found) == 2
    assert "torque of joint 2 is in the column of joint 3" in found[0]
    assert "torque of joint 3 is in the column of joint 2" in found[1]
    assert len(said(lambda torques: np.roll(torques, 1, axis=1))[0]) == 6


def test_all_joints_together_tell_exchanged_torques() -> None:
    """The one pass for all exchanges gives what separate fits give."""
    dynamics, recording, _ = recorded(3, noise=0.5)
    run = filter_recording(recording)
    errors = exchange_errors(dynamics, run)
    for i, j in ((0, 0), (1, 2), (3, 5)):
        order = list(range(6))
        order[i], order[j] = order[j], order[i]
        other = replace(run, torques=run.torques[:, order])
        fit = predict(identify_dynamics(dynamics, other, estimator=Estimator.ORDINARY), other)
        assert errors[i, j] == pytest.approx(fit.error, rel=1e-6)


def test_an_inverted_torque_is_named() -> None:
    (found,), _ = said(lambda torques: torques * np.array([1, 1, -1, 1, 1, 1]))
    assert "torque of joint 3 looks inverted" in found


def test_short_recordings_are_not_accused() -> None:
    """A second of motion says nothing about signs, however its fit comes out."""
    for seed in range(6):
        dynamics, recording, _ = recorded(seed, noise=2.0, seconds=4.0)
        run = filter_recording(recording)
        assert not check_runs(dynamics, [run]).warnings


def test_shifted_torques_are_named_with_the_time() -> None:
    for shift, word in ((4, "later"), (-4, "earlier")):
        found, (note,) = said(lambda torques, shift=shift: np.roll(torques, shift, axis=0))
        assert not found
        assert f"ms {word} than the positions" in note
        assert 36 <= float(note.split("recorded ")[1].split(" ms")[0]) <= 44


def test_motion_is_judged_by_the_range_of_each_joint() -> None:
    """4 mm are a motion of a slide of 20 mm and none of one of 4 m; degrees are no radians."""
    times = np.arange(0, 20, 0.01)
    q = np.column_stack([np.sin(times), 2e-3 * np.sin(1.3 * times)])
    for stroke, still in ((0.02, []), (4.0, ["joint 2 hardly moves: its parameters"])):
        rows = [th.Row(th.Convention.KK, th.Joint.REVOLUTE), th.Row(th.Convention.KK, PRISMATIC)]
        robot = th.Robot.of("slide", rows, lower=[-3.0, 0.0], upper=[3.0, stroke])
        run = filter_recording(Recording(times, q, q))
        found = check_motion(th.Dynamics(robot), run)
        assert len(found) == len(still)
        assert all(words in found[0] for words in still)
    in_degrees = filter_recording(Recording(times, np.degrees(q[:, [0, 0]]), q))
    (words, *_) = check_motion(th.Dynamics(robot), in_degrees)
    assert "joint 1 moves over 19 times its range: its positions look like degrees" in words
