"""Run what a page shows, and compare: ``python docs/extensions/commands.py [--update] [PAGE...]``.

All blocks of a page run in their order in one folder. `pages` says what a block may be, `comparing`
what counts as the same output. ``--update`` writes the real output into the page.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # The one copy of these modules that everybody imports.
    sys.path.insert(0, str(Path(__file__).parent))

import comparing
import pages

PROJECT = Path(__file__).resolve().parents[2]
#: Characters that make a command one for the shell.
_SHELL = set("|<>;&$*?`(){}~")
#: The same output whatever terminal the reader has.
_ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "MPLBACKEND": "agg"}


@dataclass(frozen=True)
class Difference:
    """A command that does not do what its page says."""

    line: int
    command: str
    what: str

    def __str__(self) -> str:
        return f"line {self.line + 1}: $ {self.command}\n{self.what}"


@dataclass(frozen=True)
class Output:
    """What a page shows in its lines from ``start`` up to ``end``, from 0, and what is real."""

    start: int
    end: int
    shown: tuple[str, ...]
    real: list[str]


@dataclass
class Run:
    """What running a page gave."""

    differences: list[Difference] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    #: What the Python blocks left behind.
    names: dict[str, Any] = field(default_factory=dict)


def run_page(text: str, folder: Path, home: Path) -> Run:
    """Run all blocks of a page in a folder; files that it includes are named from its home."""
    found, printed = Run(names={"__name__": "__page__"}), io.StringIO()
    with _surroundings(folder):
        for block in pages.blocks(text):
            if not block.runs:
                continue
            if block.included is not None:
                shutil.copy(home / block.included, folder)
            elif block.file is not None:
                Path(block.file).write_text(block.text, encoding="utf-8")
            elif block.printed:
                end = block.line + len(block.lines)
                shown = pages.Command("python", block.lines, 0, block.line, block.line, end)
                _compare(shown, 0, _lines(printed.getvalue()), found)
            elif block.language == "python":
                printed = io.StringIO()
                # Lines of tracebacks are those of the page.
                source = "\n" * block.line + block.text
                with contextlib.redirect_stdout(printed):
                    exec(compile(source, "page", "exec"), found.names)
            else:
                for command in block.commands():
                    _compare(command, *_called(command.text), found)
    return found


def _compare(command: pages.Command, code: int, real: list[str], found: Run) -> None:
    found.outputs.append(Output(command.start, command.end, command.shown, real))
    what = ""
    if code != command.exit_code:
        what = f"  exit code {code}, not {command.exit_code}\n{_indented(real)}"
    elif not comparing.agrees(command.shown, real):
        what = f"  shown:\n{_indented(command.shown)}\n  real:\n{_indented(real)}"
    if what:
        found.differences.append(Difference(command.line, command.text, what))


def _indented(lines: Any) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _called(text: str) -> tuple[int, list[str]]:
    """Exit code of a command, and all it prints in its order."""
    if text.startswith("theodolite ") and not _SHELL & set(text):
        # Starting Python anew for each command would take most of the time.
        code, output = _called_here(shlex.split(text))
    else:
        done = subprocess.run(
            ["/bin/sh", "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        code, output = done.returncode, done.stdout
    return code, _lines(output)


def _lines(output: str) -> list[str]:
    """Lines without blanks at their ends and without empty ones at the end."""
    lines = [line.rstrip() for line in output.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _called_here(words: list[str]) -> tuple[int, str]:
    from theodolite.cli.main import run

    output, arguments = io.StringIO(), sys.argv
    sys.argv = words
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            run()
    except SystemExit as stopped:
        return int(stopped.code or 0), output.getvalue()
    finally:
        sys.argv = arguments
    raise AssertionError("the command line ends with an exit code")


@contextlib.contextmanager
def _surroundings(folder: Path) -> Iterator[None]:
    """In a folder, with a fixed width, and with ``theodolite`` on the path of the shell."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as programs, contextlib.chdir(folder):
        _write_program(Path(programs) / "theodolite", "-m theodolite")
        _write_program(Path(programs) / "python", "")
        os.environ.update(
            _ENVIRONMENT,
            PATH=f"{programs}{os.pathsep}{before['PATH']}",
            PYTHONPATH=str(PROJECT / "src"),
        )
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _write_program(path: Path, options: str) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {options} "$@"\n')
    path.chmod(0o755)


def update(path: Path) -> Run:
    """Write the real output into a page."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        found = run_page(text, Path(folder), path.parent)
    lines = text.splitlines()
    for output in reversed(found.outputs):
        if not comparing.agrees(output.shown, output.real):
            lines[output.start : output.end] = comparing.updated(output.shown, output.real)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the commands that pages show.")
    parser.add_argument("pages", nargs="*", type=Path, help="default: README and all of docs")
    parser.add_argument("--update", action="store_true", help="write the real output into them")
    options = parser.parse_args()
    failed = False
    for path in [page.resolve() for page in options.pages] or pages.all_pages(PROJECT):
        if options.update:
            found = update(path)
        else:
            with tempfile.TemporaryDirectory() as folder:
                found = run_page(path.read_text(encoding="utf-8"), Path(folder), path.parent)
        for difference in found.differences:
            failed = True
            sys.stdout.write(f"{path}: {difference}\n")
    return int(failed and not options.update)


if __name__ == "__main__":
    sys.exit(main())
