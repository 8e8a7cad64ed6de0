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
    assert "lines 52 to 71: the targets stand on one line" in " ".join(errors.split())
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
