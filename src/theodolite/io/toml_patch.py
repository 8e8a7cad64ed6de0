"""Change one number in the text of a robot file, and leave every other character as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from theodolite.errors import InputError
from theodolite.io.toml import parse_toml

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_AS_TEXT = "Change it in the text of the file"


def set_in_row(text: str, number: int, key: str, value: str) -> str:
    """``frames[number][key] = value``; ``value`` as one types it."""
    start, end = _element(text, "frames", number)
    row = text[start:end]
    found = re.search(rf"(?<![\w-]){re.escape(key)}\s*=\s*", row)
    if not row.startswith("{"):
        raise InputError("the table of frames is written in another way", remedy=_AS_TEXT)
    if found is not None:
        last = re.compile(r"[,}]").search(row, found.end())
        assert last is not None
        old = row[found.end() : last.start()]
        space = old[len(old.rstrip()) :]
        changed = row[: found.end()] + _number(value) + space + row[last.start() :]
    else:
        inside = row[:-1].rstrip()
        comma = "" if inside.rstrip() == "{" else ","
        changed = f"{inside}{comma} {key} = {_number(value)} }}"
    return _checked(text, text[:start] + changed + text[end:], ("frames", number, key), value)


def set_in_vector(text: str, key: str, place: int, value: str) -> str:
    """``key[place] = value``."""
    start, end = _element(text, key, place)
    changed = text[:start] + _number(value) + text[end:]
    return _checked(text, changed, (key, place), value)


def _number(text: str) -> str:
    cleaned = text.strip()
    if _NUMBER.fullmatch(cleaned) is None:
        raise InputError(f"'{cleaned}' is not a number", allowed="a number such as -12.5")
    # TOML wants a digit on either side of the point.
    cleaned = re.sub(r"^([-+]?)\.", r"\g<1>0.", cleaned)
    return re.sub(r"\.(?=$|[eE])", ".0", cleaned)


def _element(text: str, key: str, place: int) -> tuple[int, int]:
    """Where an element of a list at the top of the file stands."""
    found = re.search(rf"^{re.escape(key)}\s*=\s*\[", text, re.MULTILINE)
    if found is None:
        raise InputError(f"the file has no list '{key}'", remedy=_AS_TEXT)
    for number, span in enumerate(_elements(text, found.end())):
        if number == place:
            return span
    raise InputError(f"'{key}' has no entry {place + 1}", remedy=_AS_TEXT)


def _elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Spans of the elements of a list whose opening bracket is before ``start``."""
    depth, begin, last, at = 0, None, start, start
    while at < len(text):
        letter = text[at]
        if letter in "\"'":
            at = _after_string(text, at)
            begin, last = begin if begin is not None else at, at
            continue
        if letter == "#":
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
            continue
        if depth == 0 and letter in ",]":
            if begin is not None:
                yield begin, last
            begin = None
            if letter == "]":
                return
        elif not letter.isspace():
            begin = at if begin is None else begin
            depth += (letter in "[{") - (letter in "]}")
            last = at + 1
        at += 1


def _after_string(text: str, start: int) -> int:
    quote = text[start]
    at = start + 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" and quote == '"' else 1
    return at + 1


def _checked(before: str, after: str, place: tuple[str | int, ...], value: str) -> str:
    """The new text, if it differs from the old one in this one value."""
    expected: Any = parse_toml(before, "the file")
    inner = expected
    for step in place[:-1]:
        inner = inner[step]
    found: Any = parse_toml(after, "the file")
    new = found
    for step in place:
        new = new[step]
    inner[place[-1]] = new
    if found != expected or float(new) != float(value):
        raise InputError("this value cannot be changed in place", remedy=_AS_TEXT)
    return after
