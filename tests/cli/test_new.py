"""Robot files from DH tables: complete by default, reversed joints, and what is said about it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import theodolite as th

#: Joints 2 and 3 are parallel, so that a DH table lacks a parameter between them.
TABLE = """joint; theta [deg]; d [mm]; a [mm]; alpha [deg]; sign; qmin [deg]; qmax [deg]
S; 0; 450; 150; -90; 1; -170; 170
L; -90; 0; 614; 180; -1; -60; 150
U; 0; 0; 200; -90; 1; -80; 90
R; 0; -640; 0; 90; 1; -190; 190
B; -90; 0; 30; 90; 1; -130; 130
T; 0; 200; 0; 0; 1; -360; 360
"""


def by_hand(q: np.ndarray) -> np.ndarray:
    """Rz(theta) Tz(d) Tx(a) Rx(alpha), row by row."""
    T = np.eye(4)
    rows = [line.split(";")[1:6] for line in TABLE.splitlines()[1:]]
    for angle, (theta, d, a, alpha, sign) in zip(q, (map(float, row) for row in rows), strict=True):
        turn, twist = np.radians(theta) + sign * angle, np.radians(alpha)
        c, s, ca, sa = np.cos(turn), np.sin(turn), np.cos(twist), np.sin(twist)
        T = T @ np.array(
            [
                [c, -s * ca, s * sa, a * c / 1e3],
                [s, c * ca, -c * sa, a * s / 1e3],
                [0, sa, ca, d / 1e3],
                [0, 0, 0, 1],
            ]
        )
    return T


def made(theodolite, *options: str) -> tuple[th.Robot, dict]:
    Path("arm.csv").write_text(TABLE)
    code, out, errors = theodolite("new", "arm.csv", "arm.toml", "--force", "--json", *options)
    assert code == 0, errors
    return th.read_robot("arm.toml"), json.loads(out)


@pytest.mark.parametrize("convention", [None, "dh", "kk", "hayati", "pose", "generalized"])
def test_a_table_moves_as_it_says_in_every_convention(theodolite, convention: str | None) -> None:
    robot, _ = made(theodolite, *([] if convention is None else ["--convention", convention]))
    for q in robot.random_motors(5, np.random.default_rng(0)):
        R, p = robot.poses(q)
        np.testing.assert_allclose(p[0], by_hand(q)[:3, 3], atol=1e-12)
        np.testing.assert_allclose(R[0], by_hand(q)[:3, :3], atol=1e-12)


def test_limits_are_those_that_the_controller_shows(theodolite) -> None:
    robot, _ = made(theodolite)
    motors = robot.random_motors(2000, np.random.default_rng(0))
    assert np.degrees(motors[:, 1]).min() == pytest.approx(-60, abs=1)
    assert np.degrees(motors[:, 1]).max() == pytest.approx(150, abs=1)


def test_an_incomplete_table_becomes_complete_and_says_so(theodolite) -> None:
    robot, said = made(theodolite)
    assert th.completeness(robot).complete
    assert said["missing"] == []
    assert "between joints 2 and 3" in said["notes"][0]
    assert "written as hayati" in said["notes"][0]
    assert robot.source == "dh table arm.csv, as hayati"
    code, out, _ = theodolite("new", "arm.csv", "again.toml")
    assert code == 0
    assert "written as hayati" in " ".join(out.split())
    robot, said = made(theodolite, "--convention", "dh")
    assert not th.completeness(robot).complete
    assert len(said["missing"]) == 1
    assert {row.convention.value for row in robot.frames} == {"pose", "dh"}


def test_a_complete_table_stays_as_it_is(theodolite) -> None:
    Path("t.csv").write_text("theta_deg,d_mm,a_mm,alpha_deg\n0,100,0,90\n0,0,200,-80\n")
    code, out, _ = theodolite("new", "t.csv", "t.toml", "--json")
    assert code == 0
    assert json.loads(out)["notes"] == []
    assert [row.convention.value for row in th.read_robot("t.toml").frames] == [
        *("pose", "dh", "dh", "pose")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["arm.csv", "--convention", "paul"], "--convention paul; allowed: kk, dh"),
        (["puma560", "--tip", "tool0"], "--root and --tip are for URDF files"),
        (["loop.csv"], "loop.csv: cannot be read"),
        (["n" * 300 + ".csv"], "File name too long"),
    ],
)
def test_what_cannot_be_made_is_said(theodolite, arguments: list[str], message: str) -> None:
    Path("arm.csv").write_text(TABLE)
    Path("loop.csv").symlink_to("loop.csv")
    source, *options = arguments
    code, out, errors = theodolite("new", source, "x.toml", *options)
    assert (code, out) == (2, "")
    assert message in errors
    assert not Path("x.toml").exists()
