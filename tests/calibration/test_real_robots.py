"""Recordings of real robots, judged on rows that were not used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.calibrate import fit_placement
from theodolite.calibration.cross_validation import split


@pytest.mark.parametrize("seed", range(5))
def test_irb120_by_laser_tracker(recordings: Path, seed: int) -> None:
    """Three reflectors, unknown tracker frame: at most 0.21 mm, 0.72 with nominal links."""
    robot, method = th.robots.irb120(), th.Position()
    path = recordings / "irb120-tracker" / "train.csv"
    data = th.read_measurements([path], robot, needs=["positions"])
    fit, unseen, _ = split(data, 0.2, np.random.default_rng(seed))
    placed = fit_placement(th.located(robot, fit), fit, method)
    result = th.identify(placed, fit, method, gains=None)
    nominal, calibrated = (
        th.deviations(r, unseen, method)["position"].mean() for r in (placed, result.robot)
    )
    assert result.good
    assert calibrated < 0.21e-3
    assert 0.6e-3 < nominal < 0.85e-3


def test_panda_by_sockets(recordings: Path) -> None:
    """No sensor: a place left out is predicted to 0.30 mm, nominally to about 9 mm."""
    folder = recordings / "panda-sockets"
    robot = th.read_urdf(folder / "panda.urdf", tip="ball_link")
    files = sorted(folder.glob("*-hole_*.csv"))
    columns = [f"q{joint}_rad" for joint in range(1, 8)]
    data = th.read_measurements(files, robot, columns=columns, needs=["sets"])
    places = [file.name.rpartition("-")[0] for file in files]
    place = np.array([sorted(set(places)).index(name) for name in places])[data.sets]
    method = th.PositionLink()
    nominal, calibrated = [], []
    for left_out in range(8):
        fit = data.take(np.flatnonzero(place != left_out))
        unseen = data.take(np.flatnonzero(place == left_out))
        result = th.identify(robot, fit, method, hold_out=0.0)
        assert result.status.good
        nominal.append(th.deviations(robot, unseen, method)["position"])
        calibrated.append(th.deviations(result.robot, unseen, method)["position"])
    assert np.concatenate(calibrated).mean() < 0.30e-3
    assert 7e-3 < np.concatenate(nominal).mean() < 10e-3
