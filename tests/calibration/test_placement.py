"""Base and targets in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.simulation import simulate
from theodolite.model.poses import roll_pitch_yaw, rotation_matrix


def test_a_robot_and_its_reflectors_are_found_anywhere(rng: np.random.Generator) -> None:
    robot = th.robots.irb120()
    points = [th.Target(f"p{i}", tuple(rng.uniform(-0.2, 0.2, 3))) for i in (1, 2, 3)]
    base = th.Row(th.Convention.POSE, th.Joint.FIXED, nominal=(2.5, -0.3, 0.4, 2.0, 1.2, -2.8))
    true = th.Robot.of(
        "elsewhere",
        [base, *robot.frames[1:]],
        transmission=robot.transmission,
        lower=robot.lower,
        upper=robot.upper,
        targets=points,
    )
    data = simulate(true, th.Position(), points=30, rng=rng)
    found = th.locate(robot, data)
    assert th.residuals(found, data, th.Position())["position"].max() < 1e-12
    for target, point in zip(found.targets, points, strict=True):
        np.testing.assert_allclose(target.position, point.position, atol=1e-12)


@pytest.mark.parametrize("pitch", [0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 5e-12])
def test_angles_reproduce_the_rotation_also_at_gimbal_lock(pitch: float) -> None:
    R = rotation_matrix(0.4, pitch, -1.1)
    np.testing.assert_allclose(rotation_matrix(*roll_pitch_yaw(R)), R, atol=1e-15)
