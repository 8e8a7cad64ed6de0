"""Robot files: identical after a round trip, and clear about what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import theodolite as th
from tests.random_robots import random_robots
from theodolite.errors import InputError
from theodolite.io.robot_file import format_robot, parse_robot


def assert_identical(one: th.Robot, other: th.Robot) -> None:
    assert one.frames == other.frames
    assert one.name == other.name
    assert one.source == other.source
    assert one.targets == other.targets
    assert one.priorities == other.priorities
    for field in ("com", "coa", "gains", "offset"):
        np.testing.assert_array_equal(
            getattr(one.transmission, field), getattr(other.transmission, field)
        )
    np.testing.assert_array_equal(one.lower, other.lower)
    np.testing.assert_array_equal(one.upper, other.upper)


@given(random_robots())
def test_random_robots_reload_identically(robot: th.Robot) -> None:
    assert_identical(parse_robot(format_robot(robot), "text"), robot)


@pytest.mark.parametrize("name", th.robots.SERIAL)
def test_built_in_robots_reload_identically(name: str, tmp_path: Path) -> None:
    robot = th.robots.load(name).with_priorities({"K1": 0})
    robot = replace(robot, name='arm "1" \\ \u00e9', source="tab\tand [/bold]")
    robot = robot.with_targets([th.Target("ball1", (0.1, 1 / 3, -0.2))])
    th.write_robot(robot, tmp_path / "robot.toml")
    assert_identical(th.read_robot(tmp_path / "robot.toml"), robot)


TEXT = """
format = "theodolite robot 1"
name = "two"
units = { length = "mm", angle = "deg" }
frames = [
  { sigma = 0, alpha = 90, d = 100 },
  { sigma = 1, r = 50, K = 2 },
]
Qmin = [-180, -100]
Qmax = [180, 100]
"""


def test_units_are_declared_in_the_file() -> None:
    robot = parse_robot(TEXT, "two.toml")
    assert robot.frames[0].values == {"alpha": pytest.approx(np.pi / 2), "d": pytest.approx(0.1)}
    assert robot.transmission.gains[1] == 2
    metres = parse_robot(TEXT.replace('"mm"', '"m"'), "two.toml")
    assert metres.frames[0].values["d"] == 100


def test_vectors_may_have_one_entry_per_frame_as_in_the_paper() -> None:
    text = TEXT.replace("frames = [", "frames = [ { sigma = 2 },")
    text = text.replace("[-180, -100]", "[0, -90, -10]").replace("[180, 100]", "[0, 90, 10]")
    robot = parse_robot(f"{text}Offset = [0, 90, 10]\n", "f")
    np.testing.assert_allclose(robot.transmission.offset, [np.pi / 2, 0.01])
    matrix = "Coa = [[0, 0, 0], [1, 0.5, 0], [0, 1, 0]]"
    np.testing.assert_array_equal(
        parse_robot(f"{text}{matrix}", "f").transmission.coa, [[1, 0.5], [0, 1]]
    )


def test_a_priority_matrix_in_the_file_is_read() -> None:
    text = TEXT + "priorities = [[1, 2, 3, 4, 5, 6], [0, 0, 0, 7, 0, 0]]"
    robot = parse_robot(text, "f")
    by_name = {p.name: robot.priority(p) for p in robot.parameters}
    assert by_name["alpha1"] == 1
    assert by_name["K1"] == 6
    assert by_name["r2"] == 7
    assert by_name["theta2"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("frames = [", "frames = [ {"), "not a valid robot file"),
        (('format = "theodolite robot 1"', ""), "the format is None"),
        (("robot 1", "robot 9"), "allowed: 'theodolite robot 1'"),
        (("alpha", "alpah"), "frames, row 1: unknown key 'alpah'; allowed: convention"),
        (("sigma = 0", "sigma = 3"), "row 1: sigma is 3; allowed: 0"),
        (("d = 100", 'd = "long"'), "row 1, d is 'long', not a number"),
        (("d = 100", "d = nan"), "row 1, d is nan"),
        (('"mm"', '"furlong"'), "unit of length is 'furlong'; allowed: m, mm"),
        (("units", "unit"), "unknown key 'unit'"),
        (("sigma = 1", "sigma = 2"), "a fixed frame has no gain K"),
        (("K = 2", "K = 0"), "singular"),
        (("frames", "convention = 'paul'\nframes"), "no convention 'paul'; allowed: kk, dh"),
        (("Qmin = [-180, -100]", "Qmin = [1]"), "Qmin has the wrong length"),
        (("Qmax = [180, 100]", "Qmax = [-180, 2]"), "not below Qmax for joint 1"),
        (("Qmax = [180, 100]", ""), "has no Qmax"),
        (("frames", "Com = [[1, 0]]\nframes"), "Com is 1 x 2; allowed: 2 x 2"),
        (("frames", "priorities = [[1]]\nframes"), "priority matrix has 1 rows; allowed: 2 rows"),
        (("frames", "priorities = { d9 = 1 }\nframes"), "unknown key 'd9'"),
        (("frames", "targets = [ { xyz = [1, 2, 3] } ]\nframes"), "targets, row 1 has no name"),
    ],
)
def test_what_is_wrong_is_said(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_robot(TEXT.replace(*change), "two.toml")
    assert message in str(error.value)
    assert str(error.value).startswith("two.toml: ")


def test_a_robot_without_joints_is_refused() -> None:
    text = TEXT.replace("sigma = 0", "sigma = 2").replace("sigma = 1, r = 50, K = 2", "sigma = 2")
    with pytest.raises(InputError, match="no joints"):
        parse_robot(text, "f")


@pytest.mark.parametrize("cut", [30, 60, 140])
def test_a_truncated_file_is_refused(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.toml"
    path.write_text(th.robots.text("puma560")[:-cut])
    with pytest.raises(InputError, match=r"cut\.toml"):
        th.read_robot(path)


def test_nothing_is_overwritten_or_half_written(tmp_path: Path) -> None:
    path = tmp_path / "robot.toml"
    th.write_robot(th.robots.scara(), path)
    before = path.read_text()
    with pytest.raises(InputError, match="exists already"):
        th.write_robot(th.robots.puma560(), path)
    assert path.read_text() == before
    th.write_robot(th.robots.puma560(), path, force=True)
    assert th.read_robot(path).name == "puma560"
    assert [item.name for item in tmp_path.iterdir()] == ["robot.toml"]
    with pytest.raises(InputError, match="folder does not exist"):
        th.write_robot(th.robots.puma560(), tmp_path / "nowhere" / "robot.toml")


@pytest.mark.parametrize(
    ("product", "message"),
    [
        ("Tx(1e999) Rz(q)", "numbers below"),
        ("Rz(q+nan)", "neither a joint nor a constant"),
        ("Rz(q+1_0)", "cannot read"),
        ("Rz(q) Rx(q)", "does not fit sigma"),
        ("Tz(q)", "does not fit sigma"),
        ("Rz(t)", "neither a joint nor a constant"),
        ("Rw(1)", "cannot read 'Rw(1)'"),
        ("", "has no elements"),
    ],
)
def test_bad_products_are_refused(product: str, message: str) -> None:
    text = TEXT.replace(
        "{ sigma = 0, alpha = 90, d = 100 }",
        f'{{ convention = "product", sigma = 0, product = "{product}" }}',
    )
    with pytest.raises(InputError) as error:
        parse_robot(text, "f")
    assert message in str(error.value)
    assert "row 1" in str(error.value)
