"""Rows of Excel workbooks, where openpyxl is installed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from theodolite.errors import InputError
from theodolite.io.archives import check_unpacked, undamaged
from theodolite.io.optional import needed
from theodolite.io.reading import read_bytes


def workbook_rows(path: Path, skip: int) -> list[tuple[int, list[str]]]:
    """The rows of the first sheet with a table of numbers, as text, with their numbers.

    Without one, of the first sheet that has anything, so that what is wrong there can be said.
    """
    openpyxl = needed("openpyxl", "Excel workbooks", path)
    content = BytesIO(read_bytes(path))
    with undamaged("a valid Excel workbook", path):
        check_unpacked(content, path)
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
        found: list[list[tuple[int, list[str]]]] = []
        for sheet in book.worksheets:
            rows = [
                (number, [_text(cell) for cell in row])
                for number, row in enumerate(sheet.iter_rows(values_only=True), 1)
                if number > skip and any(cell is not None for cell in row)
            ]
            if any(sum(map(_is_number, cells)) > 1 for _, cells in rows):
                return _rectangular(rows)
            found += [rows] if rows else []
    if not found:
        raise InputError("is empty", where=str(path))
    return _rectangular(found[0])


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return repr(cell)
    return str(cell).strip()


def _rectangular(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Rows without blank cells behind the last that has something, all of one length."""
    width = max(
        max((place for place, cell in enumerate(cells, 1) if cell), default=0) for _, cells in rows
    )
    return [(number, (cells + [""] * width)[:width]) for number, cells in rows]
