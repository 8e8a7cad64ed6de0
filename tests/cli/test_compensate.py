"""``compensate`` through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import theodolite as th
from tests.compensation.test_compensate import wanted_of
from theodolite.compensation.compensate import compensate


def test_the_verb_writes_joints_and_poses(theodolite, tmp_path: Path) -> None:
    true, nominal, motors, targets = wanted_of("puma560", 20)
    good = compensate(true, nominal, targets, seed=motors, world=True).found.good
    chosen = np.flatnonzero(good)[:12]
    motors, targets = motors[chosen], targets.take(chosen)
    th.write_robot(true, tmp_path / "true.toml")
    data = th.Dataset(motors, positions=targets.positions, rotations=targets.rotations)
    th.write_measurements(data, nominal, tmp_path / "targets.csv")
    code, out, errors = theodolite(
        "compensate", tmp_path / "true.toml", tmp_path / "targets.csv", "--nominal", "puma560",
        "--world", "--out", "commands.csv", "--details", "details.csv", "--json",
    )  # fmt: skip
    assert code == 0, errors
    content = json.loads(out)
    assert content["reached"] == 12
    assert content["left_mm"]["max"] < 1e-6 < 1.0 < content["before_mm"]["max"]
    rows = th.read_measurements("commands.csv", nominal, check_limits=False)
    assert len(Path("details.csv").read_text().splitlines()) == 13
    reached = true.fk(rows.motors).position
    np.testing.assert_allclose(reached, targets.positions, atol=1e-9)
    code, out, _ = theodolite(
        "compensate", tmp_path / "true.toml", tmp_path / "targets.csv", "--nominal", "puma560",
        "--world",
    )  # fmt: skip
    assert "12 of 12 targets are reached" in out
    (tmp_path / "far.csv").write_text("x_mm,y_mm,z_mm\n9000,0,0\n400,300,200\n")
    code, out, _ = theodolite(
        "compensate", tmp_path / "true.toml", tmp_path / "far.csv", "--nominal", "puma560"
    )
    assert code == 1
    assert "line 2: " in out
    for text, message in (("a,b\n1,2\n", "a"), ("x_mm,y_mm\n1,2\n", "z")):
        (tmp_path / "bad.csv").write_text(text)
        code, _, errors = theodolite(
            "compensate", tmp_path / "true.toml", tmp_path / "bad.csv", "--nominal", "puma560"
        )
        assert code == 2
        assert message in errors
    code, _, errors = theodolite(
        "compensate", tmp_path / "true.toml", tmp_path / "targets.csv", "--nominal", "scara"
    )
    assert code == 2
    assert "different joints" in errors
