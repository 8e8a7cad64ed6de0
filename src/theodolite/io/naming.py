"""Names of columns: how people write them, and how this program does (``q1_deg``, ``x_mm``)."""

from __future__ import annotations

import re

from theodolite.errors import InputError
from theodolite.io.units import ANGLES, LENGTHS, OTHERS, spelled

#: A robot has joints in tens, a recording columns in hundreds.
MOST_NAMES = 10_000
#: Nobody writes a unit behind a longer one; what is tried on a name grows with its square.
LONGEST_NAME = 200
#: Columns of labels, which may be words.
LABELS = ("set", "session", "camera", "board", "picture")
#: Columns without a unit that hold numbers all the same.
NUMBERED = re.compile(r"direction[1-9]\d?|row")
#: Names with a meaning of their own, whatever the robot; capitals do not matter in them.
_STEM = re.compile(
    r"(?:q|qd|qdd|tau|i)\d{1,4}|[xyz]|r[xyz]|q[wxyz]|t|u|v|set|session|camera|board|picture"
)
_BRACKETS = re.compile(r"(.*?)\s*(?:\[([^\[\]]*)\]|\(([^()]*)\))$")
_UNITS = frozenset((*LENGTHS, *ANGLES, *OTHERS))


def column_name(written: str, unit: str = "") -> str:
    """The name of a column with its unit, as in ``x_mm``.

    The unit may stand in brackets, behind a slash, or below the name. Nothing is guessed: other
    names stay as they are.
    """
    name = written.strip()
    if len(name) > LONGEST_NAME:
        return name
    match = _BRACKETS.match(name)
    if match and (found := spelled(match[2] or match[3] or "")):
        name, unit = match[1], unit or found
    elif "/" in name and not unit:
        stem, _, behind = name.partition("/")
        if _STEM.fullmatch(stem.strip().lower()) and (found := spelled(behind)):
            name, unit = stem.strip(), found
    stem, own = with_unit(name)
    unit = own or unit
    return f"{stem}_{unit}" if unit else stem


def in_small_letters(name: str) -> str:
    """``X_mm`` as ``x_mm``, ``Q1_deg`` as ``q1_deg``; names without a meaning stay as they are."""
    stem, unit = with_unit(name)
    if not _STEM.fullmatch(stem.lower()):
        return name
    return f"{stem.lower()}_{unit}" if unit else stem.lower()


def with_unit(name: str) -> tuple[str, str]:
    """The stem of a name and the unit behind it, blank if there is none."""
    before, _, last = name.rpartition("_")
    stem, _, other = before.rpartition("_")
    # The longer unit first: rad_s is no rad.
    for rest, unit in ((stem, f"{other}_{last}"), (before, last)):
        if rest and unit in _UNITS:
            return rest, unit
    return name, ""


def name_list(text: str | None) -> list[str]:
    """Names between commas; ``q1_rad,...,q6_rad`` stands for all in between."""
    names: list[str] = []
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    for place, part in enumerate(parts):
        if part == "...":
            names += _between(parts[place - 1 : place], parts[place + 1 : place + 2])
        else:
            names.append(part)
        if len(names) > MOST_NAMES:
            raise _too_many()
    return names


def _between(before: list[str], after: list[str]) -> list[str]:
    """The names between two that differ only in their number."""
    pieces = [re.fullmatch(r"(\D*)(\d{1,18})(\D.*)?", end) for end in before + after]
    first, last = pieces if len(pieces) == 2 else (None, None)
    if first is None or last is None or (first[1], first[3]) != (last[1], last[3]):
        raise InputError(
            "'...' is not between two names that differ only in their number",
            allowed="q1_rad,...,q6_rad",
        )
    middle = range(int(first[2]) + 1, int(last[2]))
    if len(middle) > MOST_NAMES:
        raise _too_many()
    return [f"{first[1]}{number}{first[3] or ''}" for number in middle]


def _too_many() -> InputError:
    return InputError("the list of names is too long", allowed=f"up to {MOST_NAMES} names")
