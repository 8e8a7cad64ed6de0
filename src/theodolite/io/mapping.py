"""From a file's own columns to those of this program: ``x_mm=1000*X,q2_deg=-J2,q3_deg=-J3+90``.

Left stands what this program calls it, with its unit; right the column, perhaps with a sign, a
factor and an offset in that unit. ``#3`` is the third column, names with commas, signs or blanks at
their ends stand between quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theodolite.errors import InputError
from theodolite.io.naming import MOST_NAMES, column_name, with_unit
from theodolite.io.units import LARGEST_NUMBER

_PART = re.compile(r"""((?:'[^']*'|"[^"]*"|[^,'"])*)(?:,|$)""")
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_TERM = re.compile(
    rf"(?P<sign>[+-]?)\s*(?:(?P<factor>{_NUMBER})\s*\*\s*)?"
    rf"(?:(?P<quote>['\"])(?P<quoted>.*)(?P=quote)|(?P<name>.*?))"
    rf"\s*(?:\*\s*(?P<after>{_NUMBER}))?\s*(?P<offset>[+-]\s*{_NUMBER})?",
    re.DOTALL,
)
#: Longer than the name of any column; what is tried on a term grows with its square.
LONGEST_TERM = 300
ALLOWED = "x_mm=X, q1_deg=J1, q2_deg=-J2, q3_deg=-J3+90, z_mm=1000*Z, q4_deg=#7"


@dataclass(frozen=True)
class Term:
    """One column: factor times what stands in the file, plus an offset."""

    #: The name in the file.
    column: str
    factor: float = 1.0
    offset: float = 0.0

    def __str__(self) -> str:
        name = self.column
        if not re.fullmatch(r"[^\W\d]\w*|#\d+", name):
            name = f'"{name}"' if "'" in name else f"'{name}'"
        size = abs(self.factor)
        text = f"{'-' if self.factor < 0 else ''}{'' if size == 1 else f'{size!r}*'}{name}"
        return text + (f"{self.offset:+}" if self.offset else "")


@dataclass(frozen=True)
class Mapping:
    """What each of this program's columns is in terms of the file's."""

    terms: dict[str, Term]
    #: Lines to leave out at the beginning of the file.
    skip: int = 0

    def __str__(self) -> str:
        return ",".join(f"{name}={term}" for name, term in self.terms.items())

    def places(self, names: Sequence[str], where: str) -> Iterator[tuple[str, int, Term]]:
        """Each of this program's columns with its place among the file's."""
        for name, term in self.terms.items():
            yield name, place_of(term.column, names, where), term


def parse_mapping(text: str) -> Mapping:
    """A mapping from the command line."""
    terms: dict[str, Term] = {}
    for part in _parts(text):
        left, equals, right = part.partition("=")
        name = column_name(left)
        if not equals or not name or not right.strip():
            raise InputError(f"mapping: cannot read '{part}'", allowed=ALLOWED)
        if name in terms:
            raise InputError(f"mapping: '{name}' is given twice")
        terms[name] = parse_term(right)
        if len(terms) > MOST_NAMES:
            raise InputError("mapping: too many columns", allowed=f"up to {MOST_NAMES}")
    if not terms:
        raise InputError("the mapping names no column", allowed=ALLOWED)
    return Mapping(terms)


def _parts(text: str) -> Iterator[str]:
    """What stands between commas, but not those between quotation marks."""
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise InputError(
                f"mapping: a quotation mark is not closed in '{text[position:]}'", allowed=ALLOWED
            )
        if match[1].strip():
            yield match[1].strip()
        position = match.end()


def parse_term(text: str) -> Term:
    """A column with its sign, factor and offset: ``-2*J3+90``."""
    match = _TERM.fullmatch(text.strip()) if len(text) <= LONGEST_TERM else None
    name = (match["quoted"] or match["name"] or "").strip() if match else ""
    if match is None or not name or (match["factor"] and match["after"]):
        raise InputError(f"cannot read '{text}' as a column", allowed=ALLOWED)
    factor = float(match["factor"] or match["after"] or 1.0)
    offset = float((match["offset"] or "0").replace(" ", ""))
    for number in (factor, offset):
        if not number < LARGEST_NUMBER:
            raise InputError(f"{number:g} in '{text}'", allowed=f"numbers below {LARGEST_NUMBER:g}")
    if factor == 0.0:
        raise InputError(f"the factor in '{text}' is 0")
    return Term(name, -factor if match["sign"] == "-" else factor, offset)


def place_of(column: str, names: Sequence[str], where: str) -> int:
    """Where a file has a column: by its number, its name, or its name without the unit."""
    if re.fullmatch(r"#\d{1,6}", column):
        if 1 <= int(column[1:]) <= len(names):
            return int(column[1:]) - 1
        raise InputError(
            f"there is no column {column}", where=where, allowed=f"#1 to #{len(names)}"
        )
    spellings = (
        lambda name: name,
        column_name,
        lambda name: with_unit(column_name(name))[0],
        lambda name: name.strip().lower(),
    )
    for spelling in spellings:
        found = [place for place, name in enumerate(names) if spelling(name) == spelling(column)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                f"there are {len(found)} columns '{column}'",
                where=where,
                remedy=f"Name it by its number, as in #{found[0] + 1}",
            )
    raise InputError(f"there is no column '{column}'", where=where, allowed=names)
