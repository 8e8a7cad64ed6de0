"""Rows that are alike stay together: repeated configurations, and neighbours on a path."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.data import alike


def test_random_configurations_are_each_by_themselves() -> None:
    motors = th.robots.irb120().random_motors(400, np.random.default_rng(0))
    assert np.array_equal(alike(motors), np.arange(400))


def test_repeated_configurations_are_one_group() -> None:
    rng = np.random.default_rng(0)
    motors = np.repeat(th.robots.irb120().random_motors(40, rng), 5, axis=0)
    noisy = motors + 7e-5 * rng.standard_normal(motors.shape)
    mixed = rng.permutation(200)
    groups = alike(noisy[mixed])
    assert groups.max() == 39
    for group in range(40):
        assert len(set(mixed[groups == group] // 5)) == 1


def test_a_path_falls_into_stretches() -> None:
    times = np.linspace(0.0, 1.0, 400)[:, None]
    motors = np.sin(2 * np.pi * times * np.array([1.0, 2.0, 3.0, 1.5, 2.5, 0.5]))
    groups = alike(motors)
    assert groups.max() == 19
    assert (np.diff(groups) >= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_repetitions_do_not_feign_further_terms(seed: int) -> None:
    """A geometric robot, 40 configurations five times each, joint noise that they share."""
    rng = np.random.default_rng(seed)
    nominal = th.robots.irb120()
    true = th.perturb(nominal, th.ParameterErrors(3e-4, 1e-3), rng)
    motors = true.random_motors(40, rng)
    tips = true.motion(true.values, motors + 7e-5 * rng.standard_normal(motors.shape)).position
    positions = np.repeat(tips, 5, axis=0) + 5e-6 * rng.standard_normal((200, 3))
    data = th.Dataset(np.repeat(motors, 5, axis=0), positions=positions)
    result = th.identify(nominal, data, "position", rng=seed)
    assert not result.robot.terms
