"""Identification end to end: exact without noise, honest with it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.catalogue import METHODS as ALL_METHODS
from theodolite.calibration.catalogue import method_named
from theodolite.calibration.simulation import simulate
from theodolite.estimation.loss import Shape

#: Methods for any robot; those for parallel ones and the camera have tests of their own.
METHODS = [name for name in ALL_METHODS if name not in ("implicit", "inverse", "camera")]

CASES = [
    (robot, method, gains)
    for robot, method, gains in product(
        ("puma560", "rx90", "stanford", "scara"), METHODS, (False, True)
    )
    # A SCARA whose axes are not exactly parallel has no frame link: see test_methods.
    if (robot, method) != ("scara", "frame-link")
]


@pytest.mark.parametrize(("name", "method_name", "gains"), CASES)
def test_noise_free_calibrations_are_exact(name: str, method_name: str, gains: bool) -> None:
    """3 mm, 6 mrad and 0.2 % off: at most 6 iterations to 1e-9 mm on fresh configurations."""
    rng = np.random.default_rng(11)
    robot, method = th.robots.load(name), method_named(method_name)
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3, 2e-3 if gains else 0.0), rng)
    points = 250 if method_name.startswith("plane") else 50
    data = simulate(true, method, points=points, rng=rng, per_set=2 if "frame" in name else 3)
    result = th.identify(robot, data, method, gains=gains, terms="none", hold_out=0.0)
    assert result.status is th.Status.CONVERGED
    assert result.iterations <= 6
    if method.gauge is th.Gauge.LENGTHS:
        fresh = simulate(true, method, points=200, rng=rng)
        assert th.residuals(result.robot, fresh, method)["orientation"].max() < 1e-12
    else:
        assert th.compare(result.robot, true, method.gauge, rng).max() < 1e-12


def test_intervals_contain_the_truth_and_the_robot_gets_better() -> None:
    """95 % intervals hold 93 to 97 % of the time over 100 PUMA position calibrations."""
    robot, method = th.robots.puma560(), th.Position()
    base = th.identifiable(robot, method, gains=True).identifiable
    rng = np.random.default_rng(2024)
    inside, better = [], []
    for _ in range(100):
        true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3, 2e-3), rng, only=base)
        data = simulate(true, method, points=60, rng=rng, noise=th.Noise(position=5e-5))
        result = th.identify(robot, data, method, gains=True, terms="none", hold_out=0.0)
        for name in base:
            estimate = result.estimate(name)
            truth = true.values[[p.name for p in robot.parameters].index(name)]
            inside.append(abs(estimate.identified - truth) <= estimate.interval)
        held_out = simulate(true, method, points=20, rng=rng, noise=th.Noise(position=5e-5))
        before = th.residuals(robot, held_out, method)["position"]
        after = th.residuals(result.robot, held_out, method)["position"]
        better.append(np.mean(after**2) < np.mean(before**2))
    assert 0.93 <= np.mean(inside) <= 0.97
    assert all(better)


@pytest.mark.parametrize("name", ["position", "frame", "position-link", "plane"])
def test_a_right_noise_model_whitens_the_residuals(name: str) -> None:
    """With sensor and joint noise known, the residuals' standard deviation is one."""
    rng = np.random.default_rng(8)
    robot, method = th.robots.puma560(), method_named(name)
    joint = 2e-5
    noise = th.Noise(position=5e-5, orientation=5e-5, joint=joint, known=True)
    made = noise
    if name in ("position-link", "plane"):
        # Contact noise is simulated as joint motion; here the joints alone are noisy.
        made = th.Noise(position=0.0, orientation=0.0, joint=joint)
        noise = th.Noise(position=1e-9, orientation=1e-9, joint=joint, known=True)
    data = simulate(robot, method, points=300, rng=rng, noise=made, per_set=3)
    result = th.identify(robot, data, method, noise=noise, terms="none", gains=False, hold_out=0.0)
    assert result.status.good
    # The deviation of a deviation from so many degrees of freedom, three and a half times.
    scatter = 1.0 / np.sqrt(2 * result.statistics.degrees_of_freedom)
    assert result.statistics.sigma == pytest.approx(1.0, abs=3.5 * scatter)


@pytest.mark.parametrize("shape", [Shape.HUBER, Shape.CAUCHY])
def test_robust_losses_bear_outliers(shape: Shape) -> None:
    rng = np.random.default_rng(6)
    robot, method = th.robots.puma560(), th.Position()
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3), rng)
    data = simulate(true, method, points=150, rng=rng, noise=th.Noise(position=3e-5))
    positions = data.positions.copy()
    positions[::15] += rng.uniform(-0.05, 0.05, positions[::15].shape)
    spoiled = th.Dataset(data.motors, positions=positions)
    plain, robust = (
        th.identify(
            robot, spoiled, method, loss=th.Loss(chosen), terms="none", gains=False, hold_out=0.0
        )
        for chosen in (Shape.SQUARED, shape)
    )
    fresh = simulate(true, method, points=200, rng=rng)
    worst, best = (
        th.residuals(result.robot, fresh, method)["position"].mean() for result in (plain, robust)
    )
    assert best < worst / 10
    assert best < 1e-4


def test_held_out_data_judge_and_are_not_fitted() -> None:
    """Unseen data are predicted worse than fitted data, by about the parameters' share."""
    robot, method = th.robots.puma560(), th.Position()
    ratios = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3), rng)
        data = simulate(true, method, points=100, rng=rng, noise=th.Noise(position=1e-4))
        result = th.identify(robot, data, method, gains=False, terms="none", rng=rng)
        assert result.held_out.groups == 20
        assert result.held_out.better
        assert result.good
        ratios.append(result.held_out.calibrated["position"].rms / result.after["position"].rms)
    # 27 parameters from 240 and 300 equations: sqrt(1 + 27 / 240) / sqrt(1 - 27 / 300) = 1.11.
    assert 1.03 < np.mean(ratios) < 1.2


def test_gains_are_identified_when_they_help(rng: np.random.Generator) -> None:
    robot, method = th.robots.puma560(), th.Position()
    for gain, expected in ((2e-3, True), (0.0, False)):
        true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3, gain), rng)
        data = simulate(true, method, points=150, rng=rng, noise=th.Noise(position=1e-4))
        result = th.identify(robot, data, method, gains=None)
        assert ("K3" in result.identifiability.identifiable) is expected


def test_fewer_equations_than_parameters_are_refused(rng: np.random.Generator) -> None:
    robot, method = th.robots.puma560(), th.Position()
    with pytest.raises(th.InputError, match="3 give 9 equations for 27 parameters"):
        th.identify(robot, method.observe(robot, 3, rng), method)


def test_data_without_spare_equations_are_a_result_with_a_doubt(rng: np.random.Generator) -> None:
    """Numerical trouble is not an exception."""
    robot, method = th.robots.puma560(), th.Position()
    result = th.identify(robot, method.observe(robot, 9, rng), method)
    assert result.held_out is None
    assert any("nothing checks the fit" in doubt for doubt in result.doubts())


def test_data_that_determine_nothing_say_so(rng: np.random.Generator) -> None:
    robot = th.robots.puma560()
    arm = robot.with_priorities({p.name: 0 for p in robot.parameters if p.name != "theta7"})
    data = th.Position().observe(arm, 20, rng)
    result = th.identify(arm, data, th.Position())
    assert result.status is th.Status.NOT_IDENTIFIABLE
    assert not result.good


def test_everetts_redundant_arm(rng: np.random.Generator) -> None:
    """48 candidate parameters have rank 32 = 4 R + 2 P + 6, and calibrate exactly."""
    robot = th.robots.everett7()
    true = th.perturb(robot, th.ParameterErrors(1e-2, 3e-2), rng)
    data = simulate(true, th.Frame(), points=30, rng=rng)
    result = th.identify(robot, data, th.Frame(), terms="none", gains=False, hold_out=0.0)
    assert len(result.identifiability.parameters) == 48
    assert result.rank == 32
    assert result.iterations <= 6
    assert th.compare(result.robot, true, th.Frame().gauge, rng).max() < 1e-12


def test_minimum_is_scipys(rng: np.random.Generator) -> None:
    """A second road: the same minimum as an independent solver with finite differences."""
    from scipy.optimize import least_squares

    robot, method = th.robots.puma560(), th.Position()
    # The other solver knows no tolerances: as good as none.
    robot = robot.with_tolerances({p.name: 10.0 for p in robot.parameters})
    true = th.perturb(robot, th.ParameterErrors(3e-3, 6e-3), rng)
    data = simulate(true, method, points=40, rng=rng, noise=th.Noise(position=1e-4))
    result = th.identify(robot, data, method, terms="none", gains=False, hold_out=0.0)
    names = [p.name for p in robot.parameters]
    base = [names.index(name) for name in result.identifiability.identifiable]

    def residual(x: np.ndarray) -> np.ndarray:
        values = robot.values.copy()
        values[base] = x
        return (robot.with_values(values).poses(data.motors)[1] - data.positions[:, 0]).ravel()

    theirs = least_squares(residual, robot.values[base], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    np.testing.assert_allclose(result.robot.values[base], theirs.x, atol=1e-7)
    covariance = np.linalg.inv(theirs.jac.T @ theirs.jac) * 2 * theirs.cost / (120 - len(base))
    np.testing.assert_allclose(
        result.statistics.standard_errors, np.sqrt(np.diag(covariance)), rtol=1e-4
    )


@pytest.mark.parametrize("gains", [False, True])
@pytest.mark.parametrize("method_name", ["position-link", "plane-known", "plane"])
@pytest.mark.parametrize("name", ["scara", "irb120"])
def test_noise_does_not_shrink_the_robot(name: str, method_name: str, gains: bool) -> None:
    """A link or plane residual vanishes for a robot of no size; ordinary noise must not lead there.

    On a SCARA's nearly parallel axes some parameters are seen a thousand times less than others.
    """
    robot, method = th.robots.load(name), method_named(method_name)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3, 1e-3 if gains else 0.0), rng)
        points = 200 if method_name.startswith("plane") else 60
        data = simulate(true, method, points=points, rng=rng, noise=th.Noise(2e-4, 0.0), per_set=3)
        result = th.identify(robot, data, method, gains=gains, terms="none", hold_out=0.0)
        assert result.good, result.doubts()
        nominal, calibrated = (
            np.mean(th.compare(r, true, method.gauge, np.random.default_rng(9)) ** 2)
            for r in (robot, result.robot)
        )
        assert calibrated < nominal


def test_the_ratio_of_unknown_noises_is_found() -> None:
    """Frame measure with 0.05 mm and 1 mrad, neither given: intervals that hold."""
    robot, method = th.robots.puma560(), th.Frame()
    base = th.identifiable(robot, method).identifiable
    names = [p.name for p in robot.parameters]
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(40):
        true = th.perturb(robot, th.ParameterErrors(1e-3, 2e-3), rng, only=base)
        noise = th.Noise(position=5e-5, orientation=1e-3)
        data = simulate(true, method, points=40, rng=rng, noise=noise)
        result = th.identify(robot, data, method, terms="none", gains=False, hold_out=0.0)
        for name in base:
            estimate = result.estimate(name)
            error = abs(estimate.identified - true.values[names.index(name)])
            inside.append(error <= estimate.interval)
    assert 0.93 <= np.mean(inside) <= 0.97


def test_a_frame_is_that_of_its_target(rng: np.random.Generator) -> None:
    robot = th.robots.puma560().with_targets(
        [th.Target("p1", (0.1, 0.0, 0.0)), th.Target("p2", (0.0, 0.2, 0.0))]
    )
    data = th.Frame().observe(robot, 5, rng)
    assert data.targets == ("p1",)
    swapped = th.Dataset(data.motors, data.positions, ("p2",), data.rotations)
    assert th.residuals(robot, data, th.Frame())["position"].max() < 1e-12
    assert th.residuals(robot, swapped, th.Frame())["position"].min() > 0.1


@pytest.mark.parametrize("method", ["position", "frame"])
@pytest.mark.parametrize(
    ("name", "parameter"),
    [("puma560", "r1"), ("rx90", "theta1"), ("rx90", "r6"), ("irb120", "theta6"), ("scara", "r4")],
)
def test_a_robot_that_stands_elsewhere_has_no_error_before(
    name: str, parameter: str, method: str
) -> None:
    """A table of axes turns its base about the first axis, and its tool about the last."""
    robot = th.robots.load(name)
    value = {p.name: p.value for p in robot.parameters}[parameter]
    moved = robot.with_values({parameter: value + 0.01})
    data = th.simulate(moved, method, points=60, rng=1)
    result = th.identify(robot, data, method, gains=False, terms="none", hold_out=0)
    for errors in result.before.values():
        assert errors.rms < 1e-12


def test_a_python_user_gets_the_provenance_too(tmp_path: Path) -> None:
    file = tmp_path / "positions.csv"
    th.write_measurements(
        th.simulate("scara", "position", points=30, rng=1), th.robots.scara(), file
    )
    told = th.identify("scara", file, "position").provenance
    assert list(told["files"]) == [str(file)]
    assert told["options"]["method"] == "position"
    assert "theodolite" in told
