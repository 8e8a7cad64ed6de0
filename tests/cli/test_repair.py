"""``identify --only``: what a repair changed, through the command line."""

from __future__ import annotations

import pytest

import theodolite as th
from tests.calibration.test_kept import repaired


def test_through_the_command_line(theodolite, rng):
    result, now, fresh = repaired(rng)
    result.save("calibrated.json")
    th.write_measurements(fresh, now, "fresh.csv")
    arguments = ("identify", "calibrated.json", "fresh.csv", "-m", "position", "--noise-mm", 0.05)
    code, out, errors = theodolite(*arguments, "--only", "theta3", "--out", "repaired.toml")
    assert code == 0, errors
    assert "theta3" in out
    robot = th.read_robot("repaired.toml")
    truth = now.values[[p.name for p in now.parameters].index("theta3")]
    assert robot.values[[p.name for p in robot.parameters].index("theta3")] == pytest.approx(
        truth, abs=3e-4
    )
    code, _, errors = theodolite(*arguments, "--only", "nothing")
    assert code == 2
    assert "has no parameter 'nothing'" in errors
