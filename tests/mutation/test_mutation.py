"""The fast tests of the estimation notice mistakes in it.

    python -m pytest -m mutation

draws some mutants of each module. `python -m tests.mutation.run` runs all of them.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import mutants
from tests.mutation.run import ROOT, SELECTION, SOURCES

#: Share of the drawn mutants that the tests of a module must kill.
LEAST = 0.9
SAMPLE = 20


@pytest.mark.mutation
@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants run in forks, which Windows lacks")
@pytest.mark.parametrize("module", SELECTION)
def test_most_mistakes_are_noticed(module: str) -> None:
    command = [sys.executable, "-m", "tests.mutation.run", module]
    command += ["--sample", str(SAMPLE), "--seed", "1", "--least", str(LEAST)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.mutation
@pytest.mark.parametrize("module", EQUIVALENT)
def test_equivalent_mutants_are_mutants_of_their_module(module: str) -> None:
    """A line that was changed since would excuse nothing, or something else."""
    source = (SOURCES / f"{module}.py").read_text(encoding="utf-8")
    assert set(EQUIVALENT[module]) <= {mutant.after for mutant in mutants(source)}


def test_every_kind_of_mistake_is_made() -> None:
    source = """
LIMIT = 3
def f(a: float, b: float) -> float:
    if a < b and not b:
        return a * 2.0 + 1
    return -a
"""
    found = {mutant.after for mutant in mutants(source)}
    assert found == {
        "if a <= b and (not b):",
        "if a >= b and (not b):",
        "if a < b or not b:",
        "if a < b and b:",
        "return a / 2.0 + 1",
        "return a * 4.0 + 1",
        "return a * 2.0 - 1",
        "return a * 2.0 + 2",
        "return -(a * 2.0 + 1)",
        "return a",
        "return --a",
    }


def test_a_mutant_differs_in_one_place() -> None:
    source = "def f(x: int) -> int:\n    y = x + 1\n    return y - 1\n"
    whole = ast.dump(ast.parse(source))
    for mutant in mutants(source):
        assert ast.dump(mutant.tree) != whole
        lines = ast.unparse(mutant.tree).splitlines()
        assert sum(a != b for a, b in zip(lines, source.splitlines(), strict=True)) == 1
