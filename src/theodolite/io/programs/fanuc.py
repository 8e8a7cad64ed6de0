"""FANUC LS: blocks ``P[1]{ GP1: UF : 0, UT : 1, ... X = 1 mm, ... };`` of the /POS section.

Millimetres and degrees: R = Rz(R) Ry(P) Rx(W).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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

SUFFIXES = (".ls",)
_BLOCK = re.compile(r"\bP\[(\d+)[^\]]*\]\s*\{(.*?)\}\s*;", re.DOTALL)
_VALUE = re.compile(rf"\b(X|Y|Z|W|P|R|J[1-9])\s*=\s*({NUMBER}|\*+)\s*(mm|deg)?")
_FRAMES = re.compile(r"\bUF\s*:\s*(\w+)\s*,\s*UT\s*:\s*(\w+)")
_TURNS = re.compile(r"CONFIG\s*:\s*'\s*([A-Z ]+?)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*'")
_POSE = ("X", "Y", "Z", "W", "P", "R")
_MOTION = re.compile(r"^\s*\d+\s*:\s*[JLCA]\s+(?P<rest>P(?P<register>R)?\[[^;\r\n]*)", re.MULTILINE)
_SHIFTED = re.compile(r"\b(Offset|Tool_Offset|VOFFSET|INC|CORR)\b", re.IGNORECASE)
_ASSIGNED = re.compile(r"^\s*\d+\s*:\s*(PR?\[[^\]]*\])\s*=", re.MULTILINE)


def parse(content: bytes) -> ProgramText:
    """Targets of a program as text."""
    text = content.decode("latin-1")
    spots: list[Spot] = []
    left: list[Remark] = []
    frames: dict[tuple[str, str], list[str]] = {}
    for block in _BLOCK.finditer(text):
        # Of several groups of motion the first is the arm.
        first = re.search(r"\bGP2\b", block[2])
        body = block[2] if first is None else block[2][: first.start()]
        found = _spot(text, block, body)
        if isinstance(found, Remark):
            left.append(found)
            continue
        spots.append(found)
        given = _FRAMES.search(body)
        if given is not None and found.kind is Kind.POSE:
            frames.setdefault((given[1], given[2]), []).append(found.name)
    left += _other_frames(spots, frames)
    kept = {name for names in list(frames.values())[1:] for name in names}
    return ProgramText(
        content,
        Notation(_read, _write, (3,) * 6, 3, np.pi / 180, 1e-3),
        tuple(s for s in spots if sensible(s.values) and s.name not in kept),
        tuple(left),
        tuple(_refused(text)),
        tuple(sorted({pair[0] for pair in list(frames)[:1] if pair[0] != "0"})),
        tuple(sorted({pair[1] for pair in list(frames)[:1] if pair[1] != "0"})),
    )


def _spot(text: str, block: re.Match[str], body: str) -> Spot | Remark:
    line, name = line_of(text, block.start()), f"P[{block[1]}]"
    values = {one[1]: one for one in _VALUE.finditer(body)}
    joints = tuple(f"J{number}" for number in range(1, 10) if f"J{number}" in values)
    keys = joints or _POSE
    if not set(keys) <= set(values):
        return Remark(line, f"{name}: not understood")
    if any(values[key][2].startswith("*") for key in keys):
        return Remark(line, f"{name}: was never taught")
    offset = block.start(2)
    return Spot(
        line,
        name,
        Kind.JOINTS if joints else Kind.POSE,
        tuple((offset + values[key].start(2), offset + values[key].end(2)) for key in keys),
        tuple(float(values[key][2]) for key in keys),
        None if joints else _branch(body),
    )


def _branch(body: str) -> Branch | None:
    """How often joints 1, 4 and 6 have turned round."""
    found = _TURNS.search(body)
    if found is None:
        return None
    turns = [int(found[number]) for number in (2, 3, 4)]

    def agrees(joints: FloatArray) -> BoolArray:
        if joints.shape[1] < 6:
            return np.ones(len(joints), dtype=bool)
        rounds = np.round(joints[:, [0, 3, 5]] / (2 * np.pi))
        return np.asarray((rounds == turns).all(axis=1))

    return agrees


def _other_frames(spots: list[Spot], frames: dict[tuple[str, str], list[str]]) -> Iterator[Remark]:
    """Targets in other frames than those of the first: one correction has one of each."""
    lines = {spot.name: spot.line for spot in spots}
    first = next(iter(frames), None)
    for pair, names in list(frames.items())[1:]:
        for name in names:
            assert first is not None
            yield Remark(
                lines[name],
                f"{name}: in user frame {pair[0]} with tool {pair[1]}, the first target in "
                f"{first[0]} with {first[1]}; correct these in a program of their own",
            )


def _refused(text: str) -> Iterator[Remark]:
    plain = masked(text, "!", "'")
    for found in _MOTION.finditer(plain):
        line = line_of(text, found.start("rest"))
        shifted = _SHIFTED.search(found["rest"])
        if found["register"]:
            yield Remark(line, "moves to a position register: a computed target")
        elif shifted is not None:
            yield Remark(line, f"{shifted[1]}: a relative target")
    for found in _ASSIGNED.finditer(plain):
        yield Remark(line_of(text, found.start(1)), f"{found[1]} is computed")


def _read(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    return 1e-3 * values[:3], euler(np.radians(values[[5, 4, 3]]))


def _write(position: FloatArray, rotation: FloatArray, before: FloatArray) -> FloatArray:
    angles = np.degrees(near_euler(rotation, np.radians(before[[5, 4, 3]])))
    return np.concatenate([1e3 * position, angles[::-1]])
