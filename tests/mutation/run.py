"""How many mistakes in the core of the estimation its fast tests notice.

    python -m tests.mutation.run                      every mutant of every module
    python -m tests.mutation.run loss step            of some modules
    python -m tests.mutation.run --sample 10 --seed 1 ten of each module, drawn at random

Each mutant (`mutants.py` says which there are) runs in a fork of this process, in which NumPy and
SciPy are already loaded, against the tests of its module. A mutant is killed if a test fails, or if
the tests take longer than a limit. The others are listed. Mutants that cannot be told from the
original by any result are in `equivalent.py`, each with the reason, and do not count.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
PACKAGE = "theodolite.estimation"
SOURCES = ROOT / "src" / "theodolite" / "estimation"
TESTS = ROOT / "tests" / "estimation"
#: The fast tests that judge each module, the quickest to fail first.
SELECTION = {
    "loss": ("test_loss.py",),
    "prior": ("test_prior.py",),
    "reduction": ("test_reduction.py",),
    "step": ("test_step.py",),
    "statistics": ("test_statistics.py",),
    "outliers": ("test_outliers.py",),
    "identifiability": ("test_base_parameters.py", "test_null_space.py"),
    "solver": ("test_solver.py", "test_damping.py", "test_search.py"),
    "descent": ("test_search.py", "test_damping.py", "test_solver.py"),
}
#: Seconds for the tests of one mutant: many times what they take on the original.
LIMIT = 15


@dataclass(frozen=True)
class Outcome:
    """What became of a module's mutants."""

    module: str
    killed: int
    survivors: tuple[Mutant, ...]
    equivalent: int

    @property
    def judged(self) -> int:
        return self.killed + len(self.survivors)

    def lines(self) -> list[str]:
        head = f"{self.module}: {self.killed} of {self.judged} killed, {self.equivalent} equivalent"
        return [head, *(f"  line {m.line}: {m.label}" for m in self.survivors)]


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports one module from a syntax tree instead of its file."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=str(self.path))

    def get_source(self, fullname: str) -> str:
        return self.path.read_text(encoding="utf-8")

    def get_code(self, fullname: str):  # type: ignore[no-untyped-def]
        return compile(self.tree, str(self.path), "exec")


def examine(module: str, *, sample: int | None = None, seed: int = 0) -> Outcome:
    """Run the tests of a module against its mutants, or against some of them."""
    source = (SOURCES / f"{module}.py").read_text(encoding="utf-8")
    if not survives(module, ast.parse(source)):
        raise SystemExit(f"The tests of {module} fail without any mutation: mend them first.")
    known = EQUIVALENT.get(module, {})
    every = mutants(source)
    judged = [mutant for mutant in every if mutant.after not in known]
    equivalent = len(every) - len(judged)
    if sample is not None:
        judged = random.Random(seed).sample(judged, min(sample, len(judged)))
    survivors = tuple(mutant for mutant in judged if survives(module, mutant.tree))
    return Outcome(module, len(judged) - len(survivors), survivors, equivalent)


def survives(module: str, tree: ast.Module) -> bool:
    """Do the module's tests pass with this tree in its place?"""
    child = os.fork()
    if not child:
        # The default action of the alarm ends even a loop inside LAPACK.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LIMIT)
        os._exit(_tested(module, tree))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    # 4 and 5: pytest found no tests. An import that fails is a test that fails.
    if code == 5:
        raise SystemExit(f"No tests judge {module}.")
    return code == 0


def _tested(module: str, tree: ast.Module) -> int:
    """pytest's exit code, in silence."""
    import pytest

    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.meta_path.insert(0, _Mutated(f"{PACKAGE}.{module}", SOURCES / f"{module}.py", tree))
    files = [str(TESTS / name) for name in SELECTION[module]]
    try:
        # Options of plugins that are not loaded are no mistake here.
        quiet = ["-W", "ignore::pytest.PytestConfigWarning", "--tb=no"]
        return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *quiet, *files]))
    except BaseException:
        return 1


def _load() -> None:
    """What every fork needs and no mutant changes."""
    import hypothesis
    import numpy
    import pytest
    import scipy.integrate
    import scipy.optimize
    import scipy.special
    import scipy.stats
    import threadpoolctl

    assert all((hypothesis, numpy, pytest, scipy, threadpoolctl))
    if any(name.startswith("theodolite") for name in sys.modules):
        raise SystemExit("Run this as a program: theodolite must not be loaded before the forks.")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.run", description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(SELECTION), metavar="module")
    parser.add_argument("--sample", type=int, help="mutants of each module, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.0, help="share that must be killed")
    options = parser.parse_args(arguments)
    unknown = set(options.modules) - set(SELECTION)
    if unknown:
        parser.error(f"no module {', '.join(sorted(unknown))}; there are {', '.join(SELECTION)}")
    _load()
    killed = judged = 0
    for module in options.modules:
        outcome = examine(module, sample=options.sample, seed=options.seed)
        sys.stdout.write("\n".join(outcome.lines()) + "\n")
        sys.stdout.flush()
        killed, judged = killed + outcome.killed, judged + outcome.judged
    share = killed / judged if judged else 1.0
    sys.stdout.write(f"all: {killed} of {judged} killed, {share:.1%}\n")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    # One thread: a fork of a process with more is not safe, and these matrices are tiny.
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        settings = {"OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-m", "tests.mutation.run", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | settings)
    sys.exit(main())
