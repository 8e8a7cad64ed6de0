"""GECARO's priority matrix: one row per frame, columns alpha d theta r beta K.

A row of six errors has x y z rx ry rz in these places instead; its gain keeps its own priority.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from theodolite.errors import InputError, shown
from theodolite.io.reading import WRITTEN_BY_HAND, read_text
from theodolite.io.toml import HIGHEST_PRIORITY
from theodolite.model.parameters import COLUMNS, Parameter
from theodolite.model.robot import Robot

_WIDTH = len(COLUMNS)


def from_matrix(robot: Robot, matrix: Sequence[Any], where: str) -> dict[str, int]:
    """Priorities by name from a matrix."""
    shape = f"{len(robot.frames)} rows of {_WIDTH} whole numbers"
    if len(matrix) != len(robot.frames):
        raise InputError(f"the priority matrix has {len(matrix)} rows", where=where, allowed=shape)
    for number, row in enumerate(matrix, start=1):
        if not isinstance(row, Sequence) or len(row) != _WIDTH:
            raise InputError(
                f"row {number} of the priority matrix is {shown(row)}",
                where=where,
                allowed=shape,
            )
        for value in row:
            if type(value) is not int or not 0 <= value <= HIGHEST_PRIORITY:
                raise InputError(
                    f"row {number} of the priority matrix holds {shown(value)}",
                    where=where,
                    allowed=f"whole numbers up to {HIGHEST_PRIORITY}; 0 means never identify",
                )
    return {
        parameter.name: matrix[parameter.frame - robot.first_number][parameter.column]
        for parameter in robot.parameters
        if _has_cell(robot, parameter)
    }


def _has_cell(robot: Robot, parameter: Parameter) -> bool:
    """Is there a place for the parameter?

    Not for targets and further terms, nor for gains of rows of six errors.
    """
    row = parameter.frame - robot.first_number
    if row >= len(robot.frames) or parameter.term:
        return False
    return not (parameter.gain and robot.frames[row].convention.has_nominal)


def to_matrix(robot: Robot, identifiable: Iterable[str]) -> list[list[int]]:
    """The new priority matrix: as before, but zero for what is not identifiable."""
    kept = set(identifiable)
    matrix = [[0] * _WIDTH for _ in robot.frames]
    for parameter in robot.parameters:
        if parameter.name in kept and _has_cell(robot, parameter):
            row = parameter.frame - robot.first_number
            matrix[row][parameter.column] = robot.priority(parameter)
    return matrix


def read_priorities(robot: Robot, path: Path) -> dict[str, int]:
    """A priority matrix from a text file: numbers separated by commas or blanks, # comments."""
    matrix = []
    for number, line in enumerate(read_text(path, limit=WRITTEN_BY_HAND).splitlines(), 1):
        content = line.split("#")[0].replace(",", " ").split()
        if not content or content[0].lower() in ("alpha", "frame"):
            continue
        try:
            matrix.append([int(item) for item in content])
        except ValueError as error:
            raise InputError(
                f"line {number} is not {_WIDTH} whole numbers", where=str(path)
            ) from error
    return from_matrix(robot, matrix, str(path))


def format_matrix(matrix: list[list[int]]) -> str:
    """A priority matrix as text that ``read_priorities`` reads."""
    lines = ["# " + " ".join(COLUMNS), *(" ".join(map(str, row)) for row in matrix)]
    return "\n".join(lines) + "\n"
