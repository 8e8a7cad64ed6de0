"""Shown output against real output: words exactly, numbers to the digits shown.

In shown output a line ``...`` stands for any number of lines, and `` ...`` at the end of a line for
the rest of it. Blanks and the lines of tables may differ in length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
_RULES = re.compile(r"([━─═])\1+")
#: Numbers may differ by this many units of the last digit shown: the order in which a linear
#: algebra library adds depends on the machine, and what is shown was rounded.
_SLACK = 1.001
#: Beyond these, numbers in powers of ten are rounding errors, or ratios to them. Their size depends
#: on the machine, so only their order of magnitude is compared.
_ROUNDING = (1e-9, 1e9)
_MAGNITUDES = 2.0
OMITTED = "..."


def agrees(shown: Sequence[str], real: Sequence[str]) -> bool:
    """Is the real output what is shown?"""
    return _places(shown, real, same_line) is not None


def updated(shown: Sequence[str], real: Sequence[str]) -> list[str]:
    """The real output, with the same omissions as the shown one where that is possible."""
    if OMITTED not in shown and not any(line.endswith(f" {OMITTED}") for line in shown):
        return list(real)
    places = _places(shown, real, _same_words)
    if places is None:
        return list(real)
    lines = []
    for line, place in zip(shown, places, strict=True):
        if place is None:
            lines.append(OMITTED)
        elif line.endswith(f" {OMITTED}"):
            words = len(line.split()) - 1
            kept = re.match(rf"\s*(?:\S+\s+){{{words}}}", real[place] + " ")
            lines.append(f"{kept[0].rstrip()} {OMITTED}" if kept else real[place])
        else:
            lines.append(real[place])
    return lines


def filled(shown: Sequence[str], real: Sequence[str]) -> list[str]:
    """The shown output with the real rest of lines that end in an omission."""
    places = _places(shown, real, same_line)
    if places is None:
        return list(shown)
    return [
        line if place is None or not line.endswith(f" {OMITTED}") else real[place]
        for line, place in zip(shown, places, strict=True)
    ]


def same_line(shown: str, real: str) -> bool:
    """Do two lines say the same?"""
    shown, real = _compared(shown, real)
    numbers = zip(_NUMBER.findall(shown), _NUMBER.findall(real), strict=False)
    return _words(shown) == _words(real) and all(_same_number(*pair) for pair in numbers)


def _same_words(shown: str, real: str) -> bool:
    """Do two lines say the same but for their numbers?"""
    shown, real = _compared(shown, real)
    return _words(shown) == _words(real)


def _compared(shown: str, real: str) -> tuple[str, str]:
    """What is compared of two lines: all, or what stands before an omission."""
    shown, real = _plain(shown), _plain(real)
    if not shown.endswith(f" {OMITTED}"):
        return shown, real
    words = shown.split(" ")[:-1]
    return " ".join(words), " ".join(real.split(" ")[: len(words)])


def _words(line: str) -> str:
    return _NUMBER.sub("#", line)


def _plain(line: str) -> str:
    return " ".join(_RULES.sub(r"\1", line).split())


def _same_number(shown: str, real: str) -> bool:
    if shown == real:
        return True
    mantissa, _, exponent = shown.partition("e")
    if "." not in mantissa and not exponent:
        # Counts are counts.
        return "." not in real and "e" not in real and int(shown) == int(real)
    one, other = float(shown), float(real)
    low, high = _ROUNDING
    if exponent and one * other > 0 and not low < abs(one) < high:
        return max(one / other, other / one) <= 10**_MAGNITUDES
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(one - other) <= _SLACK * unit


def _places(
    shown: Sequence[str], real: Sequence[str], same: Callable[[str, str], bool]
) -> list[int | None] | None:
    """For each shown line the real line that it is; None for omissions. None if they differ."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == OMITTED:
            parts.append([])
        else:
            parts[-1].append(line)
    found: list[int | None] = []
    place = 0
    for number, part in enumerate(parts):
        if number:
            found.append(None)
        first, last = number == 0, number == len(parts) - 1
        starts = range(place, len(real) - len(part) + 1)
        if first:
            starts = range(0, min(1, len(starts)))
        if last:
            end = len(real) - len(part)
            starts = range(end, end + 1) if end in starts else range(0)
        for start in starts:
            if all(map(same, part, real[start:])):
                found += range(start, start + len(part))
                place = start + len(part)
                break
        else:
            return None
    return found
