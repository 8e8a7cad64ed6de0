"""Losses against their definitions, the chi-square distribution and known efficiencies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from theodolite.arrays import FloatArray
from theodolite.estimation.loss import CAUCHY_THRESHOLD, HUBER_THRESHOLD, Loss, Shape

THRESHOLDS = {Shape.HUBER: HUBER_THRESHOLD, Shape.CAUCHY: CAUCHY_THRESHOLD}
ROBUST = list(THRESHOLDS)


@pytest.mark.parametrize("shape", Shape)
def test_the_weight_is_the_derivative_of_the_cost_by_the_squared_size(shape: Shape) -> None:
    loss = Loss(shape, 0.7)
    for size in (0.05, 0.5, 0.9, 1.0, 2.0, 30.0):
        squares = size**2 * np.array([1 - 1e-5, 1 + 1e-5])
        low, high = (loss.cost(np.array([np.sqrt(s)])) for s in squares)
        slope = (high - low) / (squares[1] - squares[0])
        assert loss.weights(np.array([size]))[0] == pytest.approx(slope, rel=1e-6)


def test_costs_and_weights_in_closed_form() -> None:
    k, c, s = HUBER_THRESHOLD, CAUCHY_THRESHOLD, 0.5
    sizes = s * np.array([k / 2, k, 3 * k])
    # Inside, the square; outside, the tangent: 2 k 3k - k^2 = 5 k^2.
    assert Loss(Shape.HUBER, s).cost(sizes) == pytest.approx(s**2 * k**2 * (0.25 + 1 + 5))
    np.testing.assert_allclose(Loss(Shape.HUBER, s).weights(sizes), [1, 1, 1 / 3])
    sizes = s * np.array([c, np.sqrt(3) * c])
    assert Loss(Shape.CAUCHY, s).cost(sizes) == pytest.approx(s**2 * c**2 * np.log(2 * 4))
    np.testing.assert_allclose(Loss(Shape.CAUCHY, s).weights(sizes), [1 / 2, 1 / 4])
    assert Loss(Shape.SQUARED, s).cost(sizes) == pytest.approx(s**2 * c**2 * 4)
    np.testing.assert_array_equal(Loss(Shape.SQUARED, s).weights(sizes), [1, 1])


def test_the_default_is_plain_least_squares_of_scale_one() -> None:
    assert Loss().is_squared
    assert Loss().scale == 1.0
    assert not Loss(Shape.HUBER).is_squared
    assert not Loss(Shape.CAUCHY).is_squared


@pytest.mark.parametrize("width", [1, 2, 3, 6])
def test_the_scale_is_that_of_normal_noise(width: int, rng: np.random.Generator) -> None:
    noise = 0.3 * rng.standard_normal((40_000, width))
    sizes = np.sqrt(np.mean(noise**2, axis=1))
    scaled = Loss(Shape.CAUCHY).scaled_to(sizes, np.full(len(sizes), width))
    assert scaled.scale == pytest.approx(0.3, rel=0.01)
    assert scaled.shape is Shape.CAUCHY


def test_the_scale_of_mixed_widths_is_the_median_of_all() -> None:
    widths = np.array([6, 1, 3, 2, 1])
    medians = np.sqrt(stats.chi2.median(widths) / widths)
    sizes = medians * np.array([0.1, 5.0, 2.0, 3.0, 0.2])
    assert Loss(Shape.HUBER).scaled_to(sizes, widths).scale == pytest.approx(2.0)


def test_the_scale_is_never_zero() -> None:
    tiny = np.finfo(float).tiny
    nothing = Loss(Shape.HUBER).scaled_to(np.empty(0), np.empty(0, dtype=np.intp))
    assert nothing.scale == tiny
    assert Loss(Shape.HUBER).scaled_to(np.zeros(3), np.ones(3, dtype=np.intp)).scale == tiny


def psi(residual: FloatArray, loss: Loss) -> FloatArray:
    """Gradient of half the loss of one observation, with the size sqrt(mean square)."""
    u = np.sqrt(np.mean(residual**2)) / loss.scale
    k = THRESHOLDS[loss.shape]
    weight = min(1.0, k / u) if loss.shape is Shape.HUBER else 1 / (1 + (u / k) ** 2)
    return weight * residual


@pytest.mark.parametrize("shape", ROBUST)
@pytest.mark.parametrize("width", [1, 3])
def test_the_variance_is_hubers(shape: Shape, width: int, rng: np.random.Generator) -> None:
    """K^2 E(psi^2) / E(psi')^2 with psi' by differences of psi."""
    loss, parameters, n = Loss(shape, 0.8), 4.0, 30
    residuals = rng.standard_t(2, (n, width))
    each = np.array([psi(r, loss) for r in residuals])
    h = 1e-6
    slopes = np.zeros(n)
    for i in range(width):
        step = h * np.eye(width)[i]
        change = [psi(r + step, loss) - psi(r - step, loss) for r in residuals]
        slopes += np.array(change)[:, i] / (2 * h) / width
    rows = n * width
    K = 1 + parameters / rows * np.var(slopes) / np.mean(slopes) ** 2
    expected = K**2 * np.sum(each**2) / (rows - parameters) / np.mean(slopes) ** 2
    sizes = np.sqrt(np.mean(residuals**2, axis=1))
    found = loss.variance(sizes, np.full(n, width), parameters)
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_variance_of_mixed_widths_weighs_components(rng: np.random.Generator) -> None:
    """An observation of w components counts as w, here with all weights one."""
    widths, sizes = np.array([1, 3, 6]), np.array([0.5, 0.2, 0.3])
    expected = (1 * 0.5**2 + 3 * 0.2**2 + 6 * 0.3**2) / (10 - 2)
    assert Loss().variance(sizes, widths, 2.0) == pytest.approx(expected)
    assert Loss(Shape.HUBER).variance(sizes, widths, 2.0) == pytest.approx(expected)


def test_mixed_widths_far_out() -> None:
    """Huber's psi' of one large observation of w components: weight (1 - 1 / w)."""
    k = HUBER_THRESHOLD
    widths, sizes = np.array([1, 2, 4]), np.array([0.5, 2 * k, 4 * k])
    slopes = np.array([1.0, 0.5 * (1 - 1 / 2), 0.25 * (1 - 1 / 4)])
    mean = widths @ slopes / 7
    K = 1 + 3 / 7 * (widths @ slopes**2 / 7 - mean**2) / mean**2
    expected = K**2 * (0.5**2 + 2 * k**2 + 4 * k**2) / (7 - 3) / mean**2
    assert Loss(Shape.HUBER).variance(sizes, widths, 3.0) == pytest.approx(expected)


@pytest.mark.parametrize("shape", ROBUST)
def test_thresholds_keep_95_percent_efficiency_on_normal_noise(shape: Shape) -> None:
    n = 20_000
    sizes = np.abs(stats.norm.ppf((np.arange(n) + 0.5) / n))
    variance = Loss(shape).variance(sizes, np.ones(n, dtype=np.intp), 0.0)
    assert 1 / variance == pytest.approx(0.95, abs=1e-3)


def test_no_variance_without_spare_rows() -> None:
    widths, sizes = np.array([2, 1]), np.array([1.0, 2.0])
    assert np.isnan(Loss(Shape.HUBER).variance(sizes, widths, 3.0))
    assert np.isnan(Loss(Shape.HUBER).variance(sizes, widths, 4.0))
    assert Loss().variance(sizes, widths, 2.5) == pytest.approx(6.0 / 0.5)
