"""Compiled folds of positions against NumPy's, over random robots and noises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite as th
from tests.kernels.test_tree_torques import both, same
from tests.random_robots import random_robots
from theodolite.calibration.simulation import simulate
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.kernels import switch

pytest.importorskip("numba")
pytestmark = pytest.mark.xdist_group("kernels")

NOISES = (th.Noise(position=5e-5), th.Noise(position=5e-5, joint=1e-4, slide=2e-5))


def check(
    robot: th.Robot,
    data: th.Dataset,
    noise: th.Noise,
    *,
    gains: bool,
    method: th.Method | None = None,
) -> None:
    problem = (method or th.Position()).problem(robot, data, noise=noise, gains=gains)
    values = np.array([parameter.value for parameter in problem.parameters])
    plain, fast = both(lambda: reduce(problem, values, Loss()))
    # R is unique only where the columns are independent: R'R and R'z always are.
    lengths = np.linalg.norm(plain.R, axis=0)
    scale = np.maximum(lengths, 1e-3 * lengths.max())
    scaled = [one.R / scale for one in (plain, fast)]
    same(*(R.T @ R for R in scaled), 1.0)
    size = float(np.sqrt(plain.squares))
    same(*(R.T @ one.z for R, one in zip(scaled, (plain, fast), strict=True)), size)
    assert fast.squares == pytest.approx(plain.squares, rel=1e-12)
    assert fast.rows == plain.rows
    # Residuals are differences of positions and turns: rounding is that of reach and radian.
    rounding = (robot.reach() or 1.0) / noise.position
    if method is not None and "rotations" in method.needs:
        rounding += 1.0 / noise.orientation
    same(plain.sizes, fast.sizes, rounding)
    assert np.array_equal(plain.widths, fast.widths)


@settings(max_examples=15, deadline=None)
@given(random_robots(), st.integers(1, 300), st.booleans(), st.sampled_from(NOISES), st.integers(0))
def test_folds_of_random_robots(
    robot: th.Robot, points: int, gains: bool, noise: th.Noise, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3, 2e-3), rng)
    data = simulate(true, th.Position(), points=points, rng=rng, noise=noise)
    check(robot, data, noise, gains=gains)


@pytest.mark.parametrize("noise", NOISES[:1])
def test_several_targets_of_which_some_are_not_seen(noise: th.Noise) -> None:
    rng = np.random.default_rng(0)
    targets = [th.Target("a", (0.1, 0.0, 0.05)), th.Target("b", (0.0, 0.1, 0.05))]
    robot = th.robots.load("irb120").with_targets(targets)
    data = simulate(robot, th.Position(), points=400, rng=rng, noise=noise)
    positions = data.positions.copy()
    positions[::7, 1] = np.nan
    check(
        robot, th.Dataset(data.motors, positions=positions, targets=data.targets), noise, gains=True
    )


def test_further_terms() -> None:
    rng = np.random.default_rng(0)
    robot = th.robots.load("puma560").with_terms(
        [
            th.ErrorTerm(2, "theta", "sin(2*q2)*cos(q3)", 1e-3),
            th.ErrorTerm(3, "r", "moment(z2, x4)", 1e-4),
        ]
    )
    data = simulate(robot, th.Position(), points=150, rng=rng, noise=NOISES[0])
    check(robot, data, NOISES[0], gains=True)


def test_calibrations_are_the_same() -> None:
    rng = np.random.default_rng(0)
    robot = th.robots.load("ur10e")
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3), rng)
    data = simulate(true, th.Position(), points=9000, rng=rng, noise=NOISES[0])
    plain, fast = both(
        lambda: th.identify(robot, data, th.Position(), noise=NOISES[0], terms="none")
    )
    same(plain.robot.values, fast.robot.values)


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e7, 1e7))
def test_cosines_and_sines(angle: float) -> None:
    """To one unit in the last place of one, and by the library beyond 1e5 rad."""
    rows = switch.load("rows")
    A = np.zeros((3, rows.FEW))
    A[0] = [angle, 0.0, math.pi / 4, -math.pi / 2, *np.linspace(-9.0, 9.0, rows.FEW - 4)]
    rows.cosine_and_sine(A, 1, 2, 0)
    np.testing.assert_allclose(A[1], np.cos(A[0]), rtol=0, atol=2.3e-16)
    np.testing.assert_allclose(A[2], np.sin(A[0]), rtol=0, atol=2.3e-16)
