"""The examples run and reach what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_calibrate(capsys) -> None:
    error = runpy.run_path(str(EXAMPLES / "calibrate.py"))["main"]()
    assert error < 1e-4
    assert "27 parameters" in capsys.readouterr().out


def test_dynamics(capsys) -> None:
    error = runpy.run_path(str(EXAMPLES / "dynamics.py"))["main"]()
    assert error < 0.05
    assert "58 base parameters" in capsys.readouterr().out


def test_own_method(capsys) -> None:
    error = runpy.run_path(str(EXAMPLES / "own_method.py"))["main"]()
    assert error < 2e-5
    assert "24 of" in capsys.readouterr().out
