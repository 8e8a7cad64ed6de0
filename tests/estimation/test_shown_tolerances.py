"""Guessed tolerances: what data show of some parameters is believed of the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.estimation.problems import SmallProblem, linear, parameters
from theodolite.estimation.solver import Solution, solve
from theodolite.estimation.statistics import statistics

SEEN, SIZE = 60, 0.05
REPEATS = 6


def solved(hidden: int, guess: str, seed: int = 0) -> tuple[Solution, np.ndarray, np.ndarray]:
    """Errors of 0.05 tolerances: many seen to 0.003 of one, ``hidden`` ones to 0.4 only."""
    rng = np.random.default_rng(seed)
    truth = SIZE * rng.standard_normal(SEEN + hidden)
    sigmas = np.repeat([0.005, 1.0], [SEEN, hidden])
    A = np.tile(np.diag(1.0 / sigmas), (REPEATS, 1))
    b = A @ truth + rng.standard_normal(len(A))
    free = parameters(np.zeros(len(truth)), np.ones(len(truth)))
    problem = SmallProblem(linear(A, b), tuple(replace(one, guess=guess) for one in free))
    return solve(problem, noise_known=True), truth, sigmas


def test_what_is_hardly_seen_is_as_small_as_what_is_seen() -> None:
    found, truth, _ = solved(30, "lengths")
    assert found.judged
    assert found.prior is not None
    # The factor is the size of the errors that were seen.
    size = np.sqrt(np.mean(truth[:SEEN] ** 2))
    assert found.prior.tolerances == pytest.approx(size, rel=0.1)
    # Of what is known to 0.4 by itself hardly anything is believed.
    wide, _, _ = solved(30, "")
    hidden = slice(SEEN, None)
    errors = [np.sqrt(np.mean((one.values - truth)[hidden] ** 2)) for one in (found, wide)]
    assert errors[0] < 1.5 * SIZE < 0.3 < errors[1]
    np.testing.assert_allclose(found.values[:SEEN], wide.values[:SEEN], atol=1e-3)


def test_their_intervals_hold() -> None:
    held = []
    for seed in range(40):
        found, truth, _ = solved(30, "lengths", seed)
        known = statistics(found, noise_known=True)
        held += (np.abs(found.values - truth) <= 1.96 * known.standard_errors).tolist()
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(("hidden", "guess"), [(30, ""), (10, "lengths")])
def test_stated_tolerances_and_a_few_hidden_parameters_stay(hidden: int, guess: str) -> None:
    found, _, sigmas = solved(hidden, guess)
    assert not found.judged
    # Data and the prior of one tolerance, each weighed by its variance.
    expected = 1.0 / np.sqrt(REPEATS / sigmas**2 + 1.0)
    np.testing.assert_allclose(statistics(found, noise_known=True).standard_errors, expected)
