"""Robots beside each other, and beside themselves later."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.assessment.comparison import Compared, compare_robots
from theodolite.errors import InputError

NOISE = th.Noise(position=5e-5, known=True)


def calibrated(nominal, true, rng) -> Compared:
    data = th.simulate(true, th.Position(), points=60, rng=rng, noise=NOISE)
    result = th.identify(nominal, data, th.Position(), noise=NOISE, gains=False, terms=())
    return Compared("robot", result.robot, result)


def test_a_robot_is_like_itself() -> None:
    found = compare_robots(*(Compared("puma", th.robots.puma560()) for _ in range(2)))
    assert not found.changed
    assert found.distances.max() == 0.0


def test_one_joint_that_slipped_is_named(rng) -> None:
    nominal = th.robots.puma560()
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    slipped = true.with_values({"theta3": true.values[_index(true, "theta3")] + 1e-3})
    found = compare_robots(calibrated(nominal, true, rng), calibrated(nominal, slipped, rng))
    assert [one.name for one in found.changed] == ["theta3"]
    assert found.changed[0].change == pytest.approx(1e-3, abs=2e-4)
    # The map is that of the two true robots, but for noise.
    exact = compare_robots(Compared("a", true), Compared("b", slipped))
    assert found.distances.mean() == pytest.approx(exact.distances.mean(), rel=0.1)


def _index(robot: th.Robot, name: str) -> int:
    return [p.name for p in robot.parameters].index(name)


def test_false_alarms_are_as_rare_as_is_said(rng) -> None:
    nominal = th.robots.scara()
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    alarms = sum(
        bool(compare_robots(calibrated(nominal, true, rng), calibrated(nominal, true, rng)).changed)
        for _ in range(30)
    )
    assert alarms <= 5


def test_a_moved_base_is_no_change_of_the_arm(rng) -> None:
    robot = th.robots.ur10e()
    moved = robot.with_values({"e0x": 0.5, "e0rz": 0.3})
    found = compare_robots(Compared("a", robot), Compared("b", moved))
    assert found.distances.mean() > 0.4
    assert found.distances_placed.max() < 1e-9
    assert {one.name for one in found.changed} == {"e0x", "e0rz"}


def test_robots_of_two_kinds_are_refused() -> None:
    with pytest.raises(InputError, match="different joints"):
        compare_robots(Compared("a", th.robots.puma560()), Compared("b", th.robots.stanford()))


@pytest.mark.parametrize("name", ["fivebar", "rrr3"])
def test_mechanisms_are_compared_where_both_close(name, rng) -> None:
    nominal = th.robots.load(name)
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 0.0), rng)
    found = compare_robots(Compared("a", nominal), Compared("b", true))
    assert 1e-5 < found.distances.mean() < 0.05
    assert np.isfinite(found.distances).all()
