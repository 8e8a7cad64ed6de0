"""Errors of every measurement, as a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Container, Mapping
from io import StringIO
from pathlib import Path
from typing import Protocol

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.quantities import Displacements, quantity, source_of
from theodolite.io.tables import check_text_table
from theodolite.io.units import shown_in
from theodolite.io.writing import write_text


class Judged(Protocol):
    """Errors of every observation: of a calibration, or of a robot on given data."""

    @property
    def residuals(self) -> Mapping[str, FloatArray]: ...

    @property
    def residual_rows(self) -> Mapping[str, IntArray]: ...

    @property
    def displacements(self) -> Mapping[str, Displacements]: ...


class Origin(Protocol):
    """Where rows come from: their lines, and which of several files they are in."""

    @property
    def lines(self) -> IntArray | None: ...

    @property
    def file(self) -> IntArray | None: ...

    @property
    def files(self) -> tuple[str, ...]: ...


def write_residuals(
    judged: Judged,
    origin: Origin,
    path: Path,
    *,
    suspicious: Container[int] | None = None,
    force: bool = False,
) -> None:
    """One line per observation: where it stands, what it is of, and its errors.

    A file is named where there are several, a target where there are any. Displacements are from
    the robot to the measurement. What a source does not measure is blank. ``suspicious`` rows are
    marked.
    """
    found = judged.residuals
    quantities = list(dict.fromkeys(map(quantity, found)))
    moved = judged.displacements
    aimed = any(any(one.targets) for one in moved.values())
    headings = [
        *(["file"] if origin.file is not None else []),
        "line",
        *(["target"] if aimed else []),
        *(f"{one.replace(' ', '_')}_{shown_in(one)[0]}" for one in quantities),
        *(["dx_mm", "dy_mm", "dz_mm"] if moved else []),
        *(["suspicious"] if suspicious is not None else []),
    ]
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(headings)
    for source in dict.fromkeys(map(source_of, found)):
        names = {quantity(name): name for name in found if source_of(name) == source}
        rows = judged.residual_rows[next(iter(names.values()))]
        way = next((moved[name] for name in names.values() if name in moved), None)
        for place, row in enumerate(rows.tolist()):
            cells: list[object] = []
            if origin.file is not None:
                cells.append(origin.files[origin.file[row]])
            cells.append(row + 1 if origin.lines is None else int(origin.lines[row]))
            if aimed:
                cells.append("" if way is None else way.targets[place])
            for one in quantities:
                known = one in names
                factor = shown_in(one)[1]
                cells.append(f"{found[names[one]][place] * factor:.9g}" if known else "")
            if moved:
                vector = [""] * 3 if way is None else [f"{1e3 * d:.9g}" for d in way.vectors[place]]
                cells += vector
            if suspicious is not None:
                cells.append(int(row in suspicious))
            table.writerow(cells)
    check_text_table(path)
    write_text(path, text.getvalue(), force=force)
