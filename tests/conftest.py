"""What the tests share: seeds, recordings of real robots, the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from theodolite.cli.main import run

settings.register_profile(
    "theodolite",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("theodolite")

#: Recordings of real robots, beside the project where they are present.
RECORDINGS = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)


@pytest.fixture(scope="session")
def recordings() -> Path:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of real robots are not beside the project")
    return RECORDINGS


@pytest.fixture
def theodolite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Run a command line in an empty folder; gives exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["theodolite", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            run()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return call
