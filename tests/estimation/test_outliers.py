"""Outliers against explicit fits without each observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from tests.estimation.problems import SmallProblem, linear, parameters
from theodolite.arrays import FloatArray
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.outliers import Outliers, _without, find_outliers
from theodolite.estimation.problem import Block
from theodolite.estimation.solver import solve
from theodolite.estimation.statistics import statistics


def outliers(small: SmallProblem, rate: float = 0.5) -> Outliers:
    solution = solve(small)
    return find_outliers(
        small, solution, statistics(solution, noise_known=False), false_alarms=rate
    )


def residuals(A: FloatArray, b: FloatArray, used: FloatArray) -> FloatArray:
    """Of all observations, in a fit to some of them."""
    x = np.linalg.lstsq(A[used].reshape(-1, A.shape[-1]), b[used].ravel(), rcond=None)[0]
    return A @ x - b


def by_fits(A: FloatArray, b: FloatArray, rate: float) -> dict[int, tuple[float, float]]:
    """Sizes and chances by observation, the worst taken out first, each in a fit of its own."""
    n, width, p = A.shape
    used, chances = np.ones(n, dtype=bool), {}
    while True:
        best = (0.0, 0, 1.0)
        whole = np.sum(residuals(A, b, used)[used] ** 2)
        for row in np.flatnonzero(used):
            rest = used.copy()
            rest[row] = False
            left = np.sum(residuals(A, b, rest)[rest] ** 2)
            degrees = rest.sum() * width - p
            F = (whole - left) / width / (left / degrees)
            chance = min(1.0, used.sum() * stats.f.sf(F, width, degrees))
            best = max(best, (F, int(row), chance))
        if best[2] >= rate:
            break
        used[best[1]] = False
        chances[best[1]] = best[2]
    error = residuals(A, b, used)
    sigma = np.sqrt(np.sum(error[used] ** 2) / (used.sum() * width - p))
    return {
        row: (np.sqrt(np.mean(error[row] ** 2)) / sigma, chance) for row, chance in chances.items()
    }


def data(rng: np.random.Generator, n: int, width: int) -> tuple[FloatArray, FloatArray]:
    A = rng.standard_normal((n, width, 3))
    b = A @ np.array([1.0, -2.0, 0.5]) + 0.2 * rng.standard_normal((n, width))
    b[3] += 1.5
    return A, b


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("pieces", [1, 4])
@pytest.mark.parametrize("others", [0, 1, 3])
def test_every_figure_is_that_of_fits_without(
    width: int, pieces: int, others: int, rng: np.random.Generator
) -> None:
    """One outlier, and several that hide each other."""
    n = 20
    A, b = data(rng, n, width)
    b[8 : 8 + others] += 1.5
    rows = 100 + np.arange(n)
    small = SmallProblem(linear(A, b), parameters([0.0] * 3), pieces=pieces, rows=rows)
    found, wanted = outliers(small), by_fits(A, b, 0.5)
    assert set(wanted) >= {3, *range(8, 8 + others)}
    assert {int(row) - 100 for row in found.rows} == set(wanted)
    assert (np.diff(found.sizes) <= 0).all()
    for row, size, chance in zip(found.rows, found.sizes, found.chances, strict=True):
        assert size == pytest.approx(wanted[row - 100][0], rel=1e-6)
        assert chance == pytest.approx(wanted[row - 100][1], rel=1e-6)


def test_a_robust_fit_is_tested_once(rng: np.random.Generator) -> None:
    """Its noise is the robust scale, and outliers have not moved it."""
    A, b = data(rng, 40, 3)
    b[8] += 2.0
    small = SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(40))
    solution = solve(small, loss=Loss(Shape.CAUCHY))
    known = statistics(solution, noise_known=False)
    found = find_outliers(small, solution, known, robust=True)
    assert sorted(found.rows) == [3, 8]
    error = A @ solution.values - b
    for row, size in zip(found.rows, found.sizes, strict=True):
        assert size == pytest.approx(np.sqrt(np.mean(error[row] ** 2)) / known.sigma)


def test_only_what_is_unlikely_is_named(rng: np.random.Generator) -> None:
    A, b = data(rng, 40, 3)
    small = SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(40))
    assert list(outliers(small, 0.01).rows) == [3]
    solution = solve(small)
    default = find_outliers(small, solution, statistics(solution, noise_known=False))
    assert list(default.rows) == [3]
    chance = default.chances[0]
    assert list(outliers(small, 1.01 * chance).rows) == [3]
    # A chance equal to the rate is not below it.
    assert not len(outliers(small, chance).rows)


def test_false_alarms_come_at_their_rate(rng: np.random.Generator) -> None:
    """Normal noise: the share of recordings with any outlier is at most the rate."""
    alarms = 0
    A = rng.standard_normal((20, 3))
    for _ in range(200):
        b = rng.standard_normal(20)
        small = SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(20))
        alarms += len(outliers(small, 0.1).rows) > 0
    assert 8 <= alarms <= 34  # 20 expected, three deviations of 4.2 either side


def test_a_row_is_named_once_by_its_worst_observation(rng: np.random.Generator) -> None:
    A, b = data(rng, 30, 1)
    b[2] -= 1.0
    pairs = np.arange(30) // 2
    once = outliers(SmallProblem(linear(A, b), parameters([0.0] * 3), rows=pairs))
    alone = outliers(SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(30)))
    assert {2, 3} <= set(alone.rows)
    assert len(once.rows) == len(set(once.rows))
    for row, size in zip(once.rows, once.sizes, strict=True):
        assert size == pytest.approx(alone.sizes[alone.rows // 2 == row].max())


def test_what_nothing_else_checks_is_no_outlier(rng: np.random.Generator) -> None:
    """The last parameter is seen by the last observation alone."""
    A, b = data(rng, 12, 1)
    A[:, 0, 2] = 0.0
    A[11, 0, 2] = 1.0
    b[11] += 100.0
    found = outliers(SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(12)))
    # The others are judged among eleven, as without it.
    without = outliers(
        SmallProblem(linear(A[:11, :, :2], b[:11]), parameters([0.0] * 2), rows=np.arange(11))
    )
    assert 3 in found.rows and 11 not in found.rows
    np.testing.assert_array_equal(found.rows, without.rows)
    np.testing.assert_allclose(found.chances, without.chances, rtol=1e-6)
    np.testing.assert_allclose(found.sizes, without.sizes, rtol=1e-6)


def test_too_few_degrees_of_freedom_name_nothing(rng: np.random.Generator) -> None:
    A, b = data(rng, 4, 1)
    small = SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(4))
    assert not len(outliers(small).rows)
    A, b = data(rng, 5, 1)
    small = SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(5))
    b[3] += 1e3
    small = SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(5))
    found = outliers(small)
    assert list(found.rows) == [3]
    # One degree of freedom is left without it, and that is what the figures are of.
    error = residuals(A, b, np.arange(5) != 3)
    left = np.sum(np.delete(error, 3) ** 2)
    whole = np.sum(residuals(A, b, np.ones(5, dtype=bool)) ** 2)
    assert found.sizes[0] == pytest.approx(abs(error[3, 0]) / np.sqrt(left), rel=1e-3)
    assert found.chances[0] == pytest.approx(5 * stats.f.sf((whole - left) / left, 1, 1), rel=1e-3)


def test_observations_from_no_row_are_skipped(rng: np.random.Generator) -> None:
    A, b = data(rng, 8, 1)
    found = outliers(SmallProblem(linear(A, b), parameters([0.0] * 3)))
    assert not len(found.rows)
    assert not len(found.sizes)
    assert not len(found.chances)


@dataclass(frozen=True, eq=False)
class Joined(SmallProblem):
    """A second problem's blocks before the first's."""

    other: SmallProblem | None = None

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        assert self.other is not None
        yield from self.other.blocks(values)
        yield from super().blocks(values)


def test_a_block_from_no_row_does_not_hide_the_next(rng: np.random.Generator) -> None:
    A, b = data(rng, 10, 2)
    shared = SmallProblem(linear(A[5:], b[5:]), parameters([0.0] * 3))
    joined = Joined(linear(A[:5], b[:5]), parameters([0.0] * 3), rows=np.arange(5), other=shared)
    whole = SmallProblem(linear(A, b), parameters([0.0] * 3), rows=np.arange(10))
    found, every = outliers(joined, 0.1), outliers(whole, 0.1)
    assert list(every.rows) == [3]
    assert list(found.rows) == [3]
    np.testing.assert_allclose(found.sizes, every.sizes)


def test_exact_data_have_no_outlier() -> None:
    A = np.arange(1.0, 9.0)[:, None]
    small = SmallProblem(linear(A, 0 * A[:, 0]), parameters([0.0]), rows=np.arange(8))
    solution = solve(small)
    exact = replace(solution, reduction=replace(solution.reduction, squares=0.0))
    found = find_outliers(small, exact, statistics(exact, noise_known=False), false_alarms=0.99)
    assert not len(found.rows)


def test_one_observation_may_hold_all_the_error() -> None:
    """Seven zeros and one error: what is left without it is rounding, not less than nothing."""
    A = np.zeros((8, 1))
    A[0, 0] = 1.0
    b = np.zeros(8)
    b[5] = 1.0
    small = SmallProblem(linear(A, b), parameters([0.0]), rows=np.arange(8))
    found = outliers(small, 0.01)
    assert list(found.rows) == [5]
    # The floor of the squares left, 1e-12, over 8 - 1 - 1 degrees of freedom.
    assert found.sizes[0] == pytest.approx(np.sqrt(6e12))


@pytest.mark.parametrize(("width", "parameters"), [(12, 4), (4, 4), (3, 7)])
def test_wide_observations_are_left_out_as_narrow_ones(width: int, parameters: int) -> None:
    """A picture has more components than there are parameters: r' (I - G G')^-1 r either way."""
    rng = np.random.default_rng(0)
    r = rng.standard_normal((5, width))
    G = 0.1 * rng.standard_normal((5, width, parameters))
    # Nothing checks the third: its leverage is one.
    G[2] = 0.0
    G[2, 0, 0] = 1.0
    checked, parts = _without(r, G)
    assert checked.tolist() == [0, 1, 3, 4]
    for place, part in zip(checked, parts, strict=True):
        rest = np.eye(width) - G[place] @ G[place].T
        assert part == pytest.approx(r[place] @ np.linalg.inv(rest) @ r[place], rel=1e-12)
