"""Recordings: filters that shift nothing, parallel filtering, and what looks wrong, in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.dynamics.simulated import recorded
from theodolite.dynamics.decimation import Decimation
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.filtering import filter_recording, propose_cutoff
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.preparation import prepare_runs
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.recording_checks import check_recording, highest_frequency
from theodolite.errors import InputError


def test_filters_do_not_shift_and_jitter_is_undone() -> None:
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.008, 0.012, 3000))
    q = np.column_stack([np.sin(times), np.cos(1.7 * times)])
    run = filter_recording(Recording(times, q, q), cutoff=5.0)
    np.testing.assert_allclose(run.state.qdd[:, 0], -run.state.q[:, 0], atol=2e-3)
    middle = run.decimation.centres(slice(0, run.rows))
    np.testing.assert_allclose(run.measured(), run.state.q[middle], atol=2e-3)
    assert 3.0 <= propose_cutoff(Recording(times, q, q)).frequency < 20.0


@pytest.mark.parametrize("rate", [100.0, 1e3, 40e3])
def test_accelerations_are_exact_at_every_rate(rate: float) -> None:
    """A known motion far below a 3 Hz cut-off; digits must not be lost at high sampling rates."""
    times = np.arange(0, 8, 1 / rate)
    w = 2 * np.pi * np.array([0.3, 0.5])
    q = 2.0 + np.sin(w * times[:, None])
    run = filter_recording(Recording(times, q, q), cutoff=3.0)
    start = np.ceil(3.0 * run.rate / 3.0) / run.rate
    angle = w * (start + np.arange(len(run.state)) / run.rate)[:, None]
    for found, expected in (
        (run.state.q, 2.0 + np.sin(angle)),
        (run.state.qd, w * np.cos(angle)),
        (run.state.qdd, -(w**2) * np.sin(angle)),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


def test_decimation_in_blocks_is_decimation_of_the_whole() -> None:
    decimation = Decimation.below(8.0, 100.0)
    table = np.random.default_rng(0).standard_normal((3, 1000))
    whole = decimation.apply(table)
    assert whole.shape[1] == decimation.count(1000)
    # Against a plain convolution, sample by sample.
    plain = np.array([np.convolve(row, decimation.taps, mode="valid") for row in table])
    np.testing.assert_allclose(whole, plain[:, :: decimation.factor], atol=1e-12)
    for rows in (slice(0, 7), slice(7, 60), slice(60, whole.shape[1])):
        np.testing.assert_allclose(
            decimation.apply(table[:, decimation.input_rows(rows)]), whole[:, rows]
        )


def test_the_low_pass_is_differentiated() -> None:
    decimation = Decimation.below(8.0, 200.0)
    t = np.arange(0, 10, 1 / 200)
    rates = decimation.differentiate(np.sin(3 * t)[None], 200.0)[0]
    middle = t[decimation.centres(slice(0, decimation.count(len(t))))]
    np.testing.assert_allclose(rates, 3 * np.cos(3 * middle), atol=5e-3)


def test_cutoffs_are_explained() -> None:
    times = np.arange(0, 20, 0.005)
    q = np.sin(2 * np.pi * 1.0 * times)[:, None]
    chosen = propose_cutoff(Recording(times, q, q))
    assert "5 times the 1.1 Hz below which 99.9 % of the movement lies" in chosen.reason
    assert chosen.frequency == pytest.approx(5.0, rel=0.1)


def test_bad_recordings_are_explained() -> None:
    times = np.arange(0, 10, 0.01)
    q = np.column_stack([np.sin(times), 0 * times])
    noise = np.random.default_rng(0).standard_normal(q.shape)
    assert any(
        "aliasing" in d for d in filter_recording(Recording(times, q, noise), cutoff=5.0).warnings
    )
    with pytest.raises(InputError, match="too short"):
        filter_recording(Recording(times[:60], q[:60], q[:60]), cutoff=3.0)
    with pytest.raises(InputError, match="row 5: the time does not increase"):
        Recording(np.array([0, 1, 2, 3, *np.arange(3, 20)], dtype=float), np.zeros((21, 2)), q[:21])
    slow = Recording(times[::25], q[::25], q[::25])
    assert not check_recording(Recording(times, q[:, :1], q[:, :1]))
    fast = np.sin(8 * slow.times)[:, None]
    (words,) = (d for d in check_recording(Recording(slow.times, fast, fast)) if "Record at" in d)
    assert "too much for 4 samples per second" in words


def test_interruptions_are_left_out() -> None:
    times = np.arange(0, 20, 0.01)
    q = np.column_stack([np.sin(times), np.cos(1.3 * times)])
    keep = (times < 8) | (times > 11)
    recording = Recording(times[keep], q[keep], q[keep])
    with pytest.raises(InputError, match="is interrupted 1 times"):
        filter_recording(recording)
    runs = prepare_runs(recording, cutoff=5.0)
    assert len(runs) == 2
    assert "interrupted for 3.0" in runs[0].notes[0]
    for run in runs:
        # Nothing invented in between: every sample is on the true curve.
        np.testing.assert_allclose(np.hypot(run.state.q[:, 0], run.state.qd[:, 0]), 1, atol=1e-3)


def test_units_and_signs_of_derivatives_are_checked() -> None:
    times = np.arange(0, 10, 0.01)
    q, qd = np.sin(times)[:, None], np.cos(times)[:, None]

    def said(**changed: np.ndarray) -> str:
        tables = {"q": q, "qd": qd, "qdd": -q} | changed
        return " ".join(
            check_recording(Recording(times, tables["q"], q, tables["qd"], tables["qdd"]))
        )

    assert said() == ""
    assert "velocity of joint 1 is 57.3 times" in said(qd=np.degrees(qd))
    assert "looks like degrees" in said(qd=np.degrees(qd))
    assert "with the opposite sign" in said(qdd=q)


def jumps(times: np.ndarray, q: np.ndarray, *, slides: bool = False) -> list[str]:
    recording = Recording(times, q[:, None], q[:, None], slides=np.array([slides]))
    return [words for words in check_recording(recording) if "jumps" in words]


def test_jumps_are_told_from_fast_motions_at_any_rate() -> None:
    """2 rad/s is no jump at 4 samples per second; half a degree is one at 1000."""
    slow = np.arange(0, 20, 0.25)
    assert not jumps(slow, 1.5 * np.sin(1.4 * slow))
    # One sample that is missing makes a longer step, not a jump.
    assert not jumps(np.delete(slow, 33), 1.5 * np.sin(1.4 * np.delete(slow, 33)))
    fast = np.arange(0, 5, 1e-3)
    smooth = 0.05 * np.sin(fast)
    assert not jumps(fast, smooth)
    (words,) = jumps(fast, smooth + 0.009 * (fast > 2))
    assert "1.99 s from the start" in words or "2.00 s from the start" in words
    # An encoder that is coarse, and one that flickers by one step.
    assert not jumps(fast, np.round(smooth / 1e-3) * 1e-3)
    assert not jumps(fast, 1e-4 * (np.random.default_rng(0).random(len(fast)) < 0.01))
    (words,) = jumps(fast, smooth + 2 * np.pi * (fast > 2))
    assert "a whole turn" in words


@pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])
def test_jumps_are_no_matter_of_the_unit(factor: float) -> None:
    """A slide in any unit and the angle of a motor before its gear: smooth is smooth."""
    times = np.arange(0, 20, 0.05)
    smooth = factor * np.sin(times)
    for slides in (False, True):
        assert not jumps(times, smooth, slides=slides)
        (words,) = jumps(times, smooth + factor * (times > 7), slides=slides)
        assert "jumps by" in words
        (words,) = jumps(times, smooth + 4 * factor * (np.arange(len(times)) == 99), slides=slides)
        assert "4.90 s from the start" in words


def test_only_hinges_wrap() -> None:
    """Back and forth too, where an angle trembles about half a turn; a slide has no turns."""
    times = np.arange(0, 5, 1e-3)
    smooth = 0.05 * np.sin(times)
    once = smooth + 2 * np.pi * (np.arange(len(times)) == 1000)
    (words,) = jumps(times, once)
    assert "a whole turn" in words
    (words,) = jumps(times, smooth + 2 * np.pi * (times > 2), slides=True)
    assert "turn" not in words


def test_one_cutoff_for_all_recordings() -> None:
    """The highest that any of them needs; runs that were filtered before stay as they are."""
    times = np.arange(0, 20, 0.005)
    slow, fast = (np.sin(2 * np.pi * f * times)[:, None] for f in (0.5, 2.0))
    recordings = [Recording(times, q, q) for q in (slow, fast)]
    proposed = [propose_cutoff(recording.trim_rest()) for recording in recordings]
    runs = prepare_runs(recordings)
    assert proposed[1].frequency > 1.5 * proposed[0].frequency
    assert [run.cutoff for run in runs] == [proposed[1].frequency] * 2
    assert runs[0].cutoff_reason == proposed[1].reason
    before = filter_recording(recordings[0], cutoff=7.0)
    assert prepare_runs([before, recordings[1]])[0] is before
    assert [run.cutoff for run in prepare_runs(recordings, cutoff=11.0)] == [11.0, 11.0]


def test_rest_is_trimmed_unless_it_is_kept() -> None:
    times = np.arange(0, 20, 0.01)
    q = np.where((times > 5) & (times < 15), np.sin(2 * (times - 5)), 0.0)[:, None]
    recording = Recording(times, q, q)
    trimmed, kept = (prepare_runs(recording, cutoff=5.0, trim=trim)[0] for trim in (True, False))
    assert len(kept.state) - len(trimmed.state) == pytest.approx(1000, abs=60)


def hinge_and_slide(factor: float, *, noise: float = 0.0) -> Recording:
    """A hinge that moves from 4 s to 10 s, and a slide that moves faster, from 10 s to 16 s."""
    times = np.arange(0, 20, 0.01)

    def swing(start: float, frequency: float) -> np.ndarray:
        since = np.clip(times - start, 0.0, 6.0)
        return np.sin(2 * np.pi * frequency * since) * np.sin(np.pi * since / 6) ** 2

    q = np.column_stack([swing(4.0, 0.5), factor * swing(10.0, 1.0)])
    if noise:
        q[:, 1] = factor * noise * np.random.default_rng(0).standard_normal(len(times))
    return Recording(times, q, q, slides=np.array([False, True]))


@pytest.mark.parametrize("factor", [1e-3, 1e-2, 1.0, 100.0])
def test_a_slide_counts_alike_in_any_unit(factor: float) -> None:
    """Where it moves, and how fast, in millimetres or in metres."""
    usual, other = hinge_and_slide(1.0), hinge_and_slide(factor)
    trimmed = other.trim_rest()
    np.testing.assert_array_equal(trimmed.times, usual.trim_rest().times)
    assert trimmed.times[0] == pytest.approx(4, abs=1.0)
    assert trimmed.times[-1] == pytest.approx(16, abs=1.0)
    assert highest_frequency(other) == highest_frequency(usual) > 1.0


@pytest.mark.parametrize("factor", [1e-3, 1.0, 100.0])
def test_a_slide_that_stands_still_does_not_count(factor: float) -> None:
    """Its noise is neither a movement nor a high frequency."""
    recording = hinge_and_slide(factor, noise=1e-4)
    assert recording.trim_rest().times[-1] == pytest.approx(10, abs=1.0)
    assert highest_frequency(recording) == pytest.approx(0.7, abs=0.2)


def test_kinds_of_joints_belong_to_the_positions() -> None:
    times, q = np.arange(30.0), np.zeros((30, 2))
    with pytest.raises(InputError, match="positions of 2 joints, for 3 that turn or slide"):
        Recording(times, q, q, slides=np.array([False, True, False]))


def repeated(recording: Recording, share: float, seed: int = 0) -> Recording:
    """As a logger writes it that is faster than its driver: rows hold the row before."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(recording.times))
    stale = rng.uniform(size=len(rows)) < share
    source = np.maximum.accumulate(np.where(stale, 0, rows))
    return replace(recording, q=recording.q[source], torques=recording.torques[source])


def test_repeated_rows_are_left_out_and_named() -> None:
    """15 % of the rows hold the values of the row before: no 'movement of 88 Hz'."""
    dynamics, recording, _ = recorded(3, noise=0.5)
    run, *_ = prepare_runs(repeated(recording, 0.15))
    assert not run.warnings
    (note,) = run.notes
    assert "repeat the row before: the driver is slower than its logger" in note
    clean = predict(identify_dynamics(dynamics, recording, drives=FRICTION), recording)
    stale = predict(identify_dynamics(dynamics, run, drives=FRICTION), recording)
    assert stale.error < 1.2 * clean.error


def test_a_robot_that_rests_does_not_repeat_itself() -> None:
    _, recording, _ = recorded(3, noise=0.0)
    q, torques = recording.q.copy(), recording.torques.copy()
    q[200:260], torques[200:260] = q[200], torques[200]
    rests = replace(recording, q=q, torques=torques)
    assert rests.drop_repeats() is rests
    assert recording.drop_repeats() is recording


def test_a_driver_that_is_ten_times_as_slow_is_recognised() -> None:
    _, recording, _ = recorded(3, noise=0.5, rate=1000.0, seconds=10.0)
    held = np.arange(len(recording.times)) // 10 * 10
    slow = replace(recording, q=recording.q[held], torques=recording.torques[held])
    assert len(slow.drop_repeats().times) == len(recording.times) // 10
