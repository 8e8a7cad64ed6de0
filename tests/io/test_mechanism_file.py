"""Mechanisms in files: what is written reads back to the last bit, what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.random_mechanisms import polygon_robot
from theodolite.errors import InputError
from theodolite.io.robot_file import format_robot, parse_robot

FOURBAR = th.robots.text("fourbar")


@pytest.mark.parametrize("name", th.robots.MECHANISMS)
def test_built_in_mechanisms_reload_identically(name: str, tmp_path: Path) -> None:
    robot = th.perturb(
        th.robots.load(name), th.ParameterErrors(1e-3, 1e-3, 1e-3), np.random.default_rng(0)
    ).with_priorities({th.robots.load(name).parameters[0].name: 0})
    th.write_robot(robot, tmp_path / "robot.toml")
    again = th.read_robot(tmp_path / "robot.toml")
    assert vars_of(again) == vars_of(robot)
    np.testing.assert_array_equal(again.values, robot.values)


def vars_of(robot: th.Mechanism) -> dict:
    fields = ("name", "bodies", "tool", "closures", "active", "constants", "priorities", "source")
    return {field: getattr(robot, field) for field in fields}


def test_named_constants_are_shared() -> None:
    """One length for crank and rocker: one parameter, felt at both places."""
    text = FOURBAR.replace("Ty(300)", "Ty(L)").replace("Ty(500)", "Ty(L+200)")
    text += "\n[constants]\nL = 300\n"
    robot, plain = parse_robot(text, "shared"), parse_robot(FOURBAR, "plain")
    assert "L" in [parameter.name for parameter in robot.parameters]
    motors = plain.random_motors(5, np.random.default_rng(0))
    np.testing.assert_allclose(robot.poses(motors)[1], plain.poses(motors)[1], atol=1e-12)
    longer = robot.with_values({"L": 0.31})
    other = plain.with_values({"crank.Ty": 0.31, "rocker.Ty": 0.51})
    np.testing.assert_allclose(longer.poses(motors)[1], other.poses(motors)[1], atol=1e-12)
    assert parse_robot(format_robot(robot), "again").constants == robot.constants


def test_a_rod_is_a_ball_jointed_bar() -> None:
    """The coupler of the spatial loop as a body with two joints, or as a rod: the same motion."""
    rssr = th.robots.load("rssr")
    text = th.robots.text("rssr")
    lines = [line for line in text.splitlines() if '"u"' not in line and '"v"' not in line]
    rod = "\n".join(line for line in lines if '"coupler"' not in line)
    rod += (
        '\nclosures = [ { name = "rod", kind = "rod", ends = ["crank", "rocker"], length = 400 } ]'
    )
    rod = rod.replace("closures = [\n]", "")
    robot = parse_robot(rod, "rod")
    motors = rssr.random_motors(20, np.random.default_rng(1))
    active = motors[:, [0, 1]]
    found = np.column_stack([active, motors[:, -1]])
    np.testing.assert_allclose(robot.poses(found)[1], rssr.poses(motors)[1], atol=1e-11)
    assert robot.equations == 1


def test_a_parallelogram_keeps_its_coupler_parallel() -> None:
    """The palletizer's hand stays level, whatever its motors do."""
    robot = th.robots.load("palletizer")
    turned, _ = robot.poses(robot.random_motors(50, np.random.default_rng(0)))
    np.testing.assert_allclose(turned[:, :, 2], np.tile([0.0, 0.0, -1.0], (50, 1)), atol=1e-9)
    # The crank gives the forearm's direction: x = 300 + 1000 cos q2 + 1200 cos q3 + 150 + 60 ...
    motors = np.radians([[0.0, 80.0, 20.0, 0.0]])
    x = 0.3 + np.cos(np.radians(80)) + 1.2 * np.cos(np.radians(20)) + 0.15 + 0.06
    z = 0.8 + np.sin(np.radians(80)) + 1.2 * np.sin(np.radians(20)) - 0.25
    np.testing.assert_allclose(robot.poses(motors)[1][0], [x, -0.04, z], atol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('on = "crank"', 'on = "nowhere"', "stands on 'nowhere', which is not above it"),
        ('tool = "hand"', 'tool = "foot"', "the tool is 'foot', which is not a body"),
        ('"base", "ground"', '"base", "sky"', "closure 'loop' ends at 'sky'"),
        ('kind = "planar"', 'kind = "glued"', "no kind 'glued'; allowed: frame, planar, point"),
        ("Rz(a1)", "Rz(a9)", "bodies, row 3: 'a9' is neither a joint nor a constant"),
        ("Rz(a1) Ty(600)", "Rz(a1) Ta(600)", "bodies, row 3: cannot read"),
        ('"a1", passive = true', '"a1"', "'a1' is measured but has no limits"),
        (
            'name = "t1", min = -170',
            'name = "t1", min = 170',
            "joints, row 2: min is not below max",
        ),
        ('"fourbar"\n', '"fourbar"\nspeed = 3\n', "unknown key 'speed'"),
        ('name = "t2"', 'name = "set"', "would be taken for a measurement"),
        ('kind = "planar"', 'kind = "point", length = 3', "only a rod has a length"),
        ('kind = "planar", ends', 'kind = "rod", length = 300, ends', "1 closure equations cannot"),
    ],
)
def test_bad_mechanisms_are_refused(old: str, new: str, message: str) -> None:
    assert old in FOURBAR
    with pytest.raises(InputError, match=r"robot\.toml") as error:
        parse_robot(FOURBAR.replace(old, new, 1), "robot.toml")
    assert message in str(error.value)


def test_a_loop_that_does_not_close_at_home_is_said() -> None:
    robot = parse_robot(FOURBAR.replace("Ty(600)", "Ty(6000)"), "long.toml")
    with pytest.raises(InputError, match="do not close at home"):
        robot.random_motors(3, np.random.default_rng(0))


def test_missing_guesses_are_said() -> None:
    robot = parse_robot(FOURBAR.replace(", home = -39", ""), "no-guess.toml")
    with pytest.raises(InputError, match="passive joint a1 of 'fourbar' has no home"):
        robot.random_motors(3, np.random.default_rng(0))


@pytest.mark.parametrize("links", [4, 5])
def test_paths_through_the_tree_close_whichever_end_is_first(links: int) -> None:
    """Inverse chains: the same loops with the ends of the closure swapped."""
    robot = polygon_robot(np.random.default_rng(3), links)
    text = format_robot(robot)
    swapped = parse_robot(text.replace(f'["base", "bar{links}"]', f'["bar{links}", "base"]'), "s")
    motors = robot.random_motors(10, np.random.default_rng(0))
    np.testing.assert_allclose(swapped.poses(motors)[1], robot.poses(motors)[1], atol=1e-11)
