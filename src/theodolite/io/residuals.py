"""Errors of every measurement after a calibration, as a CSV file."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

from theodolite.calibration.quantities import quantity, source_of
from theodolite.calibration.result import Result
from theodolite.io.units import shown_in
from theodolite.io.writing import write_text


def write_residuals(result: Result, path: Path, *, force: bool = False) -> None:
    """One line per observation: where it stands, by file if there are several, and its errors.

    What a source does not measure is blank.
    """
    quantities = list(dict.fromkeys(quantity(name) for name in result.residuals))
    headings = [f"{one.replace(' ', '_')}_{shown_in(one)[0]}" for one in quantities]
    suspicious = set(result.outliers.rows.tolist())
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([*([] if result.file is None else ["file"]), "line", *headings, "suspicious"])
    for source in dict.fromkeys(source_of(name) for name in result.residuals):
        names = {quantity(name): name for name in result.residuals if source_of(name) == source}
        rows = result.residual_rows[next(iter(names.values()))]
        for place, row in enumerate(rows.tolist()):
            origin = [] if result.file is None else [result.files[result.file[row]]]
            line = row + 1 if result.lines is None else int(result.lines[row])
            cells = [
                f"{result.residuals[names[one]][place] * shown_in(one)[1]:.9g}"
                if one in names
                else ""
                for one in quantities
            ]
            table.writerow([*origin, line, *cells, int(row in suspicious)])
    write_text(path, text.getvalue(), force=force)
