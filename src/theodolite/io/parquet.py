"""Columns of Parquet files, or of a folder of them, where pyarrow is installed."""

from __future__ import annotations

import re
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


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder in the natural order of their names: part2 before part10."""
    files = [path for path in folder.iterdir() if path.suffix.lower() == ".parquet"]
    if not files:
        raise InputError(
            "is not an ordinary file but a folder without Parquet files", where=str(folder),
            allowed="a file, or a folder of .parquet files or of one bag",
        )  # fmt: skip
    return sorted(files, key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", path.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def read_parquet_folder(folder: Path) -> dict[str, FloatArray | list[str]]:
    """The columns of all files of a folder, one under the other."""
    files = parquet_files(folder)
    parts = []
    size = 0
    for path in files:
        size += path.stat().st_size
        if size > LARGEST_FILE:
            raise InputError(
                f"holds more than {LARGEST_FILE >> 20} MB", where=str(folder),
                remedy="Give single files of it",
            )  # fmt: skip
        parts.append(read_parquet(path))
        check_same_columns(path, list(parts[-1]), files[0], list(parts[0]))
    return {name: _stacked([part[name] for part in parts]) for name in parts[0]}


def check_same_columns(path: Path, own: list[str], first: Path, wanted: list[str]) -> None:
    """Refuse a file with other columns than the first one of its folder; any order will do."""
    odd = sorted(set(own) ^ set(wanted))
    if odd:
        raise InputError(
            f"the column '{odd[0]}' is in only one of this file and {first.name}",
            where=str(path),
            remedy="Give it in all files or in none",
        )


def _stacked(parts: list[FloatArray | list[str]]) -> FloatArray | list[str]:
    arrays = [part for part in parts if not isinstance(part, list)]
    if len(arrays) == len(parts):
        return np.concatenate(arrays)
    return [str(cell) for part in parts for cell in part]
