"""The studies behind the figures: what is expected of them, and what they are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import root

from theodolite.reproduce import everett_fixture as fixture
from theodolite.reproduce import renaud, renaud_dynamics

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.parametrize("seed", [1987, 1988])
def test_the_fixtures_errors_are_of_first_order(seed: int) -> None:
    """Draw by draw, so that luck has no part: the draws of seed 1988 are unusually large."""
    draws = np.random.default_rng(seed).standard_normal((150, 4, 6))
    effects = {
        "zeros": fixture.sensitivity(fixture.by_zeros, 10.0),
        "least squares": fixture.sensitivity(fixture.by_least_squares, 10.0),
    }
    found = {
        "zeros": fixture.simulated_errors(10.0, draws)["zeros"],
        "least squares": fixture.least_squares_errors(10.0, draws[:, None]),
    }
    for name, effect in effects.items():
        expected = np.abs(draws.reshape(-1, 24) @ effect).sum(axis=1)
        assert np.abs(found[name] - expected).mean() < 0.02 * expected.mean()
        assert found[name].mean() == pytest.approx(expected.mean(), rel=0.01)


@pytest.mark.parametrize("side", [10.0, 5.0])
def test_the_reports_zeros_are_those_of_a_standard_algorithm(side: float) -> None:
    given = fixture.noisy(
        side, fixture.NOISE * np.random.default_rng(4).standard_normal((20, 4, 6))
    )
    S = fixture.square(side)
    for touches, ours in zip(given, fixture.by_zeros(side, given), strict=True):

        def frame(X: np.ndarray, touches: np.ndarray = touches) -> tuple[np.ndarray, np.ndarray]:
            y = [T[:, :3].T @ (X - T[:, 3]) for T in touches]
            n = (y[1] - y[0]) / np.linalg.norm(y[1] - y[0])
            o = y[2] - y[0] - S[2, 0] * n
            o = o / np.linalg.norm(o)
            gap = y[3] - y[0] - S[3, 0] * n - S[3, 1] * o
            return gap, np.column_stack([n, o, np.cross(n, o), y[0]])

        X = root(lambda X, frame=frame: frame(X)[0], np.zeros(3)).x
        np.testing.assert_allclose(ours, frame(X)[1], atol=1e-6)


def test_the_h4s_covariance_predicts_its_errors() -> None:
    """Over some simulations the rms error on fresh poses is the expected one."""
    errors, expected = [], []
    for seed in range(6):
        study = renaud.identified(renaud.IDENTIFIED, renaud.h4(), renaud.Implicit(), seed=seed)
        errors.append(renaud.fresh_error(study, renaud.fresh()))
        expected.append(renaud.predicted_error(study, renaud.fresh())[0])
    ratio = np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(expected)))
    assert 0.6 < ratio < 1.5


def test_the_pictures_of_the_h4s_torques(tmp_path: Path) -> None:
    (path,) = renaud_dynamics.plots(tmp_path)
    assert path.name == "h4-torques.svg"
    for picture in (path, PICTURES / path.name):
        assert picture.read_text().startswith("<?xml")
        assert picture.stat().st_size < 200_000
