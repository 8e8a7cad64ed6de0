"""A program as bytes with numbers in them, whatever its language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.compensation.programs import Branch, Kind, Wanted

#: A number as all four languages write it.
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
#: No coordinate is larger, in any of their units.
LARGEST = 1e7


#: Turns numbers as they are written into a position in metres and a rotation, and back; what is
#: written before shows which of several ways of writing is meant.
Read = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
Write = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Notation:
    """How a language writes poses and joints."""

    read: Read
    write: Write
    #: Digits behind the point that are written at least, for each number of a pose and for joints.
    decimals: tuple[int, ...]
    joint_decimals: int
    #: Radians for one unit of a joint, metres for one of a slide.
    turn: float
    slide: float


@dataclass(frozen=True)
class Spot:
    """A target in the text."""

    line: int
    name: str
    kind: Kind
    numbers: tuple[tuple[int, int], ...]
    values: tuple[float, ...]
    branch: Branch | None = None
    #: Where the numbers of its branch stand, and what they would be at given joints.
    places: tuple[tuple[int, int], ...] = ()
    numbered: Callable[[FloatArray], Sequence[int]] | None = None


@dataclass(frozen=True)
class Remark:
    """Something that is not corrected, by its line."""

    line: int
    what: str


@dataclass(frozen=True)
class ProgramText:
    """A program, its targets, what was left alone, and what cannot be corrected."""

    content: bytes
    notation: Notation
    spots: tuple[Spot, ...]
    #: Not targets, or not understood.
    left_alone: tuple[Remark, ...] = field(default=())
    #: Relative or computed: correct these by hand.
    refused: tuple[Remark, ...] = field(default=())
    #: Bases and tools that the program names, but for those of the robot itself.
    bases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    def frame_doubts(self, *, base: bool, tool: bool) -> list[str]:
        """What is not known of the program's frames, in words; some may have been given."""
        found = []
        for what, names, given in (("base", self.bases, base), ("tool", self.tools, tool)):
            named = ", ".join(names)
            if len(names) > 1:
                found.append(
                    f"The program uses several {what}s, {named}: one correction has one of them. "
                    "Correct a program for each."
                )
            elif names and not given:
                found.append(
                    f"The program uses the {what} {named}, but the targets were taken for those of "
                    "the robot's own. Give that frame."
                )
        return found

    def wanted(self, kinds: Sequence[bool]) -> list[Wanted]:
        """The targets, SI; ``kinds`` says which joints turn."""
        found = []
        for spot in self.spots:
            values = np.array(spot.values)
            if spot.kind is Kind.JOINTS:
                joints = values * self.joint_units(kinds)
                found.append(Wanted(Kind.JOINTS, joints=joints))
            else:
                position, rotation = self.notation.read(values)
                found.append(
                    Wanted(
                        Kind.POSE,
                        position=position,
                        rotation=rotation,
                        branch=spot.branch,
                        restated=spot.numbered is not None,
                    )
                )
        return found

    def joint_units(self, kinds: Sequence[bool]) -> FloatArray:
        """SI for one unit of each joint as it is written."""
        return np.array([self.notation.turn if turns else self.notation.slide for turns in kinds])

    def changed(
        self,
        values: Sequence[FloatArray | None],
        joints: Sequence[FloatArray | None] | None = None,
    ) -> bytes:
        """The program with other numbers in its targets; None leaves a target as it is.

        ``joints`` of poses say on which branch they are now.
        """
        content = self.content
        pieces: list[tuple[int, int, bytes]] = []
        on = [None] * len(self.spots) if joints is None else joints
        for spot, new, reached in zip(self.spots, values, on, strict=True):
            if new is None:
                continue
            if spot.numbered is not None and reached is not None:
                for (start, end), number in zip(spot.places, spot.numbered(reached), strict=True):
                    if float(content[start:end]) != number:
                        pieces.append((start, end, str(number).encode()))
            least = self.notation.decimals
            if spot.kind is Kind.JOINTS:
                least = (self.notation.joint_decimals,) * len(spot.numbers)
            for (start, end), digits, value in zip(spot.numbers, least, new, strict=True):
                text = _written(content[start:end], float(value), digits)
                if text is not None:
                    pieces.append((start, end, text))
        for start, end, text in sorted(pieces, reverse=True):
            content = content[:start] + text + content[end:]
        return content


def _written(before: bytes, value: float, digits: int) -> bytes | None:
    """A number with at least so many digits behind its point; None where it stays the same."""
    text = before.decode("latin-1")
    mantissa = re.split("[eE]", text)[0]
    had = len(mantissa.partition(".")[2])
    digits = max(digits, had if "e" not in text.lower() else 0)
    if abs(value - float(text)) <= 0.5 * 10.0**-digits:
        return None
    sign = "+" if text.startswith("+") and value > 0 else ""
    return f"{sign}{value:.{digits}f}".encode()


def masked(text: str, comment: str, quote: str = '"') -> str:
    """The text with blanks in place of comments and of what is in quotes, as long as before."""
    signs = re.escape(comment)
    pattern = re.compile(rf"{quote}[^{quote}\r\n]*{quote}?|{signs}[^\r\n]*")
    return pattern.sub(lambda found: " " * len(found[0]), text)


def line_of(text: str, place: int) -> int:
    """The line of a place, counted from 1; lines end as the first one does."""
    end = "\n" if "\n" in text else "\r"
    return text.count(end, 0, place) + 1


def numbers_in(text: str, start: int, end: int) -> tuple[list[tuple[int, int]], list[float]]:
    """All numbers between two places, with where they stand."""
    found = list(re.finditer(NUMBER, text[start:end]))
    return (
        [(start + one.start(), start + one.end()) for one in found],
        [float(one[0]) for one in found],
    )


def sensible(values: Sequence[float]) -> bool:
    """Could these be coordinates?"""
    return all(abs(value) < LARGEST for value in values)


def euler(angles: FloatArray) -> FloatArray:
    """Rz(a) Ry(b) Rx(c) of angles a, b, c in radians, (3, 3)."""
    from theodolite.model.poses import rotation_matrix

    return rotation_matrix(float(angles[2]), float(angles[1]), float(angles[0]))


#: A pitch that is so near a quarter turn leaves the other two angles to choice.
UPRIGHT = 1e-9


def near_euler(rotation: FloatArray, before: FloatArray) -> FloatArray:
    """Angles a, b, c with Rz(a) Ry(b) Rx(c) = R, the nearest to those before, radians.

    Two triples and whole turns give the same R; where b is a quarter turn, all with one a - c or
    a + c do.
    """
    level = float(np.hypot(rotation[0, 0], rotation[1, 0]))
    b = np.arctan2(-rotation[2, 0], level)
    if level < UPRIGHT:
        # R = Rz(a) (Ry(b) Rx(c)): how far a is from what it must be for the c of before.
        rest = rotation @ euler(np.array([0.0, b, before[2]])).T
        off = _wrapped(np.arctan2(rest[1, 0], rest[0, 0]) - before[0])
        triples = np.array([[before[0] + off / 2, b, before[2] - np.sign(b) * off / 2]])
    else:
        a = np.arctan2(rotation[1, 0], rotation[0, 0])
        c = np.arctan2(rotation[2, 1], rotation[2, 2])
        triples = np.array([[a, b, c], [a + np.pi, np.pi - b, c + np.pi]])
    triples = before + _wrapped(triples - before)
    nearest: FloatArray = triples[np.argmin(np.linalg.norm(triples - before, axis=1))]
    return nearest


def _wrapped(angle: Any) -> Any:
    """The same angle, at most half a turn from zero."""
    return angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
