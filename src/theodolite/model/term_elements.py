"""Further error terms of a machine: where they may stand, and what they add to the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from theodolite.errors import InputError, shown
from theodolite.model.conventions import Joint
from theodolite.model.elements import Element, Term
from theodolite.model.parameters import TERM_COLUMN, Group, Parameter, Unit
from theodolite.model.terms import AXES, BENDS, JOINT, ErrorTerm, joints_named

if TYPE_CHECKING:
    from theodolite.model.expressions import Expression
    from theodolite.model.robot import Robot

#: What terms can do to a frame, and whether that turns it.
FRAME: Mapping[str, bool] = {name: rotation for name, (rotation, _) in AXES.items()}


class BearsTerms(Protocol):
    """What is needed of a machine that may have further terms."""

    @property
    def name(self) -> str: ...

    @property
    def joints(self) -> int: ...

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...

    @property
    def terms(self) -> tuple[ErrorTerm, ...]: ...

    @property
    def bases(self) -> tuple[Expression, ...]: ...

    @property
    def term_rows(self) -> range: ...

    def term_places(self, row: int) -> Mapping[str, bool]: ...

    def terms_on(self, row: int, on: str) -> Sequence[Term]: ...


def check_term(robot: BearsTerms, term: ErrorTerm) -> None:
    """Refuse a term on a row, an element or a joint that is not there."""
    if not isinstance(term, ErrorTerm):
        example = "ErrorTerm(3, 'q', 'sin(q3)')"
        raise InputError(f"{shown(term)} is not a term", allowed=example)
    where = f"term '{term.name}'"
    if term.row not in robot.term_rows:
        raise InputError(
            f"{where}: robot '{robot.name}' has no row {term.row}",
            allowed=f"0 to {robot.term_rows[-1]}",
        )
    allowed = list(robot.term_places(term.row))
    if term.on not in allowed:
        raise InputError(f"{where}: row {term.row} has no element '{term.on}'", allowed=allowed)
    missing = {joint for joint in joints_named([term.expression]) if joint > robot.joints}
    if missing:
        raise InputError(
            f"{where}: robot '{robot.name}' has no joint {min(missing)}",
            allowed=f"joints 1 to {robot.joints}",
        )


def turned_by(robot: BearsTerms, term: ErrorTerm) -> bool:
    """Does a term turn something, or displace it?"""
    return robot.term_places(term.row)[term.on]


def term_parameters(robot: BearsTerms) -> list[Parameter]:
    """The coefficients of a machine's terms."""
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


def frame_elements(robot: BearsTerms, row: int, symbols: tuple[str, ...] = ()) -> list[Element]:
    """Elements of a row's frame that only further terms move: ``symbols`` are in the row anyway."""
    found = [
        (rotation, axis, robot.terms_on(row, on))
        for on, (rotation, axis) in {**AXES, **BENDS}.items()
        if on not in symbols
    ]
    return [Element(rotation, axis, tuple(terms)) for rotation, axis, terms in found if terms]


def terms_by_place(robot: BearsTerms) -> dict[tuple[int, str], list[Term]]:
    """The summands that further terms add to elements, by number of the row and symbol."""
    first_parameter = len(robot.parameters) - len(robot.terms)
    basis = {expression.text: place for place, expression in enumerate(robot.bases)}
    found: dict[tuple[int, str], list[Term]] = {}
    for number, term in enumerate(robot.terms):
        summand = Term(first_parameter + number, 1 + robot.joints + basis[term.expression.text])
        found.setdefault((term.row, term.on), []).append(summand)
    return found


def places_in_table(robot: Robot, row: int) -> dict[str, bool]:
    """What terms can be added to in a row: its elements, its joint, its frame; does that turn?"""
    if row < robot.first_number:
        return dict(FRAME)
    frame = robot.frames[row - robot.first_number]
    elements = {slot.symbol: slot.rotation for slot in frame.slots}
    moved = frame.joint is not Joint.FIXED
    joint = {JOINT: frame.joint is Joint.REVOLUTE} if moved else {}
    bends = dict.fromkeys(BENDS, True) if moved and not FRAME.keys() - elements.keys() else {}
    return {**FRAME, **elements, **joint, **bends}
