"""Columns that say under which conditions a row was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

import theodolite as th
from theodolite.errors import InputError

ROWS = ["0,0,50,0,500,0,0", "10,5,60,5,490,1,0", "20,10,70,0,480,2,0"]
HEADER = "q1_deg,q2_deg,q3_mm,q4_deg,x_mm,y_mm,z_mm"


def written(folder: Path, name: str, column: str, values: list[str]) -> Path:
    lines = [f"{HEADER},{column}", *(f"{r},{v}" for r, v in zip(ROWS, values, strict=True))]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def scara() -> th.Robot:
    return th.robots.scara()


@pytest.mark.parametrize("column", ["time_s", "row", "direction2", "temperature_c"])
def test_conditions_are_kept(tmp_path: Path, column: str) -> None:
    data = th.read_measurements(written(tmp_path, "d.csv", column, ["0", "1", "1"]), scara())
    assert data.columns[column].tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("time_s", ["0", "2", "1"], r"line 4, column 'time_s': 1 after 2"),
        ("direction2", ["1", "-7", "1"], r"line 3, column 'direction2': -7"),
        ("direction9", ["1", "1", "1"], r"'scara' has 4 joints"),
        ("time_s", ["0", "", "1"], r"line 3"),
    ],
)
def test_wrong_conditions_are_named(
    tmp_path: Path, column: str, values: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        th.read_measurements(written(tmp_path, "d.csv", column, values), scara())


def test_files_have_the_same_conditions(tmp_path: Path) -> None:
    one = written(tmp_path, "one.csv", "time_s", ["0", "1", "2"])
    other = written(tmp_path, "other.csv", "temperature_c", ["20", "21", "22"])
    for paths in ([one, other], [other, one]):
        with pytest.raises(InputError, match="is in only one of this file and"):
            th.read_measurements(paths, scara())


def test_a_name_is_not_a_robot() -> None:
    with pytest.raises(InputError, match="'puma560' is not a robot"):
        th.convert("puma560", "pose")
