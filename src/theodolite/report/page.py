"""A report as data: a verdict, and sections of text, tables and charts.

`html` writes it as a file, `page_file` as JSON, and the application shows it in a browser: none of
them knows what is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


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


class Style(Enum):
    """How a series is drawn."""

    POINTS = "points"
    LINE = "line"
    #: A line that stands behind the others.
    GUIDE = "guide"


@dataclass(frozen=True)
class Series:
    """Values over others."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    style: Style = Style.LINE
    name: str = ""


@dataclass(frozen=True)
class Axes:
    """Series that share their axes."""

    x_label: str
    y_label: str
    series: tuple[Series, ...]
    logarithmic: bool = False


@dataclass(frozen=True)
class Chart:
    """Values over one another, in one pair of axes or in several."""

    axes: tuple[Axes, ...]
    caption: str
    #: How many stand side by side.
    across: int = 1


@dataclass(frozen=True)
class Bars:
    """A bar for each name; those that are pale are there to be compared with."""

    names: tuple[str, ...]
    values: tuple[float, ...]
    label: str
    caption: str
    pale: tuple[int, ...] = ()


@dataclass(frozen=True)
class Histogram:
    """How many values lie between neighbouring edges."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    label: str
    caption: str


@dataclass(frozen=True)
class Cloud:
    """Values at places in space, metres."""

    places: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]
    label: str
    caption: str


@dataclass(frozen=True)
class Map:
    """A square of numbers from -1 to 1 between things that have names."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    caption: str


Drawn = Chart | Bars | Histogram | Cloud | Map
Block = Text | Table | Drawn


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
