"""The single-point sensor through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def test_the_command_line(theodolite) -> None:
    code, _, errors = theodolite(
        "generate", "puma560", "-m", "point-sensor", "--points", 50, "--per-set", 5,
        "--noise-mm", 0.05, "--error-mm", 1, "--error-mrad", 2, "--out", "d.csv",
    )  # fmt: skip
    assert code == 0, errors
    code, out, _ = theodolite("identify", "puma560", "d.csv", "-m", "point-sensor", "--json")
    found = json.loads(out)
    assert code == 0, found["doubts"]
    assert found["rank"] == 36
    assert np.abs(np.linalg.det(found["found"]["fixture"]["rotation"]) - 1.0) < 1e-9
    rows = [line.split(",") for line in Path("d.csv").read_text().splitlines()]
    for row in rows[1:]:
        if row[-3]:
            # All targets on one line.
            row[-2] = "0.0"
            row[-3] = repr(float(row[-3]) + (10.0 if row[-1] == "0.0" else 0.0))
    rows[-1][-3] = "33.0"
    rows[-2][-3] = "44.0"
    Path("d.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    code, _, errors = theodolite("identify", "puma560", "d.csv", "-m", "point-sensor")
    assert code == 2
    assert "lines 52 to 71: the targets lie on one line" in " ".join(errors.split())
    rows[10][6] = ""
    Path("d.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    code, _, errors = theodolite("identify", "puma560", "d.csv", "-m", "point-sensor")
    assert code == 2
    assert "line 11: x_mm is blank, but not the rest of the point" in " ".join(errors.split())
    rows[10][6:9] = ["", "", ""]
    Path("d.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    code, _, errors = theodolite("identify", "puma560", "d.csv", "-m", "point-sensor")
    assert code == 2
    assert "line 11 has neither a position nor a touched target" in " ".join(errors.split())


def test_the_fixture_turns_the_tool(theodolite) -> None:
    """The tool in the fixture, eq. 77 of the report: orientations get better, not worse."""
    code, out, errors = theodolite(
        "generate", "puma560", "-m", "point-sensor", "--points", 60, "--per-set", 5,
        "--noise-mm", 0.05, "--error-mm", 3, "--error-mrad", 6, "--out", "d.csv",
        "--save-true", "true.toml", "--json",
    )  # fmt: skip
    assert code == 0, errors
    turn = ",".join(map(repr, json.loads(out)["tool_turn_deg"]))
    theodolite(
        "generate", "puma560", "--true", "true.toml", "-m", "frame", "--points", 100,
        "--seed", 9, "--out", "poses.csv",
    )  # fmt: skip
    turned = {}
    for name, options in {"with": [f"--tool-turn={turn}"], "without": []}.items():
        code, out, errors = theodolite(
            "identify", "puma560", "d.csv", "-m", "point-sensor", *options, "--out", f"{name}.toml"
        )
        assert code == 0, errors
        sentence = "the calibrated tool has the orientation that the fixture shows"
        assert (sentence in out) == bool(options)
        _, out, _ = theodolite(
            "validate", f"{name}.toml", "poses.csv", "--nominal", "puma560", "--json"
        )
        found = json.loads(out)
        turned[name] = 1e-3 * found["orientation"]["rms_mrad"]
        before = 1e-3 * found["nominal"]["orientation"]["rms_mrad"]
    # Ten touches 0.05 mm off at arms of about 100 mm show a turn to parts of a mrad.
    assert turned["with"] < 1e-3 < 5e-3 < before < turned["without"]
    # The file itself, against the nominal robot: touches have no reading.
    code, out, errors = theodolite("validate", "with.toml", "d.csv", "--nominal", "puma560")
    assert code == 0, errors


def test_how_the_tool_is_turned_must_be_a_rotation(theodolite) -> None:
    theodolite("generate", "puma560", "-m", "point-sensor", "--points", 9, "--out", "d.csv")
    for wrong in ("1,2", "a,b,c", "1,2,1e308", "nan,0,0"):
        code, _, errors = theodolite(
            "identify", "puma560", "d.csv", "-m", "point-sensor", f"--tool-turn={wrong}"
        )
        assert code == 2 and "roll,pitch,yaw in deg" in " ".join(errors.split())
    code, _, errors = theodolite("identify", "puma560", "d.csv", "-m", "frame", "--tool-turn=1,2,3")
    assert code == 2 and "point-sensor" in errors
