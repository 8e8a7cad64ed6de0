"""How the program starts and ends: help, defects, Ctrl-C at any moment, closed and full outputs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import theodolite as th

PROGRAM = [sys.executable, "-m", "theodolite"]
VERBS = ["robots", "new", "check", "identifiable", "generate", "identify", "validate", "demo"]


def test_the_module_is_the_program() -> None:
    done = subprocess.run([*PROGRAM, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"theodolite {th.__version__}\n"


@pytest.mark.parametrize("verb", [[], *([verb] for verb in VERBS), ["dynamics", "identify"]])
def test_help_has_a_short_option(theodolite, verb: list[str]) -> None:
    code, short, _ = theodolite(*verb, "-h")
    assert code == 0
    assert "Usage: theodolite" in short
    assert (0, short, "") == theodolite(*verb, "--help")


def test_a_defect_is_one_line_and_a_file(
    theodolite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fail(name: str) -> None:
        raise ZeroDivisionError(f"broken \x1b[31m {name}")

    monkeypatch.setattr(th.robots, "load", fail)
    code, out, errors = theodolite("robots")
    assert (code, out) == (3, "")
    assert errors.count("\n") == 1
    assert r"ZeroDivisionError: broken \x1b[31m" in errors
    (kept,) = tmp_path.glob("theodolite-*-traceback.txt")
    assert str(kept) in errors
    assert "in fail" in kept.read_text()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    code, _, errors = theodolite("robots")
    assert code == 3
    assert "could not be saved" in errors


def test_too_little_memory_is_no_defect(theodolite, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise MemoryError

    monkeypatch.setattr(th.robots, "load", fail)
    code, _, errors = theodolite("robots")
    assert (code, errors) == (2, "error: there is not enough memory for this\n")


@pytest.mark.parametrize("arguments", [["robots"], ["robots", "--json"], ["--help"]])
def test_a_reader_that_leaves_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["robots"], ["robots", "--json"], ["--help"]])
def test_a_full_disk_behind_the_output_is_said(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == ("error: standard output cannot be written: No space left on device\n")


def test_closed_outputs_are_borne() -> None:
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        for arguments, code in (("robots", 0), ("nosuch", 2), ("check nosuch.toml", 2)):
            command = f"'{sys.executable}' -m theodolite {arguments} {closed}"
            done = subprocess.run(
                ["sh", "-c", command], capture_output=True, text=True, check=False
            )
            assert done.returncode == code
            assert "Traceback" not in done.stderr


#: Sends itself Ctrl-C at the n-th call of a function, whichever that is.
INTERRUPTED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def count(frame, event, argument):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGINT)
from theodolite.__main__ import main
sys.setprofile(count)
main()
"""


@pytest.mark.parametrize("calls", [10, 300, 3_000, 20_000, 60_000, 120_000, 250_000, 400_000])
def test_interrupts_are_clean_at_any_moment(calls: int, tmp_path: Path) -> None:
    arguments = ["generate", "puma560", "-m", "position", "--points", "50", "--out", "d.csv"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(calls), *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode in (0, 130)
    assert "Traceback" not in done.stderr
    left = [path.name for path in tmp_path.iterdir()]
    assert left in ([], ["d.csv"])
    if left:
        assert len((tmp_path / "d.csv").read_text().splitlines()) == 51
    if done.returncode == 130:
        assert done.stderr.strip() in ("", "interrupted")


def test_completion_can_be_installed_and_completes(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "true",
    }
    done = subprocess.run(
        [*PROGRAM, "--install-completion", "bash"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "completion installed" in done.stdout
    script = next((tmp_path / ".bash_completions").iterdir())
    assert script.name == "theodolite.sh"
    assert str(script) in (tmp_path / ".bashrc").read_text()
    completing = {"_THEODOLITE_COMPLETE": "complete_bash", "COMP_WORDS": "theodolite identi"}
    done = subprocess.run(
        PROGRAM, env={**environment, **completing, "COMP_CWORD": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["identifiable", "identify"]
