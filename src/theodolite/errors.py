"""Every error a user can meet. Each composes its own sentence.

Sentences quote what stands in files and on command lines. So each is kept short, and characters
that would move a terminal's cursor or hide text are written as escapes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

#: Nobody reads a longer message. Place and remedy have their share, what is wrong the next.
LONGEST = 400
_WHERE, _REMEDY, _WHAT, _ALLOWED = 100, 200, 200, 50


def printable(text: str) -> str:
    """The text on one line, with escapes for what a terminal would obey instead of show."""
    if text.isprintable():
        return text
    text = text.replace("\r", " ").replace("\n", " ").replace("\t", " ")
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def bounded(text: str, limit: int) -> str:
    """The text, with its middle left out where it is longer."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail - 3]}...{text[-tail:]}"


def shown(value: object, limit: int = 40) -> str:
    """A value as Python writes it, short, whatever it is; of what takes several lines, its type."""
    try:
        text = repr(value)
        return f"a {type(value).__name__}" if "\n" in text else bounded(text, limit)
    except (ValueError, RecursionError):
        # Integers of thousands of digits, lists in lists in lists.
        return f"a {type(value).__name__} too large to show"


def listed(names: Iterable[str], limit: int) -> str:
    """Names between commas, as many as there is room for, and how many more there are."""
    every = [printable(name) for name in names]
    whole = ", ".join(every)
    if len(whole) <= limit:
        return whole
    shown_names: list[str] = []
    room = limit - len(f", ... {len(every)} more")
    for name in every:
        room -= len(name) + 2
        if room < 0:
            break
        shown_names.append(name)
    return ", ".join([*shown_names, f"... {len(every) - len(shown_names)} more"])


class TheodoliteError(Exception):
    """Anything Theodolite refuses to do, with the reason."""


class InputError(TheodoliteError):
    """Wrong input: what is wrong, where it is, what is allowed and what to do."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        allowed: str | Iterable[str] | None = None,
        remedy: str | None = None,
    ) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        self.allowed = allowed if isinstance(allowed, str | None) else tuple(allowed)
        place = f"{bounded(printable(where), _WHERE)}: " if where else ""
        advice = f". {bounded(printable(remedy), _REMEDY)}" if remedy else ""
        room = LONGEST - len(place) - len(advice)
        share = min(_WHAT, room - _ALLOWED if self.allowed else room)
        sentence = place + bounded(printable(what), share)
        if self.allowed:
            sentence += "; allowed: "
            room = max(_ALLOWED, LONGEST - len(sentence) - len(advice))
            if isinstance(self.allowed, str):
                sentence += bounded(printable(self.allowed), room)
            else:
                sentence += listed(self.allowed, room)
        super().__init__(sentence + advice)

    def at(self, where: str) -> InputError:
        """The same error with its place."""
        return InputError(self.what, where=where, allowed=self.allowed, remedy=self.remedy)


def install_command(extra: str) -> str:
    """What to type to have an extra in this very environment, which may have no pip of its own."""
    from importlib.metadata import PackageNotFoundError, distribution
    from importlib.util import find_spec
    from json import loads
    from urllib.parse import unquote

    pip = "pip" if find_spec("pip") is not None else f"PIP_PYTHON={sys.executable} pip"
    place = "theodolite"
    try:
        origin = loads(distribution("theodolite").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url = origin.get("url", "")
    if url.startswith("file://"):
        # Installed from a folder, which is where the extras are, too.
        place = unquote(url.removeprefix("file://"))
    return f"{pip} install '{place}[{extra}]'"


class MissingExtraError(InputError):
    """An optional library is not installed: what needs it, and which extra brings it."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{what} needs the extra '{extra}', which is not installed",
            remedy=f"Install it with: {install_command(extra)}",
        )


class InfeasibleError(TheodoliteError):
    """Parameter values with which the machine cannot be where it was measured."""

    def __init__(self, what: str, rows: Iterable[int] = ()) -> None:
        self.rows = tuple(rows)
        super().__init__(what)


class UnreachableError(TheodoliteError):
    """No configuration of the robot satisfies what was asked for."""
