"""``check``: what files hold, what their columns seem to be, and a mapping to keep."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def foreign(theodolite) -> Path:
    """A file as a German tracker program would write it, with two joints the other way."""
    code, _, errors = theodolite(
        "generate", "puma560", "-m", "position", "--points", 60, "--error-mm", 2, "--error-mrad", 3,
        "--noise-mm", 0.05, "--out", "plain.csv",
    )  # fmt: skip
    assert code == 0, errors
    rows = [line.split(",") for line in Path("plain.csv").read_text().splitlines()[1:]]
    lines = ["Messung vom Montag", "Nr;A1;A2;A3;A4;A5;A6;X;Y;Z;Zeit"]
    for number, row in enumerate(np.array(rows, dtype=float)):
        row[[1, 4]] *= -1
        row[6:] /= 1e3
        cells = ";".join(repr(float(value)).replace(".", ",") for value in row)
        lines.append(f"P{number};{cells};02.01.2024 10:30")
    Path("foreign.csv").write_bytes("\r\n".join(lines).encode("utf-16"))
    return Path("foreign.csv")


def test_a_foreign_file_is_understood_and_calibrated(theodolite, foreign: Path) -> None:
    arguments = ["check", foreign, "--robot", "puma560"]
    code, out, errors = theodolite(*arguments, "--save-mapping", "m.toml")
    assert (code, errors) == (1, "")
    assert "foreign.csv: unknown column 'A1'" in out
    assert "found: joints 2 and 5 reversed" in out
    assert "sure: it fits, and nothing else does" in out
    assert '--map "q1_deg=A1,q2_deg=-A2,q3_deg=A3,q4_deg=A4,q5_deg=-A5' in out
    code, out, _ = theodolite(*arguments, "--mapping", "m.toml", "--json")
    assert code == 0
    held = json.loads(out)["files"][0]
    assert held["rows"] == 60
    assert held["method"] == "position"
    assert not held["doubtful"]


def test_a_good_file_needs_no_mapping(theodolite, foreign: Path) -> None:
    code, out, _ = theodolite("check", "puma560", "plain.csv")
    assert code == 0
    assert "mm rms from the nominal robot, with base and target fitted" in out
    assert "--map" not in out
    code, out, _ = theodolite("check", "plain.csv", "--robot", "puma560", "--json")
    proposal = json.loads(out)["files"][0]["proposal"]
    assert proposal["findings"] == []
    assert 0.5 < proposal["rms_mm"] < 20


def test_a_mapping_on_the_command_line(theodolite, foreign: Path) -> None:
    text = "q1_deg=A1,q2_deg=-A2,q3_deg=A3,q4_deg=A4,q5_deg=-A5,q6_deg=A6,x_mm=1e3*X,y_m=Y,z_m=Z"
    code, out, errors = theodolite("check", foreign, "--robot", "puma560", "--map", text)
    assert code == 0, errors
    assert "60 configurations of puma560 with positions" in out
    Path("m.toml").write_text('format = "theodolite mapping 1"\n[columns]\nq1_deg = "Zeit"\n')
    code, _, errors = theodolite("check", foreign, "--robot", "puma560", "--mapping", "m.toml")
    assert code == 2
    assert "column 'Zeit': '02.01.2024 10:30' is not a number" in errors


def test_no_mapping_is_overwritten_or_made_up(theodolite, foreign: Path) -> None:
    Path("m.toml").write_text("mine")
    code, _, errors = theodolite("check", foreign, "--robot", "puma560", "--save-mapping", "m.toml")
    assert code == 2
    assert "exists already" in errors
    assert Path("m.toml").read_text() == "mine"
    code, out, _ = theodolite("check", foreign, "--robot", "ur10e")
    assert code == 1
    assert "no interpretation of these columns fits the robot" in out
    assert "proposed" not in out
    code, _, errors = theodolite("check", foreign, "--robot", "ur10e", "--save-mapping", "n.toml")
    assert code == 2
    assert "there is no mapping to write" in errors


def test_rows_that_were_not_seen_are_counted(theodolite, foreign: Path) -> None:
    lines = Path("plain.csv").read_text().splitlines()
    cells = lines[5].split(",")
    lines[5] = ",".join([*cells[:6], "", "", ""])
    Path("gaps.csv").write_text("\n".join(lines))
    code, out, _ = theodolite("check", "puma560", "gaps.csv")
    assert code == 0
    assert "59 configurations" in out
    assert "1 of 60 rows are left out" in out


def test_names_with_markup_and_escapes_are_shown(theodolite) -> None:
    Path("[bold].csv").write_text("\x1b[31mJ1\x1b[0m,[/bold],b\n1,2,3\n")
    code, out, errors = theodolite("check", "scara", "[bold].csv")
    assert code == 2
    assert "[bold].csv: unknown column" in errors
    assert "\x1b" not in out + errors
    text = Path("r.toml")
    for name in ("[/x]", "[red]red", "a\\\\[b]"):
        text.write_text(ROBOT.replace("two", name))
        code, out, errors = theodolite("check", "r.toml")
        assert (code, errors) == (0, "")
        assert name.replace("\\\\", "\\") in out
    text.write_text(ROBOT.replace("two", r"\u001b[31m"))
    code, out, errors = theodolite("check", "r.toml")
    assert code == 2
    assert "name has characters that cannot be shown" in errors
    assert "\x1b" not in out + errors


ROBOT = """
format = "theodolite robot 1"
name = "two"
units = { length = "mm", angle = "deg" }
frames = [ { sigma = 0, alpha = 90, d = 100 }, { sigma = 1, r = 50 } ]
Qmin = [-180, -100]
Qmax = [180, 100]
"""
