"""Covariances with and without a prior against the dense normal equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.estimation.problems import SmallProblem, linear, parameters
from theodolite.arrays import FloatArray
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.solver import Change, Solution, solve
from theodolite.estimation.statistics import Statistics, estimate_factor, statistics


def solved(
    A: FloatArray, b: FloatArray, tolerances: FloatArray | None = None, loss: Loss | None = None
) -> Solution:
    small = SmallProblem(linear(A, b), parameters(np.zeros(A.shape[1]), tolerances))
    return solve(small, change=Change.ALL, loss=loss)


@pytest.fixture
def A(rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((15, 3)) * [1.0, 20.0, 0.1]


@pytest.fixture
def b(rng: np.random.Generator) -> FloatArray:
    return 0.3 * rng.standard_normal(15)


def test_without_a_prior_these_are_the_textbook_formulas(A: FloatArray, b: FloatArray) -> None:
    solution = replace(solved(A, b), prior=None)
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    variance = np.sum((A @ x - b) ** 2) / 12
    found = statistics(solution, noise_known=False)
    np.testing.assert_allclose(found.covariance, variance * np.linalg.inv(A.T @ A))
    np.testing.assert_allclose(
        found.standard_errors, np.sqrt(variance * np.diag(np.linalg.inv(A.T @ A)))
    )
    assert found.degrees_of_freedom == 12
    assert found.sigma == pytest.approx(np.sqrt(variance))
    assert found.noise == pytest.approx(np.sqrt(variance))
    known = statistics(solution, noise_known=True)
    np.testing.assert_allclose(known.covariance, np.linalg.inv(A.T @ A))
    assert known.sigma == pytest.approx(np.sqrt(variance))
    assert known.noise == 1.0
    assert known.degrees_of_freedom == 12


def test_without_spare_equations_the_noise_is_one(A: FloatArray, b: FloatArray) -> None:
    found = statistics(replace(solved(A[:3], b[:3]), prior=None), noise_known=False)
    assert found.degrees_of_freedom == 0
    assert np.isnan(found.sigma)
    assert found.noise == 1.0
    np.testing.assert_allclose(found.covariance, np.linalg.inv(A[:3].T @ A[:3]))


def test_unlimited_tolerances_are_no_prior(A: FloatArray, b: FloatArray) -> None:
    solution = solved(A, b)
    np.testing.assert_allclose(
        statistics(solution, noise_known=False).covariance,
        statistics(replace(solution, prior=None), noise_known=False).covariance,
    )


def posterior(A: FloatArray, precision: FloatArray, variance: float) -> tuple[FloatArray, float]:
    """(A'A + v P)^-1, and the trace of the hat matrix: how many parameters the data determine."""
    inverse = np.linalg.inv(A.T @ A + variance * precision)
    return inverse, float(np.trace(A @ inverse @ A.T))


def test_a_prior_adds_its_precision(A: FloatArray, b: FloatArray) -> None:
    tolerances = np.array([0.05, np.inf, 1.0])
    precision = np.diag(1 / tolerances**2)
    solution = solved(A, b, tolerances)
    known = statistics(solution, noise_known=True)
    inverse, count = posterior(A, precision, 1.0)
    squares = np.sum((A @ solution.values - b) ** 2)
    np.testing.assert_allclose(known.covariance, inverse)
    assert known.degrees_of_freedom == int(15 - count)
    assert known.sigma == pytest.approx(np.sqrt(squares / (15 - count)))
    # With unknown noise, what the prior determines costs no degree of freedom.
    found = statistics(solution, noise_known=False)
    _, count = posterior(A, precision, squares / 12)
    variance = squares / (15 - count)
    inverse, count = posterior(A, precision, variance)
    assert 0 < count < 3
    np.testing.assert_allclose(found.covariance, variance * inverse)
    assert found.noise == pytest.approx(np.sqrt(variance))
    assert found.sigma == pytest.approx(np.sqrt(squares / (15 - count)))
    assert found.degrees_of_freedom == int(15 - count)
    X = estimate_factor(solution, found)
    np.testing.assert_allclose(X @ X.T, inverse)


def test_an_unseen_parameter_keeps_its_tolerance(A: FloatArray, b: FloatArray) -> None:
    A[:, 1] = 0.0
    found = statistics(solved(A, b, np.array([np.inf, 0.7, np.inf])), noise_known=False)
    assert found.standard_errors[1] == pytest.approx(0.7)
    assert found.degrees_of_freedom == 13
    nothing = statistics(solved(A, b), noise_known=True)
    assert nothing.covariance[1, 1] == 0.0
    np.testing.assert_allclose(np.diag(nothing.correlations), [1, 0, 1])


def test_nearly_dependent_columns_lose_no_digits(rng: np.random.Generator) -> None:
    """cos of 1e-6 between the columns: W'W would keep four digits."""
    Q = np.linalg.qr(rng.standard_normal((9, 2)))[0]
    A = np.column_stack([Q[:, 0], Q[:, 0] + 1e-6 * Q[:, 1]])
    solution = replace(solved(A, rng.standard_normal(9)), prior=None)
    errors = statistics(solution, noise_known=True).standard_errors
    np.testing.assert_allclose(errors, [np.sqrt(1e12 + 1), 1e6], rtol=1e-6)


@pytest.mark.parametrize(
    "rows",
    [
        2,
        3,
    ],
)
def test_no_degrees_of_freedom_leave_the_noise_at_one(
    A: FloatArray, b: FloatArray, rows: int
) -> None:
    A, b = A[:rows], b[:rows]
    tolerances = np.array([1e6, 1e6, 1e6])
    found = statistics(solved(A, b, tolerances), noise_known=False)
    assert found.degrees_of_freedom == 0
    assert found.noise == 1.0
    assert np.isnan(found.sigma)
    inverse, _ = posterior(A, np.eye(3) / 1e12, 1.0)
    np.testing.assert_allclose(found.standard_errors, np.sqrt(np.diag(inverse)), rtol=1e-3)
    assert found.quantile() == np.inf
    np.testing.assert_array_equal(found.half_widths(), np.full(3, np.inf))


def test_one_degree_of_freedom_is_enough(A: FloatArray, b: FloatArray) -> None:
    solution = solved(A[:4], b[:4])
    found = statistics(solution, noise_known=False)
    assert found.degrees_of_freedom == 1
    assert found.sigma == pytest.approx(np.linalg.norm(A[:4] @ solution.values - b[:4]))
    assert found.noise == pytest.approx(found.sigma)


def test_robust_noise_is_hubers(A: FloatArray, b: FloatArray) -> None:
    b[4] += 20.0
    solution = solved(A, b, loss=Loss(Shape.HUBER))
    found = statistics(solution, noise_known=False)
    sizes = np.abs(A @ solution.values - b)
    variance = solution.loss.variance(sizes, np.ones(15, dtype=np.intp), 3.0)
    np.testing.assert_allclose(found.covariance, variance * np.linalg.inv(A.T @ A))
    assert variance < 1.0 < sizes @ sizes / 12


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("degrees", [1, 7])
def test_intervals_follow_students_t(confidence: float, degrees: int) -> None:
    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    found = Statistics(covariance, degrees, 1.0)
    t = stats.t.ppf(0.5 + confidence / 2, degrees)
    assert found.noise == 1.0
    assert found.quantile(confidence) == pytest.approx(t)
    np.testing.assert_allclose(found.half_widths(confidence), t * np.array([2, 3]))
    np.testing.assert_allclose(found.correlations, [[1, 1 / 6], [1 / 6, 1]])


def test_95_percent_is_the_default() -> None:
    found = Statistics(np.eye(1), 10, 1.0)
    assert found.quantile() == pytest.approx(2.228, abs=5e-4)
    assert found.half_widths()[0] == pytest.approx(2.228, abs=5e-4)


def test_no_variance_has_no_correlation() -> None:
    found = Statistics(np.diag([4.0, 0.0]), 3, 1.0)
    np.testing.assert_array_equal(found.correlations, [[1, 0], [0, 0]])
