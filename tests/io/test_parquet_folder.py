"""A folder of Parquet files is one table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.io.tables import named_columns, read_measurements

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def test_measurements_in_the_natural_order_of_files(tmp_path: Path) -> None:
    robot = th.robots.puma560()
    data = th.simulate(robot, th.Position(), points=30, rng=np.random.default_rng(1))
    columns = named_columns(data, robot)
    for part, rows in enumerate(np.array_split(np.arange(30), 11)):
        table = arrow.table({name: values[rows] for name, values in columns.items()})
        parquet.write_table(table, tmp_path / f"part{part}.parquet")
    found = read_measurements(tmp_path, robot)
    np.testing.assert_allclose(found.motors, data.motors)
    np.testing.assert_allclose(found.positions, data.positions)
    odd = arrow.table({name: values for name, values in columns.items() if name != "q3_deg"})
    parquet.write_table(odd, tmp_path / "part3.parquet")
    with pytest.raises(InputError, match=r"part3.parquet: the column 'q3_deg' is in only one"):
        read_measurements(tmp_path, robot)


def test_a_folder_without_parquet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder without Parquet files"):
        read_measurements(tmp_path, th.robots.puma560())
