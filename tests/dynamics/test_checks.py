"""Torques in the wrong order, with the wrong sign, at the wrong time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.dynamics.simulated import recorded
from theodolite.dynamics.checks import doubts, joint_fits, shifts, swapped_errors
from theodolite.dynamics.filtering import filtered
from theodolite.dynamics.identify import Way, identify_dynamics
from theodolite.dynamics.prediction import prediction


def said(change) -> tuple[list[str], list[str]]:
    dynamics, recording, _ = recorded(3, noise=0.5)
    run = filtered(replace(recording, torques=change(recording.torques)))
    fits = joint_fits(dynamics, run)
    return doubts(dynamics, run, fits), shifts(dynamics, run, fits)


def test_a_good_recording_is_not_doubted() -> None:
    assert said(lambda torques: torques) == ([], [])


def test_exchanged_columns_are_named() -> None:
    found, _ = said(lambda torques: torques[:, [0, 2, 1, 3, 4, 5]])
    assert len(found) == 2
    assert "torque of joint 2 stands in the column of joint 3" in found[0]
    assert "torque of joint 3 stands in the column of joint 2" in found[1]
    assert len(said(lambda torques: np.roll(torques, 1, axis=1))[0]) == 6


def test_all_joints_together_tell_exchanged_torques() -> None:
    """The one pass for all exchanges gives what separate fits give."""
    dynamics, recording, _ = recorded(3, noise=0.5)
    run = filtered(recording)
    errors = swapped_errors(dynamics, run)
    for i, j in ((0, 0), (1, 2), (3, 5)):
        order = list(range(6))
        order[i], order[j] = order[j], order[i]
        other = replace(run, torques=run.torques[:, order])
        fit = prediction(identify_dynamics(dynamics, other, way=Way.ORDINARY), other)
        assert errors[i, j] == pytest.approx(fit.error, rel=1e-6)


def test_an_inverted_torque_is_named() -> None:
    (found,), _ = said(lambda torques: torques * np.array([1, 1, -1, 1, 1, 1]))
    assert "torque of joint 3 looks inverted" in found


def test_short_recordings_are_not_accused() -> None:
    """A second of motion says nothing about signs, however its fit comes out."""
    for seed in range(6):
        dynamics, recording, _ = recorded(seed, noise=2.0, seconds=4.0)
        run = filtered(recording)
        assert not doubts(dynamics, run, joint_fits(dynamics, run))


def test_shifted_torques_are_named_with_the_time() -> None:
    for shift, word in ((4, "later"), (-4, "earlier")):
        found, (note,) = said(lambda torques, shift=shift: np.roll(torques, shift, axis=0))
        assert not found
        assert f"ms {word} than the positions" in note
        assert 36 <= float(note.split("recorded ")[1].split(" ms")[0]) <= 44
