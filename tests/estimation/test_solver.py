"""What the solver finds, against closed forms and SciPy's least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from tests.estimation.problems import SmallProblem, decay, linear, parameters
from theodolite.arrays import FloatArray
from theodolite.errors import InfeasibleError
from theodolite.estimation.descent import Point, Status
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import Change, _nominal_point, examine, settle, solve

T = np.linspace(0, 4, 25)


@pytest.fixture
def A(rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((20, 3))


@pytest.fixture
def b(A: FloatArray, rng: np.random.Generator) -> FloatArray:
    return A @ np.array([1.0, -2.0, 3.0]) + 0.3 * rng.standard_normal(20)


def ridge(A: FloatArray, b: FloatArray, mean: FloatArray, precision: FloatArray) -> FloatArray:
    """The smallest |A x - b|^2 + (x - mean)' P (x - mean)."""
    return np.linalg.solve(A.T @ A + precision, A.T @ b + precision @ mean)


@pytest.mark.parametrize("change", Change)
@pytest.mark.parametrize("known", [False, True])
def test_without_tolerances_it_is_least_squares(
    A: FloatArray, b: FloatArray, change: Change, known: bool
) -> None:
    found = solve(
        SmallProblem(linear(A, b), parameters([0.0] * 3)), change=change, noise_known=known
    )
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    np.testing.assert_allclose(found.values, x)
    assert found.status is Status.CONVERGED
    assert found.status.good
    assert not Status.STALLED.good
    assert found.reduction.cost == pytest.approx(np.sum((A @ x - b) ** 2))
    assert found.cost_of_all == pytest.approx(found.reduction.cost)
    assert found.loss == Loss()
    assert list(found.changed) == [0, 1, 2]


def test_the_trace_tells_the_way(A: FloatArray, b: FloatArray) -> None:
    told = []
    small = SmallProblem(linear(A, b), parameters([1.0, 1.0, 1.0]))
    found = solve(small, change=Change.ALL, progress=told.append)
    assert [line.number for line in found.trace] == list(range(len(found.trace)))
    assert found.trace[0].cost == pytest.approx(np.sum((A.sum(axis=1) - b) ** 2))
    assert (found.trace[0].step, found.trace[0].damping) == (0.0, 0.0)
    assert found.iterations == len(found.trace) - 1 == len(told)
    assert tuple(told) == found.trace[1:]
    # Unlimited parameters are measured against one plus their size.
    moved = np.abs(found.values - 1.0)
    assert found.trace[1].step == pytest.approx(max(moved / 2.0))
    assert found.trace[1].damping == 0.0
    # A linear problem is solved by one step.
    assert found.iterations == 1
    assert found.trace[1].cost == pytest.approx(found.reduction.cost)


MEAN = np.array([0.5, -1.0, 2.0])
TOLERANCES = np.array([1.0, 2.0, 1.5])


def test_known_noise_weighs_the_prior_with_one(A: FloatArray, b: FloatArray) -> None:
    small = SmallProblem(linear(A, b), parameters(MEAN, TOLERANCES))
    found = solve(small, change=Change.ALL, noise_known=True)
    expected = ridge(A, b, MEAN, np.diag(1 / TOLERANCES**2))
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)


def test_unknown_noise_is_what_the_fit_leaves(A: FloatArray, b: FloatArray) -> None:
    small = SmallProblem(linear(A, b), parameters(MEAN, TOLERANCES))
    found = solve(small, change=Change.ALL)
    left = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
    expected = ridge(A, b, MEAN, left @ left / 17 * np.diag(1 / TOLERANCES**2))
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)
    np.testing.assert_array_equal(found.prior.tolerances, TOLERANCES)
    # So far is the solution with a variance of one that the two are told apart.
    other = ridge(A, b, MEAN, np.diag(1 / TOLERANCES**2))
    assert np.abs(expected - other).max() > 1e-3


@pytest.mark.parametrize("change", Change)
def test_contradicted_tolerances_give_way(change: Change, A: FloatArray, b: FloatArray) -> None:
    """x0 is ten tolerances away; its prior is widened to where the data put it."""
    narrow = np.array([0.15, 3.0, 3.0])
    small = SmallProblem(linear(A, b), parameters([-0.5, -1.0, 2.0], narrow))
    found = solve(small, change=change)
    mean = np.array([-0.5, -1.0, 2.0])
    left = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
    variance = left @ left / 17
    first = ridge(A, b, mean, variance * np.diag(1 / narrow**2))
    wide = np.array([abs(first[0] + 0.5), 3.0, 3.0])
    assert wide[0] > 2 * 0.15
    expected = ridge(A, b, mean, variance * np.diag(1 / wide**2))
    np.testing.assert_allclose(np.sort(found.prior.tolerances), np.sort(wide), rtol=1e-6)
    np.testing.assert_allclose(found.values, expected, rtol=1e-6)
    assert abs(first[0] - expected[0]) > 1e-2


def test_a_start_elsewhere_changes_nothing_that_is_seen(A: FloatArray, b: FloatArray) -> None:
    """x3 is not seen: the prior takes it back to its mean."""
    W = np.column_stack([A, np.zeros(20)])
    small = SmallProblem(linear(W, b), parameters([*MEAN, 7.0], [*TOLERANCES, 0.1]))
    near = solve(small, change=Change.ALL)
    far = solve(small, change=Change.ALL, start=np.array([9.0, 9.0, 9.0, 9.0]))
    assert near.values[3] == 7.0
    np.testing.assert_allclose(far.values, near.values, rtol=1e-9)
    assert list(near.identifiability.no_effect) == [3]


def sum_of_two(t: FloatArray, y: FloatArray) -> SmallProblem:
    """((a + d / 2) exp(-k t) + c - y) / 0.01: a and d are one parameter to the data."""
    three = decay(t, y, 0.01)

    def residual(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        a, k, c, d = x
        r, J = three(np.array([a + d / 2, k, c]))
        return r, np.concatenate([J, J[:, :, :1] / 2], axis=2)

    return SmallProblem(residual, parameters([1.8, 0.9, 0.6, 0.5], [0.2, 0.3, 0.2, 0.4]))


@pytest.fixture
def y(rng: np.random.Generator) -> FloatArray:
    return 2.2 * np.exp(-0.8 * T) + 0.5 + 0.01 * rng.standard_normal(len(T))


def with_prior(y: FloatArray, spare: int) -> tuple[FloatArray, float]:
    """SciPy's a*, k and c, with a* = a + d / 2 of tolerance hypot(0.2, 0.4 / 2), and their cost."""
    residual = decay(T, y, 0.01)
    mean, tolerances = np.array([2.05, 0.9, 0.6]), np.array([np.hypot(0.2, 0.2), 0.3, 0.2])

    def fit(noise: float) -> FloatArray:
        return least_squares(
            lambda x: np.append(residual(x)[0], noise * (x - mean) / tolerances),
            mean,
            xtol=1e-14,
            ftol=1e-14,
        ).x

    plain = residual(fit(0.0))[0]
    x = fit(float(np.sqrt(np.sum(plain**2) / spare)))
    return x, float(np.sum(residual(x)[0] ** 2))


def test_base_and_all_reach_the_same_residual(y: FloatArray) -> None:
    small = sum_of_two(T, y)
    base, every = solve(small), solve(small, change=Change.ALL)
    for found, fitted in ((base, 3), (every, 4)):
        best, cost = with_prior(y, 25 - fitted)
        assert found.status is Status.CONVERGED
        assert found.reduction.cost == pytest.approx(cost, rel=1e-4)
        together = [found.values[0] + found.values[3] / 2, *found.values[1:3]]
        np.testing.assert_allclose(together, best, atol=1e-5)
    # Only base parameters change in the one; in the other each by its tolerance's share.
    assert base.values[3] == 0.5
    assert list(np.sort(base.changed)) == [0, 1, 2]
    assert list(base.identifiability.regrouped) == [3]
    assert base.cost_of_all == pytest.approx(base.reduction.cost, rel=1e-3)
    moved = every.values - np.array([1.8, 0.9, 0.6, 0.5])
    assert moved[3] / moved[0] == pytest.approx(0.4**2 / 2 / 0.2**2, rel=1e-3)
    assert list(every.changed) == [0, 1, 2, 3]
    # a* = a + d / 2.
    place = int(np.flatnonzero(base.changed == 0)[0])
    assert base.prior.tolerances[place] == pytest.approx(np.hypot(0.2, 0.2))
    assert base.prior.mean[place] == 1.8


def test_few_steps_find_the_base_parameters(y: FloatArray) -> None:
    """They start where the relations put them: hardly any further step is needed."""
    every = solve(sum_of_two(T, y), change=Change.ALL)
    assert solve(sum_of_two(T, y)).iterations <= every.iterations + 2


def test_without_base_the_free_parameters_are_the_base(y: FloatArray) -> None:
    found = solve(sum_of_two(T, y), change=Change.ALL)
    np.testing.assert_array_equal(replace(found, free=None).changed, found.identifiability.base)


@pytest.mark.parametrize("change", Change)
def test_only_free_parameters_change(A: FloatArray, b: FloatArray, change: Change) -> None:
    small = SmallProblem(linear(A, b), parameters([0.7, 0.0, 0.0]))
    free = np.array([2, 1])
    found = solve(small, change=change, free=free)
    assert found.values[0] == 0.7
    expected = np.linalg.lstsq(A[:, free], b - 0.7 * A[:, 0], rcond=None)[0]
    np.testing.assert_allclose(found.values[free], expected)
    np.testing.assert_array_equal(found.changed, free)
    assert found.prior.mean == pytest.approx([0.0, 0.0])


def test_a_problem_that_sees_nothing_determines_nothing() -> None:
    small = SmallProblem(linear(np.zeros((5, 2)), np.ones(5)), parameters([1.0, 2.0], [1.0, 1.0]))
    for change in Change:
        found = solve(small, change=change)
        assert found.status is Status.NOT_IDENTIFIABLE
        assert not found.status.good
        np.testing.assert_array_equal(found.values, [1.0, 2.0])


def test_the_problems_own_structure_decides(A: FloatArray, b: FloatArray) -> None:
    """The structure says that x2 is x0 again, whatever the noise in the data makes of it."""
    W = np.column_stack([A[:, :2], A[:, 0] + 1e-3 * A[:, 2]])
    matrix = np.column_stack([A[:, :2], A[:, 0]])
    plain = SmallProblem(linear(W, b), parameters([0.0] * 3))
    assert solve(plain).identifiability.rank == 3
    ruled = SmallProblem(linear(W, b), parameters([0.0] * 3), matrix=matrix)
    found = solve(ruled)
    assert found.identifiability.identifiable == ["x0", "x1"]
    assert found.values[2] == 0.0
    np.testing.assert_allclose(found.values[:2], np.linalg.lstsq(W[:, :2], b, rcond=None)[0])


def test_a_warm_start_is_where_it_begins(A: FloatArray, b: FloatArray) -> None:
    easy = SmallProblem(linear(A, b), parameters([0.0] * 3))
    hard = SmallProblem(linear(A, b + 0.1), parameters([0.0] * 3), warm_start=easy)
    found = solve(hard)
    start = np.linalg.lstsq(A, b, rcond=None)[0]
    assert found.trace[0].cost == pytest.approx(np.sum((A @ start - b - 0.1) ** 2))
    given = solve(hard, start=np.ones(3))
    assert given.trace[0].cost == pytest.approx(np.sum((A.sum(axis=1) - b - 0.1) ** 2))
    # One that fails is not used.
    blind = SmallProblem(linear(0 * A, b), parameters([5.0] * 3))
    cold = solve(replace(hard, warm_start=blind))
    assert cold.trace[0].cost == pytest.approx(np.sum((b + 0.1) ** 2))


def test_examine_and_settle(A: FloatArray, b: FloatArray) -> None:
    W = np.column_stack([A, A[:, 0] + A[:, 1]])
    small = SmallProblem(linear(W, b), parameters([0.0] * 4))
    reduction = reduce(small, np.zeros(4), Loss())
    there = examine(small, np.zeros(4), reduction)
    assert there.rank == 3
    assert there.rows == 20
    same = replace(there, base=there.base[::-1])
    assert settle(same, there) is there
    chosen = replace(there, base=np.array([0, 1, 3]), regrouped=np.array([2]), R=0 * there.R)
    settled = settle(chosen, there)
    np.testing.assert_array_equal(settled.base, [0, 1, 3])
    assert settled.R is there.R


def growing(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x0 = 1 and x0 x1 = 2: at x0 = 0 nothing is seen of x1."""
    r = np.array([[x[0] - 1.0], [x[0] * x[1] - 2.0], [x[0] - 1.001]])
    J = np.array([[[1.0, 0.0]], [[x[1], x[0]]], [[1.0, 0.0]]])
    return 1e3 * r, 1e3 * J


@pytest.mark.parametrize("term", [False, True])
def test_what_only_terms_would_show_is_no_base_parameter(term: bool) -> None:
    """Geometry alone decides, where it started; without terms, what the solution shows counts."""
    named = parameters([0.0, 0.0], [10.0, 10.0])
    if term:
        named = (named[0], replace(named[1], term=True))
    found = solve(SmallProblem(growing, named))
    assert found.identifiability.rank == (1 if term else 2)


def test_the_nominal_point_is_where_parameters_have_their_values() -> None:
    small = SmallProblem(growing, parameters([3.0, 0.5]))
    elsewhere = Point(np.ones(2), reduce(small, np.ones(2), Loss()))
    found = _nominal_point(small, elsewhere)
    np.testing.assert_array_equal(found.values, [3.0, 0.5])
    assert found.cost == pytest.approx(np.sum(growing(np.array([3.0, 0.5]))[0] ** 2))
    here = Point(np.array([3.0, 0.5]), reduce(small, np.array([3.0, 0.5]), Loss()))
    assert _nominal_point(small, here) is here

    def impossible(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        raise InfeasibleError("it cannot be there")

    assert _nominal_point(SmallProblem(impossible, parameters([3.0, 0.5])), elsewhere) is elsewhere
