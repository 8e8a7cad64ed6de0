"""Long recordings by pieces: equal to the whole to 1e-9, wherever the seams are."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.dynamics.simulated import motion, puma, torques_of, true_values
from theodolite.arrays import FloatArray
from theodolite.dynamics import long_recording
from theodolite.dynamics.drives import FRICTION, Drive
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.filtering import filter_recording
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.identify_long import identify_long
from theodolite.dynamics.least_squares import fit_least_squares
from theodolite.dynamics.long_fit import PieceTask, fit_pieces, fold_piece
from theodolite.dynamics.long_recording import find_stretches, read_excerpts
from theodolite.dynamics.pieces import cut_pieces
from theodolite.dynamics.preparation import prepare_runs
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.residual_series import ResidualSeries
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.torque_noise import estimate_noise
from theodolite.errors import InputError
from theodolite.estimation.merging import merge_tree


@dataclass(frozen=True, eq=False)
class InMemory:
    """A recording in memory that is read as a long one is."""

    recording: Recording
    name: str = "memory"

    @property
    def rows(self) -> int:
        return len(self.recording.times)

    def times(self, start: int, stop: int) -> FloatArray:
        return self.recording.times[start:stop]

    def read(self, start: int, stop: int) -> Recording:
        return self.recording._rows(np.arange(start, stop))


def recorded(seconds: float, rate: float, *, gap: bool = False, jitter: float = 0.2) -> Recording:
    rng = np.random.default_rng(7)
    times = (np.arange(seconds * rate) + rng.uniform(-jitter, jitter, int(seconds * rate))) / rate
    if gap:
        times[len(times) // 3 :] += 0.7
    state = motion(rng, times)
    torques = torques_of(puma(), state, true_values(rng))
    torques += rng.normal(0, 0.5, torques.shape)
    return Recording(times, state.q + rng.normal(0, 1e-5, state.q.shape), torques)


@pytest.mark.parametrize(("rate", "cutoff"), [(200.0, 5.0), (1000.0, 12.0)])
def test_pieces_are_the_whole(rate: float, cutoff: float) -> None:
    recording = recorded(25.0, rate)
    whole = filter_recording(recording, cutoff=cutoff, dynamics=puma())
    source = InMemory(recording)
    (stretch,) = find_stretches(source)
    assert stretch.rate == recording.rate
    runs = [piece.run() for piece in cut_pieces(source, stretch, puma(), cutoff, 2500)]
    assert len(runs) > 1
    measured = np.concatenate([run.measured() for run in runs])
    np.testing.assert_allclose(measured, whole.measured(), rtol=0, atol=1e-11)
    for what in ("q", "qd", "qdd"):
        ours = [
            getattr(run.state, what)[run.decimation.centres(slice(0, run.rows))] for run in runs
        ]
        theirs = getattr(whole.state, what)[whole.decimation.centres(slice(0, whole.rows))]
        np.testing.assert_allclose(np.concatenate(ours), theirs, rtol=0, atol=3e-9)


@pytest.mark.parametrize("estimator", [Estimator.WEIGHTED, Estimator.ORDINARY])
def test_the_fit_is_that_of_the_whole(estimator: Estimator) -> None:
    recording, cutoff = recorded(40.0, 250.0, gap=True), 6.0
    source = InMemory(recording)
    stretches = find_stretches(source)
    assert len(stretches) == 2
    runs = prepare_runs(recording, cutoff=cutoff, trim=False, dynamics=puma())
    problem = TorqueProblem(puma(), runs, drives=FRICTION)
    pieces = [
        piece for each in stretches for piece in cut_pieces(source, each, puma(), cutoff, 1500)
    ]

    def backwards(
        function: Callable[[Any], Any], tasks: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        # As workers might be ready, each with a copy of its own.
        for number in reversed(range(len(tasks))):
            yield number, function(pickle.loads(pickle.dumps(tasks[number])))

    one = fit_least_squares(problem, estimator)
    many = fit_pieces(problem, pieces, estimator, each=backwards)
    assert many.rows == one.rows
    scale = np.abs(one.values).max()
    np.testing.assert_allclose(many.values, one.values, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(many.noise.long_run, one.noise.long_run, rtol=1e-9)
    np.testing.assert_allclose(
        many.statistics.standard_errors, one.statistics.standard_errors, rtol=1e-9
    )
    assert many.identifiability.identifiable == one.identifiability.identifiable
    assert many.solution.reduction.rows == one.solution.reduction.rows


def test_a_short_one_is_identified_as_by_the_usual_way() -> None:
    recording = recorded(40.0, 100.0)
    options: dict[str, Any] = {"drives": FRICTION, "prior_weight": 0.1}
    many = identify_long(puma(), InMemory(recording), **options)
    one = identify_dynamics(puma(), recording, trim=False, **options)
    assert not many.notes
    assert many.result.consistent
    scale = np.abs(one.values).max()
    np.testing.assert_allclose(many.result.values, one.values, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(many.result.base_values, one.base_values, atol=1e-7 * scale)


def test_excerpts_stand_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_recording, "EXCERPT_ROWS", 1000)
    recording = recorded(100.0, 100.0)
    excerpts = read_excerpts(InMemory(recording), find_stretches(InMemory(recording)))
    assert [len(each.times) for each in excerpts] == [1000] * 8
    found = identify_long(
        puma(), InMemory(recording), estimator=Estimator.WEIGHTED, drives=FRICTION, cutoff=5.0
    )
    assert "all 10000 rows determine the parameters" in found.notes[0]
    assert found.result.rows > found.result.problem.rows
    one = identify_dynamics(
        puma(), recording, estimator=Estimator.WEIGHTED, drives=FRICTION, cutoff=5.0, trim=False
    )
    scale = np.abs(one.values).max()
    np.testing.assert_allclose(found.result.values, one.values, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("count", [30_001, 30_002])
def test_the_median_step_is_exact(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    recording = recorded(count / 100.0, 100.0)
    monkeypatch.setattr(long_recording, "AT_ONCE", 4096 * 2)
    (stretch,) = find_stretches(InMemory(recording))
    assert stretch.rate == recording.rate
    np.testing.assert_array_equal(stretch.index, recording.times[:: long_recording.STRIDE])


def test_noise_of_pieces_is_that_of_the_series() -> None:
    rng = np.random.default_rng(3)
    series = np.cumsum(rng.normal(size=(3000, 2)), axis=0)[::3] * 0.1 + rng.normal(size=(1000, 2))
    parts = np.split(series, [3, 10, 400, 401, 900])
    summed = [ResidualSeries.of(part) for part in parts]
    whole = merge_tree(enumerate(summed), ResidualSeries.followed_by)
    assert whole is not None
    noise = whole.noise((series**2).mean(axis=0), 5.0)
    wanted = estimate_noise(series, series, 5.0)
    np.testing.assert_allclose(noise.sigmas, wanted.sigmas)
    np.testing.assert_allclose(noise.factors, wanted.factors, rtol=1e-10)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
def test_a_tree_does_not_depend_on_the_order(order: tuple[int, ...]) -> None:
    merged = merge_tree(((n, str(n)) for n in order), lambda a, b: f"({a}{b})")
    assert merged == "(((01)(23))4)"
    assert merge_tree([], lambda a, b: a) is None


def test_a_task_is_small() -> None:
    recording = recorded(10.0, 100.0)
    source = InMemory(recording)
    (piece,) = cut_pieces(source, find_stretches(source)[0], puma(), 5.0)
    task = PieceTask(piece, FRICTION)
    assert len(pickle.dumps(task)) - len(pickle.dumps(recording)) < 100_000
    assert fold_piece(task).factors.shape[0] == 6


def test_what_needs_a_short_recording_is_refused() -> None:
    source = InMemory(recorded(10.0, 100.0))
    with pytest.raises(InputError, match=r"robust estimator .* allowed: ordinary, weighted"):
        identify_long(puma(), source, estimator=Estimator.ROBUST)
    with pytest.raises(InputError, match="friction that grows with the load"):
        identify_long(puma(), source, drives=(*FRICTION, Drive.LOAD))


def test_finding_stretches_keeps_no_times(monkeypatch) -> None:
    """The memory is that of some chunks, however many there are."""
    monkeypatch.setattr(long_recording, "AT_ONCE", 1 << 14)

    class Even:
        name, rows = "even", 200 << 14

        def times(self, start: int, stop: int) -> np.ndarray:
            return 1e-3 * np.arange(start, stop)

    tracemalloc.start()
    (stretch,) = find_stretches(Even())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(stretch.index) == 200 * 4
    # Counts of 16 bits take 0.5 MB, a chunk 0.13 MB; all times would be 26 MB.
    assert peak < 4e6
