"""Gautier's second road, and null spaces, against the first."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.linalg import null_space

from tests.estimation.problems import parameters
from theodolite.arrays import FloatArray
from theodolite.estimation.identifiability import (
    Identifiability,
    _regrouped,
    analyse,
    analyse_by_svd,
    analyse_null_space,
)


@pytest.fixture
def R(rng: np.random.Generator) -> FloatArray:
    """Rank 3 of six parameters; x1 changes nothing, columns of any length."""
    mixed = rng.standard_normal((20, 3)) @ np.array(
        [[1, 0, 0, 1, 2, 1], [0, 0, 1, 1, -1, 1], [0, 0, 0, 1, 1, -1]]
    )
    mixed *= [1.0, 0.0, 5.0, 1.0, 0.5, 3.0]
    return np.linalg.qr(mixed, mode="r")


def assert_same(found: Identifiability, first: Identifiability) -> None:
    np.testing.assert_array_equal(np.sort(found.base), np.sort(first.base))
    np.testing.assert_array_equal(np.sort(found.regrouped), np.sort(first.regrouped))
    np.testing.assert_array_equal(found.no_effect, first.no_effect)
    for name, parts in first.regrouping().items():
        assert found.regrouping()[name] == pytest.approx(parts)


@pytest.mark.parametrize("priorities", [[1, 1, 1, 1, 1, 1], [1, 9, 2, 4, 3, 5]])
def test_three_roads_lead_to_one_answer(R: FloatArray, priorities: list[int]) -> None:
    every = parameters([0.0] * 6)
    first = analyse(R, every, priorities, 20)
    assert first.rank == 3
    assert list(first.no_effect) == [1]
    second = analyse_by_svd(R, every, priorities, 20)
    assert_same(second, first)
    assert second.rows == 20
    assert second.clear_rank == 3
    np.testing.assert_allclose(second.singular_values, first.singular_values, atol=1e-12)
    third = analyse_null_space(null_space(R), every, priorities)
    assert_same(third, first)
    assert third.rows == 0
    np.testing.assert_array_equal(third.singular_values, [1, 1, 1, 0, 0])
    np.testing.assert_allclose(
        third.R[:, third.regrouped], third.R[:, third.base] @ third.relations, atol=1e-12
    )
    assert np.linalg.matrix_rank(third.R) == 3


def test_any_basis_of_a_null_space_will_do(R: FloatArray, rng: np.random.Generator) -> None:
    every = parameters([0.0] * 6)
    first = analyse(R, every, [1] * 6, 20)
    mixed = null_space(R) @ rng.standard_normal((3, 3))
    assert_same(analyse_null_space(mixed, every, [1] * 6), first)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_blind_parameter_is_told_from_a_combination(order: tuple[int, int, int]) -> None:
    """x0 + 2 x1 is seen and x2 is not, whatever mixture of the two null vectors is given."""
    sums, blind = np.array([2.0, -1.0, 0.0]) / np.sqrt(5), np.array([0.0, 0.0, 1.0])
    null = np.column_stack([sums + blind, sums - blind])[list(order)]
    every = tuple(parameters([0.0] * 3)[index] for index in order)
    known = analyse_null_space(null, every, [1] * 3)
    assert known.names(known.no_effect) == ["x2"]
    assert known.regrouping() == {"x1": pytest.approx({"x0": 2.0})}


def test_an_empty_null_space_keeps_everything() -> None:
    known = analyse_null_space(np.zeros((3, 0)), parameters([0.0] * 3), [1] * 3)
    assert list(known.base) == [0, 1, 2]
    assert not len(known.regrouped)
    assert not len(known.no_effect)
    assert known.relations.shape == (3, 0)
    assert known.rank == known.clear_rank == 3


def test_parameters_in_no_combination_are_kept() -> None:
    """x0 and x2 only make a sum; x1 is free of them; x3 changes nothing."""
    null = np.array([[1.0, 0.0], [0.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
    known = analyse_null_space(null, parameters([0.0] * 4), [1] * 4)
    assert known.identifiable == ["x0", "x1"]
    assert known.regrouping() == {"x2": pytest.approx({"x0": 0.5})}
    assert known.names(known.no_effect) == ["x3"]
    preferred = analyse_null_space(null, parameters([0.0] * 4), [1, 1, 2, 1])
    assert preferred.identifiable == ["x2", "x1"] or preferred.identifiable == ["x1", "x2"]
    assert preferred.regrouping() == {"x0": pytest.approx({"x2": 2.0})}


def test_full_rank_by_svd(rng: np.random.Generator) -> None:
    R = np.linalg.qr(rng.standard_normal((9, 4)), mode="r")
    known = analyse_by_svd(R, parameters([0.0] * 4), [1] * 4, 9)
    assert list(known.base) == [0, 1, 2, 3]
    assert known.relations.shape == (4, 0)


def test_an_effect_is_judged_within_its_tolerance_by_svd() -> None:
    """1e-3 of a column with a tolerance of 1e-7 against one of two: 5e-11."""
    R = np.diag([1.0, 1e-3])
    known = analyse_by_svd(R, parameters([0.0] * 2, [2.0, 1e-7]), [1, 1], 9)
    assert known.identifiable == ["x0"]
    assert list(known.no_effect) == [1]
    known = analyse_by_svd(R, parameters([0.0] * 2, [2.0, 1e-5]), [1, 1], 9)
    assert known.identifiable == ["x0", "x1"]


@pytest.mark.parametrize("unit", [1e-6, 1e12])
def test_the_unit_of_the_residual_changes_no_relation(R: FloatArray, unit: float) -> None:
    every = parameters([0.0] * 6)
    first = analyse(R, every, [1] * 6, 20)
    assert_same(analyse_by_svd(unit * R, every, [1] * 6, 20), first)


def test_rounding_in_a_null_vector_is_not_a_part_of_it(rng: np.random.Generator) -> None:
    """x2 has a part of 1e-9 in a null vector of unit length: it is not involved."""
    null = np.array([[1.0], [-1.0], [1e-9]])
    known = analyse_null_space(null, parameters([0.0] * 3), [1] * 3)
    assert known.names(known.regrouped) == ["x1"]
    assert known.regrouping() == {"x1": pytest.approx({"x0": 1.0})}


def test_how_large_a_coefficient_is_does_not_decide_who_is_dropped() -> None:
    """The last parameter that a relation involves is dropped, however small its part in it."""
    kept, dropped, relations = _regrouped(np.array([[1.0], [0.0], [0.01]]))
    assert dropped.tolist() == [2]
    assert kept.tolist() == [0, 1]
    np.testing.assert_allclose(relations, [[-100.0], [0.0]])
