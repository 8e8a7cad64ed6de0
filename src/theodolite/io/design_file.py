"""Configurations to be measured: joints as measurement files have them, and sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from theodolite.calibration.data import Dataset
from theodolite.io.tables import check_text_table, named_columns
from theodolite.io.writing import write_text
from theodolite.model.machine import Machine


def write_design(data: Dataset, robot: Machine, path: Path, *, force: bool = False) -> None:
    """Joints, and the set or picture of each row where there are any."""
    rows = np.arange(len(data))
    if data.pixels is not None:
        # One row for each picture.
        rows = np.unique(data.configurations(), return_index=True)[1]
        rows = rows[np.argsort(rows)]
    plain = Dataset(
        data.motors[rows, : robot.joints],
        sets=None if data.sets is None or data.pixels is not None else data.sets[rows],
        planes=None if data.planes is None else data.planes[rows],
    )
    table = {name: values.tolist() for name, values in named_columns(plain, robot).items()}
    lines = [",".join(table)]
    lines += [
        ",".join(repr(float(v)) if isinstance(v, float) else str(v) for v in row)
        for row in zip(*table.values(), strict=True)
    ]
    check_text_table(path)
    write_text(path, "\n".join(lines) + "\n", force=force)
