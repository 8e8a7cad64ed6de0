"""Fleets: failures stay alone, common deviations are told from individual ones, makes help."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import theodolite as th
from tests.quick import some_of
from theodolite.errors import InputError
from theodolite.io.fleet_file import read_fleet
from theodolite.io.tables import write_measurements
from theodolite.model.parameters import placing
from theodolite.studies.fleet import Member, calibrate_member, makes, with_make
from theodolite.studies.population import Information, population

NOISE = th.Noise(position=1e-4)


def produced(robots: int, *, spread: float, seed: int, points: int) -> tuple[list[Member], list]:
    """Robots of one make, whose mean is off by half a tolerance, in tolerances; and the truth."""
    nominal, rng = th.robots.puma560(), np.random.default_rng(seed)
    parameters = nominal.parameters
    tolerances = np.array([p.tolerance for p in parameters])
    own = placing(parameters)
    arm = [n for n, p in enumerate(parameters) if n not in own and not p.gain]
    mean = np.zeros(len(parameters))
    mean[arm] = 0.5 * tolerances[arm] * rng.standard_normal(len(arm))
    members, truth = [], []
    for number in range(robots):
        values = nominal.values + mean
        values[arm] += spread * tolerances[arm] * rng.standard_normal(len(arm))
        values[own] += 0.2 * tolerances[own] * rng.standard_normal(len(own))
        true = nominal.with_values(values)
        data = th.simulate(true, "position", points=points, rng=rng, noise=NOISE)
        day = date(2026, 1, 1) + timedelta(days=number)
        members.append(Member(f"r{number}", nominal, data, th.Position(), day, hold_out=0.0))
        truth.append(true)
    return members, truth


def errors(outcomes, truth) -> np.ndarray:
    """What is wrong with each arm, wherever it stands and whatever it holds."""
    return np.array(
        [
            np.sqrt(np.mean(th.compare(one.result.robot, true, rng=1) ** 2))
            for one, true in zip(outcomes, truth, strict=True)
        ]
    )


@pytest.mark.parametrize("robots", some_of([25, 500], [25]))
def test_the_make_is_a_better_prior_for_robots_with_few_measurements(robots: int) -> None:
    """15 points of 0.1 mm; robots of a make differ by 50 um and 50 urad, zeros by 0.2 mrad."""
    members, truth = produced(robots, spread=0.01, seed=2, points=15)
    alone = [calibrate_member(member) for member in members]
    (make,) = makes(members, alone)
    pooled = [calibrate_member(with_make(member, make)) for member in members]
    assert errors(pooled, truth).mean() < 0.75 * errors(alone, truth).mean()


def test_each_robot_has_options_of_its_own(theodolite, tmp_path: Path) -> None:
    robot, rng = th.robots.puma560(), np.random.default_rng(1)
    write_measurements(th.simulate(robot, "position", points=40, rng=rng, noise=NOISE),
                       robot, tmp_path / "p.csv")  # fmt: skip
    flat = th.PlaneKnown(np.array([0.0, 0.0, 1.0, 0.3]))
    touched = th.simulate(robot, flat, points=60, rng=rng, noise=NOISE)
    write_measurements(replace(touched, planes=None), robot, tmp_path / "flat.csv")
    (tmp_path / "fleet.toml").write_text(
        """[all]
nominal = "puma560"
hold_out = 0
[[robot]]
name = "seen"
data = "p.csv"
method = "position"
noise_mm = 0.1
gains = true
terms = "gravity"
[[robot]]
name = "touched"
data = "flat.csv"
method = "plane-known"
plane = "0,0,1,300"
[[robot]]
name = "wrong"
data = "p.csv"
method = "position"
radius_mm = 3
"""
    )
    code, out, err = theodolite("fleet", "calibrate", "fleet.toml", "--out", "out", "--json")
    assert code == 1, err
    told = {one["name"]: one for one in json.loads(out)["robots"]}
    assert "radius" in told["wrong"]["message"]
    assert "message" not in told["seen"]
    assert "message" not in told["touched"]
    seen = json.loads(Path("out/seen.json").read_text())
    assert "K1" in json.dumps(seen)
    (tmp_path / "fleet.toml").write_text(
        '[[robot]]\nname = "a"\ndata = "p.csv"\nmethod = "position"\nnominal = "puma560"\n'
        'noise_mm = "loud"\n'
    )
    code, _, err = theodolite("fleet", "calibrate", "fleet.toml", "--out", "other")
    assert code == 2
    assert "noise_mm is 'loud'; allowed: a number, 0 or more" in " ".join(err.split())


def test_mean_and_spread_come_out_though_no_robot_shows_them(rng) -> None:
    """Each robot sees one direction in three, and no two parameters apart."""
    mean, spread = np.array([0.5, -1.0, 0.0]), np.array([0.3, 0.1, 0.02])
    members = []
    for _ in range(400):
        x = mean + spread * rng.standard_normal(3)
        rows = rng.standard_normal((1, 3))
        R = np.zeros((3, 3))
        R[0] = rows / 0.05
        target = np.zeros(3)
        target[0] = R[0] @ x + rng.standard_normal()
        members.append(Information(("a", "b", "c"), R, target))
    found = population(members, np.ones(3))
    np.testing.assert_allclose(found.mean, mean, atol=0.05)
    np.testing.assert_allclose(found.spread, spread, atol=0.05)
    off = np.abs(found.mean - mean) / found.mean_error
    assert off.max() < 4.0
    assert {0, 1} <= set(found.common())


def test_robots_that_are_alike_raise_few_alarms(rng) -> None:
    """Outliers, common deviations and trends, each at 5 % for all together, over 60 fleets."""
    alarms = np.zeros(3)
    for _ in range(60):
        members = []
        for _ in range(30):
            x = 0.3 * rng.standard_normal(6)
            R = np.diag(np.full(6, 20.0))
            members.append(Information(tuple("abcdef"), R, R @ x + rng.standard_normal(6)))
        found = population(members, np.ones(6))
        days = np.arange(30.0)
        alarms += [bool(found.outliers()), bool(found.common()), bool(found.trends(days))]
    # Of 60 at 5 %, 8 or more come by chance in one case of a hundred.
    assert (alarms <= 8).all(), alarms


def test_an_odd_robot_and_a_drift_are_named(rng) -> None:
    members = []
    days = np.arange(40.0)
    for day in days:
        x = 0.1 * rng.standard_normal(3)
        x[1] += 0.01 * day
        if day == 17:
            x[2] += 2.0
        R = np.diag(np.full(3, 100.0))
        members.append(Information(("a", "b", "c"), R, R @ x + rng.standard_normal(3)))
    found = population(members, np.ones(3))
    assert [(robot, place) for robot, place, _ in found.outliers()] == [(17, 2)]
    # The odd robot has no say in the spread.
    assert found.spread[2] == pytest.approx(0.1, rel=0.4)
    ((place, slope),) = found.trends(days)
    assert place == 1
    assert slope == pytest.approx(0.01, abs=0.004)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    nominal, rng = th.robots.scara(), np.random.default_rng(0)
    lines = ["name;nominal;data;method;made"]
    for number in range(6):
        true = th.perturb(nominal, th.ParameterErrors(1e-3, 2e-3), rng)
        data = th.simulate(true, "position", points=25, rng=rng, noise=NOISE)
        write_measurements(data, true, tmp_path / f"{number}.csv")
        lines.append(f"S-{number};scara;{number}.csv;position;2026-05-0{number + 1}")
    (tmp_path / "2.csv").write_text("this;is;no;table\n")
    lines += ["lost;scara;nowhere.csv;position;", "wrong;stanford;1.csv;position;"]
    path = tmp_path / "line.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_failures_are_listed_and_stop_nobody(theodolite, fleet: Path) -> None:
    code, out, errors = theodolite("fleet", "calibrate", fleet, "--out", "out", "--json")
    assert code == 1, errors
    said = json.loads(out)
    assert said["calibrated"] == 5
    assert [one["name"] for one in said["failed"]] == ["S-2", "lost", "wrong"]
    assert all(one["message"] for one in said["failed"])
    (make,) = said["makes"]
    assert make["robots"] == ["S-0", "S-1", "S-3", "S-4", "S-5"]
    folder = Path("out")
    assert th.read_robot(folder / "S-0.toml").name
    assert (folder / "fleet.html").stat().st_size > 1000
    assert not (folder / "S-2.toml").exists()
    code, _, errors = theodolite("fleet", "calibrate", fleet, "--out", "out")
    assert code == 2
    assert "is not empty" in errors


def test_the_same_in_two_processes(theodolite, fleet: Path) -> None:
    pytest.importorskip("distributed")
    told = []
    for options in ([], ["--workers", 2]):
        out = f"out{len(told)}"
        told.append(theodolite("fleet", "calibrate", fleet, "--out", out, "--json", *options)[1])
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,nominal\nA,scara\n", "says nothing of 'data'"),
        ("name,nominal,data,method,colour\nA,scara,a.csv,position,red\n", "colour"),
        (
            "name,nominal,data,method\nA,scara,a.csv,position\nA,scara,a.csv,position\n",
            "called 'A'",
        ),
        ("name,nominal,data,method\n../A,scara,a.csv,position\n", "is called"),
        ("name,nominal,data,method,made\nA,scara,a.csv,position,May\n", "was made on"),
        ("name,nominal,data,method\nA,scara\n", "has 2 cells"),
        ("", "lists no robots"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_fleet(path)


def test_toml_with_what_all_share(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(
        '[all]\nnominal = "scara"\nmethod = "position"\n'
        '[[robot]]\nname = "A"\ndata = ["a.csv", "b.csv"]\nmade = 2026-05-01\n'
        '[[robot]]\nname = "B"\ndata = "c.csv"\ngains = "auto"\n'
    )
    first, second = read_fleet(path)
    assert first.data == (tmp_path / "a.csv", tmp_path / "b.csv")
    assert (first.made, first.gains) == (date(2026, 5, 1), False)
    assert (second.nominal, second.gains) == ("scara", None)
    path.write_text("robot = 3\n")
    with pytest.raises(InputError, match="not a fleet"):
        read_fleet(path)


@pytest.mark.parametrize("robots", [5, 8, 30])
def test_chance_is_no_common_deviation(robots: int) -> None:
    """Fleets about their nominal robot: any alarm in 5 %, so in at most 9 of 60 (once in 400)."""
    rng = np.random.default_rng(robots)
    names = tuple("abcdefghijkl")
    alarms = 0
    for _ in range(60):
        members = []
        for _ in range(robots):
            R = 20.0 * np.triu(rng.standard_normal((12, 12)) * 0.2 + np.eye(12))
            x = rng.standard_normal(12)
            members.append(Information(names, R, R @ x + rng.standard_normal(12)))
        alarms += bool(population(members, np.ones(12)).common())
    assert alarms <= 9


def test_a_tracker_that_stands_elsewhere_hides_no_make() -> None:
    """Each robot's base is its own affair: what the robots have in common is still seen."""
    rng = np.random.default_rng(12)
    nominal = th.robots.puma560()
    wrong = nominal.with_values({"d3": nominal.values[_place(nominal, "d3")] + 2e-3})
    members = []
    for number in range(6):
        true = th.perturb(wrong, th.ParameterErrors(2e-4, 4e-4), rng)
        data = th.simulate(true, th.Position(), points=40, rng=rng, noise=th.Noise(position=3e-5))
        turned = Rotation.from_rotvec(rng.uniform(-0.4, 0.4, 3)).as_matrix()
        positions = np.asarray(data.positions) @ turned.T + rng.uniform(-0.4, 0.4, 3)
        moved = replace(data, positions=positions)
        members.append(Member(f"r{number}", nominal, moved, th.Position(), hold_out=0.0))
    outcomes = [calibrate_member(member) for member in members]
    (make,) = makes(members, outcomes)
    assert "d3" in [make.found.names[place] for place in make.found.common()]


def _place(robot: th.Robot, name: str) -> int:
    return [parameter.name for parameter in robot.parameters].index(name)
