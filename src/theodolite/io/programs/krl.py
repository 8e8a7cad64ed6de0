"""KUKA KRL: aggregates ``{X 1,Y 2,Z 3,A 4,B 5,C 6,S 2,T 3}`` and ``{A1 1,A2 2, ...}``.

Positions are in mm, angles in degrees: R = Rz(A) Ry(B) Rx(C). Turn T has a bit for each axis whose
angle is negative.
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
    euler,
    line_of,
    masked,
    near_euler,
    sensible,
)

SUFFIXES = (".src", ".dat", ".sub")
_AGGREGATE = re.compile(r"\{\s*(?:(\w+)\s*:)?([^{}]*)\}")
_PAIR = re.compile(r"\s*([A-Za-z_]\w*)\s+([^,]*?)\s*(?:,|$)")
_POSE = ("X", "Y", "Z", "A", "B", "C")
_AXES = ("A1", "A2", "A3", "A4", "A5", "A6")
#: Frames and loads of the controller: no targets.
_FRAMES = re.compile(
    r"(\$\w+|\b(TOOL_DATA|BASE_DATA|LOAD_DATA|MACHINE_DEF|FDAT|PDAT|LDAT)\b[^=]*)=?[^={]*$",
    re.IGNORECASE,
)
#: Comparisons.
_ASKED = re.compile(r"==\s*$|<>\s*$|\b(IF|WHILE|UNTIL|WAIT)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(PTP_REL|LIN_REL|CIRC_REL|SPTP_REL|SLIN_REL|SCIRC_REL)\b", re.IGNORECASE)
#: Frames put one behind the other, outside of aggregates.
_PRODUCT = re.compile(r"(\w+|\})\s*:\s*(\w+|\{)")
#: Motions to the result of a function, or to a variable of the controller; and to a name.
_CALLED = re.compile(r"\b(?:S?PTP|S?LIN|S?CIRC)\s+(?:[A-Za-z]\w*\s*\(|\$\w+)", re.IGNORECASE)
_MOVED = re.compile(r"\b(?:S?PTP|S?LIN|S?CIRC)\s+([A-Za-z]\w*)", re.IGNORECASE)
_COMPONENT = re.compile(r"\b(\w+)\.(X|Y|Z|A|B|C|A[1-6])\s*=[^=]", re.IGNORECASE)


def parse(content: bytes) -> ProgramText:
    """Targets of a source file or a data list."""
    text = masked(content.decode("latin-1"), ";")
    spots: list[Spot] = []
    left: list[Remark] = []
    refused = list(_refused(text))
    relative = {remark.line for remark in refused}
    frames = _frame_names(text)
    for found in _AGGREGATE.finditer(text):
        line = line_of(text, found.start())
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        pairs = {pair[1].upper(): pair for pair in _PAIR.finditer(found[2])}
        keys = _POSE if set(_POSE) & set(pairs) else _AXES
        if not set(keys) & set(pairs) or line in relative:
            continue
        name = _name(before)
        inside = before.count("{") > before.count("}")
        if inside or _ASKED.search(before) is not None:
            left.append(Remark(line, f"{found[0][:30]}: part of something else, not a target"))
        elif _FRAMES.search(before) is not None or name.upper() in frames:
            left.append(Remark(line, f"{name or 'a frame'}: a frame or axes of the controller"))
        elif not set(keys) <= set(pairs):
            missing = " ".join(key for key in keys if key not in pairs)
            refused.append(Remark(line, f"{name or 'a target'} lacks {missing}: the rest depends "
                                        "on where the robot is"))  # fmt: skip
        elif not all(re.fullmatch(NUMBER, pairs[key][2]) for key in keys):
            refused.append(Remark(line, f"{name or 'a target'}: a computed target"))
        else:
            spots.append(_spot(found, pairs, keys, line, name))
    return ProgramText(
        content,
        Notation(_read, _write, (4, 4, 4, 5, 5, 5), 6, np.pi / 180, 1e-3),
        tuple(spot for spot in spots if sensible(spot.values)),
        tuple(left),
        tuple(sorted(refused, key=lambda remark: remark.line)),
        _numbered("BASE", text),
        _numbered("TOOL", text),
    )


def _numbered(what: str, text: str) -> tuple[str, ...]:
    """Bases or tools that motions or assignments name; none where only none is."""
    pattern = (
        rf"\b{what}_NO\s+(\d+)|\b{what}_DATA\[(\d+)\]\s*(?:\r?\n|$)"
        rf"|\bBAS\s*\(\s*#{what}\s*,\s*(\d+)|\${what}\s*=\s*(?!{what}_DATA)(\$?\w+|\{{)"
    )
    names = {next(filter(None, found)) for found in re.findall(pattern, text, re.IGNORECASE)}
    names = {"a frame of numbers" if name == "{" else name for name in names}
    usual = {name for name in names if name.upper() in ("0", "$NULLFRAME")}
    # Beside others, none is one more.
    return tuple(sorted(names)) if names - usual else ()


def _frame_names(text: str) -> set[str]:
    """What is used as a frame: the controller's own, or something in front of a target."""
    assigned = re.findall(r"\$(?:BASE|TOOL)\s*=\s*(\w+)", text, re.IGNORECASE)
    before = set(re.findall(r"\b(\w+)\s*:\s*\w", _outside(text)))
    points = re.findall(r"\bE?6?POS\s+(\w+)", text, re.IGNORECASE)
    return {name.upper() for name in (*assigned, *before.difference(points))}


def _outside(text: str) -> str:
    """The text with blanks between braces: a colon there names a type."""
    return _AGGREGATE.sub(lambda one: "{" + " " * (len(one[0]) - 2) + "}", text)


def _spot(
    found: re.Match[str],
    pairs: dict[str, re.Match[str]],
    keys: tuple[str, ...],
    line: int,
    name: str,
) -> Spot:
    first = found.start(2)
    places = tuple((first + pairs[key].start(2), first + pairs[key].end(2)) for key in keys)
    values = tuple(float(pairs[key][2]) for key in keys)
    turn = pairs.get("T")
    kind = Kind.POSE if keys == _POSE else Kind.JOINTS
    if keys == _POSE and turn is not None and turn[2].isdigit():
        number = int(turn[2])
        where = ((first + turn.start(2), first + turn.end(2)),)
        told = partial(_turn_at, number)
        return Spot(line, name, kind, places, values, _branch(number), where, told)
    return Spot(line, name, kind, places, values)


def _name(before: str) -> str:
    declared = re.search(r"([\w$]+)\s*(\[[^\]]*\])?\s*=\s*$", before)
    return declared[1] if declared else ""


def _branch(turn: int) -> Branch:
    """Signs of the axes."""

    def agrees(joints: FloatArray) -> BoolArray:
        near = 1e-6
        agreeing = np.ones(len(joints), dtype=bool)
        for axis in range(min(6, joints.shape[1])):
            negative = bool(turn >> axis & 1)
            agreeing &= joints[:, axis] < near if negative else joints[:, axis] > -near
        return agreeing

    return agrees


def _turn_at(before: int, joints: FloatArray) -> list[int]:
    """The turn at given joints; as before as long as they agree."""
    if _branch(before)(joints[None])[0]:
        return [before]
    negative = sum(1 << axis for axis in range(min(6, len(joints))) if joints[axis] < 0.0)
    return [before >> 6 << 6 | negative]


def _refused(text: str) -> Iterator[Remark]:
    for found in _RELATIVE.finditer(text):
        yield Remark(line_of(text, found.start()), f"{found[1]}: a relative target")
    outside = _outside(text)
    for found in _PRODUCT.finditer(outside):
        line = outside[outside.rfind("\n", 0, found.start()) + 1 : found.end()]
        if re.search(r"\b(CASE|GLOBAL|DEFDAT|SWITCH)\b", line, re.IGNORECASE):
            continue
        if re.search(r"=|\b(S?PTP|S?LIN|S?CIRC)\b", line, re.IGNORECASE):
            yield Remark(line_of(text, found.start()), f"{found[0]}: a computed target")
    for found in _CALLED.finditer(outside):
        yield Remark(line_of(text, found.start()), f"{found[0].strip()}: a computed target")
    moved = {found[1].upper() for found in _MOVED.finditer(outside)}
    for found in re.finditer(r"\b(\w+)\s*=\s*[A-Za-z]\w*\s*\(", outside):
        if found[1].upper() in moved:
            yield Remark(line_of(text, found.start()), f"{found[1]}: a computed target")
    for found in _COMPONENT.finditer(outside):
        yield Remark(line_of(text, found.start()), f"{found[1]}.{found[2]}: a computed target")


def _read(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    return 1e-3 * values[:3], euler(np.radians(values[3:6]))


def _write(position: FloatArray, rotation: FloatArray, before: FloatArray) -> FloatArray:
    angles = near_euler(rotation, np.radians(before[3:6]))
    return np.concatenate([1e3 * position, np.degrees(angles)])
