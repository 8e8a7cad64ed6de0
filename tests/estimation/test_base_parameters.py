"""Base parameters, ranks and relations of small matrices against dense linear algebra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.estimation.problems import parameters
from theodolite.arrays import FloatArray
from theodolite.estimation.identifiability import FAR_LARGER, Identifiability, analyse
from theodolite.model.parameters import Group, Parameter, Unit


def analysed(
    W: FloatArray,
    tolerances: list[float] | FloatArray | None = None,
    priorities: list[int] | None = None,
) -> Identifiability:
    size = W.shape[1]
    R = np.zeros((size, size))
    triangle = np.linalg.qr(W, mode="r")
    R[: len(triangle)] = triangle
    return analyse(R, parameters([0.0] * size, tolerances), priorities or [1] * size, len(W))


@pytest.fixture
def Q(rng: np.random.Generator) -> FloatArray:
    return np.linalg.qr(rng.standard_normal((30, 5)))[0]


@pytest.fixture
def W(Q: FloatArray) -> FloatArray:
    """x3 adds to x0 and from x1, x4 to x1; x2 alone is large; x5 changes nothing."""
    a, b, c = Q[:, 0], 2 * Q[:, 1] + Q[:, 0], 1e3 * Q[:, 2]
    return np.column_stack([a, b, c, a - b, 2.5 * b, np.zeros(30)])


def test_dependent_columns_are_regrouped(W: FloatArray) -> None:
    known = analysed(W)
    assert known.identifiable == ["x0", "x1", "x2"]
    assert known.rank == 3
    assert known.names(known.regrouped) == ["x3", "x4"]
    assert known.names(known.no_effect) == ["x5"]
    assert known.rows == 30
    solved = np.linalg.lstsq(W[:, :3], W[:, 3:5], rcond=None)[0]
    np.testing.assert_allclose(known.relations, solved, atol=1e-12)
    assert known.regrouping() == {
        "x3": pytest.approx({"x0": 1.0, "x1": -1.0}),
        "x4": pytest.approx({"x1": 2.5}),
    }
    assert known.sentences() == ["x0* = x0 + x3", "x1* = x1 - x3 + 2.5 x4"]
    assert len(known.singular_values) == 5
    assert known.clear_rank == 3
    assert known.clear


def test_independent_columns_are_all_kept(W: FloatArray) -> None:
    known = analysed(W[:, :3])
    assert known.identifiable == ["x0", "x1", "x2"]
    assert not len(known.regrouped)
    assert known.relations.shape == (3, 0)
    assert known.sentences() == []
    assert known.gap == np.inf
    assert known.clear


def test_given_relations_are_believed(W: FloatArray) -> None:
    given = np.arange(6.0).reshape(3, 2)
    known = replace(analysed(W), given_relations=given)
    assert known.relations is given


def test_figures_are_those_of_the_unit_columns(W: FloatArray) -> None:
    known = analysed(W)
    unit = W[:, :3] / np.linalg.norm(W[:, :3], axis=0)
    _, s, V = np.linalg.svd(unit)
    np.testing.assert_allclose(known.base_singular_values, s)
    assert known.condition_number == pytest.approx(np.linalg.cond(unit))
    assert abs(known.weakest_direction @ V[2]) == pytest.approx(1.0)
    found = known.observability()
    volume = np.sqrt(np.linalg.det(unit.T @ unit))
    assert found["O1"] == pytest.approx(volume ** (1 / 3) / np.sqrt(30))
    assert found["O2"] == pytest.approx(1 / np.linalg.cond(unit))
    assert found["O3"] == pytest.approx(s[2])
    assert found["O4"] == pytest.approx(s[2] ** 2 / s[0])


def test_no_rank_and_no_rows_have_no_observability(W: FloatArray) -> None:
    nothing = {"O1": 0.0, "O2": 0.0, "O3": 0.0, "O4": 0.0}
    zero = analysed(np.zeros((4, 2)))
    assert zero.rank == 0
    assert zero.observability() == nothing
    assert zero.condition_number == np.inf
    assert zero.gap == np.inf
    assert zero.relations.shape == (0, 0)
    assert replace(analysed(W), rows=0).observability() == nothing


@pytest.mark.parametrize(
    ("values", "rank", "gap"),
    [
        ([1.0, 0.5, 1e-3, 1e-12, 1e-13], 3, 1e9),
        ([1.0, 1e-5], 2, np.inf),
        # The largest gap counts, wherever it is below what is certain.
        ([1.0, 1e-7, 1e-9], 1, 1e7),
        ([1.0, 1e-7, 1e-15], 2, 1e8),
        ([1.0, 0.5, 1e-7, 1e-15], 3, 1e8),
        # Below 1e-15 all is rounding.
        ([1.0, 1e-7, 1e-20], 2, 1e8),
        ([1.0, 1e-10, 1e-30], 1, 1e10),
        # Relative to the largest.
        ([1e3, 5e-4, 1e-4], 1, 2e6),
        ([1e-9, 1e-12], 2, np.inf),
        ([], 0, np.inf),
    ],
)
def test_the_rank_stands_before_the_largest_gap(
    values: list[float], rank: int, gap: float, W: FloatArray
) -> None:
    known = replace(analysed(W), singular_values=np.array(values))
    assert known.clear_rank == rank
    assert known.gap == pytest.approx(gap)


def test_a_gap_of_a_thousand_is_clear(W: FloatArray) -> None:
    small = 2.0**-28
    known = replace(analysed(W), singular_values=np.array([1.0, 1000 * small, small]))
    assert known.gap == 1000.0
    assert known.clear
    known = replace(known, singular_values=np.array([1.0, 999 * small, small]))
    assert not known.clear


def test_dropped_parameters_are_regrouped_and_hidden(W: FloatArray) -> None:
    known = analysed(W)
    assert known.without(np.empty(0, dtype=np.intp)) is known
    less = known.without(np.array([1]))
    assert less.identifiable == ["x0", "x2"]
    assert less.names(less.regrouped) == ["x3", "x4", "x1"]
    assert less.names(less.hidden) == ["x1"]
    assert not len(known.hidden)
    # Nothing is left to be regrouped into.
    assert known.without(known.base).relations.shape == (0, 5)


def test_an_effect_is_judged_within_its_tolerance(Q: FloatArray) -> None:
    """1e-3 of a column with a tolerance of 1e-7 against one with none: 1e-10."""
    W = np.column_stack([Q[:, 0], 1e-3 * Q[:, 1]])
    assert analysed(W, [np.inf, 1e-7]).identifiable == ["x0"]
    assert analysed(W, [np.inf, 1e-5]).identifiable == ["x0", "x1"]
    assert analysed(W, [2.0, 1e-5]).identifiable == ["x0", "x1"]
    assert analysed(W, [100.0, 1e-5]).identifiable == ["x0"]
    # A parameter of unknown tolerance may be off by one, and by no more.
    assert analysed(W, [np.inf, 1.5e-6]).identifiable == ["x0", "x1"]


def test_priority_then_column_then_frame_decide(Q: FloatArray) -> None:
    """Four copies of one column."""
    places = [(2, 1), (1, 2), (1, 1), (2, 0)]
    every = [
        Parameter(f"f{frame}c{column}", 0.0, Unit.ONE, Group.ARM, frame, column)
        for frame, column in places
    ]
    R = np.linalg.qr(np.column_stack([Q[:, 0]] * 4), mode="r")
    assert analyse(R, every, [1, 1, 1, 1], 30).identifiable == ["f2c0"]
    assert analyse(R, every, [2, 2, 2, 1], 30).identifiable == ["f1c1"]
    assert analyse(R, every, [2, 2, 1, 1], 30).identifiable == ["f2c1"]
    known = analyse(R, every, [1, 5, 2, 3], 30)
    assert known.identifiable == ["f1c2"]
    assert known.names(known.regrouped) == ["f2c0", "f1c1", "f2c1"]
    np.testing.assert_allclose(known.relations, np.ones((1, 3)))


@pytest.mark.parametrize(("angle", "base"), [(0.03, ["x0", "x1"]), (0.01, ["x0", "x2"])])
def test_nearly_dependent_columns_wait(Q: FloatArray, angle: float, base: list[str]) -> None:
    W = np.column_stack([Q[:, 0], Q[:, 0] + angle * Q[:, 1], Q[:, 1]])
    assert analysed(W).identifiable == base


def test_independent_columns_wait_for_none(Q: FloatArray) -> None:
    W = np.column_stack([Q[:, 0], Q[:, 0] + 0.01 * Q[:, 1], Q[:, 2]])
    assert analysed(W).identifiable == ["x0", "x1", "x2"]


def test_while_one_waits_the_earlier_of_the_others_are_preferred(Q: FloatArray) -> None:
    """x3 is nearly x2 - x0. It stands farther from x0 than x2 does, and comes too late."""
    a, b, c = Q[:, 0], Q[:, 1], Q[:, 2]
    W = np.column_stack([a, a + 0.01 * b, a + b, b + 0.015 * c, c])
    known = analysed(W)
    assert known.identifiable == ["x0", "x2", "x4"]
    solved = np.linalg.lstsq(W[:, known.base], W[:, known.regrouped], rcond=None)[0]
    np.testing.assert_allclose(known.relations, solved, atol=1e-12)


def test_no_more_columns_than_the_rank_are_kept() -> None:
    """In a triangle with -1 above its diagonal no column is near those before it.

    All together they are dependent to 2^-38 nevertheless: one of them is left out.
    """
    size = 40
    triangle = np.eye(size) - np.triu(np.ones((size, size)), 1)
    W = np.zeros((size + 2, size + 3))
    W[:2, :3] = [[1.0, 1.0, 0.0], [0.0, 0.01, 1.0]]
    W[2:, 3:] = triangle
    known = analysed(W)
    assert known.rank == np.linalg.matrix_rank(W, tol=1e-8) == size + 1
    assert np.linalg.matrix_rank(W[:, known.base], tol=0.1) == size + 1
    assert {0, 2} < set(known.base)


def test_of_those_that_waited_the_strongest_is_next(Q: FloatArray) -> None:
    a, b, c = Q[:, 0], Q[:, 1], Q[:, 2]
    W = np.column_stack([a, a + 1e-3 * b, a - 2e-3 * b, a + 1e-3 * c, a - 1.5e-3 * c])
    known = analysed(W)
    assert known.identifiable == ["x0", "x2", "x4"]
    rest = W[:, known.base] @ known.relations
    np.testing.assert_allclose(rest, W[:, known.regrouped], atol=1e-12)


@pytest.mark.parametrize(
    ("larger", "base"), [(50.0, "x0"), (100.0, "x0"), (101.0, "x1"), (1e6, "x1")]
)
def test_a_small_tolerance_never_stands_for_a_far_larger_one(larger: float, base: str) -> None:
    W = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    assert analysed(W, [0.5, 0.5 * larger]).identifiable == [base]
    # The effect counts, not the tolerance alone.
    W = np.array([[1.0, larger], [0.0, 0.0], [0.0, 0.0]])
    assert analysed(W, [0.5, 0.5]).identifiable == [base]


@pytest.mark.parametrize("larger", [1e-6, 1.0, 101.0, 1e6])
def test_units_of_unknown_tolerances_do_not_matter(larger: float) -> None:
    """Priority decides, whatever unit a column is in; alone or beside a known one."""
    W = np.array([[1.0, larger], [0.0, 0.0], [0.0, 0.0]])
    assert analysed(W).identifiable == ["x0"]
    assert analysed(W, [np.inf, 1.0]).identifiable == ["x0"]
    assert analysed(W, [1.0, np.inf]).identifiable == ["x0"]


def test_the_largest_of_several_takes_the_place() -> None:
    W = np.eye(5)[:, [0, 1, 1, 0, 0]]
    known = analysed(W, [1.0, 1.0, 3.0, 200.0, 500.0])
    assert known.identifiable == ["x4", "x1"]


def test_the_exchange_rule_holds_for_any_matrix(rng: np.random.Generator) -> None:
    for _ in range(30):
        W = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 7))
        tolerances = 10.0 ** rng.uniform(-4, 4, 7)
        known = analysed(W, tolerances)
        assert known.rank == 4 == np.linalg.matrix_rank(W[:, known.base])
        relations = np.linalg.lstsq(W[:, known.base], W[:, known.regrouped], rcond=None)[0]
        np.testing.assert_allclose(known.relations, relations, rtol=1e-6, atol=1e-9)
        moved = np.abs(relations) * tolerances[known.regrouped]
        assert (moved <= FAR_LARGER * tolerances[known.base][:, None] * (1 + 1e-9)).all()


def test_the_exchange_comes_after_the_choice(rng: np.random.Generator) -> None:
    """Where tolerances are alike, priority decides and nothing is exchanged."""
    W = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 5))
    known = analysed(W, [1.0, 2.0, 1.0, 3.0, 1.0], [1, 2, 3, 4, 5])
    assert known.identifiable == ["x4", "x3", "x2"]
