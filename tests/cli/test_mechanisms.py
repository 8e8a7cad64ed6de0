"""Closed loops through the command line: the verbs, and rows that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import theodolite as th


def generated(theodolite, robot: str, *options: object) -> list[list[str]]:
    code, _, errors = theodolite(
        "generate", robot, "-m", "frame", "--points", 40, "--out", "d.csv", "--force", *options
    )
    assert code == 0, errors
    return [line.split(",") for line in Path("d.csv").read_text().splitlines()]


def written(rows: list[list[str]], without: tuple[str, ...] = ()) -> None:
    keep = [index for index, name in enumerate(rows[0]) if name not in without]
    lines = [",".join(row[index] for index in keep) for row in rows]
    Path("d.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("robot", th.robots.MECHANISMS)
def test_a_mechanism_is_calibrated(theodolite, robot: str) -> None:
    errors = ("--error-mm", 1, "--error-mrad", 2, "--noise-mm", 0.05, "--noise-mrad", 0.05)
    generated(theodolite, robot, *errors, "--save-true", "true.toml")
    code, out, _ = theodolite(
        "identify", robot, "d.csv", "-m", "frame", "--out", "cal.toml", "--json"
    )
    result = json.loads(out)
    assert code == 0, result["doubts"]
    assert result["status"] == "converged"
    assert result["held_out"]["better"]
    assert result["rms"]["mm"] < 0.12
    if th.robots.load(robot).closures:
        held = result["found"]["multipliers"]
        assert held["status"] == "converged"
        assert len(held["values"]) == 40
    theodolite(
        "generate", "true.toml", "-m", "frame", "--points", 30, "--seed", 9, "--out", "f.csv"
    )
    code, out, _ = theodolite("validate", "cal.toml", "f.csv", "--json")
    assert json.loads(out)["position"]["rms_mm"] < 0.3


@pytest.mark.parametrize("robot", th.robots.MECHANISMS)
def test_identifiable_and_check_speak_of_mechanisms(theodolite, robot: str) -> None:
    code, out, _ = theodolite("identifiable", robot, "-m", "frame", "--json")
    assert code == 0
    found = json.loads(out)
    assert 0 < found["rank"] <= found["candidates"]
    code, out, _ = theodolite("check", robot)
    assert code == 0
    assert ("spring lift: hook to pin" if robot == "mtm" else "closure") in out


def test_counts_of_the_five_bar(theodolite) -> None:
    for method, rank in (("frame", 22), ("position", 19)):
        _, out, _ = theodolite("identifiable", "fivebar", "-m", method, "--json")
        found = json.loads(out)
        assert (found["rank"], found["candidates"]) == (rank, 28)


def test_the_branch_is_the_homes_where_the_data_say_nothing(theodolite) -> None:
    rows = generated(theodolite, "fourbar")
    written(rows, without=("a1_deg", "a2_deg", "a3_deg"))
    code, out, _ = theodolite("validate", "fourbar", "d.csv", "--json")
    assert code == 0
    assert json.loads(out)["position"]["max_mm"] < 1e-6


def refused(theodolite, robot: str = "fourbar") -> str:
    code, _, errors = theodolite("identify", robot, "d.csv", "-m", "frame")
    assert code == 2
    return " ".join(errors.split())


def test_rows_on_another_branch_are_named(theodolite) -> None:
    """The position of another assembly with the guesses of this one."""
    rows = generated(theodolite, "fourbar")
    column = rows[0].index("x_mm")
    robot = th.robots.load("fourbar")
    import numpy as np

    from theodolite.calibration.assembly import _other_assemblies

    active = np.radians([float(cell) for cell in rows[5][:3]])
    passive = _other_assemblies(robot, active)
    tips = robot.poses(np.column_stack([np.tile(active, (len(passive), 1)), passive]))[1]
    here = np.array([float(cell) for cell in rows[5][column : column + 3]])
    far = tips[np.argmax(np.linalg.norm(1e3 * tips - here, axis=1))]
    rows[5][column : column + 3] = [repr(float(1e3 * value)) for value in far]
    written(rows)
    sentence = "line 6: the position fits a different assembly branch of 'fourbar'"
    assert sentence in refused(theodolite)


def test_wrong_guesses_are_named(theodolite) -> None:
    rows = generated(theodolite, "fourbar")
    rows[7][rows[0].index("a2_deg")] = "100"
    written(rows)
    message = refused(theodolite)
    assert "line 8: column a" in message
    assert "the assembly found from there has it at" in message


def test_rows_that_cannot_close_are_named(theodolite) -> None:
    rows = generated(theodolite, "fivebar")
    for row in (3, 4):
        rows[row][rows[0].index("t1_deg")] = "175"
        rows[row][rows[0].index("t2_deg")] = "45"
    written(rows, without=("a1_deg", "a2_deg", "a3_deg"))
    code, _, errors = theodolite("identify", "fivebar", "d.csv", "-m", "frame", "--ignore-limits")
    assert code == 2
    message = " ".join(errors.split())
    assert "lines 4, 5: the loops of 'fivebar' cannot close there" in message


def test_half_of_the_guesses_is_none(theodolite) -> None:
    rows = generated(theodolite, "fourbar")
    written(rows, without=("a2_deg",))
    assert "there are guesses of a1, a3 but not of a2" in refused(theodolite)


def test_what_is_only_for_serial_robots_is_said(theodolite) -> None:
    code, _, errors = theodolite("identifiable", "fivebar", "-m", "frame", "--model", "kk")
    assert code == 2
    assert "completeness is defined only for serial robots" in errors
    code, _, errors = theodolite("new", "fivebar", "f.toml", "--convention", "dh")
    assert code == 2
    assert not Path("f.toml").exists()
