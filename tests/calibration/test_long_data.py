"""Measurements in pieces: the same result as in one piece, and what needs all rows is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration import long_data
from theodolite.calibration.calibrate import identify
from theodolite.calibration.catalogue import method_named
from theodolite.calibration.data import Dataset
from theodolite.calibration.long_data import Pieces
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.reduction import reduce
from theodolite.io import long_measurements
from theodolite.io.long_measurements import open_long_measurements
from theodolite.io.tables import named_columns

ROWS = 700


@dataclass(frozen=True, eq=False)
class InMemory:
    """Long data that are not."""

    whole: Dataset
    name: str = "long"

    @property
    def rows(self) -> int:
        return len(self.whole)

    def read(self, *runs: tuple[int, int]) -> Dataset:
        return self.whole.take(np.concatenate([np.arange(*run) for run in runs]))


@pytest.fixture(params=["position", "frame", "orientation"])
def case(request, monkeypatch) -> tuple[th.Robot, Dataset, th.Method]:
    monkeypatch.setattr(long_data, "RUNS", 5)
    monkeypatch.setattr(long_data, "RUN_ROWS", 40)
    monkeypatch.setattr(long_data, "ROWS_BEFORE", 30)
    method = method_named(request.param)
    robot, rng = th.robots.puma560(), np.random.default_rng(3)
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
    noise = th.Noise(position=1e-4, orientation=1e-4)
    return robot, th.simulate(true, method, points=ROWS, rng=rng, noise=noise), method


@pytest.mark.parametrize("terms", [(), ("gravity", "play")])
def test_pieces_give_what_the_whole_gives(case, terms: tuple[str, ...]) -> None:
    robot, data, method = case
    noise = th.Noise(position=1e-4, orientation=1e-4, known=True)
    options = {"noise": noise, "gains": True, "terms": terms, "hold_out": 0.0}
    whole = identify(robot, data, method, **options)
    pieces = Pieces(InMemory(data), piece_rows=97)
    excerpt = pieces.excerpt()
    assert len(excerpt) == 200
    found = identify(robot, excerpt, method, pieces=pieces, **options)
    assert found.rows == ROWS
    assert found.identifiability.rank == whole.identifiability.rank
    for one, other in zip(found.estimates, whole.estimates, strict=True):
        assert one.name == other.name
        # Searches end within a thousandth of a standard error. Basis functions of gravity are
        # taken at the robot that the excerpt shows.
        close = (1e-2 if terms else 1e-3) * (other.stderr or 0.0)
        assert one.identified == pytest.approx(other.identified, abs=close + 1e-12)
        if other.stderr is not None:
            assert one.stderr == pytest.approx(other.stderr, rel=1e-2 if terms else 1e-6)


def test_the_factor_of_all_pieces_is_that_of_the_whole(case) -> None:
    robot, data, method = case
    noise = th.Noise(position=1e-4, orientation=1e-4, known=True)
    problem = method.problem(robot, data, noise=noise, gains=True)
    values = np.array([parameter.value for parameter in problem.parameters])
    whole = reduce(problem, values, Loss())
    pieces = Pieces(InMemory(data), piece_rows=97)
    found = reduce(pieces.over(problem, method, gains=True, at=None), values, Loss())
    assert found.rows == whole.rows
    assert found.cost == pytest.approx(whole.cost, rel=1e-12)
    for one, other in ((found.R.T @ found.R, whole.R.T @ whole.R),
                       (found.R.T @ found.z, whole.R.T @ whole.z)):  # fmt: skip
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12 * np.abs(other).max())


def test_rows_that_belong_together_are_refused(case) -> None:
    robot, data, _ = case
    pieces = Pieces(InMemory(data))
    with pytest.raises(InputError, match=r"method 'plane' needs measurements that fit in memory"):
        identify(robot, data, th.Plane(), pieces=pieces)
    with pytest.raises(InputError, match=r"robust loss needs"):
        identify(robot, data, th.Frame(), pieces=pieces, loss=Loss(Shape.HUBER))
    with pytest.raises(InputError, match=r"order of rows as time needs"):
        identify(robot, data, th.Frame(), pieces=pieces, rows_as_time=True)


def test_a_folder_of_parquet_files(case, tmp_path: Path, monkeypatch, theodolite) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    robot, data, method = case
    monkeypatch.setattr(long_measurements, "MANY", 500)
    folder = tmp_path / "data"
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(ROWS), 3)):
        columns = named_columns(data.take(rows), robot)
        parquet.write_table(pyarrow.table(columns), folder / f"part{number}.parquet")
    source = open_long_measurements(folder, robot, needs=method.needs)
    read = source.read((200, 300), (600, 610))
    np.testing.assert_allclose(read.motors[99], data.motors[299], atol=1e-12)
    assert read.lines is not None
    assert read.lines[[0, 100]].tolist() == [201, 601]
    options = {"gains": False, "terms": "none", "hold_out": 0.0}
    found = th.identify(robot, folder, method, **options)
    whole = th.identify(robot, data, method, **options)
    assert found.rows == ROWS
    for one, other in zip(found.estimates, whole.estimates, strict=True):
        assert one.identified == pytest.approx(other.identified, abs=3 * (other.stderr or 0) + 1e-9)
    code, _, err = theodolite(
        *("identify", "puma560", folder, "-m", method.name, "--no-gains", "--terms", "none")
    )
    assert code == 0
    assert "all 700 rows determine the parameters" in err
    code, _, err = theodolite("identify", "puma560", folder, folder, "-m", method.name)
    assert code == 2
    assert "a second file needs measurements that fit in memory" in err
