"""Universal Robots' URScript: poses ``p[x,y,z,rx,ry,rz]`` and lists of joints in moves.

Metres, radians and rotation vectors.
"""

from __future__ import annotations

import re

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.compensation.programs import Kind
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

SUFFIXES = (".script", ".urscript")
_SIX = r"\[\s*" + r"\s*,\s*".join([NUMBER] * 6) + r"\s*\]"
_POSE = re.compile(r"\bp\s*(\[[^\[\]]*\])")
_MOVES = ("movej", "movel", "movep", "movec", "servol")
_MOVE = re.compile(r"\b(movej|movel|movep|movec|servol)\s*\(\s*([^\s,()\[\]]*)")
#: Functions that put one pose behind another, or make one of something else.
_RELATIVE = ("pose_trans", "pose_add", "pose_sub", "interpolate_pose", "get_inverse_kin")


def parse(content: bytes) -> ProgramText:
    """Targets of a script."""
    text = masked(content.decode("latin-1"), "#")
    spots: list[Spot] = []
    left: list[Remark] = []
    refused: list[Remark] = []
    moved = {found[2] for found in _MOVE.finditer(text)}
    for found in _POSE.finditer(text):
        _pose(text, found, spots, left, refused)
    literal = {spot.name for spot in spots if spot.name}
    for found in re.finditer(rf"\b(\w+)\s*:?=\s*({_SIX})", text):
        if found[1] in moved:
            spots.append(_joints(text, found.start(2), found.end(2), found[1]))
            literal.add(found[1])
    for found in re.finditer(rf"\b(?:movej|movel|movep|servoj)\s*\(\s*({_SIX})", text):
        spots.append(_joints(text, found.start(1), found.end(1), ""))
    for found in _MOVE.finditer(text):
        rest = text[found.end() :].lstrip()
        if found[2] in ("", "p") and re.match(rf"(p\s*)?{_SIX}", found[2] + rest):
            continue
        if found[2] not in literal:
            what = found[2] or rest[:20].split("\n")[0]
            if line_of(text, found.start()) in {remark.line for remark in refused}:
                continue
            refused.append(
                Remark(line_of(text, found.start()), f"{found[1]}({what}...: a computed target")
            )
    for found in re.finditer(r"\b(\w+)\s*\[\s*\d\s*\]\s*=[^=]", text):
        if found[1] in moved:
            what = f"{found[1]}: a part of it is computed"
            refused.append(Remark(line_of(text, found.start()), what))
    # What stands in front of another pose is a frame: a feature, as these are called.
    features = set(re.findall(r"\bpose_trans\s*\(\s*(\w+)\s*,", text)) - moved
    for spot in spots:
        if spot.name in features:
            left.append(Remark(spot.line, f"{spot.name}: a frame, not a target"))
    spots = [spot for spot in spots if sensible(spot.values) and spot.name not in features]
    return ProgramText(
        content,
        Notation(_read, _write, (7, 7, 7, 8, 8, 8), 8, 1.0, 1.0),
        tuple(sorted(spots, key=lambda spot: spot.numbers[0])),
        tuple(left),
        tuple(sorted(set(refused), key=lambda remark: (remark.line, remark.what))),
        tools=tuple(sorted(set(re.findall(r"\bset_tcp\s*\(\s*([^)\s]+[^)]*)\)", text)))),
    )


def _pose(
    text: str,
    found: re.Match[str],
    spots: list[Spot],
    left: list[Remark],
    refused: list[Remark],
) -> None:
    line = line_of(text, found.start())
    call = _enclosing(text, found.start())
    if call in _RELATIVE:
        refused.append(Remark(line, f"{call}: a relative or computed target"))
    elif call and call not in (*_MOVES, "servoc"):
        left.append(Remark(line, f"{call}({found[0][:20]}...: not a target"))
    elif not re.fullmatch(_SIX, found[1]):
        refused.append(Remark(line, f"{found[0][:30]}: not six numbers"))
    else:
        places, values = numbers_in(text, found.start(1), found.end(1))
        declared = re.search(r"(\w+)\s*:?=\s*$", text[: found.start()])
        name = declared[1] if declared else ""
        spots.append(Spot(line, name, Kind.POSE, tuple(places), tuple(values)))


def _joints(text: str, start: int, end: int, name: str) -> Spot:
    places, values = numbers_in(text, start, end)
    return Spot(line_of(text, start), name, Kind.JOINTS, tuple(places), tuple(values))


def _enclosing(text: str, place: int) -> str:
    """The function in whose parentheses a place is; none at the top of a statement."""
    depth = 0
    first = text.rfind("\n", 0, place)
    for index in range(place - 1, max(first, -1), -1):
        if text[index] == ")":
            depth += 1
        elif text[index] == "(":
            if depth == 0:
                name = re.search(r"(\w+)\s*$", text[:index])
                return name[1] if name else ""
            depth -= 1
    return ""


def _read(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    return values[:3], rotations.exp(values[None, 3:6])[0]


def _write(position: FloatArray, rotation: FloatArray, before: FloatArray) -> FloatArray:
    vector = rotations.log(rotation[None])[0]
    angle = float(np.linalg.norm(vector))
    # A turn of a and one of a - 360 degrees are the same: the nearest to what was written.
    if angle > 0.0:
        ways = [vector * (1.0 + 2 * np.pi * turns / angle) for turns in (-2, -1, 0, 1, 2)]
        vector = min(ways, key=lambda way: float(np.linalg.norm(way - before[3:6])))
    elif np.linalg.norm(before[3:6]) > np.pi:
        vector = before[3:6]
    return np.concatenate([position, vector])
