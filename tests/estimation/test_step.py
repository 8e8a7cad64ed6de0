"""One step of least squares against a dense solver of the stacked system."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.arrays import FloatArray
from theodolite.estimation.prior import Prior
from theodolite.estimation.reduction import Reduction
from theodolite.estimation.step import (
    SMALLEST_NOISE,
    against_gradient,
    linear_step,
    noise_left,
    widened,
)


def reduction(J: FloatArray, r: FloatArray) -> Reduction:
    Q, R = np.linalg.qr(J)
    squares = float(r @ r)
    sizes = np.abs(r)
    return Reduction(R, Q.T @ r, squares, squares, len(r), sizes, np.ones(len(r), dtype=np.intp))


@pytest.fixture
def J(rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((12, 4)) * [1.0, 30.0, 0.2, 1.0]


@pytest.fixture
def r(rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal(12)


VALUES = np.array([0.3, -2.0, 1.5, 4.0])
PRIOR = Prior.independent(np.array([0.1, -1.0, 2.0, 0.0]), np.array([0.5, 0.1, np.inf, 2.0]))
EVERY = np.arange(4)


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("free", [[0, 1, 2, 3], [3, 1]])
def test_a_step_is_that_of_the_stacked_system(
    J: FloatArray, r: FloatArray, damping: float, free: list[int]
) -> None:
    noise = 0.7
    part = np.array(free)
    prior = Prior.independent(PRIOR.mean[part], PRIOR.tolerances[part])
    found = linear_step(reduction(J, r), VALUES, prior, part, noise, damping)
    A = np.concatenate([J[:, part], noise * np.diag(1 / prior.tolerances)])
    b = np.concatenate([r, noise * (VALUES[part] - prior.mean) / prior.tolerances])
    lengths = np.linalg.norm(A, axis=0)
    stacked = np.concatenate([A, np.sqrt(damping) * np.diag(lengths)])
    wanted = np.concatenate([b, np.zeros(len(part))])
    step = np.linalg.lstsq(stacked, -wanted, rcond=None)[0]
    np.testing.assert_allclose(found.step[part], step)
    assert np.count_nonzero(found.step) == len(part)
    promised = b @ b - np.sum((stacked @ step + wanted) ** 2)
    assert found.decrease == pytest.approx(promised)
    units = np.where(np.isfinite(prior.tolerances), prior.tolerances, 1 + np.abs(VALUES[part]))
    assert found.size == pytest.approx(np.max(np.abs(step) / units))


def test_the_size_of_an_unlimited_parameter_is_relative_to_its_value() -> None:
    prior = Prior.independent(np.zeros(1), np.array([np.inf]))
    found = linear_step(
        reduction(np.ones((2, 1)), np.ones(2)), np.array([-3.0]), prior, np.array([0]), 1.0
    )
    assert found.step == pytest.approx([-1.0])
    assert found.size == pytest.approx(1 / 4)


def test_twins_share_a_step_in_unit_columns(r: FloatArray, rng: np.random.Generator) -> None:
    """Without a prior the shortest step is taken where the data leave it open."""
    column = rng.standard_normal(12)
    J = np.column_stack([column, 4 * column, np.zeros(12)])
    prior = Prior.independent(np.zeros(3), np.full(3, np.inf))
    step = linear_step(reduction(J, r), np.zeros(3), prior, np.arange(3), 1.0).step
    best = -(column @ r) / (column @ column)
    np.testing.assert_allclose(step, [best / 2, best / 8, 0.0], atol=1e-12)


def test_tolerances_share_a_step_of_twins(r: FloatArray, rng: np.random.Generator) -> None:
    """In proportion to the squares of the tolerances."""
    column = 1e4 * rng.standard_normal(12)
    prior = Prior.independent(np.zeros(2), np.array([1.0, 3.0]))
    J = np.column_stack([column, column])
    step = linear_step(reduction(J, r), np.zeros(2), prior, np.arange(2), 1.0).step
    assert step[1] / step[0] == pytest.approx(9.0)
    assert step.sum() == pytest.approx(-(column @ r) / (column @ column), rel=1e-6)


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_gradient_is_solved_by_the_same_matrix(J: FloatArray, damping: float) -> None:
    gradient, noise = np.array([1.0, -2.0, 0.3, 5.0]), 0.7
    here = reduction(J, np.ones(12))
    found = against_gradient(here, PRIOR, EVERY, noise, damping, gradient)
    N = J.T @ J + noise**2 * np.diag(1 / PRIOR.tolerances**2)
    N += damping * np.diag(np.diag(N))
    np.testing.assert_allclose(found, np.linalg.solve(N, gradient))


def test_noise_is_what_a_fit_leaves(J: FloatArray, r: FloatArray) -> None:
    left = r - J @ np.linalg.lstsq(J, r, rcond=None)[0]
    expected = np.sqrt(left @ left / (12 - 4))
    assert noise_left(reduction(J, r), PRIOR, EVERY) == pytest.approx(expected)


def test_no_spare_rows_leave_the_noise_at_one(r: FloatArray, rng: np.random.Generator) -> None:
    unlimited = Prior.independent(np.zeros(4), np.full(4, np.inf))
    J = rng.standard_normal((12, 4))
    assert noise_left(reduction(J[:4], r[:4]), unlimited, EVERY) == 1.0
    left = r[:5] - J[:5] @ np.linalg.lstsq(J[:5], r[:5], rcond=None)[0]
    one_spare = noise_left(reduction(J[:5], r[:5]), unlimited, EVERY)
    assert one_spare == pytest.approx(np.linalg.norm(left))


@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_noise_never_falls_below_rounding(J: FloatArray, unit: float) -> None:
    """The largest effect of a tolerance sets the floor; unlimited ones set none."""
    J = unit * J
    x = np.array([1.0, 2.0, 3.0, 4.0])
    effects = np.linalg.norm(J, axis=0) * PRIOR.tolerances
    floor = SMALLEST_NOISE * max(effects[[0, 1, 3]])
    # The squares that rounding leaves may be negative.
    here = reduction(J, J @ x)
    short = Reduction(
        here.R, here.z, here.cost, 0.9 * here.squares, here.rows, here.sizes, here.widths
    )
    assert noise_left(short, PRIOR, EVERY) == pytest.approx(floor, rel=1e-12)


@pytest.mark.parametrize(
    ("moved", "deviation", "wider"),
    [(2.1, 0.45, True), (-2.1, 0.45, True), (1.9, 0.45, False), (2.1, 0.55, False)],
)
def test_a_contradicted_tolerance_gives_way(moved: float, deviation: float, wider: bool) -> None:
    """One parameter of tolerance 0.2: it moves, and is known to a part of its tolerance."""
    tolerance, noise = 0.2, 0.1
    # 1 / deviation^2 = J^2 / noise^2 + 1 / tolerance^2, in units of the tolerance.
    column = noise / tolerance * np.sqrt(1 / deviation**2 - 1)
    prior = Prior.independent(np.array([5.0, 0.0]), np.array([tolerance, 1.0]))
    here = reduction(np.diag([column, 1.0]), np.zeros(2))
    values = np.array([5.0 + moved * tolerance, 0.0])
    found = widened(here, values, prior, np.arange(2), noise)
    if wider:
        np.testing.assert_allclose(found.tolerances, [abs(moved) * tolerance, 1.0])
        np.testing.assert_allclose(found.factor, np.diag(1 / found.tolerances))
        np.testing.assert_array_equal(found.mean, prior.mean)
    else:
        assert found is prior


def test_twins_that_only_their_sum_determines_keep_their_tolerances() -> None:
    """Each alone is known to 0.7 of its tolerance, however well the sum is."""
    J = 1e3 * np.array([[1.0, 1.0], [1.0, 1.0]])
    prior = Prior.independent(np.zeros(2), np.ones(2))
    assert widened(reduction(J, np.zeros(2)), np.full(2, 5.0), prior, np.arange(2), 1.0) is prior
    # The same columns 80 degrees apart determine each.
    J = 1e3 * np.array([[1.0, 0.2], [0.0, 1.0]])
    found = widened(reduction(J, np.zeros(2)), np.full(2, 5.0), prior, np.arange(2), 1.0)
    np.testing.assert_allclose(found.tolerances, 5.0)
