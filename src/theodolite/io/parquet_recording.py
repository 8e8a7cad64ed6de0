"""Torque recordings as a folder of Parquet files, larger than memory: read where it is needed.

Columns and units are those of `theodolite.io.recordings`. The files follow each other in the
natural order of their names. Row groups are read in batches, so their size matters little; those of
a million rows or fewer are fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.recording import Recording
from theodolite.errors import InputError
from theodolite.io.archives import undamaged
from theodolite.io.naming import column_name
from theodolite.io.number_table import Table
from theodolite.io.optional import needed
from theodolite.io.parquet import check_same_columns, parquet_files
from theodolite.io.reading import is_folder, reason
from theodolite.io.recordings import TIMES, check_gains, recording_of, tables_of
from theodolite.model.machine import Machine

#: Rows that are decoded at once.
BATCH = 1 << 16


@dataclass(frozen=True)
class RowGroup:
    """Rows of one file that are stored together."""

    path: Path
    number: int
    #: Its first row in the whole recording, and the one behind its last.
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class ParquetRecording:
    """A long recording of one robot."""

    folder: Path
    robot: Machine
    groups: tuple[RowGroup, ...]
    #: Columns as they are written, by this program's names for them.
    columns: dict[str, str]
    drive_gains: FloatArray | None = None
    #: What is subtracted from times that are whole numbers, so that no digit is lost.
    origin: int = 0

    @property
    def name(self) -> str:
        return str(self.folder)

    @property
    def rows(self) -> int:
        return self.groups[-1].stop

    def times(self, start: int, stop: int) -> FloatArray:
        """Times of some rows, s."""
        name = self._time
        return self._values([name], start, stop)[:, 0] * TIMES[name]

    def read(self, start: int, stop: int) -> Recording:
        """All of some rows."""
        names = list(self.columns)
        lines = np.arange(start + 1, stop + 1, dtype=np.intp)
        table = Table(self.folder, tuple(names), self._values(names, start, stop), lines)
        return recording_of(
            tables_of(table, self.robot), self.folder, self.robot, (), self.drive_gains
        )

    @property
    def _time(self) -> str:
        found = [name for name in self.columns if name in TIMES]
        if len(found) != 1:
            raise InputError(
                "has two columns of time" if found else "column t_s is missing", where=self.name
            )
        return found[0]

    def _values(self, names: Sequence[str], start: int, stop: int) -> FloatArray:
        """Some rows of some columns, (stop - start, columns)."""
        table = np.empty((stop - start, len(names)))
        for group in self.groups:
            if group.start < stop and start < group.stop:
                for first, batch in self._batches(group, names, start, stop):
                    wanted = slice(max(start - first, 0), stop - first)
                    rows = slice(max(first - start, 0), first - start + batch.num_rows)
                    for place, name in enumerate(names):
                        cells = batch.column(self.columns[name])[wanted]
                        table[rows, place] = self._numbers(cells, name)
        wrong = np.argwhere(~np.isfinite(table))
        if len(wrong):
            row, place = wrong[0]
            raise self._damaged(start + int(row), names[place])
        return table

    def _batches(
        self, group: RowGroup, names: Sequence[str], start: int, stop: int
    ) -> Iterator[tuple[int, Any]]:
        """Batches of a row group that hold rows between two, with the first row of each."""
        parquet = needed("pyarrow.parquet", "Parquet files", group.path)
        columns = [self.columns[name] for name in names]
        with undamaged("a valid Parquet file", group.path), parquet.ParquetFile(group.path) as file:
            first = group.start
            for batch in file.iter_batches(BATCH, row_groups=[group.number], columns=columns):
                if first >= stop:
                    break
                if first + batch.num_rows > start:
                    yield first, batch
                first += batch.num_rows

    def _numbers(self, cells: Any, name: str) -> FloatArray:
        values = cells.to_numpy(zero_copy_only=False)
        if name in TIMES and values.dtype.kind in "iu":
            values = values.astype(np.int64) - self.origin
        return np.asarray(values, dtype=np.float64)

    def _damaged(self, row: int, name: str) -> InputError:
        group = next(each for each in self.groups if each.start <= row < each.stop)
        first = next(each.start for each in self.groups if each.path == group.path)
        return InputError(
            f"row {row - first + 1}, column '{name}': blank or not a finite number",
            where=str(group.path),
            remedy="Remove the row",
        )


def open_parquet_recording(
    folder: Path | str,
    robot: Machine,
    *,
    ignore: Sequence[str] = (),
    drive_gains: FloatArray | None = None,
) -> ParquetRecording:
    """The recording in a folder of Parquet files; only what they say about themselves is read."""
    folder = Path(folder)
    if drive_gains is not None:
        check_gains(drive_gains, robot)
    files = parquet_files(folder)
    groups: list[RowGroup] = []
    names: list[str] = []
    row = origin = 0
    for path in files:
        parquet = needed("pyarrow.parquet", "Parquet files", path)
        with undamaged("a valid Parquet file", path), parquet.ParquetFile(path) as file:
            own = _columns(file.schema_arrow, ignore)
            names = names or own
            check_same_columns(path, own, files[0], names)
            for number in range(file.metadata.num_row_groups):
                count = file.metadata.row_group(number).num_rows
                if count:
                    groups.append(RowGroup(path, number, row, row + count))
                row += count
    if not groups:
        raise InputError("has no rows", where=str(folder))
    columns = {column_name(name): name for name in names}
    if len(columns) < len(names):
        raise InputError("a column appears twice", where=str(folder), allowed=sorted(names))
    found = ParquetRecording(folder, robot, tuple(groups), columns, drive_gains)
    time = found._time
    for _, batch in found._batches(groups[0], [time], 0, 1):
        first = batch.column(0)[0].as_py()
        origin = first if isinstance(first, int) else 0
    found = ParquetRecording(folder, robot, tuple(groups), columns, drive_gains, origin)
    # Wrong columns are refused before any work is done.
    few = min(found.rows, 20)
    if few == 20:
        found.read(0, few)
    return found


def _columns(schema: Any, ignore: Sequence[str]) -> list[str]:
    """Columns of numbers that are not ignored; words are for people."""
    left_out = {*ignore, *map(column_name, ignore)}
    return [
        field.name
        for field in schema
        if not left_out & {field.name, column_name(field.name)}
        and str(field.type).startswith(("int", "uint", "float", "double", "halffloat"))
    ]


def is_parquet_folder(path: Path) -> bool:
    """Is it a folder of Parquet files?"""
    try:
        return is_folder(path) and any(p.suffix.lower() == ".parquet" for p in path.iterdir())
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", where=str(path)) from error
