"""Further error terms in a robot's table: where they may stand, and what they add to the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theodolite.errors import InputError, shown
from theodolite.model.conventions import Joint
from theodolite.model.elements import Element, Term
from theodolite.model.parameters import TERM_COLUMN, Group, Parameter, Unit
from theodolite.model.terms import AXES, JOINT, ErrorTerm, joints_named

if TYPE_CHECKING:
    from theodolite.model.robot import Robot


def check_term(robot: Robot, term: ErrorTerm) -> None:
    """Refuse a term on a row, an element or a joint that is not there."""
    if not isinstance(term, ErrorTerm):
        example = "ErrorTerm(3, 'q', 'sin(q3)')"
        raise InputError(f"{shown(term)} is not a term", allowed=example)
    where = f"term '{term.name}'"
    last = len(robot.frames) + robot.first_number - 1
    if not 0 <= term.row <= last:
        raise InputError(
            f"{where}: robot '{robot.name}' has no row {term.row}", allowed=f"0 to {last}"
        )
    allowed = _places(robot, term.row)
    if term.on not in allowed:
        raise InputError(f"{where}: row {term.row} has no element '{term.on}'", allowed=allowed)
    missing = {joint for joint in joints_named([term.expression]) if joint > robot.joints}
    if missing:
        raise InputError(
            f"{where}: robot '{robot.name}' has no joint {min(missing)}",
            allowed=f"joints 1 to {robot.joints}",
        )


def turned_by(robot: Robot, term: ErrorTerm) -> bool:
    """Does a term turn something, or displace it?"""
    index = term.row - robot.first_number
    if term.on == JOINT:
        return robot.frames[index].joint is Joint.REVOLUTE
    slots = () if index < 0 else robot.frames[index].slots
    return next((s.rotation for s in slots if s.symbol == term.on), term.on.startswith("r"))


def term_parameters(robot: Robot) -> list[Parameter]:
    """The coefficients of a robot's terms."""
    return [
        Parameter(
            term.name,
            term.value,
            Unit.RADIAN if turned_by(robot, term) else Unit.METRE,
            Group.ARM,
            term.row,
            TERM_COLUMN,
            term=True,
        )
        for term in robot.terms
    ]


def frame_elements(robot: Robot, row: int, symbols: tuple[str, ...]) -> list[Element]:
    """Elements of a row's frame that only further terms move: ``symbols`` are in the row anyway."""
    found = [
        (rotation, axis, robot.terms_on(row, on))
        for on, (rotation, axis) in AXES.items()
        if on not in symbols
    ]
    return [Element(rotation, axis, tuple(terms)) for rotation, axis, terms in found if terms]


def terms_by_place(robot: Robot) -> dict[tuple[int, str], list[Term]]:
    """The summands that further terms add to elements, by number of the row and symbol."""
    first_parameter = len(robot.parameters) - len(robot.terms)
    basis = {expression.text: place for place, expression in enumerate(robot.bases)}
    found: dict[tuple[int, str], list[Term]] = {}
    for number, term in enumerate(robot.terms):
        summand = Term(first_parameter + number, 1 + robot.joints + basis[term.expression.text])
        found.setdefault((term.row, term.on), []).append(summand)
    return found


def _places(robot: Robot, row: int) -> list[str]:
    """What terms can be added to in a row: its elements, its joint, its frame."""
    if row < robot.first_number:
        return list(AXES)
    frame = robot.frames[row - robot.first_number]
    joint = [JOINT] if frame.joint is not Joint.FIXED else []
    return [*frame.symbols, *joint, *(axis for axis in AXES if axis not in frame.symbols)]
