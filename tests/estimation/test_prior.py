"""Priors against dense covariances."""

from __future__ import annotations

import numpy as np
import pytest

from tests.estimation.problems import parameters
from theodolite.estimation.prior import Prior


def test_an_error_of_one_tolerance_counts_as_one() -> None:
    prior = Prior.of(parameters([1.0, -2.0, 5.0], [0.1, 4.0, np.inf]))
    np.testing.assert_array_equal(prior.mean, [1, -2, 5])
    np.testing.assert_array_equal(prior.tolerances, [0.1, 4, np.inf])
    np.testing.assert_allclose(prior.residual(np.array([1.3, 2.0, 99.0])), [3, 1, 0])


def test_regrouping_gives_the_covariance_of_the_sum(rng: np.random.Generator) -> None:
    tolerances = np.array([0.1, 3.0, 20.0, 0.5, 1.0])
    base, others = np.array([3, 0, 4]), np.array([2, 1])
    relations = rng.standard_normal((3, 2))
    T = np.zeros((3, 5))
    T[:, base], T[:, others] = np.eye(3), relations
    covariance = T @ np.diag(tolerances**2) @ T.T
    prior = Prior.independent(np.arange(5.0), tolerances).regrouped(base, others, relations)
    np.testing.assert_allclose(prior.factor.T @ prior.factor, np.linalg.inv(covariance))
    np.testing.assert_allclose(prior.tolerances, np.sqrt(np.diag(covariance)))
    np.testing.assert_array_equal(prior.mean, [3, 0, 4])


def test_what_stands_for_an_unlimited_parameter_is_unlimited() -> None:
    """The others keep the covariance that they have among themselves."""
    tolerances = np.array([1.0, 2.0, 3.0, np.inf, 0.5])
    base, others = np.array([0, 1, 2]), np.array([3, 4])
    relations = np.array([[0.0, 2.0], [-1.0, 1.0], [0.0, 1.0]])
    prior = Prior.independent(np.zeros(5), tolerances).regrouped(base, others, relations)
    seen = np.array([[1 + 1, 0.5], [0.5, 9 + 0.25]])
    information = prior.factor.T @ prior.factor
    np.testing.assert_allclose(information[np.ix_([0, 2], [0, 2])], np.linalg.inv(seen))
    assert not information[1].any()
    assert not information[:, 1].any()
    np.testing.assert_allclose(prior.tolerances, [np.sqrt(2), np.inf, np.sqrt(9.25)])


def test_an_unlimited_base_parameter_stays_so() -> None:
    prior = Prior.independent(np.zeros(2), np.array([np.inf, 1.0]))
    found = prior.regrouped(np.array([0]), np.array([1]), np.array([[2.0]]))
    assert found.factor == pytest.approx(0.0)
    assert found.tolerances[0] == np.inf
