"""Tables, names, priorities and transmissions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import theodolite as th
from theodolite.errors import InputError
from theodolite.model.parameters import Group


def names(robot: th.Robot) -> list[str]:
    return [parameter.name for parameter in robot.parameters]


def test_puma_has_the_parameters_of_its_table() -> None:
    """KK with beta on the one pair of parallel axes; theta0 and r0 complete the base."""
    expected = ["theta0", "r0"]
    for frame in range(1, 8):
        expected += [f"beta{frame}"] if frame == 3 else []
        expected += [f"{symbol}{frame}" for symbol in ("alpha", "d", "theta", "r")]
    expected += [f"K{joint}" for joint in range(1, 7)]
    assert names(th.robots.puma560()) == expected


def test_default_priorities_follow_the_paper() -> None:
    """Section 6a of the paper, with base and tool before non-zero lengths."""
    robot = th.robots.puma560()
    by_rule: dict[int, set[str]] = {}
    for parameter in robot.parameters:
        by_rule.setdefault(parameter.default_priority(), set()).add(parameter.name)
    assert by_rule[6] == {f"{s}{j}" for s in ("theta", "K") for j in range(1, 7)}
    assert by_rule[5] == {"d3", "r3", "d4", "r4", "r6"}
    assert by_rule[2] == {"theta0", "r0", "alpha1", "d1", "alpha7", "d7", "theta7", "r7"}
    assert 4 not in by_rule


def test_an_angle_that_is_not_a_right_one_has_priority_four() -> None:
    row = th.Row(th.Convention.KK, th.Joint.REVOLUTE, {"alpha": np.radians(30)})
    robot = th.Robot.of("bent", [row, row])
    assert {p.name: p.default_priority() for p in robot.parameters}["alpha2"] == 4


def test_coupled_wrist_moves_as_the_formula_says(rng: np.random.Generator) -> None:
    """q = Coa G(K) Com qm + Offset, evaluated by hand."""
    com = np.array([[1, 0, 0], [0.2, 1, 0], [0, -0.5, 1.0]])
    coa = np.array([[1, 0.1, 0], [0, 1, 0], [0.3, 0, 1.0]])
    gains, offset = np.array([1.1, 0.9, 1.05]), np.array([0.1, -0.2, 0.3])
    transmission = th.Transmission.of(3, com=com, coa=coa, gains=gains, offset=offset)
    motors = rng.uniform(-1, 1, (7, 3))
    for qm, q in zip(motors, transmission.joints(motors), strict=True):
        np.testing.assert_allclose(q, coa @ np.diag(gains) @ com @ qm + offset, atol=1e-15)
    np.testing.assert_allclose(transmission.motors(transmission.joints(motors)), motors, atol=1e-14)


def test_coupled_gains_are_identifiable() -> None:
    """Six gains of a PUMA with a coupled wrist, as with a direct one."""
    puma = th.robots.puma560()
    coa = np.eye(6)
    coa[4, 3], coa[5, 3], coa[5, 4] = 0.1, -0.2, 0.3
    coupled = th.Robot.of(
        "coupled",
        puma.frames,
        transmission=th.Transmission.of(6, coa=coa),
        lower=puma.lower,
        upper=puma.upper,
    )
    known = th.identifiable(coupled, th.Frame(), gains=True)
    assert known.rank == 36
    assert {f"K{joint}" for joint in range(1, 7)} <= set(known.identifiable)


def test_irb120_is_what_its_data_sheet_says() -> None:
    """Axes Z Y Y X Y X through the data sheet's points, as a product of exponentials."""
    robot = th.robots.irb120()
    X, Y, Z = np.eye(3)
    axes = [Z, Y, Y, X, Y, X]
    points = np.array(
        [[0, 0, 0], [0, 0, 290], [0, 0, 560], [0, 0, 630], [302, 0, 630], [302, 0, 630]]
    )
    motors = np.random.default_rng(1).uniform(-1, 1, 6)
    tip = np.array([374.0, 0, 630])
    for axis, point, angle in reversed(list(zip(axes, points, motors, strict=True))):
        tip = Rotation.from_rotvec(axis * angle).apply(tip - point) + point
    np.testing.assert_allclose(robot.poses(motors)[1][0], tip / 1000, atol=1e-12)


def test_ur10e_is_its_makers_dh_table() -> None:
    """The KK table of the file against the maker's classical DH parameters."""
    table = [
        (180.7, 0, 90),
        (0, -612.7, 0),
        (0, -571.55, 0),
        (174.15, 0, 90),
        (119.85, 0, -90),
        (116.55, 0, 0),
    ]
    rows = [
        th.Row(
            th.Convention.DH,
            th.Joint.REVOLUTE,
            {"d": d / 1000, "a": a / 1000, "alpha": np.radians(alpha)},
        )
        for d, a, alpha in table
    ]
    motors = np.random.default_rng(2).uniform(-3, 3, (5, 6))
    expected = th.Robot.of("dh", rows).poses(motors)
    for ours, theirs in zip(th.robots.ur10e().poses(motors), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)


@pytest.mark.parametrize("name", th.robots.SERIAL)
def test_base_and_tool_are_general(name: str) -> None:
    """4 R + 2 P + 6 parameters [Everett1988, eq. 73], also where base and tool are zero."""
    robot = th.robots.load(name)
    prismatic = sum(kind is th.Joint.PRISMATIC for kind in robot.joint_types)
    revolute = robot.joints - prismatic
    assert th.identifiable(robot, th.Frame()).rank == 4 * revolute + 2 * prismatic + 6
    assert robot.source


def test_an_aligned_kk_base_or_tool_loses_a_parameter() -> None:
    """The trap of the published figures: 30 becomes 29, and 28 for both."""
    puma = th.robots.puma560()
    base = puma.with_values({"alpha1": 0.0, "d1": 0.0})
    tool = puma.with_values({"alpha7": 0.0, "d7": 0.0})
    both = base.with_values({"alpha7": 0.0, "d7": 0.0})
    ranks = [th.identifiable(robot, th.Frame()).rank for robot in (puma, base, tool, both)]
    assert ranks == [30, 29, 29, 28]


def test_values_by_name_are_checked() -> None:
    with pytest.raises(InputError, match="has no parameter alpha9"):
        th.robots.puma560().with_values({"alpha9": 1.0})


def test_a_robot_needs_a_joint() -> None:
    with pytest.raises(InputError, match="no joints"):
        th.Robot.of("stone", [th.Row(th.Convention.KK, th.Joint.FIXED)])


def test_groups_tell_base_arm_and_tool() -> None:
    groups = {p.name: p.group for p in th.robots.puma560().parameters}
    assert groups["theta0"] is groups["alpha1"] is Group.BASE
    assert groups["theta1"] is groups["r1"] is groups["alpha2"] is Group.ARM
    assert groups["r7"] is Group.TOOL
