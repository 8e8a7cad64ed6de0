"""Torque recordings as folders of Parquet files, read where it is needed."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.test_long_recording import recorded
from theodolite.dynamics.recording import Recording
from theodolite.errors import InputError
from theodolite.io.parquet_recording import open_parquet_recording

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
ROBOT = th.robots.puma560()


def write(folder: Path, recording: Recording, files: int = 3, **changes: object) -> None:
    columns: dict[str, object] = {"t_s": recording.times}
    columns |= {f"q{j + 1}_rad": column for j, column in enumerate(recording.q.T)}
    columns |= {f"tau{j + 1}_Nm": column for j, column in enumerate(recording.torques.T)}
    columns |= changes
    columns = {name: values for name, values in columns.items() if values is not None}
    for number, rows in enumerate(np.array_split(np.arange(len(recording.times)), files)):
        table = arrow.table({name: values[rows] for name, values in columns.items()})  # type: ignore[index]
        parquet.write_table(table, folder / f"part{number}.parquet", row_group_size=700)


def test_rows_anywhere(tmp_path: Path) -> None:
    recording = recorded(25.0, 100.0)
    write(tmp_path, recording, files=11)
    source = pickle.loads(pickle.dumps(open_parquet_recording(tmp_path, ROBOT)))
    assert source.rows == 2500
    for start, stop in ((0, 2500), (100, 1200), (2400, 2500)):
        part = source.read(start, stop)
        np.testing.assert_array_equal(part.times, recording.times[start:stop])
        np.testing.assert_array_equal(part.q, recording.q[start:stop])
        np.testing.assert_array_equal(part.torques, recording.torques[start:stop])
        np.testing.assert_array_equal(source.times(start, stop), recording.times[start:stop])


def test_nanoseconds_since_1970_lose_no_digits(tmp_path: Path) -> None:
    recording = recorded(1.0, 100.0)
    stamps = 1_700_000_000_000_000_000 + 10_000_001 * np.arange(100)
    write(tmp_path, recording, t_s=None, t_ns=stamps)
    times = open_parquet_recording(tmp_path, ROBOT).times(0, 100)
    np.testing.assert_allclose(np.diff(times), 0.010000001, rtol=1e-12)


def test_damage_is_named(tmp_path: Path) -> None:
    recording = recorded(3.0, 100.0)
    torques = recording.torques[:, 2].copy()
    torques[150] = np.nan
    write(tmp_path, recording, tau3_Nm=torques)
    source = open_parquet_recording(tmp_path, ROBOT)
    with pytest.raises(InputError, match=r"part1.parquet: row 51, column 'tau3_Nm': blank"):
        source.read(0, 300)
    (tmp_path / "part2.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"part2.parquet: is not a valid Parquet file"):
        open_parquet_recording(tmp_path, ROBOT)


def test_columns_are_checked_first(tmp_path: Path) -> None:
    recording = recorded(3.0, 100.0)
    write(tmp_path, recording, tau3_Nm=None)
    with pytest.raises(InputError, match="column tau3_Nm is missing"):
        open_parquet_recording(tmp_path, ROBOT)
    write(tmp_path, recording, speed=recording.times)
    with pytest.raises(InputError, match="unknown column 'speed'"):
        open_parquet_recording(tmp_path, ROBOT)
    assert open_parquet_recording(tmp_path, ROBOT, ignore=["speed"]).rows == 300
    write(tmp_path, recording, t_s=None)
    with pytest.raises(InputError, match="column t_s is missing"):
        open_parquet_recording(tmp_path, ROBOT)
