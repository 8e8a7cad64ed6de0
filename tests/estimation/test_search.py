"""How the solver gets there: curved valleys, forbidden regions, outliers, limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from scipy.stats import norm

from tests.estimation.problems import Residual, SmallProblem, decay, linear, parameters
from theodolite.arrays import FloatArray
from theodolite.errors import InfeasibleError
from theodolite.estimation.descent import FIRST_DAMPING, Status
from theodolite.estimation.loss import HUBER_THRESHOLD, Loss, Shape
from theodolite.estimation.solver import Change, solve

T = np.linspace(0, 4, 25)


@pytest.mark.parametrize("change", Change)
def test_exact_exponentials_are_found_to_rounding(change: Change) -> None:
    small = SmallProblem(
        decay(T, 2.0 * np.exp(-0.7 * T) + 0.3, 1e-3), parameters([1.0, 1.5, 0.0], [1.0] * 3)
    )
    found = solve(small, change=change)
    np.testing.assert_allclose(found.values, [2.0, 0.7, 0.3], rtol=1e-9)
    assert found.status is Status.CONVERGED
    assert found.iterations < 15


def test_noisy_exponentials_are_those_of_scipy(rng: np.random.Generator) -> None:
    y = 2.0 * np.exp(-0.7 * T) + 0.3 + 0.02 * rng.standard_normal(len(T))
    residual = decay(T, y, 0.02)
    best = least_squares(lambda x: residual(x)[0][:, 0], [2.0, 0.7, 0.3], xtol=1e-14, ftol=1e-14)
    found = solve(SmallProblem(residual, parameters([1.0, 1.5, 0.0])))
    np.testing.assert_allclose(found.values, best.x, rtol=1e-4)
    assert found.reduction.cost == pytest.approx(2 * best.cost, rel=1e-6)


def test_a_start_that_fits_exactly_is_the_solution() -> None:
    A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    small = SmallProblem(linear(A, A @ [1.0, 2.0]), parameters([1.0, 2.0]))
    found = solve(small)
    assert found.status is Status.CONVERGED
    assert found.iterations == 0
    np.testing.assert_array_equal(found.values, [1.0, 2.0])


def valley(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rosenbrock's curved valley, with its bottom at (1, 1)."""
    r = np.array([[10 * (x[1] - x[0] ** 2)], [1 - x[0]]])
    return r, np.array([[[-20 * x[0], 10.0]], [[-1.0, 0.0]]])


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_a_curved_valley_is_followed_in_one_step(unit: float) -> None:
    """The second-order path of a quadratic residual along x is exact."""

    def scaled(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        r, J = valley(x)
        return unit * r, unit * J

    small = SmallProblem(scaled, parameters([-1.2, 1.0]))
    found = solve(small, change=Change.ALL)
    np.testing.assert_allclose(found.values, [1.0, 1.0], atol=1e-9)
    assert found.status is Status.CONVERGED
    assert found.iterations == 1
    assert found.trace[1].damping == 0.0


def test_a_valley_is_followed_with_a_fixed_parameter() -> None:
    def shifted(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        r, J = valley(x[1:] + x[0])
        return r, np.concatenate([J.sum(axis=2, keepdims=True), J], axis=2)

    small = SmallProblem(shifted, parameters([0.5, -1.7, 0.5]))
    found = solve(small, free=np.array([1, 2]))
    np.testing.assert_allclose(found.values, [0.5, 0.5, 0.5], atol=1e-9)
    assert found.iterations == 1


def logarithm(wanted: float) -> Residual:
    """log x - log wanted, which exists for positive x alone."""

    def residual(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        if x[0] <= 0:
            raise InfeasibleError("x is not positive")
        return (np.log(x) - np.log(wanted))[:, None], (1 / x)[:, None, None]

    return residual


def test_steps_into_the_impossible_are_shortened() -> None:
    """The first full step from 1 leads to 1 - log 100 = -3.6."""
    small = SmallProblem(logarithm(0.01), parameters([1.0]))
    found = solve(small, change=Change.ALL)
    assert found.values[0] == pytest.approx(0.01, rel=1e-3)
    assert found.status is Status.CONVERGED
    # Damping d shortens the step to 1 / (1 + d): 1 - 4.6 / (1 + d) is positive from 10 on.
    assert found.trace[1].damping == pytest.approx(10.0)
    assert found.trace[1].step == pytest.approx(np.log(100) / 11 / 2)
    dampings = np.array([line.damping for line in found.trace[1:]])
    powers = np.log10(dampings[dampings > 0] / FIRST_DAMPING)
    np.testing.assert_allclose(powers, np.round(powers), atol=1e-9)
    assert dampings[-1] < 10.0


def wrong(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x - 1, three times, with a derivative of the wrong sign."""
    return (x - 1.0)[:, None] * np.ones((1, 3)), -np.ones((1, 3, 1))


@pytest.mark.parametrize("tolerance", [np.inf, 1e-3])
@pytest.mark.xfail(
    strict=True,
    reason="a step that damping made tiny counts as linear, or its promise as negligible",
)
def test_a_wrong_derivative_does_not_converge(tolerance: float) -> None:
    found = solve(SmallProblem(wrong, parameters([0.0], [tolerance])), change=Change.ALL)
    assert found.status is Status.STALLED
    assert found.values[0] == 0.0


def test_where_every_step_is_impossible_it_stalls() -> None:
    def island(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        if x[0] != 2.0:
            raise InfeasibleError("only one x exists")
        return np.full((3, 1), 5.0), np.ones((3, 1, 1))

    # In units of 1e-3 no step is so short that the problem need not be seen again.
    found = solve(SmallProblem(island, parameters([2.0], [1e-3])), change=Change.ALL)
    assert found.status is Status.STALLED
    assert found.values[0] == 2.0
    assert found.iterations == 0


def test_the_solution_is_where_nothing_pulls(rng: np.random.Generator) -> None:
    """With the derivative of the residual without its noise, J' r = 0 is not the least cost."""
    a, b = rng.standard_normal((2, 200))
    start = (a @ b) / (a @ a)
    # The derivative follows the noise in part: c r beside a.
    c, left = 0.2, a * start - b
    J = (a + c * left)[:, None, None]
    small = SmallProblem(
        lambda x: ((a * x[0] - b)[:, None], J), parameters([start]), constraint=True
    )
    found = solve(small, change=Change.ALL)
    shift = -c * (left @ left) / (a @ a)
    # To a part of the standard error, 0.07.
    assert found.values[0] - start == pytest.approx(shift, abs=0.01)
    assert abs(shift) > 0.15
    assert found.status is Status.CONVERGED
    assert found.reduction.cost > found.trace[0].cost


@pytest.mark.parametrize("limit", [1, 2])
def test_the_iteration_limit_ends_it(limit: int) -> None:
    small = SmallProblem(decay(T, 2.0 * np.exp(-0.7 * T) + 0.3), parameters([1.0, 1.5, 0.0]))
    found = solve(small, change=Change.ALL, max_iterations=limit)
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == limit


def test_tiny_steps_need_no_further_look() -> None:
    """A solution 1e-6 tolerances away is linear to rounding: the problem is seen once."""
    true = np.array([2.0, 0.7, 0.3])
    small = SmallProblem(
        decay(T, 2.0 * np.exp(-0.7 * T) + 0.3, 1e-12), parameters(true + 1e-6, [1.0] * 3)
    )
    found = solve(small, change=Change.ALL, noise_known=True)
    assert len(small.seen) == 1
    np.testing.assert_allclose(found.values, true, atol=1e-10)
    assert found.iterations == 1


def contaminated(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    A = np.column_stack([np.ones(60), np.linspace(-1, 1, 60)])
    b = A @ np.array([1.0, 2.0]) + 0.1 * rng.standard_normal(60)
    b[::10] += 5.0
    return A, b


def huber(u: FloatArray) -> FloatArray:
    k = HUBER_THRESHOLD
    return np.where(np.abs(u) <= k, u**2, 2 * k * np.abs(u) - k**2)


def test_a_robust_loss_is_least_at_the_solution(rng: np.random.Generator) -> None:
    A, b = contaminated(rng)
    small = SmallProblem(linear(A, b), parameters([0.0, 0.0]))
    found = solve(small, loss=Loss(Shape.HUBER), change=Change.ALL)
    scale = found.loss.scale
    left = np.abs(A @ found.values - b)
    assert scale == pytest.approx(np.median(left) / norm.ppf(0.75), rel=0.01)
    best = minimize(lambda x: huber((A @ x - b) / scale).sum(), [1.0, 2.0], tol=1e-12)
    np.testing.assert_allclose(found.values, best.x, atol=2e-4)
    # The scale settled: it is not that of the plain fit, which the outliers pull.
    plain = np.abs(A @ np.linalg.lstsq(A, b, rcond=None)[0] - b)
    assert scale < 0.5 * np.median(plain) / norm.ppf(0.75)
    # The reduction is that of the data, without weights.
    assert found.reduction.squares == pytest.approx(left @ left)
    np.testing.assert_allclose(found.reduction.R.T @ found.reduction.R, A.T @ A, atol=1e-12)


@pytest.mark.parametrize("change", Change)
def test_outliers_hardly_move_a_robust_fit(change: Change, rng: np.random.Generator) -> None:
    A, b = contaminated(rng)
    small = SmallProblem(linear(A, b), parameters([0.0, 0.0]))
    robust = solve(small, loss=Loss(Shape.CAUCHY), change=change)
    clean = np.arange(60) % 10 > 0
    expected = np.linalg.lstsq(A[clean], b[clean], rcond=None)[0]
    np.testing.assert_allclose(robust.values, expected, atol=0.02)
    assert robust.loss.shape is Shape.CAUCHY


def test_exact_data_need_no_robust_loss() -> None:
    A = np.column_stack([np.ones(9), np.arange(9.0)])
    small = SmallProblem(linear(A, A @ [1.0, 2.0]), parameters([0.0, 0.0]))
    found = solve(small, loss=Loss(Shape.HUBER))
    np.testing.assert_allclose(found.values, [1.0, 2.0], atol=1e-12)
    assert found.loss.is_squared
