"""Measurements simulated at configurations that one asks for."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError, UnreachableError
from theodolite.model.machine import Machine


@pytest.mark.parametrize("method", [th.Camera(), th.Distance(), th.Inclination()])
def test_the_same_is_seen_at_the_same_configurations(method: th.Method) -> None:
    robot = th.robots.puma560()
    free = th.simulate(robot, method, points=10, rng=np.random.default_rng(4))
    motors = free.motors[np.unique(free.configurations(), return_index=True)[1]]
    there = th.simulate(robot, method, points=10, rng=np.random.default_rng(5), at=motors)
    np.testing.assert_allclose(there.motors, free.motors)
    assert set(there.columns) == set(free.columns)
    for name, values in free.columns.items():
        np.testing.assert_allclose(there.columns[name], values)
    if free.pixels is not None:
        np.testing.assert_allclose(there.pixels, free.pixels)


def test_what_cannot_be_measured_there_is_said() -> None:
    robot: Machine = th.robots.puma560()
    motors = robot.random_motors(7, np.random.default_rng(0))
    for method, words in (
        (th.Distance(), "7 configurations are no pairs"),
        (th.Plane(), "by contact"),
        (th.Camera(), "does not see its whole target in"),
    ):
        with pytest.raises((InputError, UnreachableError), match=words):
            th.simulate(robot, method, points=7, rng=np.random.default_rng(0), at=motors)


@pytest.mark.parametrize("name", ["puma560", "panda", "stanford", "scara"])
def test_a_camera_in_the_hand_is_put_where_it_sees_its_target(name: str) -> None:
    """The world is the target's: it moves with the base, and the arm stays the same."""
    robot, camera = th.robots.load(name), th.Camera(mount="hand")
    placed = camera.arranged(robot)
    assert placed is not robot
    data = th.simulate(placed, camera, points=12, rng=np.random.default_rng(0))
    assert len(np.unique(data.sets)) == 12
    motors = robot.random_motors(20, np.random.default_rng(1))
    here, there = robot.fk(motors).position, placed.fk(motors).position
    np.testing.assert_allclose(
        np.linalg.norm(here[1:] - here[:-1], axis=1),
        np.linalg.norm(there[1:] - there[:-1], axis=1),
        atol=1e-12,
    )


def test_a_target_that_is_seen_stays_where_it_is() -> None:
    robot = th.robots.ur10e()
    assert th.Camera(mount="hand").arranged(robot) is robot
    assert th.Camera().arranged(th.robots.puma560()).name == "puma560"
