"""Runs command lines in this process on damaged input and says what should not have happened."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np
from typer.main import get_command

from tests.fuzz.corpus import COMMANDS, OPTIONS, files
from tests.fuzz.mutations import damaged, damaged_words
from theodolite.cli import main

#: Limits for one input.
SECONDS, MEMORY = 20, 2 << 30
#: No message is longer, usage included.
LONGEST_MESSAGE = 900


class Hang(BaseException):
    """An input took too long."""


@dataclass(frozen=True)
class Finding:
    """Something that should not have happened."""

    number: int
    what: str
    words: list[str]
    detail: str

    def __str__(self) -> str:
        return f"input {self.number}: {self.what}\n  {self.words}\n{self.detail}"


class Fuzzer:
    """Input number n is the same in every run."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.valid = files()
        self.slowest = 0.0
        self.codes: dict[int, int] = {}
        (folder / "loop").symlink_to("loop")
        # Built once: typer looks at every option of every verb.
        self._program = get_command(main.application())

    def words(self, number: int) -> list[str]:
        """Write the files of an input and give its command line."""
        rng = np.random.default_rng([self.seed, number])
        words = COMMANDS[int(rng.integers(len(COMMANDS)))].split()
        named = [word for word in words if word in self.valid]
        hurt = rng.random(len(named)) < 0.7
        for name, wanted in zip(named, hurt, strict=True):
            content = self.valid[name]
            (self.folder / name).write_bytes(damaged(content, rng) if wanted else content)
        for name in ("out.toml", "out.csv"):
            (self.folder / name).unlink(missing_ok=True)
        if not hurt.any() or rng.random() < 0.15:
            words = damaged_words(words, OPTIONS, rng)
        return words

    def run(self, number: int) -> Finding | None:
        """Try one input."""
        return self.attempt(number, self.words(number))

    def attempt(self, number: int, words: list[str]) -> Finding | None:
        """Try a command line on the files that are there."""
        crash: list[str] = []
        out, errors = io.StringIO(), io.StringIO()
        started = time.monotonic()
        try:
            program = _as_program(words, self.folder, out, errors)
            with self._limits(), self._watched(crash), program:
                code = _exit_code()
        except Hang:
            frames = traceback.format_exc()
            return Finding(number, f"took more than {SECONDS} s", words, frames)
        self.slowest = max(self.slowest, time.monotonic() - started)
        self.codes[code] = self.codes.get(code, 0) + 1
        what = self._wrong(code, crash, out.getvalue(), errors.getvalue())
        detail = "".join(crash) or errors.getvalue()[:2000]
        return None if what is None else Finding(number, what, words, detail)

    def _wrong(self, code: int, crash: list[str], out: str, errors: str) -> str | None:
        """What should not have happened, if anything."""
        wrong = {
            "crashed": bool(crash),
            f"ended with {code}": code not in (0, 1, 2),
            "needs too much memory": "not enough memory" in errors,
            "said too much": len(errors) > LONGEST_MESSAGE or "Warning" in errors,
            "printed an escape": "\x1b" in out + errors,
            "left a part file": any(self.folder.glob(".theodolite-*")),
        }
        return next((what for what, happened in wrong.items() if happened), None)

    @contextlib.contextmanager
    def _watched(self, crash: list[str]) -> Iterator[None]:
        """Keep the traceback of a defect here instead of in a file."""
        real = main._report, main.application
        main._report = lambda error: crash.append("".join(traceback.format_exception(error)))
        main.application = lambda only=None: self._program
        try:
            yield
        finally:
            main._report, main.application = real

    @contextlib.contextmanager
    def _limits(self) -> Iterator[None]:
        """Time and memory of one input."""

        def stop(signum: int, frame: FrameType | None) -> None:
            raise Hang

        before = signal.signal(signal.SIGALRM, stop)
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def _as_program(
    words: list[str], folder: Path, out: io.StringIO, errors: io.StringIO
) -> Iterator[None]:
    argv, here = sys.argv, Path.cwd()
    sys.argv = ["theodolite", *words]
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            yield
    finally:
        os.chdir(here)
        sys.argv = argv


def _exit_code() -> int:
    try:
        main.run()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0
