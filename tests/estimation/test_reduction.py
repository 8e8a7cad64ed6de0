"""Triangular factors, block by block, against dense products."""

from __future__ import annotations

import numpy as np
import pytest

from tests.estimation.problems import SmallProblem, linear, parameters
from theodolite.estimation.loss import HUBER_THRESHOLD, Loss, Shape
from theodolite.estimation.reduction import (
    LARGE,
    PIECE,
    Reduction,
    _Accumulator,
    merged,
    reduce,
    reduce_parts,
    triangle,
)


@pytest.mark.parametrize("rows", [1, 3, 4, 50, PIECE, PIECE + 1, 2 * PIECE + 7])
def test_a_triangle_has_the_products_of_its_matrices(rows: int, rng: np.random.Generator) -> None:
    A = rng.standard_normal((rows, 4))
    R = triangle(iter([A[: rows // 3], A[rows // 3 :]]), 4)
    assert R.shape == (4, 4)
    np.testing.assert_array_equal(np.tril(R, -1), 0)
    np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-10)
    np.testing.assert_allclose(triangle([A], 4).T @ triangle([A], 4), A.T @ A, atol=1e-10)


@pytest.mark.parametrize("columns", [1, 5, 40])
def test_large_matrices_are_folded_to_the_same_factor(
    columns: int, rng: np.random.Generator
) -> None:
    A = rng.standard_normal((LARGE // columns + 3, columns))
    few = triangle([A[:2]], columns)
    R = triangle([A[:2], A[2:], A[:5]], columns)
    np.testing.assert_array_equal(np.tril(R, -1), 0)
    expected = np.concatenate([few, A[2:], A[:5]])
    np.testing.assert_allclose(np.abs(R), np.abs(np.linalg.qr(expected, mode="r")), atol=1e-11)


def test_few_rows_leave_zero_rows(rng: np.random.Generator) -> None:
    R = triangle([rng.standard_normal((2, 5))], 5)
    np.testing.assert_array_equal(R[2:], 0)
    np.testing.assert_array_equal(triangle([], 3), np.zeros((3, 3)))


def problem(rng: np.random.Generator, pieces: int, width: int) -> SmallProblem:
    A, b = rng.standard_normal((23, width, 3)), rng.standard_normal((23, width))
    return SmallProblem(linear(A, b), parameters([0.0] * 3), pieces=pieces)


@pytest.mark.parametrize("loss", [Loss(), Loss(Shape.HUBER, 0.3), Loss(Shape.CAUCHY, 0.3)])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("pieces", [1, 5])
def test_a_reduction_is_the_weighted_problem(
    loss: Loss, width: int, pieces: int, rng: np.random.Generator
) -> None:
    small = problem(rng, pieces, width)
    x = np.array([0.4, -1.0, 2.0])
    r, J = small.residual(x)
    sizes = np.sqrt((r**2).mean(axis=1))
    w = loss.weights(sizes)
    found = reduce(small, x, loss)
    np.testing.assert_allclose(found.R.T @ found.R, np.einsum("n,nwi,nwj->ij", w, J, J))
    np.testing.assert_allclose(found.R.T @ found.z, np.einsum("n,nwi,nw->i", w, J, r), atol=1e-12)
    assert found.squares == pytest.approx(np.sum(w[:, None] * r**2))
    assert found.cost == pytest.approx(width * loss.cost(sizes))
    assert found.rows == 23 * width
    np.testing.assert_allclose(found.sizes, sizes)
    np.testing.assert_array_equal(found.widths, np.full(23, width))
    if loss.is_squared:
        assert found.cost == pytest.approx(float(np.sum(r**2)))
    else:
        assert w.min() < 0.5


def test_a_hubers_weight_is_one_inside() -> None:
    """Residuals at half the threshold and at twice the threshold, by hand."""
    k = HUBER_THRESHOLD
    small = SmallProblem(
        linear(np.ones((2, 1)), np.array([-k / 2, -2 * k])), parameters([0.0]), pieces=2
    )
    found = reduce(small, np.zeros(1), Loss(Shape.HUBER))
    assert found.squares == pytest.approx(k**2 * (1 / 4 + 4 / 2))
    assert found.cost == pytest.approx(k**2 * (1 / 4 + 3))
    assert found.R[0, 0] ** 2 == pytest.approx(1 + 1 / 2)


def test_a_small_step_moves_the_reduction(rng: np.random.Generator) -> None:
    small = problem(rng, 1, 2)
    x, step = np.array([0.4, -1.0, 2.0]), np.array([0.1, 0.2, -0.3])
    moved = reduce(small, x, Loss()).moved(step)
    there = reduce(small, x + step, Loss())
    assert moved.cost == pytest.approx(there.cost)
    assert moved.squares == pytest.approx(there.squares)
    np.testing.assert_allclose(moved.R.T @ moved.z, there.R.T @ there.z)


def test_rounding_never_makes_squares_negative() -> None:
    here = Reduction(np.eye(1), np.ones(1), 0.5, 0.25, 3, np.ones(3), np.ones(3, dtype=np.intp))
    moved = here.moved(np.array([-1.0]))
    assert moved.cost == 0.0
    assert moved.squares == 0.0
    assert here.moved(np.array([-0.5])).cost == 0.0
    assert here.moved(np.array([1.0])).cost == pytest.approx(3.5)
    assert here.moved(np.array([1.0])).squares == pytest.approx(3.25)


def test_no_blocks_are_nothing() -> None:
    small = SmallProblem(linear(np.zeros((0, 2)), np.zeros(0)), parameters([1.0, 2.0]))
    found = reduce(small, np.zeros(2), Loss())
    assert (found.cost, found.squares, found.rows) == (0.0, 0.0, 0)
    assert not found.R.any()
    assert not found.z.any()


@pytest.mark.parametrize("samples", [40, 3 * PIECE + 7])
def test_components_that_see_few_columns_fold_to_the_same_factor(
    samples: int, rng: np.random.Generator
) -> None:
    """Motor j sees nothing of the links before it; the last component sees nothing at all."""
    size, width = 23, 5
    accumulator = _Accumulator(size, Loss())
    rows = []
    for _ in range(2):
        parts = rng.standard_normal((size + 1, width, samples))
        for component, first in enumerate((0, 4, 9, 20, size)):
            parts[:first, component] = 0.0
        # A zero in between changes nothing, nor does a sample at rest.
        parts[12, 1] = 0.0
        parts[:, :, 0] = 0.0
        columns = parts.reshape(size + 1, -1)
        accumulator.add(columns, width)
        rows.append(columns.T)
    whole = np.concatenate(rows)
    found = accumulator.reduction()
    np.testing.assert_allclose(np.tril(found.R, -1), 0.0)
    expected = whole.T @ whole
    np.testing.assert_allclose(found.R.T @ found.R, expected[:-1, :-1], rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(found.R.T @ found.z, expected[:-1, -1], rtol=1e-9, atol=1e-8)
    assert found.squares == pytest.approx(expected[-1, -1])


def dense(small: SmallProblem, x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """J'J, J'r and r'r of some observations."""
    r, J = small.residual(x)
    r, J = r[rows].ravel(), J[rows].reshape(-1, J.shape[2])
    return J.T @ J, J.T @ r, r @ r


def assert_is(found: Reduction, small: SmallProblem, x: np.ndarray, rows: np.ndarray) -> None:
    JJ, Jr, rr = dense(small, x, rows)
    np.testing.assert_allclose(found.R.T @ found.R, JJ, atol=1e-12)
    np.testing.assert_allclose(found.R.T @ found.z, Jr, atol=1e-12)
    assert found.squares == pytest.approx(rr)
    assert found.cost == pytest.approx(rr)
    assert found.rows == 2 * len(rows)
    assert len(found.sizes) == len(found.widths) == len(rows)


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_merged_parts_are_the_whole(scale: float, rng: np.random.Generator) -> None:
    """Also where all squares together are far below one."""
    A, b = rng.standard_normal((12, 2, 3)), scale * rng.standard_normal((12, 2))
    x = scale * np.array([0.4, -1.0, 2.0])
    parts = [
        reduce(SmallProblem(linear(A[some], b[some]), parameters([0.0] * 3)), x, Loss())
        for some in (slice(0, 1), slice(1, 7), slice(7, 12))
    ]
    whole = SmallProblem(linear(A, b), parameters([0.0] * 3))
    assert_is(merged(parts), whole, x, np.arange(12))


def test_parts_of_the_data_are_folded_in_one_pass(rng: np.random.Generator) -> None:
    """Observations of rows 0 to 4, twice each; two ways to share the rows out."""
    A, b = rng.standard_normal((10, 2, 3)), rng.standard_normal((10, 2))
    x, rows = np.array([0.4, -1.0, 2.0]), np.repeat(np.arange(5), 2)
    small = SmallProblem(linear(A, b), parameters([0.0] * 3), pieces=3, rows=rows)
    ways = [np.array([0, 1, 1, -1, 2]), np.array([1, 0, 1, 0, 1])]
    found = reduce_parts(small, x, Loss(), ways)
    assert [len(one) for one in found] == [4, 3]
    for way, parts in zip(ways, found, strict=True):
        for number, part in enumerate(parts[:-1]):
            assert_is(part, small, x, np.flatnonzero(way[rows] == number))
        assert_is(parts[-1], small, x, np.flatnonzero(way[rows] == -1))
    assert len(small.seen) == 1
    without = SmallProblem(linear(A, b), parameters([0.0] * 3))
    *others, last = reduce_parts(without, x, Loss(), ways[1:])[0]
    assert_is(last, without, x, np.arange(10))
    assert not any(part.rows for part in others)


def test_a_problem_may_have_a_way_of_its_own(rng: np.random.Generator) -> None:
    small = problem(rng, 1, 2)
    own = reduce(small, np.ones(3), Loss())

    class Folding(SmallProblem):
        def reduced(self, values: np.ndarray, loss: Loss) -> Reduction | None:
            return own if values[0] > 0 else None

    folding = Folding(small.residual, small.parameters)
    assert reduce(folding, np.ones(3), Loss()) is own
    assert not folding.seen
    assert_is(reduce(folding, -np.ones(3), Loss()), small, -np.ones(3), np.arange(23))
