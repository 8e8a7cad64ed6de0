"""Machines with several tools: a source for each arm, and the distance between their tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.calibration.test_sources import check_jacobian

#: Two arms of three joints on one torso, each with a ball.
ARMS = """
format = "theodolite robot 1"
name = "arms"
units = { length = "mm", angle = "deg" }
tools = ["right", "left"]
joints = [
  { name = "r1", min = -150, max = 150 },
  { name = "r2", min = -120, max = 120 },
  { name = "r3", min = -140, max = 140 },
  { name = "l1", min = -150, max = 150 },
  { name = "l2", min = -120, max = 120 },
  { name = "l3", min = -140, max = 140 },
]
bodies = [
  { name = "torso", on = "world", product = "Tx(20) Ty(-30) Tz(400) Rx(2) Ry(1) Rz(5)" },
  { name = "R1", on = "torso", product = "Ty(-200) Tx(10) Rx(60) Ry(3) Rz(r1)" },
  { name = "R2", on = "R1", product = "Tz(120) Tx(40) Rx(-90) Rz(r2)" },
  { name = "R3", on = "R2", product = "Tx(350) Rx(4) Ry(2) Rz(r3)" },
  { name = "right", on = "R3", product = "Tx(300) Ty(20) Tz(15)" },
  { name = "L1", on = "torso", product = "Ty(200) Tx(-5) Rx(-60) Ry(2) Rz(l1)" },
  { name = "L2", on = "L1", product = "Tz(120) Tx(45) Rx(90) Rz(l2)" },
  { name = "L3", on = "L2", product = "Tx(350) Rx(-3) Ry(1) Rz(l3)" },
  { name = "left", on = "L3", product = "Tx(300) Ty(-20) Tz(10)" },
]
"""
BETWEEN = th.Distance(between=("right", "left"))


@pytest.fixture
def arms(tmp_path: Path) -> th.Mechanism:
    path = tmp_path / "arms.toml"
    path.write_text(ARMS)
    found = th.read_robot(path)
    assert isinstance(found, th.Mechanism)
    return found


def right_only(true: th.Mechanism, points: int, seed: int) -> th.Dataset:
    """What a tracker saw of the right arm; the left one was not recorded."""
    data = th.simulate(true, "position", points=points, rng=seed)
    assert data.positions is not None
    motors = data.motors.copy()
    motors[:, 3:] = np.nan
    return replace(data, motors=motors, positions=data.positions[:, :1], targets=("right",))


def test_the_file_is_what_it_was(arms: th.Mechanism, tmp_path: Path) -> None:
    assert arms.target_names == ("right", "left")
    th.write_robot(arms, tmp_path / "again.toml")
    again = th.read_robot(tmp_path / "again.toml")
    assert again.target_names == arms.target_names
    motors = arms.random_motors(5, np.random.default_rng(0))
    for target in range(2):
        one, other = (m.motion(m.values, motors, target).position for m in (arms, again))
        np.testing.assert_array_equal(one, other)


def test_contacts_calibrate_the_arm_that_no_tracker_saw(arms: th.Mechanism) -> None:
    true = th.perturb(arms, th.ParameterErrors(length=1e-3, angle=2e-3), 1)
    assert isinstance(true, th.Mechanism)
    tracker = right_only(true, 60, 2)
    contacts = th.simulate(true, BETWEEN, points=150, rng=3)
    result = th.identify(
        arms,
        [th.Source(tracker, "position"), th.Source(contacts, BETWEEN)],
        gains=False,
        terms="none",
    )
    assert result.good, result.doubts()
    motors = true.random_motors(100, np.random.default_rng(4))
    for target in range(2):
        one, other = (m.motion(m.values, motors, target).position for m in (true, result.robot))
        assert np.linalg.norm(one - other, axis=1).max() < 1e-10


def test_the_distance_between_tools(arms: th.Mechanism) -> None:
    contacts = th.simulate(arms, BETWEEN, points=20, rng=1)
    right, left = (
        arms.motion(arms.values, contacts.motors, target).position for target in range(2)
    )
    np.testing.assert_allclose(
        contacts.columns["distance_m"], np.linalg.norm(right - left, axis=1), atol=1e-13
    )
    check_jacobian(BETWEEN.problem(arms, contacts, noise=th.Noise()), tolerance=1e-8)


def test_an_arm_that_stands_elsewhere_is_placed(arms: th.Mechanism) -> None:
    true = th.perturb(arms, th.ParameterErrors(length=1e-3, angle=2e-3), 5)
    assert isinstance(true, th.Mechanism)
    data = right_only(true, 60, 6)
    assert data.positions is not None
    turn = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    moved = replace(data, positions=data.positions @ turn.T + np.array([1.0, -2.0, 0.5]))
    result = th.identify(arms, moved, "position", gains=False, terms="none")
    assert result.placed
    assert result.good, result.doubts()
    assert result.after["position"].maximum < 1e-12


def test_joints_that_matter_must_be_recorded(arms: th.Mechanism) -> None:
    data = th.simulate(arms, "position", points=20, rng=1)
    motors = data.motors.copy()
    motors[:, 4] = np.nan
    with pytest.raises(th.InputError, match="joint 'l2' moves what was measured"):
        th.identify(arms, replace(data, motors=motors), "position")


def test_two_tools_must_be_there(arms: th.Mechanism) -> None:
    data = th.simulate(arms, BETWEEN, points=5, rng=1)
    for robot, between in (("puma560", ("right", "left")), (arms, ("right", "hand"))):
        with pytest.raises(th.InputError, match="has no two tools"):
            th.Distance(between=between).problem(  # type: ignore[arg-type]
                th.robots.puma560() if robot == "puma560" else arms, data, noise=th.Noise()
            )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["right", "left"]', '["right", "hand"]', "the tool is 'hand', which is not a body"),
        ('["right", "left"]', '["right", "right"]', "tools are"),
        ('["right", "left"]', '"right"', "tools are"),
        ("units", 'tool = "left"\nunits', "tools are"),
    ],
)
def test_wrong_tools_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "arms.toml"
    path.write_text(ARMS.replace(old, new))
    with pytest.raises(th.InputError, match=message):
        th.read_robot(path)


def test_placing_two_arms_leaves_their_tools_where_the_file_says(arms: th.Mechanism) -> None:
    """Known points fix the base; where they are on the arms is for the calibration to find."""
    far = arms.with_values(
        {"torso.Tx": 3.0, "torso.Ty": -2.0, "torso.Tz": 1.0}
        if "torso.Ty" in {p.name for p in arms.parameters}
        else {}
    )
    data = right_only(far, 40, 3)
    placed = th.place(arms, data, "position")
    before = {p.name: p.value for p in arms.parameters}
    after = {p.name: p.value for p in placed.parameters}
    for name in ("right.Tx", "right.Ty", "right.Tz", "left.Tx"):
        if name in before:
            assert after[name] == pytest.approx(before[name], abs=1e-12)


def test_one_tolerance_for_all_lengths_and_one_for_all_angles(arms: th.Mechanism) -> None:
    for machine in (arms, th.robots.puma560()):
        told = machine.with_tolerances_of(1e-3, 2e-3)
        for parameter in told.parameters:
            if parameter.group.value != "base" and not parameter.places and not parameter.gain:
                wanted = 1e-3 if parameter.unit.value == "m" else 2e-3
                assert parameter.tolerance == wanted
        with pytest.raises(th.InputError, match="tolerance of length"):
            machine.with_tolerances_of(0.0)
