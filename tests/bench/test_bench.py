"""Each of these benchmarks runs, at a tiny size; nothing is timed here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


NAMES = ("machine", "kernels", "studies", "fleets", "growth", "long_recordings")


@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH / f"{name}.py"), "--tiny"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
