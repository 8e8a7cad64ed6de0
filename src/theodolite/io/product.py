"""Products of elementary motions as text: ``Tx(100) Ry(=2.5) Rz(-q+30)``.

A number is a parameter, ``=`` before it makes it a known constant. A name is a joint (``q``,
``-q``) or, in mechanisms, a named constant. Sums are allowed: ``q+30``, ``q=30``, ``q+L-h``. A gear
is a factor before a joint, ``0.5*q1-0.5*q2``; several joints become one element each.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from theodolite.errors import shown
from theodolite.model.bodies import BodyElement
from theodolite.model.conventions import Piece, Row

_ELEMENT = re.compile(r"\s*([RT])([xyz])\(([^()]*)\)")
_TERM = re.compile(
    r"\s*(?:(?P<sign>[+-])?\s*(?:(?P<factor>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*\*\s*)?"
    r"(?P<name>[A-Za-z]\w*)|"
    r"(?P<known>=)?\s*(?P<number>[+-]?\s*(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?))\s*"
)
#: A frame has tens of elements.
LONGEST_PRODUCT = 10_000


def parse_elements(
    text: str, joints: Collection[str], constants: Collection[str] = ()
) -> tuple[BodyElement, ...]:
    """The elements of a product in the text's units; names are joints or constants."""
    found = []
    position = 0
    text = text.rstrip()
    if len(text) > LONGEST_PRODUCT:
        raise ValueError(f"the product has {len(text)} characters, at most {LONGEST_PRODUCT}")
    while position < len(text):
        match = _ELEMENT.match(text, position)
        if match is None:
            rest = text[position : position + 60].strip()
            raise ValueError(f"cannot read {rest[:20]!r} in the product")
        kind, axis, inside = match.groups()
        found += _elements(kind, axis, inside, joints, constants)
        position = match.end()
    if not found:
        raise ValueError("the product has no elements")
    return tuple(found)


def _elements(
    kind: str, axis: str, inside: str, joints: Collection[str], constants: Collection[str]
) -> list[BodyElement]:
    """One element from the sum between its parentheses, or one for each of its joints."""
    moved: list[tuple[str, float]] = []
    named: list[tuple[str, int]] = []
    numbers: list[tuple[float, bool]] = []
    position = 0
    while position < len(inside) or not position:
        term = _TERM.match(inside, position)
        if term is None or term.end() == position:
            raise ValueError(f"cannot read {shown(inside)} in the product")
        if name := term.group("name"):
            if position and not term.group("sign"):
                raise ValueError(f"cannot read {shown(inside)} in the product")
            if name not in joints and name not in constants:
                raise ValueError(f"{shown(name)} is neither a joint nor a constant")
            way = -1 if term.group("sign") == "-" else 1
            if name in joints:
                moved.append((name, way * float(term.group("factor") or 1)))
            elif term.group("factor"):
                raise ValueError(f"{shown(name)} is a constant, and only joints have factors")
            else:
                named.append((name, way))
        else:
            number = term.group("number").replace(" ", "")
            if position and not term.group("known") and number[0] not in "+-":
                raise ValueError(f"cannot read {shown(inside)} in the product")
            numbers.append((float(number), not term.group("known")))
        position = term.end()
    if len(numbers) > 1 or len({name for name, _ in moved}) < len(moved):
        raise ValueError(f"{shown(inside)} has more than one number, or a joint twice")
    turns, along = kind == "R", "xyz".index(axis)
    further = [BodyElement(turns, along, name, factor) for name, factor in moved[:-1]]
    joint, sign = moved[-1] if moved else (None, 1.0)
    amount, free = numbers[0] if numbers else (0.0, False)
    return [*further, BodyElement(turns, along, joint, sign, amount, free, tuple(named))]


def parse_product(text: str) -> tuple[tuple[Piece, ...], list[float]]:
    """The elements of a robot's row and their constant amounts, in the text's units."""
    found = parse_elements(text, ("q",))
    if any(abs(element.sign) != 1 for element in found):
        raise ValueError("a row's joint has no factor; give its gain as K")
    pieces = tuple(Piece(e.rotation, e.axis, int(e.sign) if e.joint else 0, e.free) for e in found)
    return pieces, [element.amount for element in found]


def format_elements(elements: tuple[BodyElement, ...]) -> str:
    """The text of a product, in SI, to the last digit."""
    return " ".join(f"{'R' if e.rotation else 'T'}{'xyz'[e.axis]}({_sum(e)})" for e in elements)


def _sum(element: BodyElement) -> str:
    names = [(element.joint, element.sign)] if element.joint else []
    text = "".join(
        f"{'-' if sign < 0 else '+'}{'' if abs(sign) == 1 else f'{abs(sign)!r}*'}{name}"
        for name, sign in (*names, *element.constants)
    )
    amount = float(element.amount)
    if element.free:
        text += f"{amount:+}" if text else f"{amount!r}"
    elif amount or not text:
        text += f"={amount!r}"
    return text.removeprefix("+")


def format_product(row: Row) -> str:
    """The text of a product row, in SI."""
    return format_elements(
        tuple(
            BodyElement(
                piece.rotation,
                piece.axis,
                "q" if piece.sign else None,
                piece.sign or 1,
                float(row.amount(slot.symbol)),
                piece.free,
            )
            for piece, slot in zip(row.pieces, row.slots, strict=True)
        )
    )
