"""Rows of a folder of Parquet files, read where they are needed.

The files follow each other in the natural order of their names. Row groups are read in batches, so
their size matters little; those of a million rows or fewer are fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.io.archives import undamaged
from theodolite.io.optional import needed
from theodolite.io.parquet import check_same_columns, parquet_files
from theodolite.io.reading import is_folder, reason

#: Rows that are decoded at once.
BATCH = 1 << 16


@dataclass(frozen=True)
class RowGroup:
    """Rows of one file that are stored together."""

    path: Path
    number: int
    #: Its first row in the whole, and the one behind its last.
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """Where the rows of a folder are, and what columns of numbers and of words they have."""

    groups: tuple[RowGroup, ...]
    numbers: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def rows(self) -> int:
        return self.groups[-1].stop

    def batches(self, columns: Sequence[str], start: int, stop: int) -> Iterator[tuple[int, Any]]:
        """Batches that hold the rows between two, with the number of the first row of each."""
        for group in self.groups:
            if group.start < stop and start < group.stop:
                yield from _batches(group, columns, start, stop)

    def table(self, columns: Sequence[str], start: int, stop: int, origin: int = 0) -> FloatArray:
        """Numbers of some rows, (stop - start, columns); blank cells are NaN.

        From a first column of whole numbers, such as nanoseconds, ``origin`` is subtracted before
        any digit is lost.
        """
        found = np.empty((stop - start, len(columns)))
        for first, batch in self.batches(columns, start, stop):
            wanted = slice(max(start - first, 0), stop - first)
            rows = slice(max(first - start, 0), first - start + batch.num_rows)
            for place, name in enumerate(columns):
                cells = batch.column(name)[wanted].to_numpy(zero_copy_only=False)
                if origin and not place and cells.dtype.kind in "iu":
                    cells = cells.astype(np.int64) - origin
                found[rows, place] = cells
        return found

    def place(self, row: int) -> tuple[Path, int]:
        """The file that a row is in, and its number there, from 1."""
        group = next(each for each in self.groups if each.start <= row < each.stop)
        first = next(each.start for each in self.groups if each.path == group.path)
        return group.path, row - first + 1


def _batches(
    group: RowGroup, columns: Sequence[str], start: int, stop: int
) -> Iterator[tuple[int, Any]]:
    parquet = needed("pyarrow.parquet", "Parquet files", group.path)
    with undamaged("a valid Parquet file", group.path), parquet.ParquetFile(group.path) as file:
        first = group.start
        for batch in file.iter_batches(BATCH, row_groups=[group.number], columns=list(columns)):
            if first >= stop:
                break
            if first + batch.num_rows > start:
                yield first, batch
            first += batch.num_rows


def open_rows(folder: Path) -> ParquetRows:
    """The rows of a folder; only what its files say about themselves is read."""
    files = parquet_files(folder)
    groups: list[RowGroup] = []
    names: list[str] = []
    numbers: tuple[str, ...] = ()
    row = 0
    for path in files:
        parquet = needed("pyarrow.parquet", "Parquet files", path)
        with undamaged("a valid Parquet file", path), parquet.ParquetFile(path) as file:
            fields = list(file.schema_arrow)
            own = [field.name for field in fields]
            if not names:
                names = own
                numbers = tuple(field.name for field in fields if _is_number(field.type))
            check_same_columns(path, own, files[0], names)
            for number in range(file.metadata.num_row_groups):
                count = file.metadata.row_group(number).num_rows
                if count:
                    groups.append(RowGroup(path, number, row, row + count))
                row += count
    if not groups:
        raise InputError("has no rows", where=str(folder))
    words = tuple(name for name in names if name not in numbers)
    return ParquetRows(tuple(groups), numbers, words)


def _is_number(kind: Any) -> bool:
    return str(kind).startswith(("int", "uint", "float", "double", "halffloat"))


def is_parquet_folder(path: Path) -> bool:
    """Is it a folder of Parquet files?"""
    try:
        return is_folder(path) and any(p.suffix.lower() == ".parquet" for p in path.iterdir())
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", where=str(path)) from error
