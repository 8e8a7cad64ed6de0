"""Base and targets in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.base_and_tool import moved_robot
from theodolite.calibration.simulation import simulate
from theodolite.model.poses import Poses, roll_pitch_yaw, rotation_matrix


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


@pytest.mark.parametrize("method", ["position", "frame"])
@pytest.mark.parametrize("tool", [{"r": 0.1}, {"d": 0.05, "r": 0.1}])
def test_a_tool_parallel_to_the_flange_is_located(method: str, tool: dict[str, float]) -> None:
    """The usual mounting: the last row is parallel to the last joint's."""
    robot = th.robots.puma560()
    last = robot.joint_rows[-1]
    row = th.Row(th.Convention.KK, th.Joint.FIXED, tool)
    robot = replace(robot, frames=(*robot.frames[: last + 1], row))
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), 0)
    data = th.simulate(true, method, points=40, rng=1)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    elsewhere = replace(
        data,
        positions=data.positions @ turn.T + np.array([1.0, 2.0, 3.0]),
        rotations=None if data.rotations is None else turn @ data.rotations,
    )
    result = th.identify(robot, elsewhere, method, start="locate", terms="none", gains=False)
    assert result.good, result.doubts()
    assert result.after["position"].rms < 1e-12


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_a_tool_that_is_turned_by_half_a_turn(name: str) -> None:
    """No step leads there: base and tool come from the poses in closed form."""
    rng = np.random.default_rng(1)
    nominal = th.robots.load(name)
    true = moved_robot(
        th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng),
        Poses.one(np.eye(3), np.array([0.3, 0.2, 0.1])),
        Poses.one(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 0.1])),
    )
    noise = th.Noise(position=5e-5, orientation=1e-4)
    data = th.simulate(true, "frame", points=40, rng=rng, noise=noise)
    result = th.identify(nominal, data, "frame", gains=False, terms="none")
    assert result.good, result.doubts()
    assert result.after["orientation"].rms < 3e-4
