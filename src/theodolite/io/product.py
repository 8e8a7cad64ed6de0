"""Product rows as text: ``Tx(100) Ry(=2.5) Rz(-q+30)``.

A number is a parameter, ``=`` before it makes it a known constant, ``q`` or ``-q`` is the joint,
alone, with an offset that is a parameter (``q+30``) or with a known one (``q=30``).
"""

from __future__ import annotations

import re

from theodolite.model.conventions import Piece, Row

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ELEMENT = re.compile(
    rf"\s*([RT])([xyz])\(\s*(?:(?P<joint>[+-]?q)\s*(?P<offset>[=+-].*?)?|(?P<known>=)?\s*"
    rf"(?P<amount>{_NUMBER}))\s*\)"
)


def parse_product(text: str) -> tuple[tuple[Piece, ...], list[float]]:
    """The elements of a product and their constant amounts, in the text's units."""
    pieces, amounts = [], []
    position = 0
    while text[position:].strip():
        match = _ELEMENT.match(text, position)
        if match is None:
            raise ValueError(f"cannot read {text[position:].strip()[:20]!r} in the product")
        joint, offset = match.group("joint"), match.group("offset")
        sign = 0 if joint is None else (-1 if joint.startswith("-") else 1)
        known = offset is None or offset.startswith("=") if joint else match.group("known")
        number = match.group("amount") or (offset or "0").lstrip("=").replace(" ", "")
        try:
            amounts.append(float(number))
        except ValueError as error:
            raise ValueError(f"{offset!r} is not a number in the product") from error
        pieces.append(Piece(match.group(1) == "R", "xyz".index(match.group(2)), sign, not known))
        position = match.end()
    if not pieces:
        raise ValueError("the product has no elements")
    return tuple(pieces), amounts


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
