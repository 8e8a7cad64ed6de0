"""Recordings: filters that shift nothing, parallel filtering, and what looks wrong, in words."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.dynamics.decimation import Thinning
from theodolite.dynamics.filtering import filtered, filtered_parts, proposed_cutoff
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.recording_checks import doubts_about
from theodolite.errors import InputError


def test_filters_do_not_shift_and_jitter_is_undone() -> None:
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.008, 0.012, 3000))
    q = np.column_stack([np.sin(times), np.cos(1.7 * times)])
    run = filtered(Recording(times, q, q), cutoff=5.0)
    np.testing.assert_allclose(run.state.qdd[:, 0], -run.state.q[:, 0], atol=2e-3)
    middle = run.thinning.middle(slice(0, run.rows))
    np.testing.assert_allclose(run.measured(), run.state.q[middle], atol=2e-3)
    assert 3.0 <= proposed_cutoff(Recording(times, q, q)).frequency < 20.0


@pytest.mark.parametrize("rate", [100.0, 1e3, 40e3])
def test_accelerations_are_exact_at_every_rate(rate: float) -> None:
    """A known motion far below a 3 Hz cut-off; digits must not be lost at high sampling rates."""
    times = np.arange(0, 8, 1 / rate)
    w = 2 * np.pi * np.array([0.3, 0.5])
    q = 2.0 + np.sin(w * times[:, None])
    run = filtered(Recording(times, q, q), cutoff=3.0)
    start = np.ceil(3.0 * run.rate / 3.0) / run.rate
    angle = w * (start + np.arange(len(run.state)) / run.rate)[:, None]
    for found, expected in (
        (run.state.q, 2.0 + np.sin(angle)),
        (run.state.qd, w * np.cos(angle)),
        (run.state.qdd, -(w**2) * np.sin(angle)),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


def test_thinning_in_blocks_is_thinning_of_the_whole() -> None:
    thinning = Thinning.below(8.0, 100.0)
    table = np.random.default_rng(0).standard_normal((3, 1000))
    whole = thinning.thinned(table)
    assert whole.shape[1] == thinning.count(1000)
    # Against a plain convolution, sample by sample.
    plain = np.array([np.convolve(row, thinning.taps, mode="valid") for row in table])
    np.testing.assert_allclose(whole, plain[:, :: thinning.every], atol=1e-12)
    for rows in (slice(0, 7), slice(7, 60), slice(60, whole.shape[1])):
        np.testing.assert_allclose(
            thinning.thinned(table[:, thinning.source(rows)]), whole[:, rows]
        )


def test_the_derivative_falls_to_the_low_pass() -> None:
    thinning = Thinning.below(8.0, 200.0)
    t = np.arange(0, 10, 1 / 200)
    rates = thinning.rate_of_change(np.sin(3 * t)[None], 200.0)[0]
    middle = t[thinning.middle(slice(0, thinning.count(len(t))))]
    np.testing.assert_allclose(rates, 3 * np.cos(3 * middle), atol=5e-3)


def test_cutoffs_are_explained() -> None:
    times = np.arange(0, 20, 0.005)
    q = np.sin(2 * np.pi * 1.0 * times)[:, None]
    chosen = proposed_cutoff(Recording(times, q, q))
    assert "99.9 % of the movement lies below 1.1 Hz, 5 times that" in chosen.reason
    assert chosen.frequency == pytest.approx(5.0, rel=0.1)


def test_bad_recordings_are_explained() -> None:
    times = np.arange(0, 10, 0.01)
    q = np.column_stack([np.sin(times), 0 * times])
    run = filtered(Recording(times, q, q + 1.0), cutoff=5.0)
    assert any("joint 2 hardly moves" in doubt for doubt in run.doubts)
    noise = np.random.default_rng(0).standard_normal(q.shape)
    assert any("aliasing" in d for d in filtered(Recording(times, q, noise), cutoff=5.0).doubts)
    with pytest.raises(InputError, match="too short"):
        filtered(Recording(times[:60], q[:60], q[:60]), cutoff=3.0)
    with pytest.raises(InputError, match="row 5: the time does not go on"):
        Recording(np.array([0, 1, 2, 3, *np.arange(3, 20)], dtype=float), np.zeros((21, 2)), q[:21])
    slow = Recording(times[::25], q[::25], q[::25])
    assert not doubts_about(Recording(times, q[:, :1], q[:, :1]))
    fast = np.sin(8 * slow.times)[:, None]
    (words,) = (d for d in doubts_about(Recording(slow.times, fast, fast)) if "faster" in d)
    assert "too much for 4 samples per second" in words


def test_interruptions_are_left_out() -> None:
    times = np.arange(0, 20, 0.01)
    q = np.column_stack([np.sin(times), np.cos(1.3 * times)])
    keep = (times < 8) | (times > 11)
    recording = Recording(times[keep], q[keep], q[keep])
    with pytest.raises(InputError, match="is interrupted 1 times"):
        filtered(recording)
    runs = filtered_parts(recording, cutoff=5.0)
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
        return " ".join(doubts_about(Recording(times, tables["q"], q, tables["qd"], tables["qdd"])))

    assert said() == ""
    assert "velocity of joint 1 is 57.3 times" in said(qd=np.degrees(qd))
    assert "looks like degrees" in said(qd=np.degrees(qd))
    assert "with the other sign" in said(qdd=q)
    assert "look like degrees. Name the column" in said(q=np.degrees(q), qd=np.degrees(qd))
