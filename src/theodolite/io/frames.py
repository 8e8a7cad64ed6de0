"""Measurements from a table with named columns: a pandas DataFrame, or a mapping of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.errors import InputError
from theodolite.io.naming import LABELS, NUMBERED, with_unit
from theodolite.io.number_table import Table
from theodolite.io.tables import checked, dataset_of
from theodolite.model.machine import Machine


def from_columns(
    table: Any,
    robot: Machine,
    *,
    needs: Sequence[str] = (),
    own: Sequence[str] = (),
    check_limits: bool = True,
    name: str = "table",
    lines: IntArray | None = None,
) -> Dataset:
    """Columns with the names that measurement files have; ``lines`` are the rows' numbers."""
    columns: dict[str, FloatArray] = {}
    words: dict[str, tuple[str, ...]] = {}
    for key in table.keys():  # noqa: SIM118  # a frame iterates over columns too
        column = str(key)
        try:
            columns[column] = np.asarray(table[key], dtype=np.float64)
        except (TypeError, ValueError) as error:
            cells = [str(cell) for cell in np.asarray(table[key], dtype=object).ravel()]
            if column in LABELS:
                # Names of sets and sessions become numbers, as in files.
                words[column] = tuple(dict.fromkeys(cells))
                columns[column] = np.array([float(words[column].index(cell)) for cell in cells])
            elif with_unit(column)[1] or NUMBERED.fullmatch(column):
                raise InputError(
                    f"column '{column}' holds something other than numbers", where=name
                ) from error
            # Other words are for people.
    names = list(columns)
    if not columns or any(column.ndim != 1 for column in columns.values()):
        raise InputError("the table has no columns of numbers", where=name)
    if len({len(column) for column in columns.values()}) > 1:
        raise InputError("the columns have different lengths", where=name)
    values = np.column_stack([*columns.values()])
    bad = np.argwhere(np.isinf(values))
    if len(bad):
        row, place = bad[0]
        raise InputError(
            f"row {row + 1}, column '{names[place]}': {values[row, place]}",
            where=name,
            allowed="finite numbers",
        )
    if lines is None:
        lines = np.arange(1, len(values) + 1, dtype=np.intp)
    found = Table(Path(name), tuple(names), values, lines, words=words)
    return checked(dataset_of(found, robot, check_limits=check_limits, own=own)[0], robot, needs)
