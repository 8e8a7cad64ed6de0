"""What has changed is found, and robots that have not changed are left in peace."""

from __future__ import annotations

import numpy as np
import pytest

import theodolite as th
from theodolite.assessment.diagnosis import diagnose
from theodolite.compensation.uncertainty import Uncertainty
from theodolite.errors import InputError

NOISE = th.Noise(position=5e-5, known=True)


def calibrated(name: str, rng) -> tuple[th.Robot, th.Result]:
    """A true robot, and its calibration from 60 points."""
    nominal = th.robots.load(name)
    true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
    data = th.simulate(true, th.Position(), points=60, rng=rng, noise=NOISE)
    options = {"noise": NOISE, "gains": False, "terms": (), "hold_out": 0.0}
    return true, th.identify(nominal, data, th.Position(), change=th.Change.ALL, **options)


def checked(result: th.Result, robot: th.Robot, rng, points: int = 12, **options):
    checks = th.simulate(robot, th.Position(), points=points, rng=rng, noise=NOISE)
    return diagnose(
        result.robot,
        checks,
        th.Position(),
        noise=NOISE,
        uncertainty=Uncertainty.from_result(result),
        rng=np.random.default_rng(0),
        **options,
    )


def changed(robot: th.Robot, **amounts: float) -> th.Robot:
    values = {parameter.name: parameter.value for parameter in robot.parameters}
    return robot.with_values({name: values[name] + by for name, by in amounts.items()})


@pytest.mark.parametrize("name", ["puma560", "ur10e"])
def test_the_cause_is_named(name: str) -> None:
    """Every zero by 1 mrad, gains, base and tool, 12 points with 0.05 mm of noise."""
    rng = np.random.default_rng(3)
    true, result = calibrated(name, rng)
    faults = {
        **{
            f"zero of joint {joint} (theta{joint})": {f"theta{joint}": 1e-3}
            for joint in range(1, 6)
        },
        **{f"gain of joint {joint} (K{joint})": {f"K{joint}": 3e-3} for joint in range(1, 5)},
        "base moved": {"e0x": 1e-3, "e0y": -8e-4, "e0ry": 1e-3, "e0rx": -1e-3},
        "tool bent": {"e7x": 1e-3, "e7y": -1e-3, "e7z": 5e-4},
        "another tool": {"e7x": 0.04, "e7z": -0.06},
    }
    right, wrong = 0, []
    for cause, amounts in faults.items():
        known = {p.name for p in true.parameters}
        if not set(amounts) <= known:
            continue
        for _ in range(4):
            found = checked(result, changed(true, **amounts), rng)
            first = found.suspects[0].name
            right += found.changed and first == cause
            if first != cause:
                wrong.append((cause, first))
    total = right + len(wrong)
    assert right >= 0.95 * total, wrong


def test_false_alarms_are_as_often_as_was_asked_for() -> None:
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(12):
        true, result = calibrated("scara", rng)
        alarms += sum(checked(result, true, rng, false_alarms=0.2).changed for _ in range(25))
    # 300 runs: 20 % with a standard deviation of 2.3.
    assert 0.13 < alarms / 300 < 0.27


def test_sizes_and_the_next_measurement() -> None:
    rng = np.random.default_rng(6)
    true, result = calibrated("puma560", rng)
    found = checked(result, changed(true, theta3=1e-3), rng)
    amount, error = found.suspects[0].changes["theta3"]
    assert abs(amount - 1e-3) < 4 * error < 4e-4
    assert len(found.next_readings) == 3
    assert (found.next_distances > 0).all()
    assert (np.diff(found.next_distances) <= 0).all()
    robot = th.robots.puma560()
    inside = (found.next_readings >= robot.lower) & (found.next_readings <= robot.upper)
    assert inside.all()


def test_a_point_that_moved() -> None:
    rng = np.random.default_rng(7)
    nominal = th.robots.irb120().with_targets(
        [th.Target(f"p{n}", tuple(0.1 * np.eye(3)[n])) for n in range(3)]
    )
    moved = changed(nominal, p1y=8e-4)
    checks = th.simulate(moved, th.Position(), points=8, rng=rng, noise=NOISE)
    found = diagnose(nominal, checks, th.Position(), noise=NOISE)
    assert found.changed and found.suspects[0].name == "point p1 moved"


def test_mechanisms_and_wrong_wishes() -> None:
    rng = np.random.default_rng(8)
    robot = th.robots.delta()
    # A platform that never turns: its base and its tool can only be told apart by turning.
    moved = changed(robot, bTc_rz=5e-3)
    checks = th.simulate(moved, th.Position(), points=8, rng=rng, noise=NOISE)
    found = diagnose(robot, checks, th.Position(), noise=NOISE)
    assert found.changed and found.suspects[0].name == "base moved"
    with pytest.raises(InputError, match="false alarms"):
        diagnose(robot, checks, th.Position(), noise=NOISE, false_alarms=0.0)
