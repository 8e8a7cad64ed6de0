"""Each of these benchmarks runs, at a tiny size; nothing is timed here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.parametrize(
    "name", ["machine.py", "kernels.py", "studies.py", "fleets.py", "growth.py"]
)
def test_it_runs(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH / name), "--tiny"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
