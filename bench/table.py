"""One line of the table that ``make bench`` writes, beside what a benchmark prints for people."""

from __future__ import annotations

import os
import platform
import sys
from datetime import date
from pathlib import Path

#: The file that lines are added to, if it is set.
FILE = "THEODOLITE_BENCH_TABLE"


def note(what: str, figure: str, against: str = "", ratio: float | None = None) -> None:
    """What was measured, what came out, and how many times as long a named peer takes."""
    text = "" if ratio is None else f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}"
    line = f"| {what} | {figure} | {against} | {text} |"
    place = os.environ.get(FILE)
    if place:
        with Path(place).open("a", encoding="utf-8") as table:
            table.write(line + "\n")


def main() -> None:
    """Begin a table: when, where, and its head."""
    from machine import dgemm, write_bandwidth

    place = Path(sys.argv[1])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(
        f"# Benchmarks\n\n{date.today().isoformat()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores; one thread writes {write_bandwidth() / 1e9:.1f} GB/s and "
        f"multiplies matrices at {dgemm() / 1e9:.0f} Gflop/s. A ratio says how many times as long "
        "the peer takes, in the same run.\n\n"
        "| what | theodolite | against | ratio |\n|---|---|---|---|\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
