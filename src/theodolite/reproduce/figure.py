"""A published figure beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """What a paper prints, what it should be, and what we find."""

    what: str
    paper: str
    #: What an independent computation from the paper's data gives.
    expected: str
    ours: str
    #: Whether ours is what is expected, where that is not the same text.
    holds: bool | None = None

    @property
    def agrees(self) -> bool:
        return self.ours == self.expected if self.holds is None else self.holds

    def data(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "paper": self.paper,
            "expected": self.expected,
            "ours": self.ours,
            "agrees": self.agrees,
        }


def show_figures(console: Console, title: str, figures: Sequence[Figure]) -> None:
    """All figures of a paper, disagreements in red."""
    table = Table(title=title, title_justify="left")
    for heading in ("", "paper", "recomputed", "ours"):
        table.add_column(heading, justify="left" if not heading else "right")
    for figure in figures:
        colour = "" if figure.agrees else "[red]"
        table.add_row(figure.what, figure.paper, figure.expected, f"{colour}{figure.ours}")
    console.print(table)
    agree = sum(figure.agrees for figure in figures)
    console.print(f"{agree} of {len(figures)} agree")
