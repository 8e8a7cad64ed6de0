"""The verbs of dynamics."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.inertial.test_identify import GAINS, simulated


def test_identifiable_prints_the_relations(theodolite) -> None:
    code, out, _ = theodolite("dynamics", "identifiable", "puma560")
    assert code == 0
    assert "40 of 66 parameters are identifiable" in out
    _, out, _ = theodolite("dynamics", "identifiable", "puma560", "--no-rotors", "--json")
    assert json.loads(out)["rank"] == 36
    _, out, _ = theodolite("dynamics", "identifiable", "puma560", "--friction", "--json")
    assert json.loads(out)["rank"] == 58


def written(data, name: str, change=None) -> None:
    """A simulated motion as a recording with 30 samples per second."""
    times = np.arange(len(data.torques)) / 29.95
    tables = {"q": data.state.q, "qd": data.state.qd, "qdd": data.state.qdd, "tau": data.torques}
    units = {"q": "rad", "qd": "rad_s", "qdd": "rad_s2", "tau": "Nm"}
    columns = {"t_s": times}
    for kind, table in tables.items():
        for joint in range(6):
            columns[f"{kind}{joint + 1}_{units[kind]}"] = table[:, joint]
    if change is not None:
        change(columns)
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(repr(float(v)) for v in row) for row in rows)]
    Path(name).write_text("\n".join(lines) + "\n")


def test_identify_and_validate(theodolite) -> None:
    written(simulated(1)[1], "fit.csv")
    for way in ("ordinary", "weighted", "essential", "consistent"):
        code, out, errors = theodolite(
            "dynamics", "identify", "puma560", "fit.csv", "--way", way, "--out", "p.json",
            "--cutoff", 10, "--whole", "--force", "--json",
        )  # fmt: skip
        assert code == 0, errors + out
        assert json.loads(out)["error"] < 0.05
        code, out, _ = theodolite(
            "dynamics", "validate", "puma560", "p.json", "fit.csv", "--cutoff", 10, "--whole",
            "--json",
        )  # fmt: skip
        assert code == 0
        assert json.loads(out)["error"] < 0.05


def test_the_real_ur10e(theodolite, recordings: Path) -> None:
    folder = recordings / "ur10e-dynamics"
    names = ["t_s"]
    for kind in ("q{}_rad", "qd{}_rad_s", "i{}_A", "x{}", "y{}"):
        names += [kind.format(joint) for joint in range(1, 7)]
    ignored = ",".join(name for name in names if name[0] in "xy")
    options = (
        "--columns", ",".join(names), "--ignore", ignored, "--gravity", "0,0,-9.81",
        "--drive-gains", ",".join(map(str, GAINS)), "--json",
    )  # fmt: skip
    code, out, errors = theodolite(
        "dynamics", "identify", "ur10e", folder / "ur-20_02_10-30sec_12harm.csv",
        "--check", folder / "ur-20_02_12-40sec_12harm.csv", *options,
    )  # fmt: skip
    assert code == 0, errors
    assert json.loads(out)["checked_error"] < 0.052


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("tau3_Nm"), "column tau3_Nm is missing"),
        (lambda c: c.pop("t_s"), "column t_s is missing"),
        (lambda c: c.update({"tau9_Nm": c["tau1_Nm"]}), "has 6 joints"),
        (lambda c: c.update({"speed": c["t_s"]}), "unknown column 'speed'"),
        (lambda c: [c.pop(f"tau{j}_Nm") for j in range(1, 7)], "neither torques nor currents"),
    ],
)
def test_bad_recordings_are_refused(theodolite, change, message: str) -> None:
    written(simulated(1)[1], "bad.csv", change)
    code, _, errors = theodolite("dynamics", "identify", "puma560", "bad.csv")
    assert code == 2
    assert message in " ".join(errors.split())
