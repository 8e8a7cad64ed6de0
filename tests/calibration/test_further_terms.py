"""Further error terms: found exactly, with intervals that hold, and taken only if they help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.conditions import with_inputs
from theodolite.calibration.term_groups import (
    AFTER,
    ALL_GROUPS,
    DECAYS,
    GROUPS,
    LOADED,
    compliance,
    drift,
    tolerances,
)
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import merged, reduce, reduce_parts
from theodolite.model.terms import ErrorTerm

NOISE = 5e-5
ONE_OF_EACH = (
    ErrorTerm(2, "q", "sin(q2)"),
    ErrorTerm(3, "q", "cos(2*q3)"),
    ErrorTerm(2, "q", "moment(z2, x3)"),
    ErrorTerm(3, "q", "moment(z3, y4)"),
    ErrorTerm(4, "rx", "moment(x4, y5)"),
    ErrorTerm(5, "q", "direction5"),
    ErrorTerm(0, "z", "1-exp(-time_s/300)"),
    ErrorTerm(4, "r", "temperature_c/20"),
    ErrorTerm(3, "q", "sin(2*q2)*cos(q4)"),
)


def measured(
    robot: th.Robot, points: int, rng: np.random.Generator, noise: float = 0.0
) -> th.Dataset:
    """Positions of a robot that warms up, in configurations in a random order."""
    motors = robot.random_motors(points, rng)
    columns = {
        "time_s": np.linspace(0, 1200, points),
        "temperature_c": rng.uniform(0, 20, points),
        "payload_kg": rng.uniform(0, 6, points),
    }
    data = th.Dataset(motors, positions=np.zeros((points, 3)), columns=columns)
    told = with_inputs(data, robot).motors
    exact = robot.motion(robot.values, told).position
    positions = exact + noise * rng.standard_normal(exact.shape)
    return replace(data, positions=positions[:, None])


def with_group(robot: th.Robot, group: str) -> th.Robot:
    """A robot with one more group of terms, as large as they usually are."""
    basis = f"exp(-time_s/{DECAYS[2] * 1200:g})"
    terms = drift(robot, basis) if group == "drift" else GROUPS[group](robot)
    sizes = tolerances(robot, group, terms)
    if group in LOADED:
        # Without known masses, loads are taken to be of 1 N m; a payload's are of 50.
        sizes = {name: size / 50 for name, size in sizes.items()}
    return robot.with_terms((*robot.terms, *terms)).with_tolerances(sizes)


def with_errors(robot: th.Robot, rng: np.random.Generator) -> th.Robot:
    """Geometric errors, and coefficients as large as their tolerances say."""
    rigid = th.perturb(robot.without_terms(), th.ParameterErrors(1e-3, 2e-3), rng)
    sizes = {p.name: p.tolerance for p in robot.parameters if p.term}
    terms = [replace(term, value=sizes[term.name] * rng.standard_normal()) for term in robot.terms]
    return rigid.with_terms(terms)


@pytest.mark.parametrize("group", [g for g in ALL_GROUPS if g not in ("bending", "flexure")])
def test_a_whole_group_is_found_exactly_without_noise(group: str) -> None:
    """Even where the calibrated table has its frames turned against those of the true one.

    A link that bends does so about the origin of its frame, which is not where the true one's is:
    of 0.1 mrad a millimetre aside makes 0.1 um.
    """
    rng = np.random.default_rng(5)
    # Known loads need to know where gravity pulls: here, along the first axis. In a file made from
    # a URDF it pulls along z of the base, which positions do not tell apart from the first link.
    robot = with_group(th.robots.load("irb120" if group in LOADED else "ur10e"), group)
    true = with_errors(robot, rng)
    data = measured(true, 160, rng)
    result = th.identify(
        robot, data, "position", gains=False, terms="none", hold_out=0, change="all"
    )
    assert result.status.good
    fresh = measured(true, 50, rng)
    assert th.residuals(result.robot, fresh, "position")["position"].max() < 1e-12


@pytest.mark.parametrize("name", ["irb120", "puma560"])
def test_every_kind_of_term_is_found_exactly_without_noise(name: str) -> None:
    rng = np.random.default_rng(3)
    robot = th.robots.load(name).with_terms(ONE_OF_EACH)
    true = with_errors(robot, rng)
    result = th.identify(
        robot, measured(true, 90, rng), "position", gains=False, terms="none", hold_out=0
    )
    assert result.status.good
    fresh = measured(true, 50, rng)
    assert th.residuals(result.robot, fresh, "position")["position"].max() < 1e-12
    found = {e.name: e.identified for e in result.estimates if e.term}
    assert len(found) == len(ONE_OF_EACH)
    for term in true.terms:
        assert found[term.name] == pytest.approx(term.value, abs=1e-9)


def test_compliance_shows_in_payloads() -> None:
    """Loads that only columns tell of: no masses are known."""
    rng = np.random.default_rng(11)
    robot = th.robots.irb120()
    terms = [replace(t, value=2e-5 / (1 + n)) for n, t in enumerate(compliance(robot))]
    true = th.perturb(robot, th.ParameterErrors(5e-4, 1e-3), rng).with_terms(terms)
    motors = robot.random_motors(140, rng)
    columns = {
        "payload_kg": rng.choice([0.0, 1.0, 3.0], 140),
        "payload_z_mm": np.full(140, 60.0),
        "force_x_n": rng.normal(0, 20, 140),
    }
    data = th.Dataset(motors, positions=np.zeros((140, 3)), columns=columns)
    exact = true.motion(true.values, with_inputs(data, true).motors).position
    positions = exact + 2e-5 * rng.standard_normal(exact.shape)
    data = replace(data, positions=positions[:, None])
    result = th.identify(robot, data, "position", rng=1)
    assert "compliance" in result.choice.chosen
    assert "gravity" not in result.choice.chosen
    found = {e.name: e for e in result.estimates if e.term}
    inside = [
        abs(found[t.name].identified - t.value) <= 2 * found[t.name].interval for t in terms[:5]
    ]
    assert all(inside)


def test_the_time_constant_of_a_drift_lies_in_its_interval() -> None:
    """In 95 % of the runs on average; fewer than 5 of 7 come about once in 250 times."""
    inside, runs = 0, 7
    robot = th.robots.scara()
    for seed in range(runs):
        rng = np.random.default_rng([seed, 21])
        tau = float(np.exp(rng.uniform(np.log(60), np.log(300))))
        shape = f"exp(-abs(time_s)/{tau:.6g})"
        terms = [
            replace(term, value=value)
            for term, value in zip(drift(robot, shape), rng.normal(0, 3e-4, 9), strict=True)
        ]
        true = th.perturb(robot, th.ParameterErrors(5e-4, 1e-3), rng).with_terms(terms)
        data = measured(true, 90, rng, 3e-5)
        result = th.identify(robot, data, "position", gains=False, terms="drift", rng=seed)
        assert result.decay is not None
        low, high = result.decay.low or 0.0, result.decay.high or np.inf
        inside += low <= tau <= high
        assert result.decay.value == pytest.approx(tau, rel=0.5)
    assert inside >= 5


def test_known_loads_are_asked_for() -> None:
    data = measured(th.robots.irb120(), 60, np.random.default_rng(1))
    data = replace(data, columns={})
    with pytest.raises(InputError, match="need known loads"):
        th.identify(th.robots.irb120(), data, "position", terms="compliance")


def coverage(runs: int) -> float:
    inside = []
    robot = th.robots.irb120().with_terms(ONE_OF_EACH)
    # What geometry regroups depends a little on where it is; of the terms it is the same anywhere.
    names = [term.name for term in ONE_OF_EACH]
    for seed in range(runs):
        rng = np.random.default_rng([seed, 7])
        true = with_errors(robot, rng)
        data = measured(true, 60, rng, NOISE)
        result = th.identify(robot, data, "position", gains=False, terms="none", hold_out=0)
        truth = {term.name: term.value for term in true.terms}
        for estimate in result.estimates:
            if estimate.name in names and estimate.interval is not None:
                error = abs(estimate.identified - truth[estimate.name])
                inside.append(error <= estimate.interval)
    return float(np.mean(inside))


def test_intervals_of_terms_hold() -> None:
    assert 0.92 <= coverage(25) <= 0.98


@pytest.mark.study
def test_intervals_of_terms_hold_closely() -> None:
    assert 0.93 <= coverage(300) <= 0.97


def test_parts_together_are_the_whole(rng: np.random.Generator) -> None:
    robot = th.robots.irb120().with_terms(ONE_OF_EACH)
    data = measured(robot, 40, rng, NOISE)
    problem = th.Position().problem(robot, data, noise=th.Noise(NOISE))
    values = np.array([parameter.value for parameter in problem.parameters])
    whole = reduce(problem, values, Loss())
    label = rng.integers(-1, 4, 40)
    parts = reduce_parts(problem, values, Loss(), [label])[0]
    assert len(parts) == 5
    assert [part.rows for part in parts] == [3 * np.sum(label == k) for k in (0, 1, 2, 3, -1)]
    again = merged(parts)
    np.testing.assert_allclose(again.R.T @ again.R, whole.R.T @ whole.R, rtol=1e-9, atol=1e-3)
    assert again.squares == pytest.approx(whole.squares)
    assert again.rows == whole.rows


@pytest.mark.parametrize(
    "group",
    # What flexure does at its usual size is lost in the noise here.
    [
        pytest.param(g, marks=[pytest.mark.study] * (g == "bending"))
        for g in ALL_GROUPS
        if g != "flexure"
    ],
)
def test_a_robot_with_some_error_is_found_out(group: str) -> None:
    """Each group is taken where the robot has it, and predicts what was held out."""
    rng = np.random.default_rng(11)
    robot = th.robots.irb120()
    sized = with_group(robot, group)
    if group in AFTER:
        sized = with_group(sized, AFTER[group])
    true = with_errors(sized, rng)
    result = th.identify(robot, measured(true, 150, rng, 1e-5), "position", rng=1)
    assert group in result.choice.chosen
    assert result.held_out.calibrated["position"].mean < 8e-5
    rigid = th.identify(robot, measured(true, 150, rng, 1e-5), "position", rng=1, terms="none")
    assert rigid.held_out.calibrated["position"].mean > (
        1.2 * result.held_out.calibrated["position"].mean
    )


def takes_something(seed: int) -> bool:
    """Does a purely geometric robot get terms or gains?"""
    rng = np.random.default_rng(seed)
    robot = th.robots.load(("puma560", "irb120", "ur10e", "scara")[seed % 4])
    true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng)
    noise = th.Noise(position=NOISE)
    data = th.simulate(true, "position", points=(40, 80, 150)[seed % 3], rng=rng, noise=noise)
    result = th.identify(robot, data, "position", rng=seed)
    return result.choice is not None and result.choice.chosen != "geometry"


def test_a_geometric_robot_gets_no_terms() -> None:
    assert sum(takes_something(seed) for seed in range(8)) <= 1


@pytest.mark.study
def test_geometric_robots_hardly_ever_get_terms() -> None:
    assert sum(takes_something(seed) for seed in range(100)) <= 5


def test_what_was_tried_is_told(rng: np.random.Generator) -> None:
    robot = th.robots.irb120()
    data = measured(robot, 60, rng, NOISE)
    result = th.identify(robot, data, "position", rng=1)
    names = [tried.name for tried in result.choice.tried]
    assert names[0] == "geometry"
    assert {"geometry + gains", "geometry + gravity", "geometry + play"} <= set(names)
    assert sum("drift" in name for name in names) == len(DECAYS)
    assert result.choice.tried[0].error == pytest.approx(1.0)
    assert th.identify(robot, data, "position", terms="none", gains=False).choice is None


@pytest.mark.parametrize("first", [0.0, 3600.0, 1.7e9])
def test_a_drift_is_bounded_whenever_the_clock_began(
    first: float, rng: np.random.Generator
) -> None:
    """Poses for which nobody says the time are those of a cold or a warm robot."""
    robot = th.robots.irb120()
    data = th.simulate(robot, "position", points=60, rng=rng, noise=th.Noise(NOISE))
    data = replace(data, columns={"time_s": first + 10.0 * np.arange(60)})
    result = th.identify(robot, data, "position", terms="drift")
    q = np.zeros(6)
    apart = result.robot.fk(q).position - robot.fk(q).position
    assert np.abs(apart).max() < 5e-3
    assert th.residuals(result.robot, data, "position")["position"].max() < 1e-3


def test_play_can_be_simulated(rng: np.random.Generator) -> None:
    terms = [ErrorTerm(2, "q", "direction2", 1e-3), ErrorTerm(0, "z", "exp(-row/20)", 1e-3)]
    robot = th.robots.irb120().with_terms(terms)
    data = th.simulate(robot, "frame", points=40, rng=rng)
    assert set(data.columns) == {"direction2", "row"}
    assert th.residuals(robot, data, "frame")["position"].max() < 1e-15
    assert th.residuals(robot.without_terms(), data, "frame")["position"].max() > 1e-4
    with pytest.raises(InputError, match="cannot be simulated"):
        th.simulate(robot, "plane", points=40, rng=rng)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        *(("gravty", "no terms 'gravty'"), (["drift"], "the time at which each row was measured")),
        *((5, "terms are 5"), ([5], "terms are"), (None, "terms are None")),
    ],
)
def test_terms_that_cannot_be_are_named(terms, message: str, rng: np.random.Generator) -> None:
    robot = th.robots.irb120()
    data = th.simulate(robot, "position", points=60, rng=rng, noise=th.Noise(NOISE))
    with pytest.raises(InputError, match=message):
        th.identify(robot, data, "position", terms=terms)


def test_a_clock_that_stands_still_shows_no_drift(rng: np.random.Generator) -> None:
    robot = th.robots.irb120()
    data = th.simulate(robot, "position", points=60, rng=rng, noise=th.Noise(NOISE))
    data = replace(data, columns={"time_s": np.full(60, 7.0)})
    with pytest.raises(InputError, match="at the same time"):
        th.identify(robot, data, "position", terms="drift")


def test_missing_columns_are_named(rng: np.random.Generator) -> None:
    robot = th.robots.irb120().with_terms([ErrorTerm(3, "q", "temperature_c")])
    data = th.simulate(th.robots.irb120(), "position", points=60, rng=rng, noise=th.Noise(NOISE))
    with pytest.raises(InputError, match="need the column 'temperature_c'"):
        th.identify(robot, data, "position")


def test_mechanisms_have_no_further_terms(rng: np.random.Generator) -> None:
    robot = th.robots.load("fivebar")
    data = th.simulate(robot, "position", points=60, rng=rng, noise=th.Noise(NOISE))
    with pytest.raises(InputError, match="has loops"):
        th.identify(robot, data, "position", terms="gravity")


SPLITS = 5


@pytest.mark.parametrize(
    ("timed", "limit_mm"),
    [pytest.param(False, 0.085, id="auto"), pytest.param(True, 0.060, id="rows as time")],
)
@pytest.mark.study
def test_irb120_by_tracker_over_five_splits(recordings: Path, timed: bool, limit_mm: float) -> None:
    errors = [irb120_error(recordings, timed=timed, split=split) for split in range(SPLITS)]
    assert np.mean(errors) < limit_mm * 1e-3


def test_irb120_by_tracker(recordings: Path) -> None:
    """Geometry with gains leaves 0.18 mm; one split, with gravity and whatever else helps."""
    assert irb120_error(recordings, timed=False, split=1) < 0.085e-3


def irb120_error(recordings: Path, *, timed: bool, split: int) -> float:
    """Mean error on a fifth of the rows, which had no say in anything."""
    robot = th.robots.irb120()
    folder = recordings / "irb120-tracker"
    data = th.read_measurements(folder / "train.csv", robot)
    if timed:
        rows = np.loadtxt(folder / "rows.csv", skiprows=1)
        data = replace(data, columns={"row": rows})
    order = np.random.default_rng(split).permutation(len(data))
    fit, unseen = (data.take(np.sort(rows)) for rows in (order[80:], order[:80]))
    result = th.identify(robot, fit, "position", rng=0)
    assert "gravity" in result.choice.chosen
    return float(th.residuals(result.robot, unseen, "position")["position"].mean())
