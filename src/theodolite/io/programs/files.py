"""Programs by their file names, and what a correction puts into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.compensation.programs import Corrected, Kind
from theodolite.errors import InputError
from theodolite.io.programs import fanuc, krl, rapid, urscript
from theodolite.io.programs.text import ProgramText
from theodolite.io.reading import read_bytes
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine

_PARSERS: Mapping[str, Callable[[bytes], ProgramText]] = {
    suffix: language.parse
    for language in (rapid, krl, urscript, fanuc)
    for suffix in language.SUFFIXES
}
SUFFIXES = tuple(_PARSERS)


def is_program(path: Path) -> bool:
    """Is a file, by its name, a program that can be corrected?"""
    return path.suffix.lower() in _PARSERS


def read_program(path: Path, robot: Machine) -> ProgramText:
    """A program with its targets, all of which the robot has joints for."""
    content = read_bytes(path)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            "is UTF-16", where=str(path), remedy="Save it as UTF-8 or ASCII, as controllers do"
        )
    program = _PARSERS[path.suffix.lower()](content)
    for spot in program.spots:
        if spot.kind is Kind.JOINTS and len(spot.values) != robot.joints:
            raise InputError(
                f"line {spot.line}: {len(spot.values)} joints, but '{robot.name}' has "
                f"{robot.joints}",
                where=str(path),
            )
    return program


def turning(robot: Machine) -> list[bool]:
    """Which joints turn."""
    return [kind is Joint.REVOLUTE for kind in robot.joint_types]


def corrected_program(program: ProgramText, made: Corrected, robot: Machine) -> bytes:
    """The program with corrected numbers; targets that are not reached stay as they are."""
    every = range(len(program.spots))
    values = [_values(program, made, number, robot) for number in every]
    joints = []
    for number in every:
        part, row = made.of(number)
        joints.append(part.motors[row, : robot.joints])
    return program.changed(values, joints)


def _values(
    program: ProgramText, made: Corrected, number: int, robot: Machine
) -> FloatArray | None:
    part, row = made.of(number)
    if not part.found.good[row]:
        return None
    spot = program.spots[number]
    if spot.kind is Kind.JOINTS:
        return part.motors[row, : robot.joints] / program.joint_units(turning(robot))
    before = np.array(spot.values)
    rotation = part.rotations[row]
    if robot.joints < 6:
        # What such an arm does not choose stays as it was.
        rotation = program.notation.read(before)[1]
    return program.notation.write(part.positions[row], rotation, before)
