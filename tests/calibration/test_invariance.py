"""What must make no difference: the unit of length, the order of rows, the size of blocks."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

import theodolite as th
from tests.calibration.sizes import grown, grown_data
from theodolite.calibration.catalogue import METHODS, method_named
from theodolite.io.robot_file import parse_robot

SERIAL = [name for name in METHODS if name not in ("implicit", "inverse")]
NOISE = th.Noise(position=1e-4, orientation=1e-4, pixel=0.2)


def measured(robot: th.Robot, name: str, seed: int = 3) -> th.Dataset:
    rng = np.random.default_rng(seed)
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
    points = 120 if name.startswith("plane") else 40
    if name in ("camera", "frame-link"):
        points = 20
    per_set = 2 if name == "frame-link" else 3
    return th.simulate(true, name, points=points, rng=rng, noise=NOISE, per_set=per_set)


@pytest.mark.parametrize("factor", [0.01, 100.0])
@pytest.mark.parametrize("name", SERIAL)
@pytest.mark.parametrize("robot_name", ["irb120", "scara"])
def test_a_robot_of_another_size_gives_the_same_calibration(
    robot_name: str, name: str, factor: float
) -> None:
    if robot_name == "scara" and name in ("frame-link", "camera"):
        return  # no second configuration of a pose, and no way to look at a target
    robot, method = th.robots.load(robot_name), method_named(name)
    data = measured(robot, name)
    here, there = (
        th.identify(one, its, method, gains=False, terms="none", hold_out=0.0)
        for one, its in (
            (robot, data),
            (grown(robot, factor), grown_data(data, robot, factor)),
        )
    )
    units = {"m": factor, "1/m": 1.0 / factor}
    scale = np.array([units.get(estimate.unit.value, 1.0) for estimate in here.estimates])
    change, grown_change = (
        np.array([e.identified - e.nominal for e in result.estimates]) for result in (here, there)
    )
    tolerances = np.array([estimate.tolerance for estimate in here.estimates])
    assert there.rank == here.rank
    assert there.good == here.good
    np.testing.assert_allclose(grown_change / scale / tolerances, change / tolerances, atol=1e-6)
    wide, narrow = (
        np.array([e.interval or 0.0 for e in result.estimates]) for result in (there, here)
    )
    np.testing.assert_allclose(wide / scale / tolerances, narrow / tolerances, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in SERIAL if name != "camera"])
def test_the_order_of_rows_makes_no_difference(name: str) -> None:
    robot, method = th.robots.puma560(), method_named(name)
    data = measured(robot, name)
    shuffled = data.take(np.random.default_rng(1).permutation(len(data)))
    one, other = (
        th.identify(robot, some, method, gains=False, terms="none", hold_out=0.0)
        for some in (data, shuffled)
    )
    tolerances = np.array([estimate.tolerance for estimate in one.estimates])
    change, again = (
        np.array([e.identified - e.nominal for e in result.estimates]) / tolerances
        for result in (one, other)
    )
    # Turns are compared with the first of a set: which one that is matters to second order.
    np.testing.assert_allclose(again, change, atol=1e-5 if name == "frame-link" else 1e-6)


def test_a_calibration_poses_its_problem_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One problem for the fit, one for the expected rank; passes over the data are counted."""
    from theodolite.calibration.position import Position, PositionProblem

    robot = th.robots.puma560()
    data = measured(robot, "position")
    posed, passes = [], []
    problem, blocks = Position.problem, PositionProblem.blocks

    def counted_problem(self, robot, some, **options):
        posed.append(len(some))
        return problem(self, robot, some, **options)

    def counted_blocks(self, values):
        if len(self.data) == len(data):
            passes.append(1)
        return blocks(self, values)

    monkeypatch.setattr(Position, "problem", counted_problem)
    monkeypatch.setattr(PositionProblem, "blocks", counted_blocks)
    result = th.identify(
        robot, data, th.Position(), gains=False, terms="none", hold_out=0.0, start="nominal"
    )
    assert posed.count(len(data)) == 1
    assert len(posed) == 2
    # The start, one for each iteration, one to begin with base parameters, the outliers; and as
    # many again to place the nominal robot it is compared with.
    assert len(passes) <= 2 * (result.iterations + 3)


@pytest.mark.parametrize(
    ("name", "unit", "factor"),
    [
        *(("palletizer", "in", 25.4), ("fourbar", "in", 25.4), ("fourbar", "um", 1e-3)),
        *(("delta", "um", 1e-3), ("delta", "m", 1e3)),
    ],
)
def test_a_mechanism_of_another_size_gives_the_same_calibration(
    name: str, unit: str, factor: float
) -> None:
    """The same file with another unit of length."""
    text = (files("theodolite.robots") / f"{name}.toml").read_text()
    robot, large = (
        parse_robot(text.replace('length = "mm"', f'length = "{other}"'), name)
        for other in ("mm", unit)
    )
    rng = np.random.default_rng(3)
    true = th.perturb(robot, th.ParameterErrors(1e-3 * robot.reach(), 1e-3), rng)
    noise = th.Noise(position=1e-4 * robot.reach())
    data = th.simulate(true, "position", points=60, rng=rng, noise=noise)
    kinds = [*robot.joint_types, *(joint.kind for joint in robot.passive)]
    slides = np.array([factor if kind is th.Joint.PRISMATIC else 1.0 for kind in kinds])
    grown_up = th.Dataset(data.motors * slides, positions=data.positions * factor)
    here, there = (
        th.identify(one, its, "position", gains=False, terms="none", hold_out=0.0)
        for one, its in ((robot, data), (large, grown_up))
    )
    assert there.rank == here.rank
    for small, wide in zip(here.estimates, there.estimates, strict=True):
        scale = factor if small.unit.value == "m" else 1.0
        changes = [e.identified - e.nominal for e in (small, wide)]
        assert changes[1] / scale == pytest.approx(changes[0], abs=1e-6 * small.tolerance)
