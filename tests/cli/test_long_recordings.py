"""The command line on long recordings and on bags."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rosbags")
from tests.dynamics.test_long_recording import recorded
from tests.io.test_bags import Topic, write_bag
from tests.io.test_parquet_recording import write


def test_a_folder_of_parquet_files(theodolite, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    write(folder, recorded(30.0, 100.0))
    options = ("--estimator", "weighted", "--friction", "viscous,coulomb,offset")
    code, out, err = theodolite("dynamics", "identify", "puma560", folder, *options)
    assert code == 0, err
    assert "base parameters from" in out
    for more in (["--skip-bad"], ["--model", "energy"], [folder]):
        code, _, err = theodolite("dynamics", "identify", "puma560", folder, *more)
        assert code == 2
        assert "fits in memory" in err or "read by pieces" in err


def test_pieces_in_two_processes_give_the_same(theodolite, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    folder = tmp_path / "run"
    folder.mkdir()
    write(folder, recorded(30.0, 100.0))
    options = ("--estimator", "weighted", "--friction", "viscous,coulomb,offset", "--json")
    told = []
    for more in ([], ["--workers", 2]):
        code, out, err = theodolite("dynamics", "identify", "puma560", folder, *options, *more)
        assert code == 0, err
        told.append(json.loads(out)["parameters"])
    assert told[0] == told[1]
    (tmp_path / "r.csv").write_text("t_s\n1\n")
    code, _, err = theodolite("dynamics", "identify", "puma560", "r.csv", "--workers", 2)
    assert code == 2
    assert "folders of Parquet files" in err


def test_bags(theodolite, tmp_path: Path) -> None:
    path = write_bag(tmp_path, "mcap", {"/a": Topic(), "/b": Topic(effort=False)})
    code, _, err = theodolite("dynamics", "identify", "puma560", path)
    assert code == 2
    assert "/a, /b" in err
    code, _, err = theodolite("dynamics", "identify", "puma560", path, "--topic", "/b")
    assert code == 2
    assert "effort in a bag" in err
