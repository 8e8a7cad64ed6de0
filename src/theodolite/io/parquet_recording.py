"""Torque recordings as a folder of Parquet files, larger than memory: read where it is needed.

Columns and units are those of `theodolite.io.recordings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.recording import Recording
from theodolite.errors import InputError
from theodolite.io.naming import column_name
from theodolite.io.number_table import Table
from theodolite.io.parquet_rows import ParquetRows, open_rows
from theodolite.io.recordings import TIMES, check_gains, recording_of, tables_of
from theodolite.model.machine import Machine


@dataclass(frozen=True, eq=False)
class ParquetRecording:
    """A long recording of one robot."""

    folder: Path
    robot: Machine
    where: ParquetRows
    #: Columns as they are written, by this program's names for them.
    columns: dict[str, str]
    drive_gains: FloatArray | None = None
    #: What is subtracted from times that are whole numbers, so that no digit is lost.
    origin: int = 0
    #: What messages call it; by default, the folder.
    called: str = ""

    @property
    def name(self) -> str:
        return self.called or str(self.folder)

    @property
    def rows(self) -> int:
        return self.where.rows

    def times(self, start: int, stop: int) -> FloatArray:
        """Times of some rows, s."""
        name = self._time
        return self._values([name], start, stop)[:, 0] * TIMES[name]

    def read(self, start: int, stop: int) -> Recording:
        """All of some rows."""
        # The time first, whose digits count.
        names = [self._time, *(name for name in self.columns if name != self._time)]
        lines = np.arange(start + 1, stop + 1, dtype=np.intp)
        table = Table(self.folder, tuple(names), self._values(names, start, stop), lines)
        return recording_of(
            tables_of(table, self.robot), Path(self.name), self.robot, (), self.drive_gains
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
        columns = [self.columns[name] for name in names]
        table = self.where.table(columns, start, stop, self.origin)
        wrong = np.argwhere(~np.isfinite(table))
        if len(wrong):
            row, place = wrong[0]
            raise self._damaged(start + int(row), names[place])
        return table

    def _damaged(self, row: int, name: str) -> InputError:
        path, number = self.where.place(row)
        return InputError(
            f"row {number}, column '{name}': blank or not a finite number",
            where=str(path),
            remedy="Remove the row",
        )


def open_parquet_recording(
    folder: Path | str,
    robot: Machine,
    *,
    ignore: Sequence[str] = (),
    drive_gains: FloatArray | None = None,
    called: str = "",
) -> ParquetRecording:
    """The recording in a folder of Parquet files; only what they say about themselves is read.

    ``called`` is what messages call it.
    """
    folder = Path(folder)
    if drive_gains is not None:
        check_gains(drive_gains, robot)
    where = open_rows(folder)
    left_out = {*ignore, *map(column_name, ignore)}
    # Words are for people.
    names = [name for name in where.numbers if not left_out & {name, column_name(name)}]
    columns = {column_name(name): name for name in names}
    if len(columns) < len(names):
        raise InputError("a column appears twice", where=str(folder), allowed=sorted(names))
    found = ParquetRecording(folder, robot, where, columns, drive_gains, called=called)
    for _, batch in where.batches([columns[found._time]], 0, 1):
        first = batch.column(0)[0].as_py()
        found = replace(found, origin=first if isinstance(first, int) else 0)
    # Wrong columns are refused before any work is done.
    few = min(found.rows, 20)
    if few == 20:
        found.read(0, few)
    return found
