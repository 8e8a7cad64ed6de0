"""The cells of tables in text: which separator, which decimal sign, and what is a number."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

#: What stands in a cell for which there is no number.
BLANK = frozenset(("", "nan", "na", "n/a", "none", "null", "-", "--"))
#: How a line begins that is meant for people.
COMMENTS = ("#", "%", "!", "//")
#: Lines from the middle of a file that show how it is laid out.
_SAMPLE = 50
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([ed][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
#: A word between blanks, with the unit in brackets that may follow it.
_WORD = re.compile(r'"[^"]*"|\S+(?:\s{1,9}(?:\[[^\]]{0,20}\]|\([^)]{0,20}\)))?')


@dataclass(frozen=True)
class Layout:
    """How a line is cut into cells."""

    #: Blank: any white space.
    separator: str
    decimal_comma: bool = False

    def split(self, line: str) -> list[str]:
        """The cells of a line, without the blanks around them."""
        if self.separator == " ":
            return [word.strip('"') for word in _WORD.findall(line)]
        cells = line.split(self.separator)
        if '"' in line:
            # Quotation marks that cannot be read are no quotation marks.
            with suppress(csv.Error):
                cells = next(csv.reader([line], delimiter=self.separator), [])
        return [cell.strip() for cell in cells]

    def number(self, cell: str) -> float | None:
        """The number in a cell: NaN where it is blank, None where it is none."""
        if cell.lower() in BLANK:
            return float("nan")
        cell = cell.replace("\u2212", "-")
        if self.decimal_comma:
            if "." in cell:
                return None
            cell = cell.replace(",", ".")
        if not _NUMBER.fullmatch(cell):
            return None
        return float(cell.replace("d", "e").replace("D", "e"))

    def all_numbers(self, cells: Sequence[str]) -> list[float] | None:
        """The numbers in cells that are all plain numbers, fast; None where some are not."""
        together = "".join(cells)
        if "_" in together or (self.decimal_comma and "." in together):
            return None
        try:
            if self.decimal_comma:
                return [float(cell.replace(",", ".")) for cell in cells]
            return [float(cell) for cell in cells]
        except ValueError:
            return None

    def has_number(self, cells: Sequence[str]) -> bool:
        """Is at least one of the cells a number?"""
        found = (self.number(cell) for cell in cells)
        return any(value is not None and value == value for value in found)

    def numbers(self, cells: Sequence[str]) -> int:
        """How many of the cells are numbers, blank ones not counted."""
        found = (self.number(cell) for cell in cells)
        return sum(value is not None and value == value for value in found)


#: In the order of preference where a file fits several.
_LAYOUTS = (
    *(Layout(separator) for separator in (",", ";", "\t", " ")),
    *(Layout(separator, decimal_comma=True) for separator in (";", "\t", " ", ",")),
)


def is_comment(line: str) -> bool:
    return line.lstrip(' "\t').startswith(COMMENTS)


def _fits(layout: Layout, sample: Sequence[str]) -> tuple[float, int]:
    """The part of the cells that are numbers, in rows of equal length, and that length."""
    rows = [layout.split(line) for line in sample]
    width, count = Counter(map(len, rows)).most_common(1)[0]
    like = [row for row in rows if len(row) == width]
    numeric = sum(map(layout.numbers, like)) / max(1, width * len(like))
    blank = sum(cell.lower() in BLANK for row in like for cell in row) / (width * len(like))
    return count / len(rows) * (numeric + (blank if numeric else 0.0)), width


def layout_of(lines: Sequence[str]) -> Layout:
    """The layout in which most cells in the middle of a file are numbers, in rows of equal length.

    Without any numbers it is the one with most cells.
    """
    sample = lines[len(lines) // 2 :][:_SAMPLE]
    best, score = _LAYOUTS[0], (0.0, 0)
    for layout in _LAYOUTS:
        found = _fits(layout, sample)
        if found[0] > score[0] or (found[0] == score[0] == 0.0 and found[1] > score[1]):
            best, score = layout, found
        elif found == score and _fits(layout, lines[:_SAMPLE]) > _fits(best, lines[:_SAMPLE]):
            # Decimal commas may stand in the first lines alone.
            best = layout
    return best
