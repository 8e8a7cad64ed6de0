"""A report as data: a verdict, and sections of text, tables and pictures. `html` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A paragraph, or a list of them."""

    lines: tuple[str, ...]
    listed: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells; numbers are right-aligned."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    #: Columns of words, from 0; all others hold numbers.
    words: tuple[int, ...] = (0,)
    #: Rows to look at, from 0.
    marked: tuple[int, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG or PNG, with what it shows in words."""

    content: bytes
    kind: str
    caption: str


Block = Text | Table | Picture


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """One report."""

    title: str
    #: Is the result to be trusted?
    good: bool
    #: The verdict in words, the most important first.
    verdict: tuple[str, ...]
    sections: tuple[Section, ...]


def section(title: str, *blocks: Block | None) -> Section:
    """A section of those blocks that there are."""
    return Section(title, tuple(block for block in blocks if block is not None))


def facts(rows: Sequence[tuple[str, str]]) -> Table:
    """Names and values that are words."""
    return Table(("", ""), tuple(row for row in rows if row[1]), words=(0, 1))
