"""Single-point sensors: derivatives, counts, honest intervals, and bad fixtures by row."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from tests.random_robots import central_differences
from theodolite.calibration.point_sensor import mounted

SMALL = th.ParameterErrors(1e-3, 2e-3)


@pytest.mark.parametrize("name", ["puma560", "panda", "fourbar"])
def test_derivatives_equal_central_differences(name: str) -> None:
    robot = th.robots.load(name)
    rng = np.random.default_rng(0)
    data = th.simulate(th.perturb(robot, SMALL, rng), th.PointSensor(), points=5, rng=rng)
    problem = th.PointSensor().problem(robot, data, noise=th.Noise(1.0), gains=True)
    values = np.array([p.value for p in problem.parameters]) + rng.uniform(
        -1e-3, 1e-3, len(problem.parameters)
    )

    def residual(x: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(x)])

    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    np.testing.assert_allclose(jacobian, central_differences(residual, values), atol=1e-7)


def test_touches_complete_what_positions_leave_open() -> None:
    """The position measure's set, and all nine of pointer and fixture."""
    robot = th.robots.puma560()
    positions = set(th.identifiable(robot, th.Position()).identifiable)
    found = set(th.identifiable(robot, th.PointSensor()).identifiable)
    nine = {"px", "py", "pz", "fx", "fy", "fz", "frx", "fry", "frz"}
    assert len(positions) == 27
    assert found == positions | nine


def test_touches_alone_calibrate_what_a_pointer_can_see() -> None:
    """Without a sensor: the robot up to where it stands, as in the position link."""
    robot = th.robots.puma560()
    rng = np.random.default_rng(2)
    true = th.perturb(robot, SMALL, rng)
    data = th.simulate(true, th.PointSensor(), points=1, rng=rng, per_set=25)
    touches = data.take(np.flatnonzero(np.isfinite(data.fixture[:, 0])))
    result = th.identify(robot, touches, th.PointSensor(), terms="none", gains=False, hold_out=0.0)
    assert result.status.good
    assert result.after["position"].rms < 1e-9


def test_the_robot_is_found_exactly_without_noise() -> None:
    robot = th.robots.puma560()
    rng = np.random.default_rng(1)
    true = th.perturb(robot, SMALL, rng)
    data = th.simulate(true, th.PointSensor(), points=50, rng=rng)
    result = th.identify(robot, data, th.PointSensor())
    assert result.status.good
    motors = true.random_motors(100, rng)
    np.testing.assert_allclose(result.robot.poses(motors)[1], true.poses(motors)[1], atol=1e-10)
    # And the orientation of the fixture, which no position shows.
    own = np.array([result.estimate(n).identified for n in ("px", "py", "pz")])
    touched = np.isfinite(data.fixture[:, 0])
    turns, tips = true.poses(data.motors[touched])
    arms = np.einsum("nij,nj->ni", turns, mounted(true, data.fixture[touched]))
    np.testing.assert_allclose(tips + arms, np.tile(own, (touched.sum(), 1)), atol=1e-10)


def test_intervals_hold() -> None:
    """Pointer and lengths lie in their 95 % intervals 95 % of the time, over 40 calibrations."""
    robot = th.robots.puma560()
    names = [n for n in th.identifiable(robot, th.PointSensor()).identifiable if n[0] not in "pf"]
    noise = th.Noise(5e-5, 5e-5)
    inside = total = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        true = th.perturb(robot, SMALL, rng, only=names)
        data = th.simulate(true, th.PointSensor(), points=40, rng=rng, noise=noise)
        result = th.identify(robot, data, th.PointSensor(), terms="none", gains=False, hold_out=0.0)
        for parameter, value in zip(true.parameters, true.values, strict=True):
            if parameter.name in names:
                estimate = result.estimate(parameter.name)
                inside += abs(estimate.identified - value) <= estimate.interval
                total += 1
    assert total == 40 * 27
    assert 0.93 < inside / total < 0.97
