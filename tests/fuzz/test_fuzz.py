"""No damaged input makes the program crash, hang, warn, grow or talk without end.

CI tries a fixed number of inputs. ``pytest -m study tests/fuzz`` tries 20 000, and
``THEODOLITE_FUZZ=17 pytest tests/fuzz`` only input 17.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.corpus import COMMANDS
from tests.fuzz.running import Fuzzer

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
SEED = 1
#: Some ten seconds.
QUICK, STUDY = 150, 20_000


def findings(folder: Path, numbers: range, *, most: int = 3) -> list[str]:
    fuzzer = Fuzzer(folder, SEED)
    found = []
    for number in numbers:
        finding = fuzzer.run(number)
        if finding is not None:
            found.append(str(finding))
        if len(found) == most:
            break
    return found


def test_the_inputs_are_valid_before_they_are_damaged(tmp_path: Path) -> None:
    """Else nothing behind the first check would ever be tried."""
    fuzzer = Fuzzer(tmp_path, SEED)
    for name, content in fuzzer.valid.items():
        (tmp_path / name).write_bytes(content)
    for command in COMMANDS:
        for name in ("out.toml", "out.csv"):
            (tmp_path / name).unlink(missing_ok=True)
        assert fuzzer.attempt(0, command.split()) is None
        assert fuzzer.codes.get(2, 0) == 0, command


def test_damaged_input_is_refused_in_one_line(tmp_path: Path) -> None:
    only = os.environ.get("THEODOLITE_FUZZ")
    numbers = range(QUICK) if only is None else range(int(only), int(only) + 1)
    assert findings(tmp_path, numbers) == []


@pytest.mark.study
def test_a_great_many_damaged_inputs(tmp_path: Path) -> None:
    assert findings(tmp_path, range(STUDY), most=20) == []
