"""Options of verbs that may use many processes, and how far they are."""

from __future__ import annotations

import time
from typing import Annotated

import typer

WorkersOption = Annotated[
    int,
    typer.Option(
        "--workers", min=0, max=1024, help="Processes on this machine; 0 and 1: this process."
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="A Dask scheduler, such as tcp://10.0.0.5:8786."
    ),
]


class Countdown:
    """How much of some work is done, and how long the rest will take."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what = total, what
        self.done = 0
        self._begun = time.monotonic()

    def add(self, count: int) -> str:
        """Count further pieces; what to say of it."""
        self.done += count
        if self.done >= self.total:
            return f"{self.done} {self.what}"
        each = (time.monotonic() - self._begun) / max(self.done, 1)
        left = _duration(each * (self.total - self.done))
        return f"{self.done} of {self.total} {self.what}, about {left} left"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
