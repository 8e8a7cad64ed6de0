"""Workbooks, Parquet, MATLAB and NumPy files: the same numbers; damaged ones get one message."""

from __future__ import annotations

import builtins
import datetime
import io
import struct
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import theodolite as th
from theodolite.errors import InputError, install_command
from theodolite.io import archives
from theodolite.io.number_table import read_table
from theodolite.io.reading import LARGEST_FILE

NAMES = ("q1_deg", "q2_deg", "q3_mm", "q4_deg", "x_mm", "y_mm", "z_mm")
ROWS = np.random.default_rng(3).uniform(1, 9, (6, 7))


def read(path: Path) -> th.Dataset:
    return th.read_measurements([path], th.robots.scara(), needs=["positions"])


def assert_same(data: th.Dataset) -> None:
    scale = np.array([np.pi / 180, np.pi / 180, 1e-3, np.pi / 180])
    np.testing.assert_allclose(data.motors, ROWS[:, :4] * scale, rtol=1e-15)
    np.testing.assert_allclose(data.positions[:, 0], 1e-3 * ROWS[:, 4:], rtol=1e-15)


def test_numpy_archives_with_vectors_or_matrices(tmp_path: Path) -> None:
    path = tmp_path / "d.npz"
    np.savez(path, **dict(zip(NAMES, ROWS.T, strict=True)), note=np.array("words"))
    assert_same(read(path))
    q, slide = ROWS[:, [0, 1]], ROWS[:, 2]
    np.savez_compressed(path, q_deg=q, q3_mm=slide, q4_deg=ROWS[:, 3], xyz_mm=ROWS[:, 4:])
    assert_same(read(path))


def test_matlab_files(tmp_path: Path) -> None:
    path = tmp_path / "d.mat"
    columns = {"q_deg": ROWS[:, :2], "q3_mm": ROWS[:, 2:3], "q4_deg": ROWS[:, 3]}
    for compressed in (False, True):
        scipy.io.savemat(
            path,
            {**columns, "xyz_mm": ROWS[:, 4:], "speed": 3.0, "who": "me", "s": {"a": 1.0}},
            do_compression=compressed,
        )
        assert_same(read(path))
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform" + bytes(600))
    with pytest.raises(InputError, match=r"version 7\.3\. Save it with"):
        read(path)


def test_workbooks(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("data")
    sheet.append(["Tracker report"])
    sheet.append([])
    sheet.append(["point", "q1", "q2", "q3", "q4", "X", "Y", "Z", "when"])
    sheet.append(["", "deg", "deg", "mm", "deg", "mm", "mm", "mm", None])
    for number, row in enumerate(ROWS):
        when = datetime.datetime(2024, 3, number + 1, 12, 30)
        sheet.append([f"P{number}", *map(float, row), when])
    sheet.append(["seen not", 1, 2, 3, 4, None, None, None, None])
    book.save(tmp_path / "d.xlsx")
    data = read(tmp_path / "d.xlsx")
    assert_same(data)
    assert data.lines.tolist() == [5, 6, 7, 8, 9, 10]


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {name: list(map(float, values)) for name, values in zip(NAMES, ROWS.T, strict=True)}
    columns["point"] = [f"P{number}" for number in range(6)]
    parquet.write_table(arrow.table(columns), tmp_path / "d.parquet")
    assert_same(read(tmp_path / "d.parquet"))


@pytest.mark.parametrize(("suffix", "package"), [("xlsx", "openpyxl"), ("parquet", "pyarrow")])
def test_a_reader_that_is_not_installed_is_named(
    suffix: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (package, "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / f"d.{suffix}"
    path.write_bytes(b"PK")
    with pytest.raises(InputError) as error:
        read(path)
    assert "needs the extra 'tables', which is not installed" in str(error.value)
    assert str(error.value).endswith(f"{install_command('tables')}")


def archive_with(header: bytes, data: bytes = b"", *, size: int | None = None) -> bytes:
    """A NumPy archive of one array that says of itself what one wants."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        padded = header.ljust(117) + b"\n"
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + data
        archive.writestr("q1_deg.npy", content if size is None else bytes(size))
    return stream.getvalue()


HUGE = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
OBJECT = b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"
CODE = b"__import__('os').system('true')"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"nonsense" * 100,
        archive_with(HUGE),
        archive_with(OBJECT, b"cos\nsystem\n"),
        archive_with(CODE),
        archive_with(b"{" * 5000),
    ],
)
def test_damaged_archives_are_refused(content: bytes, tmp_path: Path) -> None:
    for suffix in ("npz", "mat"):
        path = tmp_path / f"d.{suffix}"
        path.write_bytes(content)
        with pytest.raises(InputError) as error:
            read(path)
        assert len(str(error.value)) < 300


def test_archives_cut_anywhere_are_refused(tmp_path: Path) -> None:
    whole = tmp_path / "whole.npz"
    np.savez_compressed(whole, **dict(zip(NAMES, ROWS.T, strict=True)))
    content = whole.read_bytes()
    matlab = io.BytesIO()
    scipy.io.savemat(matlab, dict(zip(NAMES, ROWS.T, strict=True)), do_compression=True)
    for suffix, full in (("npz", content), ("mat", matlab.getvalue())):
        path = tmp_path / f"d.{suffix}"
        for cut in range(0, len(full) - 1, 37):
            path.write_bytes(full[:cut])
            with pytest.raises(InputError):
                read(path)


def test_zip_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST_FILE", 1 << 20)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"q{number}_deg.npy", bytes(1 << 19))
    assert len(stream.getvalue()) < 10_000
    for suffix in ("npz", "xlsx") if find_spec("openpyxl") else ("npz",):
        path = tmp_path / f"d.{suffix}"
        path.write_bytes(stream.getvalue())
        with pytest.raises(InputError, match="unpacks to 1 MB; allowed: up to 1 MB"):
            read(path)


def test_files_without_end_are_not_read() -> None:
    for device in ("/dev/zero", "/dev/full", "/dev"):
        with pytest.raises(InputError, match=r"not an ordinary file|cannot be read"):
            read_table(Path(device))


def test_large_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as stream:
        stream.truncate(LARGEST_FILE + 10)
    with pytest.raises(InputError, match="is too large; allowed: up to 256 MB"):
        read_table(path)


def test_nothing_is_imported_that_is_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def watched(name: str, *rest: object, **more: object) -> object:
        assert name.partition(".")[0] not in ("openpyxl", "pyarrow")
        return real(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", watched)
    (tmp_path / "d.csv").write_text(",".join(NAMES) + "\n1,2,3,4,5,6,7\n")
    assert len(read(tmp_path / "d.csv")) == 1
