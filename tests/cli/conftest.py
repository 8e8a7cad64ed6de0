"""The command line as the tests call it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from theodolite.cli.main import run


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
