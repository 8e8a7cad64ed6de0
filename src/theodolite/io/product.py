"""Product rows as text: ``Tx(100) Ry(=2.5) Rz(-q+30)``.

A number is a parameter, ``=`` before it makes it a known constant, ``q`` or ``-q`` is the joint,
alone, with an offset that is a parameter (``q+30``) or with a known one (``q=30``).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from theodolite.model.conventions import Piece, Row
from theodolite.model.mechanism import SegmentElement

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ELEMENT = re.compile(
    rf"\s*([RT])([xyz])\(\s*(?:(?P<sign>[+-]?)(?P<joint>[A-Za-z]\w*)\s*(?P<offset>[=+-].*?)?|"
    rf"(?P<known>=)?\s*(?P<amount>{_NUMBER}))\s*\)"
)


class _Written(NamedTuple):
    """An element as it stands in the text."""

    rotation: bool
    axis: int
    joint: str | None
    sign: int
    amount: float
    free: bool


def _elements(text: str) -> list[_Written]:
    found = []
    position = 0
    while text[position:].strip():
        match = _ELEMENT.match(text, position)
        if match is None:
            raise ValueError(f"cannot read {text[position:].strip()[:20]!r} in the product")
        joint, offset = match.group("joint"), match.group("offset")
        sign = 0 if joint is None else (-1 if match.group("sign") == "-" else 1)
        known = offset is None or offset.startswith("=") if joint else match.group("known")
        number = match.group("amount") or (offset or "0").lstrip("=").replace(" ", "")
        if not re.fullmatch(_NUMBER, number):
            raise ValueError(f"{offset!r} is not a number in the product")
        amount = float(number)
        axis = "xyz".index(match.group(2))
        found.append(_Written(match.group(1) == "R", axis, joint, sign, amount, not known))
        position = match.end()
    if not found:
        raise ValueError("the product has no elements")
    return found


def parse_product(text: str) -> tuple[tuple[Piece, ...], list[float]]:
    """The elements of a robot's row and their constant amounts, in the text's units."""
    found = _elements(text)
    for element in found:
        if element.joint not in (None, "q"):
            raise ValueError(f"the joint of a row is called q, not {element.joint!r}")
    pieces = tuple(Piece(e.rotation, e.axis, e.sign, e.free) for e in found)
    return pieces, [element.amount for element in found]


def parse_segment(
    text: str, *, length: float = 1.0, angle: float = 1.0
) -> tuple[SegmentElement, ...]:
    """A segment of a mechanism, whose joints have names of their own; units as factors to SI."""
    return tuple(
        SegmentElement(
            element.rotation,
            element.axis,
            element.joint,
            element.sign,
            element.amount * (angle if element.rotation else length),
            element.free,
        )
        for element in _elements(text)
    )


def format_product(row: Row) -> str:
    """The text of a product row, in SI."""
    elements = []
    for piece, slot in zip(row.pieces, row.slots, strict=True):
        amount = float(row.amount(slot.symbol))
        if piece.sign:
            joint = "q" if piece.sign > 0 else "-q"
            inner = joint
            if piece.free or amount:
                inner += f"{amount:+}" if piece.free else f"={amount!r}"
        else:
            inner = f"{amount!r}" if piece.free else f"={amount!r}"
        kind = "R" if piece.rotation else "T"
        elements.append(f"{kind}{'xyz'[piece.axis]}({inner})")
    return " ".join(elements)
