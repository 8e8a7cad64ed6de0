"""ISO 9283: figures worked out by hand, robots of known scatter, and plans that can be run."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import theodolite as th
from tests.quick import some_of
from theodolite.assessment.iso9283.attained import Attained, Test
from theodolite.assessment.iso9283.evaluation import evaluate
from theodolite.assessment.iso9283.figures import (
    largest_of_cycles,
    length_interval,
    mean_interval,
    repeatability,
    repeatability_interval,
    spread_interval,
)
from theodolite.assessment.iso9283.paths import corner_figures, path_figures
from theodolite.assessment.iso9283.plan import PLANES, plan_tests
from theodolite.assessment.iso9283.poses import direction_figures
from theodolite.compensation.controller import controlled
from theodolite.errors import InputError
from theodolite.io.iso9283_file import read_attained, write_plan
from theodolite.model.poses import Poses


def rows(label: str, positions, commanded, **more) -> Attained:
    count = len(positions)
    return Attained(
        (label,) * count,
        np.arange(1, count + 1),
        np.array(positions, dtype=float),
        np.tile(np.array(commanded, dtype=float), (count, 1)),
        **more,
    )


def test_pose_figures_by_hand() -> None:
    """Four poses at the corners of a square of 2 mm, off by (1, 2, 2) mm from the command."""
    square = np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]]) * 1e-3
    attained = square + np.array([1e-3, 2e-3, 2e-3])
    found = evaluate({Test.POSE: rows("P1", attained, [0, 0, 0])})
    assert found.figure("AP_p").value == pytest.approx(3e-3)
    assert found.figure("AP_x").value == pytest.approx(1e-3)
    assert found.figure("AP_z").value == pytest.approx(2e-3)
    # All are sqrt(2) mm from the barycentre, so S_l is 0.
    assert found.figure("RP_l").value == pytest.approx(np.sqrt(2) * 1e-3)
    assert not found.good
    assert "4 cycles, the standard asks for 30" in found.short[0]


def test_repeatability_by_hand() -> None:
    """Distances 0, 3, 3 mm from the barycentre: mean 2, S = sqrt(3), RP = 2 + 3 sqrt(3)."""
    positions = np.array([[0, 0, 0], [3, 0, 0], [-3, 0, 0]]) * 1e-3
    assert float(repeatability(positions)) == pytest.approx((2 + 3 * np.sqrt(3)) * 1e-3)


def test_angles_by_hand() -> None:
    turns = np.radians([[1.0, 0, 0], [3.0, 0, 0]])
    command = Rotation.from_euler("ZYX", [30, 40, 50], degrees=True).as_matrix()
    attained = Rotation.from_rotvec(turns).as_matrix() @ command
    part = rows(
        "P1",
        np.zeros((2, 3)),
        [0, 0, 0],
        rotations=attained,
        commanded_rotations=np.tile(command, (2, 1, 1)),
    )
    found = evaluate({Test.POSE: part})
    assert found.figure("AP_a").value == pytest.approx(np.radians(2.0))
    assert found.figure("RP_a").value == pytest.approx(3 * np.radians(np.sqrt(2.0)))
    assert found.figure("AP_b").value == pytest.approx(0.0, abs=1e-12)


def test_distances_by_hand() -> None:
    """100 mm commanded; 101 and 103 mm attained: AD = 2, RD = 3 sqrt(2) mm."""
    part = Attained(
        ("P2", "P4", "P2", "P4"),
        np.array([1, 1, 2, 2]),
        np.array([[0, 0, 0], [101, 0, 0], [0, 0, 0], [103, 0, 0]]) * 1e-3,
        np.array([[0, 0, 0], [100, 0, 0], [0, 0, 0], [100, 0, 0]]) * 1e-3,
    )
    found = evaluate({Test.DISTANCE: part})
    assert found.figure("AD_p").value == pytest.approx(2e-3)
    assert found.figure("RD_p").value == pytest.approx(3 * np.sqrt(2) * 1e-3)
    assert found.figure("AD_x").value == pytest.approx(2e-3)
    assert found.figure("AD_y").value == pytest.approx(0.0, abs=1e-15)


def test_directions_and_drift_by_hand() -> None:
    centres = np.array([[0, 0, 0], [3, 0, 0], [0, 4, 0]]) * 1e-3
    positions = np.repeat(centres, 30, axis=0)
    part = replace(rows("P1", positions, [0, 0, 0]), direction=np.repeat([1, 2, 3], 30))
    assert evaluate({Test.MULTI: part}).figure("vAP_p").value == pytest.approx(5e-3)
    # Off by 0, 3 and 4 mm over time, without scatter.
    drift = replace(part, direction=None, block=np.repeat([1, 2, 3], 30))
    found = evaluate({Test.DRIFT: drift})
    assert found.figure("dAP_p").value == pytest.approx(4e-3)
    assert found.figure("dRP_l").value == pytest.approx(0.0, abs=1e-12)
    assert found.figure("drift").value == pytest.approx(4e-3)


@pytest.mark.parametrize("symbol", ["dAP_p", "dRP_l", "drift"])
def test_intervals_of_drift_hold(symbol: str) -> None:
    """Blocks of 12 cycles at 0.2 mm and at 0.35 mm, with 0.02 and 0.03 mm of scatter."""
    rng = np.random.default_rng(2)
    scatter = np.array([0.02e-3, 0.03e-3])
    # l_bar + 3 S_l of isotropic scatter: the mean and deviation of a Maxwell law.
    maxwell = np.sqrt(8 / np.pi) + 3 * np.sqrt(3 - 8 / np.pi)
    truth = {"dAP_p": 0.15e-3, "dRP_l": maxwell * 0.01e-3, "drift": 0.15e-3}[symbol]
    held = 0
    for _ in range(200):
        places = rng.standard_normal((2, 12, 3)) * scatter[:, None, None]
        places[:, :, 0] += np.array([0.2e-3, 0.35e-3])[:, None]
        part = replace(rows("P1", places.reshape(24, 3), [0, 0, 0]), block=np.repeat([1, 2], 12))
        found = evaluate({Test.DRIFT: part}).figure(symbol)
        held += found.low <= truth <= found.high
    # Binomial, four sigma about 95 %; intervals may be wider, not narrower.
    assert held >= 200 * 0.95 - 4 * np.sqrt(200 * 0.95 * 0.05)


@pytest.mark.parametrize("count", [3, 10])
def test_the_largest_of_cycles_has_an_interval_that_holds(count: int) -> None:
    rng = np.random.default_rng(3)
    truth = 5.0 + 2.0 * rng.standard_normal((400_000, count)).max(axis=1).mean()
    drawn = 5.0 + 2.0 * rng.standard_normal((1500, count))
    held = [low <= truth <= high for _, low, high in map(largest_of_cycles, drawn)]
    assert np.mean(held) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 1500))


def test_settling_by_hand() -> None:
    """From 10 mm to 0.5 mm, out of a band of 1 mm to 3 mm at 2 s, and to 0.2 mm at 3 s.

    On straight ways the band is entered at 9 / 9.5 s and at 2 s + 2 / 2.8 s.
    """
    times = np.arange(0.0, 40.0)
    along = np.zeros(40)
    along[:5] = [10, 0.5, 3.0, 0.2, 0.0]
    positions = np.column_stack([along * 1e-3, np.zeros(40), np.zeros(40)])
    part = replace(rows("P1", positions, [0, 0, 0]), times=times, cycle=np.ones(40, dtype=int))
    found = evaluate({Test.SETTLING: part}, band=1e-3)
    assert found.figure("t").value == pytest.approx(2 + 2 / 2.8 - 9 / 9.5)
    assert found.figure("OV").value == pytest.approx(3e-3)
    # Through the band between two samples: from 2 mm on one side to 3 mm on the other at once.
    along[:5] = [10, 2.0, -3.0, 0.2, 0.0]
    fast = replace(part, positions=np.column_stack([along * 1e-3, np.zeros((40, 2))]))
    found = evaluate({Test.SETTLING: fast}, band=1e-3)
    assert found.figure("t").value == pytest.approx((2 + 2 / 3.2) - (1 + 1 / 5))
    assert found.figure("OV").value == pytest.approx(3e-3)
    with pytest.raises(InputError, match="band"):
        evaluate({Test.SETTLING: part})


def line(shift: float, speed: float, cycle: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A straight path of 1 m along x, parallel to the command, at a speed in m/s."""
    times = np.linspace(0.0, 1.0 / speed, 201)
    x = -0.0005 + 1.001 * np.linspace(0.0, 1.0, 201)
    return np.column_stack([x, np.full(201, shift), np.zeros(201)]), times, np.full(201, cycle)


def test_paths_by_hand() -> None:
    """Ten cycles, five 1 mm and five 3 mm aside: AT = 2 mm; l = 1 mm each, so RT = 1 mm."""
    parts = [line(1e-3 if cycle % 2 else 3e-3, 0.5, cycle) for cycle in range(10)]
    positions, times, cycles = (np.concatenate(part) for part in zip(*parts, strict=True))
    part = Attained(
        ("",) * len(times), cycles, positions, np.full_like(positions, np.nan), times=times
    )
    command = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    found = evaluate({Test.PATH: part}, command=command, speed=0.4)
    assert found.figure("AT_p").value == pytest.approx(2e-3)
    assert found.figure("RT_p").value == pytest.approx(1e-3)
    # 1.001 m in 2 s against 0.4 m/s.
    assert found.figure("AV").value == pytest.approx(0.5005 / 0.4 - 1.0)
    assert found.figure("RV").value == pytest.approx(0.0, abs=1e-9)
    assert found.figure("FV").value == pytest.approx(0.0, abs=1e-9)
    assert found.good


def test_a_corner_by_hand() -> None:
    """A right corner cut by a straight line 1 cm from both legs, then 2 mm beside the second."""
    command = np.array([[0.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 0]])
    legs = [
        np.column_stack([np.linspace(0, 0.99, 100), np.zeros(100), np.zeros(100)]),
        np.array([[1.0, 0.01, 0.0]]),
        np.column_stack([np.full(100, 1.002), np.linspace(0.1, 1.0, 100), np.zeros(100)]),
    ]
    one = np.concatenate(legs)
    positions = np.concatenate([one] * 3)
    part = Attained(
        ("",) * len(positions),
        np.repeat([1, 2, 3], len(one)),
        positions,
        np.full_like(positions, np.nan),
        times=np.tile(np.arange(float(len(one))), 3),
    )
    found = evaluate({Test.CORNER: part}, command=command)
    assert found.figure("CR").value == pytest.approx(0.01 / np.sqrt(2))
    # Behind it, 2 mm beside the second leg.
    assert found.figure("CO").value == pytest.approx(2e-3)


@pytest.mark.parametrize("shape", [(1.0, 1.0, 1.0), (1.0, 0.3, 0.1)])
@pytest.mark.parametrize("off", some_of([0.0, 0.1, 1.0], [0.1]))
def test_intervals_hold_for_robots_of_known_scatter(shape, off) -> None:
    """30 cycles of normal scatter: 95 % of the intervals hold the truth."""
    rng = np.random.default_rng(11)
    scale = 5e-5 * np.array(shape)
    shift = off * 1e-4 * np.array([0.6, -0.7, 0.4])
    true_rp = float(repeatability(scale * np.random.default_rng(1).standard_normal((400_000, 3))))
    held = {"AP_p": 0, "AP_x": 0, "RP_l": 0, "RP_a": 0}
    runs = 300
    for _ in range(runs):
        drawn = shift + scale * rng.standard_normal((30, 3))
        _, low, high = length_interval(drawn)
        held["AP_p"] += low <= np.linalg.norm(shift) <= high
        _, low, high = mean_interval(drawn[:, 0])
        held["AP_x"] += low <= shift[0] <= high
        _, low, high = repeatability_interval(drawn)
        held["RP_l"] += low <= true_rp <= high
        _, low, high = spread_interval(drawn[:, 1])
        held["RP_a"] += low <= 3 * scale[1] <= high
    for name, count in held.items():
        # An error of a mean along flat scatter is not quite noncentral F: it may hold more often.
        most = 1.0 if name == "AP_p" else 0.985
        assert 0.91 <= count / runs <= most, (name, count / runs)


def test_a_clear_deviation_has_students_interval() -> None:
    """0.5 mm off with a scatter of 0.05 mm: as wide as the interval of the mean along it."""
    rng = np.random.default_rng(2)
    along = np.array([0.6, 0.0, 0.8])
    drawn = 5e-4 * along + 5e-5 * rng.standard_normal((30, 3))
    _, low, high = length_interval(drawn)
    mean = drawn.mean(axis=0)
    _, one, other = mean_interval(drawn @ (mean / np.linalg.norm(mean)))
    assert high - low == pytest.approx(other - one, rel=0.02)


def test_a_sensor_that_stands_elsewhere(rng) -> None:
    commanded = np.repeat(rng.uniform(-0.5, 0.5, (5, 3)), 30, axis=0)
    labels = tuple(f"P{number}" for number in range(1, 6) for _ in range(30))
    attained = commanded + 1e-4 * rng.standard_normal(commanded.shape)
    turn = Rotation.from_euler("ZYX", [100, 20, -30], degrees=True).as_matrix()
    sensor = Poses.one(turn, np.array([2.0, -1.0, 0.5]))
    seen = (attained - sensor.position) @ turn
    part = Attained(labels, np.tile(np.arange(1, 31), 5), seen, commanded)
    known = evaluate({Test.POSE: part}, sensor=sensor)
    here = evaluate({Test.POSE: replace(part, positions=attained)})
    for label in ("P1", "P4"):
        assert known.figure("AP_p", label).value == pytest.approx(
            here.figure("AP_p", label).value, abs=1e-12
        )
    fitted = evaluate({Test.POSE: part}, fit_sensor=True)
    assert fitted.fitted
    assert fitted.figure("AP_p", "P1").value < 1e-4


@pytest.mark.parametrize(
    "name",
    [
        "puma560",
        "scara",
        pytest.param("panda", marks=pytest.mark.study),
        pytest.param("delta", marks=pytest.mark.study),
    ],
)
def test_a_plan_can_be_run(name, tmp_path) -> None:
    robot = th.robots.load(name)
    plan = plan_tests(robot, [Test.POSE, Test.MULTI, Test.DISTANCE, Test.PATH])
    there = controlled(robot, robot, None, world=False).tips(plan.motors).position
    np.testing.assert_allclose(there, plan.positions, atol=1e-8)
    readings = robot.readings(plan.motors)
    assert (readings >= robot.lower - 1e-9).all() and (readings <= robot.upper + 1e-9).all()
    # P2 to P5 are a tenth of the plane's diagonal from its ends; P1 is in the middle.
    half = 0.5 * plan.edge
    for number, corner in enumerate(PLANES["a"], start=1):
        end = plan.centre + half * np.array(corner)
        other = plan.centre - half * np.array(corner)
        assert np.linalg.norm(plan.positions[number] - end) == pytest.approx(
            0.1 * np.linalg.norm(end - other)
        )
    # Filled with what the nominal robot does, it evaluates to nothing.
    path = tmp_path / "plan.csv"
    write_plan(plan, robot, path)
    lines = path.read_text().splitlines()
    names = lines[0].split(",")
    x = names.index("xc_mm")
    filled = [lines[0]]
    for text in lines[1:]:
        cells = text.split(",")
        filled.append(",".join([*cells[:-3], *cells[x : x + 3]]))
    done = tmp_path / "measured.csv"
    done.write_text("\n".join(filled) + "\n")
    found = evaluate(read_attained(done))
    assert found.good, found.short
    assert found.figure("AP_p", "P3").value < 1e-12
    assert found.figure("vAP_p", "P1").value < 1e-12
    assert found.figure("AD_p").value == pytest.approx(0.0, abs=1e-12)
    assert found.figure("AT_p").value < 1e-9


@pytest.mark.parametrize(("name", "test"), [("ur10e", Test.MULTI), ("irb120", Test.PATH)])
def test_a_cube_of_our_own_choice_can_be_tested(name, test) -> None:
    assert plan_tests(th.robots.load(name), [test]).rows


def test_impossible_cubes_are_refused() -> None:
    with pytest.raises(InputError, match="no cube of 5000 mm"):
        plan_tests(th.robots.scara(), [Test.POSE], edge=5.0)
    with pytest.raises(InputError, match="no plane"):
        plan_tests(th.robots.scara(), [Test.POSE], plane="z")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x_mm,y_mm\n1,2\n", "z"),
        ("x_mm,y_mm,z_mm\n1,2,3\n", "commanded"),
        ("x,y,z,xc_mm,yc_mm,zc_mm\n1,2,3,1,2,3\n", "unit"),
        ("test,x_mm,y_mm,z_mm,xc_mm,yc_mm,zc_mm\nelse,1,2,3,1,2,3\n", "no test"),
        ("cycle,x_mm,y_mm,z_mm,xc_mm,yc_mm,zc_mm\n1.5,1,2,3,1,2,3\n", "whole numbers"),
        ("qw,qx,qy,qz,x_mm,y_mm,z_mm,xc_mm,yc_mm,zc_mm\n5,0,0,0,1,2,3,1,2,3\n", "quaternion"),
    ],
)
def test_wrong_files_are_refused(text, words, tmp_path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_attained(path)


def test_the_largest_of_several_values_has_an_interval_that_holds() -> None:
    """Barycentres that are equal, a little and far apart; scatter along a path: at least 95 %."""
    scatter, runs, paths = 2e-5, 40, 8
    rng = np.random.default_rng(0)
    for apart in (0.0, 5e-5, 1e-3):
        centres = np.array([[0.0, 0, 0], [apart, 0, 0], [0, apart, 0]])
        truth = np.sqrt(2.0) * apart
        held = 0
        for _ in range(runs):
            rows = np.repeat(centres, 30, axis=0) + scatter * rng.standard_normal((90, 3))
            attained = Attained(
                ("P1",) * 90,
                np.tile(np.arange(1, 31), 3),
                rows,
                np.zeros((90, 3)),
                direction=np.repeat([1, 2, 3], 30),
            )
            found = next(f for f in direction_figures(attained) if f.symbol == "vAP_p")
            held += found.low <= truth <= found.high
        assert held >= 0.9 * runs
    command, x = np.array([[0.0, 0, 0], [1.0, 0, 0]]), np.linspace(-0.01, 1.01, 120)
    across = np.column_stack([np.zeros(200_000), scatter * rng.standard_normal((200_000, 2))])
    truths = {"AT_p": 1e-3, "RT_p": float(repeatability(across))}
    counts = dict.fromkeys(truths, 0)
    for _ in range(paths):
        shifts = scatter * rng.standard_normal((10, 2))
        places = np.concatenate(
            [np.column_stack([x, 1e-3 + a + 0 * x, b + 0 * x]) for a, b in shifts]
        )
        attained = Attained(
            ("L",) * len(places),
            np.repeat(np.arange(10), len(x)),
            places,
            np.full_like(places, np.nan),
            times=np.tile(np.arange(120.0), 10),
        )
        for found in path_figures(attained, command):
            if found.symbol in truths:
                counts[found.symbol] += found.low <= truths[found.symbol] <= found.high
    assert min(counts.values()) >= 0.9 * paths


def test_tests_without_figures_are_named() -> None:
    """Distances between three poses, and one direction of approach."""
    places = np.arange(9.0).reshape(3, 3)
    three = Attained(("P1", "P2", "P3"), np.ones(3, dtype=int), places, places)
    one = Attained(("P1",) * 3, np.arange(3), places, places, direction=np.ones(3, dtype=int))
    found = evaluate({Test.DISTANCE: three, Test.MULTI: one})
    assert not found.good
    assert any("distance: no figures, it needs two poses" in words for words in found.short)
    assert any("multi: no figures" in words for words in found.short)


def test_overshoot_ends_at_the_next_corner() -> None:
    """Three legs, the last one 5 mm off: that is not the overshoot of the first corner."""
    command = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 0]])
    legs = [np.linspace(a, b, 50) for a, b in itertools.pairwise(command)]
    legs[2] = legs[2] + np.array([0.0, 0.005, 0.0])
    places = np.concatenate(legs)
    attained = Attained(
        ("L",) * 150, np.ones(150, dtype=int), places, np.full_like(places, np.nan),
        times=np.arange(150.0),
    )  # fmt: skip
    over = [f.value for f in corner_figures(attained, command) if f.symbol == "CO"]
    assert over[0] < 1e-9
    assert over[1] == pytest.approx(0.005)


def test_two_directions_are_not_enough() -> None:
    rng = np.random.default_rng(0)
    rows = Attained(
        ("P1",) * 60, np.tile(np.arange(30), 2), rng.standard_normal((60, 3)), np.zeros((60, 3)),
        direction=np.repeat([1, 2], 30),
    )  # fmt: skip
    found = evaluate({Test.MULTI: rows})
    assert "2 of 3 directions" in found.short[0]
