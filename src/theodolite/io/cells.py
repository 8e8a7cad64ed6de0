"""The cells of a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

from theodolite.errors import InputError


def cells(line: str, path: Path, number: int) -> list[str]:
    """One line, split at commas, without the blanks around them."""
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error as error:
        raise InputError(f"line {number} cannot be read: {error}", where=str(path)) from error


def header(line: str, path: Path, number: int) -> list[str]:
    """The names in the first line; other separators than commas are recognised and refused."""
    names = cells(line, path, number)
    if len(names) == 1:
        for separator, word in ((";", "semicolons"), ("\t", "tabs")):
            if separator in line:
                raise InputError(
                    f"line {number} is separated by {word}",
                    where=str(path),
                    allowed="commas",
                    remedy="Save the file with commas between columns and points in numbers",
                )
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"column '{name}' appears twice", where=str(path))
    return names


def row(line: str, path: Path, number: int, names: list[str]) -> list[str]:
    """The cells of a row, as many as the header has."""
    found = cells(line, path, number)
    if len(found) != len(names):
        raise InputError(
            f"line {number} has {len(found)} cells, the header {len(names)}",
            where=str(path),
            remedy="The file may be cut short; complete or remove the line",
        )
    return found
