"""ABB RAPID: ``robtarget`` and ``jointtarget`` literals.

A robtarget is ``[[x,y,z],[q1,q2,q3,q4],[cf1,cf4,cf6,cfx],[six external axes]]`` in mm; a
jointtarget is ``[[six joints],[six external axes]]`` in degrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.compensation.programs import Branch, Kind
from theodolite.io.programs.text import (
    NUMBER,
    Notation,
    ProgramText,
    Remark,
    Spot,
    line_of,
    masked,
    numbers_in,
    sensible,
)
from theodolite.model import rotations

SUFFIXES = (".mod", ".modx", ".prg", ".sys", ".sysx")


def _list(count: int) -> str:
    return r"\[\s*" + r"\s*,\s*".join([NUMBER] * count) + r"\s*\]"


_SEPARATOR = r"\s*,\s*"
_ROBTARGET = re.compile(
    r"\[\s*" + _SEPARATOR.join((_list(3), _list(4), _list(4), _list(6))) + r"\s*\]"
)
_JOINTTARGET = re.compile(r"\[\s*" + _SEPARATOR.join((_list(6), _list(6))) + r"\s*\]")
#: Functions whose results are targets, and changes of parts of targets.
_COMPUTED = re.compile(
    r"\b(Offs|RelTool|CRobT|CJointT|CalcRobT|CalcJointT|ORobT|MirPos|PoseMult|PDispOn|PDispSet)\b"
    r"|\.\s*(trans|rot|robax|robconf)\b[^;:=]*:=",
    re.IGNORECASE,
)
#: The target of a motion, if it has a name.
_MOVED = re.compile(r"\bMove[A-Z]\w*\s+([A-Za-z]\w*)\s*(?:\{[^}]*\})?\s*[,\\]", re.IGNORECASE)
#: A joint this near to the border of a quadrant, in quarter turns, may be said to be in either.
NEAR = 1e-3
_DECLARED = re.compile(r"\b(robtarget|jointtarget)\b\s+(\w+)", re.IGNORECASE)


def parse(content: bytes) -> ProgramText:
    """Targets of a module."""
    text = masked(content.decode("latin-1"), "!")
    spots = sorted((*_poses(text), *_joints(text)), key=lambda spot: spot.numbers[0])
    return ProgramText(
        content,
        Notation(_read, _write, (4, 4, 4, 9, 9, 9, 9), 6, np.pi / 180, 1e-3),
        tuple(spots),
        tuple(_left_alone(text, spots)),
        tuple(_refused(text, spots)),
        _frames(text, r"\\WObj\s*:=\s*(\w+)", "wobj0"),
        _frames(text, r",\s*(\w+)\s*(?:\\[^;,]*)?;$", "tool0"),
    )


def _poses(text: str) -> Iterator[Spot]:
    for found in _ROBTARGET.finditer(text):
        places, values = numbers_in(text, found.start(), found.end())
        size = float(np.linalg.norm(values[3:7]))
        if not sensible(values[:7]) or not 0.9 < size < 1.1:
            continue
        yield Spot(
            line_of(text, found.start()),
            _name(text, found.start()),
            Kind.POSE,
            tuple(places[:7]),
            tuple(values[:7]),
            _branch(values[7:11]),
            tuple(places[7:11]),
            partial(_numbered, [round(value) for value in values[7:11]]),
        )


def _joints(text: str) -> Iterator[Spot]:
    for found in _JOINTTARGET.finditer(text):
        statement = _statement(text, found.start()).lower()
        places, values = numbers_in(text, found.start(), found.end())
        moves = re.search(r"\b(jointtarget|moveabsj|moveextj)\b", statement)
        if moves is None or moves[0] == "moveextj" or not sensible(values[:6]):
            continue
        yield Spot(
            line_of(text, found.start()),
            _name(text, found.start()),
            Kind.JOINTS,
            tuple(places[:6]),
            tuple(values[:6]),
        )


def _statement(text: str, place: int) -> str:
    """What stands before a place in its statement."""
    return text[text.rfind(";", 0, place) + 1 : place]


def _name(text: str, place: int) -> str:
    declared = re.search(r"(\w+)\s*(\{[^}]*\})?\s*:=\s*[\[\s]*$", _statement(text, place))
    return declared[1] if declared else ""


def _branch(configuration: list[float]) -> Branch:
    """Quadrants of joints 1, 4 and 6, and the sign of joint 5."""
    cf1, cf4, cf6, cfx = (round(value) for value in configuration)

    def agrees(joints: FloatArray) -> BoolArray:
        if joints.shape[1] < 6:
            return np.ones(len(joints), dtype=bool)
        quarter = joints / (np.pi / 2)
        inside = [
            (quarter[:, joint] >= number - NEAR) & (quarter[:, joint] <= number + 1 + NEAR)
            for joint, number in ((0, cf1), (3, cf4), (5, cf6))
        ]
        fifth = joints[:, 4] <= NEAR if cfx % 2 else joints[:, 4] >= -NEAR
        return np.asarray(inside[0] & inside[1] & inside[2] & fifth)

    return agrees


def _numbered(before: list[int], joints: FloatArray) -> list[int]:
    """Quadrants and the sign of joint 5 at given joints; as before as long as they agree."""
    if len(joints) < 6 or _branch([float(n) for n in before])(joints[None])[0]:
        return before
    quarters = joints[[0, 3, 5]] / (np.pi / 2)
    after = [
        number if number - NEAR <= quarter <= number + 1 + NEAR else int(np.floor(quarter))
        for number, quarter in zip(before[:3], quarters.tolist(), strict=True)
    ]
    return [*after, before[3] // 2 * 2 + int(joints[4] < 0.0)]


def _left_alone(text: str, spots: list[Spot]) -> Iterator[Remark]:
    """Declarations of targets that hold no literal, and frames of tools and work objects."""
    lines = {spot.line for spot in spots}
    for found in _DECLARED.finditer(text):
        end = text.find(";", found.end())
        statement = text[found.start() : end if end >= 0 else len(text)]
        first = line_of(text, found.start())
        here = range(first, first + statement.count("\n") + 1)
        if ":=" in statement and not lines.intersection(here):
            yield Remark(first, f"{found[1]} {found[2]}: not a literal that is understood")
    known = {found[2].lower() for found in _DECLARED.finditer(text)}
    known |= {found[1].lower() for found in re.finditer(r"\b(\w+)\s*:=", text)}
    elsewhere = {
        found[1]: line_of(text, found.start())
        for found in _MOVED.finditer(text)
        if found[1].lower() not in known
    }
    for name, line in elsewhere.items():
        yield Remark(line, f"{name}: declared elsewhere")
    for found in re.finditer(r"\b(tooldata|wobjdata)\b\s+(\w+)", text, re.IGNORECASE):
        yield Remark(line_of(text, found.start()), f"{found[1]} {found[2]}: a frame, not a target")


def _refused(text: str, spots: list[Spot]) -> Iterator[Remark]:
    lines = {spot.line for spot in spots}
    for found in re.finditer(r"\b(Move\w*|Trigg\w*|Search\w*)\s+\[", text, re.IGNORECASE):
        if line_of(text, found.end() - 1) not in lines:
            line = line_of(text, found.start())
            yield Remark(line, f"{found[1]}: a target that is not all numbers")
    for line, name in _computed_names(text, {spot.name.lower() for spot in spots if spot.name}):
        yield Remark(line, f"{name}: a computed target")
    for found in _COMPUTED.finditer(text):
        what = found[1] or f"component {found[2]}"
        yield Remark(line_of(text, found.start()), f"{what}: a relative or computed target")


def _computed_names(text: str, literal: set[str]) -> Iterator[tuple[int, str]]:
    """Targets of motions that are assigned something else than numbers, by line."""
    moved = {found[1].lower() for found in _MOVED.finditer(text)}
    for found in re.finditer(r"\b(\w+)\s*(?:\{[^}]*\})?\s*:=\s*([^;]*);", text):
        name, value = found[1].lower(), found[2]
        numbers = _ROBTARGET.fullmatch(value.strip()) or _JOINTTARGET.fullmatch(value.strip())
        # Functions that are known are named with their own words.
        said = _COMPUTED.search(found[0]) is not None or (name in literal and "[" in value)
        if name in moved and numbers is None and not said:
            yield line_of(text, found.start()), found[1]


def _read(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    return 1e-3 * values[:3], rotations.from_quaternion(values[None, 3:7])[0]


def _write(position: FloatArray, rotation: FloatArray, before: FloatArray) -> FloatArray:
    turned = rotations.to_quaternion(rotation[None])[0]
    old = before[3:7]
    # Of the sign and length that it had: a rounded quaternion is not quite of unit length.
    turned = turned * np.linalg.norm(old) * (1.0 if turned @ old >= 0 else -1.0)
    return np.concatenate([1e3 * position, turned])


def _frames(text: str, pattern: str, usual: str) -> tuple[str, ...]:
    """Frames of all motions that are corrected; none where only the usual one is used."""
    names = set()
    for found in re.finditer(r"\bMove[LJC]\w*\b[^;]*;", text, re.IGNORECASE):
        if _COMPUTED.search(found[0]) is not None:
            continue
        named = re.search(pattern, found[0], re.IGNORECASE)
        names.add(usual if named is None else named[1])
    others = {name for name in names if name.lower() != usual}
    return tuple(sorted(names)) if others else ()
