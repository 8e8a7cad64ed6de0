"""Columns of Parquet files, where pyarrow is installed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.io.archives import undamaged
from theodolite.io.optional import needed
from theodolite.io.reading import LARGEST_FILE, read_bytes


def read_parquet(path: Path) -> dict[str, FloatArray | list[str]]:
    """The columns of a Parquet file: numbers, or words and dates as text."""
    parquet = needed("pyarrow.parquet", "Parquet files", path)
    content = read_bytes(path)
    with undamaged("a valid Parquet file", path):
        file = parquet.ParquetFile(BytesIO(content))
        groups = (file.metadata.row_group(n) for n in range(file.metadata.num_row_groups))
        size = sum(group.total_byte_size for group in groups)
        if size > LARGEST_FILE:
            raise InputError(
                f"unpacks to {size >> 20} MB",
                where=str(path),
                allowed=f"up to {LARGEST_FILE >> 20} MB",
            )
        table = file.read()
        return {
            name: _cells(column.to_pylist())
            for name, column in zip(table.column_names, table.columns, strict=True)
        }


def _cells(values: list[Any]) -> FloatArray | list[str]:
    if all(value is None or isinstance(value, int | float) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return ["" if value is None else str(value) for value in values]
