"""A method of one's own, as the documentation shows it, has what built-in methods have."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.random_robots import central_differences

EXAMPLE = Path(__file__).parents[1] / "examples" / "own_method.py"
BallBar = runpy.run_path(str(EXAMPLE))["BallBar"]
PUMA = th.robots.puma560()
TRUE = th.perturb(PUMA, th.ParameterErrors(length=2e-3, angle=4e-3), 1)
SIGMA = 2e-5
CENTRE = (0.3, 0.2, 0.1)


@pytest.fixture(scope="module")
def data() -> th.Dataset:
    bar = BallBar(centre=CENTRE)
    return th.simulate(TRUE, bar, points=240, rng=2, noise=th.Noise(position=SIGMA))


@pytest.fixture(scope="module")
def result(data: th.Dataset) -> th.Result:
    return th.identify(PUMA, data, BallBar(), gains=False)


def test_identifiable() -> None:
    """Positions show 27, of which 6 say where the robot stands; the centre adds its 3."""
    assert th.identifiable(PUMA, "position").rank == 27
    known = th.identifiable(PUMA, BallBar())
    assert known.rank == 27 - 6 + 3
    assert {"cx", "cy", "cz"} <= set(known.identifiable)


@pytest.mark.parametrize("noise", [th.Noise(position=1.0), th.Noise(position=1.0, joint=0.1)])
def test_jacobian_equals_central_differences(data: th.Dataset, noise: th.Noise) -> None:
    problem = BallBar().problem(PUMA, data.take(np.arange(7)), noise=noise, gains=True)
    values = np.array([parameter.value for parameter in problem.parameters])
    values += np.random.default_rng(1).uniform(-0.05, 0.05, len(values))
    exact = replace(noise, joint=0.0)
    jacobian = np.concatenate([b.jacobian for b in problem.with_noise(exact).blocks(values)])

    def residual(point: np.ndarray) -> np.ndarray:
        return np.concatenate([b.residual for b in problem.with_noise(exact).blocks(point)])

    np.testing.assert_allclose(jacobian, central_differences(residual, values), atol=2e-8)
    # Joint noise weighs each row by sqrt(1 + sum over joints of (sigma d residual / d q)^2).
    if noise.moves:
        full = problem.calibrated(values)
        own = problem.extras(values)
        centre = np.array([own["cx"], own["cy"], own["cz"]])

        def distance(q: np.ndarray, row: int) -> np.ndarray:
            return np.array([np.linalg.norm(full.fk(q).position - centre)])

        (weighted,) = problem.blocks(values)
        plain = residual(values)
        for row in range(7):
            slopes = central_differences(lambda q, row=row: distance(q, row), data.motors[row])
            size = np.sqrt(1.0 + (0.1**2) * (slopes**2).sum())
            assert weighted.residual[row] == pytest.approx(plain[row] / size, rel=1e-6)


def test_identified_robot_predicts_unmeasured_lengths(result: th.Result) -> None:
    assert result.good
    fresh = th.simulate(TRUE, BallBar(centre=(-0.2, 0.4, 0.5)), points=100, rng=9)
    check = th.validate(result.robot, fresh, BallBar(), nominal=PUMA)
    assert check.better
    assert check.errors["position"].rms < SIGMA
    assert check.nominal["position"].rms > 1e-3


def test_the_scatter_is_the_noise(result: th.Result) -> None:
    """240 rows, 24 parameters: rms = sigma sqrt(216 / 240), give or take 5 % at one sigma."""
    expected = SIGMA * np.sqrt(216 / 240)
    assert result.after["position"].rms == pytest.approx(expected, rel=0.15)


def test_held_out(result: th.Result) -> None:
    held = result.held_out
    assert held is not None
    assert held.better
    assert held.groups == 48
    assert held.calibrated["position"].rms < 2 * SIGMA


def test_outliers_are_named(data: th.Dataset) -> None:
    lengths = data.columns["length_m"].copy()
    lengths[[11, 100]] += 2e-3
    bad = replace(data, columns={"length_m": lengths})
    found = th.identify(PUMA, bad, BallBar(), gains=False)
    assert set(found.outliers.rows.tolist()) == {11, 100}
    assert not found.good
    robust = th.identify(PUMA, bad, BallBar(), gains=False, loss="cauchy")
    fresh = th.simulate(TRUE, BallBar(), points=100, rng=9)
    assert th.validate(robust.robot, fresh, BallBar()).errors["position"].rms < SIGMA


def test_files_frames_and_reports(data: th.Dataset, result: th.Result, tmp_path: Path) -> None:
    th.write_measurements(data, PUMA, tmp_path / "bar.csv")
    header, *rows = (tmp_path / "bar.csv").read_text().splitlines()
    assert header.split(",")[-1] == "length_m"
    # The same in millimetres, as most people would write it.
    millimetres = [header.replace("length_m", "length_mm")]
    for row in rows:
        *joints, length = row.split(",")
        millimetres.append(",".join([*joints, repr(1e3 * float(length))]))
    (tmp_path / "mm.csv").write_text("\n".join(millimetres) + "\n")
    half = np.arange(120)
    th.write_measurements(data.take(half), PUMA, tmp_path / "a.csv")
    th.write_measurements(data.take(half + 120), PUMA, tmp_path / "b.csv")
    table = {f"q{joint + 1}_rad": data.motors[:, joint] for joint in range(6)}
    table["length_mm"] = 1e3 * data.columns["length_m"]
    files = [
        [tmp_path / "bar.csv"],
        [tmp_path / "mm.csv"],
        [tmp_path / "a.csv", tmp_path / "b.csv"],
    ]
    for source in (*files, table):
        error = th.residuals(result.robot, source, BallBar(centre=CENTRE))["position"]
        same = th.residuals(result.robot, data, BallBar(centre=CENTRE))["position"]
        np.testing.assert_allclose(error, same, atol=1e-12)
    assert "cx" in result.summary()
    result.save(tmp_path / "result.json")
    assert result.to_dict()["found"]["cx"] == result.extras["cx"]


def test_missing_columns_and_wrong_shapes_are_refused(data: th.Dataset, tmp_path: Path) -> None:
    with pytest.raises(th.InputError, match=r"needs the column length_m.*columns="):
        th.identify(PUMA, th.Dataset(data.motors), BallBar())
    table = {f"q{joint + 1}_rad": data.motors[:, joint] for joint in range(6)}
    with pytest.raises(th.InputError, match=r"column length_m is missing.*length_mm"):
        th.identify(PUMA, table, BallBar())
    lengths = data.columns["length_m"].copy()
    lengths[4] = np.nan
    with pytest.raises(th.InputError, match=r"row 5: NaN .*length_m"):
        th.identify(PUMA, replace(data, columns={"length_m": lengths}), BallBar())
    with pytest.raises(th.InputError, match=r"line 5, column 'length_m'"):
        th.identify(PUMA, {**table, "length_m": lengths}, BallBar())

    class Flat(BallBar):
        def residual(self, tip, unknowns, data):
            error, by_tip, by_unknowns = super().residual(tip, unknowns, data)
            return error[:, 0], by_tip, by_unknowns

    with pytest.raises(th.InputError, match=r"'ball-bar' has error of the shape \(240,\)"):
        th.identify(PUMA, data, Flat())

    class Clash(BallBar):
        def unknowns(self, robot, data):
            return {"theta2": 0.0, "cy": 0.0, "cz": 0.0}

    with pytest.raises(th.InputError, match="'theta2' is a parameter of 'puma560'"):
        th.identify(PUMA, data, Clash())


@pytest.mark.parametrize("name", ["delta", "gough"])
def test_mechanisms_too(name: str) -> None:
    """Closed loops, by the same thirty lines; the same count of what a centre hides and adds."""
    robot = th.robots.load(name)
    true = th.perturb(robot, th.ParameterErrors(length=1e-3, angle=1e-3), 3)
    data = th.simulate(true, BallBar(), points=150, rng=4, noise=th.Noise(position=SIGMA))
    found = th.identify(robot, data, BallBar(), gains=False)
    assert found.good
    assert found.rank == th.identifiable(robot, "position").rank - 6 + 3
    assert found.after["position"].rms < 1.3 * SIGMA < found.before["position"].rms
