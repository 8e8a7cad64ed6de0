"""A published figure beside ours, with a verdict that can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rich.console import Console

from theodolite.report.terminal_table import Table

#: Stands where a paper prints nothing, or where nothing can be expected.
NOTHING = "-"


class Verdict(Enum):
    """What comparing a figure says."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Figure:
    """What a paper prints, what it should be, and what we find."""

    what: str
    paper: str
    #: What an independent computation from the paper's data gives, or what a derivation allows.
    expected: str
    ours: str
    #: Whether ours is what is expected, where that is not the same text.
    holds: bool | None = None
    #: Why the paper's figure is not the expected one, what a bound is derived from, or why nothing
    #: can be compared.
    why: str = ""
    comparable: bool = True

    @property
    def verdict(self) -> Verdict:
        if not self.comparable:
            return Verdict.NOT_COMPARABLE
        good = self.ours == self.expected if self.holds is None else self.holds
        return Verdict.AGREES if good else Verdict.DIFFERS

    @property
    def agrees(self) -> bool:
        """Is ours what is expected? Nothing is expected of what cannot be compared."""
        return self.verdict is not Verdict.DIFFERS

    def data(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "paper": self.paper,
            "expected": self.expected,
            "ours": self.ours,
            "verdict": self.verdict.value,
            "agrees": self.agrees if self.comparable else None,
            "why": self.why,
        }


def near(
    what: str,
    paper: str,
    expected: float,
    ours: float,
    *,
    within: float,
    form: str = ".3f",
    why: str = "",
) -> Figure:
    """A number that is right if it is near enough to the expected one."""
    text = f"{expected:{form}} +- {within:{form}}"
    return Figure(
        what, paper, text, f"{ours:{form}}", holds=abs(ours - expected) <= within, why=why
    )


def between(
    what: str,
    paper: str,
    bounds: tuple[float, float],
    ours: float,
    *,
    form: str = ".3f",
    why: str = "",
) -> Figure:
    """A number that is right between two others."""
    low, high = bounds
    text = f"{low:{form}} to {high:{form}}"
    return Figure(what, paper, text, f"{ours:{form}}", holds=low <= ours <= high, why=why)


def below(what: str, paper: str, limit: float, ours: float, *, why: str) -> Figure:
    """An error that is nothing but rounding, or what else ``why`` says that the limit is."""
    return Figure(what, paper, f"below {limit:.0e}", f"{ours:.0e}", holds=ours < limit, why=why)


def not_comparable(what: str, paper: str, ours: str, *, why: str) -> Figure:
    """A figure that rests on something the paper does not print."""
    return Figure(what, paper, NOTHING, ours, why=why, comparable=False)


def show_figures(console: Console, title: str, figures: Sequence[Figure]) -> None:
    """All figures of a paper, disagreements in red, and the reasons as notes below them."""
    table = Table(title=title, title_justify="left")
    for heading in ("figure", "paper", "expected", "ours", "verdict"):
        table.add_column(heading, justify="left" if heading in ("figure", "verdict") else "right")
    notes: dict[str, int] = {}
    for figure in figures:
        mark = f" ({notes.setdefault(figure.why, len(notes) + 1)})" if figure.why else ""
        colour = "" if figure.agrees else "[red]"
        table.add_row(
            figure.what,
            figure.paper,
            figure.expected,
            f"{colour}{figure.ours}",
            f"{colour}{figure.verdict.value}{mark}",
        )
    console.print(table)
    for why, number in notes.items():
        console.print(f"({number}) {why}", markup=False)
    console.print(summary(figures))


def summary(figures: Sequence[Figure]) -> str:
    """``20 of 22 agree with what is expected; 2 are not comparable``."""
    left = sum(not figure.comparable for figure in figures)
    agree = sum(figure.verdict is Verdict.AGREES for figure in figures)
    text = f"{agree} of {len(figures) - left} agree with what is expected"
    if left:
        text += f"; {left} {'is' if left == 1 else 'are'} not comparable"
    return text
