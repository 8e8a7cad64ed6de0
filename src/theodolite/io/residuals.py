"""Errors of every measurement after a calibration, as a CSV file."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

from theodolite.calibration.result import Result
from theodolite.io.units import SHOWN
from theodolite.io.writing import write_text


def write_residuals(result: Result, path: Path, *, force: bool = False) -> None:
    """One line per observation: where it stands, by file if there are several, and its errors."""
    rows = result.residual_rows
    lines = rows + 1 if result.lines is None else result.lines[rows]
    suspicious = set(result.outliers.rows.tolist())
    names = [f"{name.replace(' ', '_')}_{SHOWN[name][0]}" for name in result.residuals]
    errors = [SHOWN[name][1] * values for name, values in result.residuals.items()]
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([*([] if result.file is None else ["file"]), "line", *names, "suspicious"])
    for place, (line, row) in enumerate(zip(lines, rows, strict=True)):
        origin = [] if result.file is None else [result.files[result.file[row]]]
        cells = [f"{values[place]:.9g}" for values in errors]
        table.writerow([*origin, int(line), *cells, int(row in suspicious)])
    write_text(path, text.getvalue(), force=force)
