"""The modelling conventions, each a short product of elements, and the rows of a robot's table.

| convention | product | for |
|---|---|---|
| kk     | Ry(beta) Rx(alpha) Tx(d) Rz(theta) Tz(r) | Khalil & Kleinfinger, as GECARO uses it |
| dh     | Rz(theta) Tz(d) Tx(a) Rx(alpha)          | classical Denavit & Hartenberg |
| hayati | Rz(theta) Tx(a) Rx(alpha) Ry(beta)       | revolute axes (nearly) parallel to the next |
| pose   | nominal, Tx Ty Tz Ry Rz Rx, joint        | six generalized errors before the joint |
| generalized | joint, nominal, Tx Ty Tz Ry Rz Rx   | E_i after link i [Meggiolaro2000, 2.1] |
| product | any elements in any order, one of them the joint | [Everett1988, 2.2] |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple

import numpy as np

from theodolite.model.parameters import Unit

#: Sine of the angle below which two joint axes count as parallel, so that KK needs its beta.
#: One degree: common normals of axes closer than that move by metres for small changes.
PARALLEL_SINE = 0.02


class Joint(IntEnum):
    """GECARO's sigma."""

    REVOLUTE = 0
    PRISMATIC = 1
    FIXED = 2


class Slot(NamedTuple):
    """One element of a convention: what it does and which parameter gives its amount."""

    rotation: bool
    axis: int
    symbol: str
    #: Column of the priority matrix.
    column: int
    #: The kind of joint that moves this element, if any.
    moved_by: Joint | None = None
    #: The direction in which it does.
    sign: int = 1

    @property
    def unit(self) -> Unit:
        return Unit.RADIAN if self.rotation else Unit.METRE


_X, _Y, _Z = 0, 1, 2

KK_SLOTS = (
    Slot(True, _Y, "beta", 4),
    Slot(True, _X, "alpha", 0),
    Slot(False, _X, "d", 1),
    Slot(True, _Z, "theta", 2, Joint.REVOLUTE),
    Slot(False, _Z, "r", 3, Joint.PRISMATIC),
)
DH_SLOTS = (
    Slot(True, _Z, "theta", 2, Joint.REVOLUTE),
    Slot(False, _Z, "d", 3, Joint.PRISMATIC),
    Slot(False, _X, "a", 1),
    Slot(True, _X, "alpha", 0),
)
HAYATI_SLOTS = (
    Slot(True, _Z, "theta", 2, Joint.REVOLUTE),
    Slot(False, _X, "a", 1),
    Slot(True, _X, "alpha", 0),
    Slot(True, _Y, "beta", 4),
)
#: The generalized errors, with the rotations about Y, Z, X in this order.
POSE_SLOTS = (
    Slot(False, _X, "x", 0),
    Slot(False, _Y, "y", 1),
    Slot(False, _Z, "z", 2),
    Slot(True, _Y, "ry", 4),
    Slot(True, _Z, "rz", 5),
    Slot(True, _X, "rx", 3),
)


class Convention(Enum):
    """How a row of the table places its frame with respect to the one before."""

    KK = "kk"
    DH = "dh"
    HAYATI = "hayati"
    POSE = "pose"
    GENERALIZED = "generalized"
    PRODUCT = "product"

    @property
    def has_nominal(self) -> bool:
        """Do its rows have a nominal frame, and errors that start at zero?"""
        return self in (Convention.POSE, Convention.GENERALIZED)


_SLOTS = {
    Convention.KK: KK_SLOTS,
    Convention.DH: DH_SLOTS,
    Convention.HAYATI: HAYATI_SLOTS,
    Convention.POSE: POSE_SLOTS,
    Convention.GENERALIZED: POSE_SLOTS,
}


class Piece(NamedTuple):
    """One element of a product row."""

    rotation: bool
    axis: int
    #: +1 or -1 where the joint moves this element, else 0.
    sign: int
    #: Is its constant amount a parameter?
    free: bool


@dataclass(frozen=True)
class Row:
    """A row of the robot's table: a frame, placed with respect to the one before."""

    convention: Convention
    joint: Joint
    #: Amounts by symbol; a symbol that is absent is zero.
    values: Mapping[str, float] = field(default_factory=dict)
    #: The nominal frame of a pose row: x, y, z in metres, then roll, pitch, yaw in radians.
    nominal: tuple[float, float, float, float, float, float] = (0.0,) * 6
    #: The elements of a product row.
    pieces: tuple[Piece, ...] = ()

    def amount(self, symbol: str) -> float:
        return self.values.get(symbol, 0.0)

    def is_offset(self, slot: Slot) -> bool:
        """Does the slot shift the zero of this row's joint?"""
        if self.convention.has_nominal:
            return (self.joint, slot.symbol) in (
                (Joint.REVOLUTE, "rz"),
                (Joint.PRISMATIC, "z"),
            )
        return slot.moved_by is not None and slot.moved_by is self.joint

    def parameter_slots(self, before: Row | None) -> tuple[Slot, ...]:
        """The slots whose amounts are parameters, given the row before (None for the first)."""
        if self.convention is Convention.PRODUCT:
            pairs = zip(self.slots, self.pieces, strict=True)
            return tuple(slot for slot, piece in pairs if piece.free)
        if self.convention is not Convention.KK:
            return self.slots
        if before is None and self.joint is Joint.FIXED:
            # theta and r here with alpha and d of the next row are a whole base frame.
            return tuple(slot for slot in self.slots if slot.symbol in ("theta", "r"))
        keep = self.slots
        if not self._needs_beta(before):
            keep = tuple(slot for slot in keep if slot.symbol != "beta")
        return keep

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The elements of the row in their order."""
        if self.convention is not Convention.PRODUCT:
            return _SLOTS[self.convention]
        symbols = piece_symbols(self.pieces)
        return tuple(
            Slot(
                piece.rotation,
                piece.axis,
                symbol,
                min(number, 5),
                self.joint if piece.sign else None,
                piece.sign or 1,
            )
            for number, (piece, symbol) in enumerate(zip(self.pieces, symbols, strict=True))
        )

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(slot.symbol for slot in self.slots)

    def _needs_beta(self, before: Row | None) -> bool:
        """Is this row's axis parallel to the one before, so that no common normal is fixed?"""
        if self.amount("beta") != 0.0:
            return True
        # After a pose row, its own errors turn the axis.
        follows_axis = before is None or before.convention is Convention.KK
        return follows_axis and bool(abs(np.sin(self.amount("alpha"))) < PARALLEL_SINE)


def piece_symbols(pieces: tuple[Piece, ...]) -> list[str]:
    """Rx, Ty, ...; repeated ones get a letter: Rx, Rxb, Rxc."""
    symbols: list[str] = []
    for piece in pieces:
        stem = f"{'R' if piece.rotation else 'T'}{'xyz'[piece.axis]}"
        repeats = sum(symbol.startswith(stem) for symbol in symbols)
        symbols.append(stem + (chr(ord("a") + repeats) if repeats else ""))
    return symbols
