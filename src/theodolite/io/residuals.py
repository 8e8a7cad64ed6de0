"""Errors of every measurement after a calibration, as a CSV file."""

from __future__ import annotations

from pathlib import Path

from theodolite.calibration.result import Result
from theodolite.io.units import SHOWN
from theodolite.io.writing import write_text


def write_residuals(result: Result, path: Path, *, force: bool = False) -> None:
    """One line per observation: where it stands in its file, and its error by quantity."""
    rows = result.residual_rows
    lines = rows + 1 if result.lines is None else result.lines[rows]
    suspicious = set(result.outliers.rows.tolist())
    names = [f"{name.replace(' ', '_')}_{SHOWN[name][0]}" for name in result.residuals]
    text = [",".join(["line", *names, "suspicious"])]
    errors = [SHOWN[name][1] * values for name, values in result.residuals.items()]
    for place, (line, row) in enumerate(zip(lines, rows, strict=True)):
        cells = [f"{values[place]:.9g}" for values in errors]
        text.append(",".join([str(int(line)), *cells, str(int(row in suspicious))]))
    write_text(path, "\n".join(text) + "\n", force=force)
