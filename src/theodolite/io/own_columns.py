"""Columns that only a method knows, such as the ``length_m`` of a ball bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.io.naming import with_unit
from theodolite.io.number_table import Table
from theodolite.io.units import ANGLES, LENGTHS


def own_columns(
    table: Table, names: Sequence[str], also: Sequence[str] = ()
) -> tuple[Table, dict[str, FloatArray]]:
    """The rest of a table, and the columns that a method named, in the units of those names.

    Those in ``also`` are taken where they are there.
    """
    found: dict[str, FloatArray] = {}
    places: list[int] = []
    for name in (*names, *(other for other in also if other not in names)):
        match = _place(name, table)
        if match is None:
            if name not in names:
                continue
            raise InputError(
                f"column {name} is missing",
                where=str(table.path),
                allowed=list(_spellings(name)),
                remedy="The method needs it in every row",
            )
        place, factor = match
        values = table.values[:, place]
        if np.isnan(values).any():
            raise table.blank(int(np.argmax(np.isnan(values))), table.columns[place])
        found[name] = values if factor == 1.0 else factor * values
        places.append(place)
    rest = [place for place in range(len(table.columns)) if place not in places]
    columns = tuple(table.columns[place] for place in rest)
    return replace(table, columns=columns, values=table.values[:, rest]), found


def _place(name: str, table: Table) -> tuple[int, float] | None:
    """Where a column stands, in whatever unit, and the factor to its own unit; None: nowhere."""
    spellings = _spellings(name)
    for place, column in enumerate(table.columns):
        if column in spellings:
            return place, spellings[column]
    return None


def _spellings(name: str) -> dict[str, float]:
    """How a column may be called, by units, and the factors to its own."""
    stem, unit = with_unit(name)
    units = next((kind for kind in (LENGTHS, ANGLES) if unit in kind), {})
    return {f"{stem}_{other}": factor / units[unit] for other, factor in units.items()} | {
        name: 1.0
    }
