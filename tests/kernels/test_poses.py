"""Compiled folds of poses against NumPy's, over random robots, noises and turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import theodolite as th
from tests.kernels.test_positions import check
from tests.random_robots import random_robots
from theodolite.calibration.simulation import simulate

pytest.importorskip("numba")
pytestmark = pytest.mark.xdist_group("kernels")

NOISES = (
    th.Noise(position=5e-5, orientation=1e-4),
    th.Noise(position=5e-5, orientation=1e-4, joint=1e-4, slide=2e-5),
)


@settings(max_examples=15, deadline=None)
@given(random_robots(), st.integers(1, 300), st.booleans(), st.sampled_from(NOISES), st.integers(0))
def test_folds_of_random_robots(
    robot: th.Robot, points: int, gains: bool, noise: th.Noise, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3, 2e-3), rng)
    data = simulate(true, th.Frame(), points=points, rng=rng, noise=noise)
    check(robot, data, noise, gains=gains, method=th.Frame())


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 0.3, 1.5, 3.0])
@pytest.mark.parametrize("noise", NOISES)
def test_orientations_that_are_far_off(angle: float, noise: th.Noise) -> None:
    """Whatever the turn that is left, the rotation vector and its derivative are SciPy's."""
    rng = np.random.default_rng(1)
    robot = th.robots.load("ur10e")
    data = simulate(robot, th.Frame(), points=200, rng=rng, noise=th.Noise())
    axes = rng.standard_normal((200, 3))
    turns = angle * axes / np.linalg.norm(axes, axis=1)[:, None]
    turned = Rotation.from_rotvec(turns).as_matrix() @ data.rotations
    there = th.Dataset(data.motors, positions=data.positions + 1e-3, rotations=turned)
    check(robot, there, noise, gains=True, method=th.Frame())


def test_further_terms() -> None:
    rng = np.random.default_rng(0)
    robot = th.robots.load("puma560").with_terms(
        [
            th.ErrorTerm(2, "theta", "sin(2*q2)*cos(q3)", 1e-3),
            th.ErrorTerm(3, "r", "moment(z2, x4)", 1e-4),
        ]
    )
    data = simulate(robot, th.Frame(), points=150, rng=rng, noise=NOISES[0])
    check(robot, data, NOISES[0], gains=True, method=th.Frame())
