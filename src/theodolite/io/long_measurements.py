"""Measurements in a folder of Parquet files, larger than memory: read where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from theodolite.calibration.data import Dataset
from theodolite.errors import InputError
from theodolite.io.frames import from_columns
from theodolite.io.naming import LABELS, column_name
from theodolite.io.parquet_rows import ParquetRows, is_parquet_folder, open_rows
from theodolite.model.machine import Machine

#: Folders with more rows than this are read in pieces.
MANY = 200_000


@dataclass(frozen=True, eq=False)
class LongMeasurements:
    """The measurements of one robot."""

    folder: Path
    robot: Machine
    where: ParquetRows
    #: Columns as they are written.
    columns: tuple[str, ...]
    needs: tuple[str, ...]
    own: tuple[str, ...]
    check_limits: bool

    @property
    def name(self) -> str:
        return str(self.folder)

    @property
    def rows(self) -> int:
        return self.where.rows

    def read(self, *runs: tuple[int, int]) -> Dataset:
        """Some of the rows, from one to before another, one run after the other."""
        values = np.concatenate([self.where.table(self.columns, *run) for run in runs])
        lines = np.concatenate([np.arange(start + 1, stop + 1) for start, stop in runs])
        return from_columns(
            dict(zip(self.columns, values.T, strict=True)),
            self.robot,
            needs=self.needs,
            own=self.own,
            check_limits=self.check_limits,
            name=self.name,
            lines=lines,
        )


def is_long(path: Path) -> bool:
    """Is it a folder of Parquet files with more rows than should be in memory?"""
    return is_parquet_folder(path) and open_rows(path).rows > MANY


def open_long_measurements(
    folder: Path | str,
    robot: Machine,
    *,
    needs: Sequence[str] = (),
    own: Sequence[str] = (),
    ignore: Sequence[str] = (),
    check_limits: bool = True,
) -> LongMeasurements:
    """The measurements in a folder of Parquet files; only the first rows are read."""
    folder = Path(folder)
    where = open_rows(folder)
    worded = sorted(set(where.words).intersection(LABELS))
    if worded:
        raise InputError(
            f"column '{worded[0]}' holds words",
            where=str(folder),
            allowed=f"numbers, in more than {MANY} rows",
        )
    left_out = {*ignore, *map(column_name, ignore)}
    columns = tuple(n for n in where.numbers if not left_out & {n, column_name(n)})
    found = LongMeasurements(folder, robot, where, columns, tuple(needs), tuple(own), check_limits)
    found.read((0, min(found.rows, 20)))
    return found
