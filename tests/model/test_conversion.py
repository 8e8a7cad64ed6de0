"""Other conventions, exactly, or the reason why not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import theodolite as th
from tests.random_robots import random_robots
from theodolite.errors import InputError
from theodolite.model.conventions import PARALLEL_SINE

EXACT = [th.Convention.KK, th.Convention.POSE, th.Convention.GENERALIZED]


def assert_same(one: th.Robot, other: th.Robot, seed: int) -> None:
    motors = np.random.default_rng(seed).uniform(-2, 2, (4, one.joints))
    for ours, theirs in zip(one.poses(motors), other.poses(motors), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-11)


@pytest.mark.parametrize("convention", EXACT)
@given(robot=random_robots(), seed=st.integers(0, 2**32 - 1))
def test_any_robot_converts_exactly(robot: th.Robot, convention: th.Convention, seed: int) -> None:
    assert_same(th.convert(robot, convention), robot, seed)


@pytest.mark.parametrize("convention", [th.Convention.DH, th.Convention.HAYATI])
@given(robot=random_robots(), seed=st.integers(0, 2**32 - 1))
def test_dh_converts_exactly_or_says_why_not(
    robot: th.Robot, convention: th.Convention, seed: int
) -> None:
    try:
        other = th.convert(robot, convention)
    except InputError as error:
        assert "parallel to within" in str(error)
        return
    assert_same(other, robot, seed)


def test_a_calibrated_ur_has_no_dh_table() -> None:
    """Axes 2, 3 and 4 are nearly parallel: their common normals are metres or more away."""
    rng = np.random.default_rng(0)
    real = th.perturb(th.robots.ur10e(), th.ParameterErrors(1e-3, 1e-3), rng)
    with pytest.raises(InputError, match=r"joints 2 and 3 .* common normal is .* m away"):
        th.convert(real, th.Convention.DH)
    for convention in (*EXACT, th.Convention.HAYATI):
        assert_same(th.convert(real, convention), real, 1)


def test_parallel_tolerance_is_about_a_degree() -> None:
    assert np.degrees(np.arcsin(PARALLEL_SINE)) == pytest.approx(1.15, abs=0.01)


def test_a_product_is_not_a_target() -> None:
    with pytest.raises(InputError, match="there is no conversion to"):
        th.convert(th.robots.scara(), th.Convention.PRODUCT)
