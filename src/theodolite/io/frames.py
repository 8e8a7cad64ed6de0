"""Measurements from a table with named columns: a pandas DataFrame, or a mapping of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.calibration.data import Dataset
from theodolite.errors import InputError
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
) -> Dataset:
    """Columns with the names that measurement files have."""
    names = [str(name) for name in table.keys()]  # noqa: SIM118  # a frame iterates over columns too
    try:
        columns = [np.asarray(table[name], dtype=np.float64) for name in table.keys()]  # noqa: SIM118
    except (TypeError, ValueError) as error:
        raise InputError("a column holds something other than numbers", where="table") from error
    if not columns or any(column.ndim != 1 for column in columns):
        raise InputError("the table has no columns of numbers", where="table")
    if len({len(column) for column in columns}) > 1:
        raise InputError("the columns have different lengths", where="table")
    values = np.column_stack(columns)
    bad = np.argwhere(np.isinf(values))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"row {row + 1}, column '{names[column]}': {values[row, column]}",
            where="table",
            allowed="finite numbers",
        )
    found = Table(Path("table"), tuple(names), values, np.arange(1, len(values) + 1))
    return checked(dataset_of(found, robot, check_limits=check_limits, own=own)[0], robot, needs)
