"""The numbers of a file under this program's names for them."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.io.cells import BLANK
from theodolite.io.mapping import Mapping
from theodolite.io.naming import LABELS, NUMBERED, column_name, with_unit
from theodolite.io.sheets import Sheet, read_sheet
from theodolite.io.units import LARGEST_NUMBER

#: Larger times, in whatever unit, are damaged.
LARGEST_TIME = 1e20


@dataclass(frozen=True, eq=False)
class Table:
    """A file's numbers, before their meaning; NaN where a cell is blank."""

    path: Path
    columns: tuple[str, ...]
    #: (rows, columns)
    values: FloatArray
    #: Line of the file for each row.
    lines: IntArray
    #: Lines that were left out because they are damaged.
    skipped: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    #: What the numbers of labels stand for, by column, where they are words.
    words: MappingType[str, tuple[str, ...]] = field(default_factory=dict)

    def without(self, bad: BoolArray) -> Table:
        """The same without some rows."""
        skipped = np.concatenate([self.skipped, self.lines[bad]])
        return replace(self, values=self.values[~bad], lines=self.lines[~bad], skipped=skipped)

    def blank(self, row: int, name: str) -> InputError:
        """A cell has to hold a number and does not."""
        return InputError(
            f"line {self.lines[row]}, column '{name}': blank or not a number",
            where=str(self.path),
            remedy="Complete or remove the row",
        )


def read_table(
    path: Path,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    mapping: Mapping | None = None,
    *,
    blanks: bool = False,
    largest: float = float("inf"),
    skip_bad: bool = False,
) -> Table:
    """The numbers in a file; without ``blanks``, every cell has to hold one.

    ``columns`` names those of a file without a header. With a mapping only its columns are read.
    With ``skip_bad``, rows that are cut short or hold anything but numbers are left out.
    """
    sheet = read_sheet(path, named=columns, skip=mapping.skip if mapping else 0, skip_bad=skip_bad)
    if skip_bad and mapping is None:
        table = _own(sheet, ignore, largest)
        # Times since 1970 in nanoseconds are large.
        limits = np.array(
            [LARGEST_TIME if name.startswith("t_") else LARGEST_NUMBER for name in table.columns]
        )
        good = np.isfinite(table.values) & (np.abs(table.values) < limits)
        table = replace(table, skipped=sheet.skipped).without(np.asarray(~good.all(axis=1)))
        if not len(table.lines):
            raise InputError("has no row of numbers that is not damaged", where=str(path))
        return table
    if mapping is not None:
        table = mapped(sheet, mapping, largest=largest)
    else:
        table = _own(sheet, ignore, largest)
    missing = np.isnan(table.values)
    if not blanks and missing.any():
        row, column = np.argwhere(missing)[0]
        raise table.blank(int(row), table.columns[column])
    return table


def written_names(sheet: Sheet) -> tuple[str, ...]:
    """The names in the file; columns without one are called by their number."""
    given = sheet.names or ("",) * len(sheet.columns)
    return tuple(name.strip() or f"#{place}" for place, name in enumerate(given, 1))


def mapped(sheet: Sheet, mapping: Mapping, *, largest: float = LARGEST_NUMBER) -> Table:
    """The columns that a mapping names, as it says."""
    found: dict[str, FloatArray] = {}
    for name, place, term in mapping.places(written_names(sheet), str(sheet.path)):
        values = _numbers(sheet, place, name, term.column, largest)
        found[name] = term.factor * values + term.offset
    return Table(sheet.path, tuple(found), np.column_stack([*found.values()]), sheet.lines)


def _own(sheet: Sheet, ignore: Sequence[str], largest: float) -> Table:
    """The columns under the names that the file gives them; words and dates are left out."""
    if sheet.names is None:
        raise InputError(
            "has no header",
            where=str(sheet.path),
            remedy="Add a first line of column names, or give them as columns or a mapping",
        )
    found: dict[str, FloatArray] = {}
    left_out = {*ignore, *map(column_name, ignore)}
    for place, (written, unit) in enumerate(zip(written_names(sheet), sheet.units, strict=True)):
        name = column_name(written, unit)
        if left_out & {written, name} or _is_no_quantity(sheet, place, name):
            continue
        if name in found:
            raise InputError(f"column '{name}' appears twice", where=str(sheet.path))
        found[name] = _numbers(sheet, place, name, written, largest)
    if not found:
        raise InputError(
            "has no columns of numbers, or all of them are ignored", where=str(sheet.path)
        )
    words = {
        column_name(written, unit): _words(sheet, place)
        for place, (written, unit) in enumerate(zip(written_names(sheet), sheet.units, strict=True))
        if column_name(written, unit) in LABELS and column_name(written, unit) in found
    }
    values = np.column_stack([*found.values()])
    return Table(sheet.path, tuple(found), values, sheet.lines, words=words)


def _words(sheet: Sheet, place: int) -> tuple[str, ...]:
    """The labels of a column in order of appearance; none where they are numbers."""
    cells = sheet.columns[place]
    if not isinstance(cells, list) or None not in map(sheet.layout.number, cells):
        return ()
    return tuple(dict.fromkeys(cells))


def _is_no_quantity(sheet: Sheet, place: int, name: str) -> bool:
    """Is a column meant for people? It has no unit, and no numbers."""
    if name in LABELS or with_unit(name)[1] or NUMBERED.fullmatch(name):
        return False
    cells = sheet.columns[place]
    return isinstance(cells, list) and not sheet.layout.has_number(cells)


def _numbers(sheet: Sheet, place: int, name: str, written: str, largest: float) -> FloatArray:
    """A column's numbers; names of sets and points become numbers in order of appearance."""
    cells = sheet.columns[place]
    if name in LABELS and isinstance(cells, list):
        labels = [sheet.layout.number(cell) for cell in cells]
        if None in labels:
            order = {label: float(number) for number, label in enumerate(dict.fromkeys(cells))}
            order |= {cell: float("nan") for cell in cells if cell.lower() in BLANK}
            return np.array([order[cell] for cell in cells])
    return sheet.numbers(place, written, largest=largest)
