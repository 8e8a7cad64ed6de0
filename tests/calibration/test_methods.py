"""One contract that every method keeps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import theodolite as th
from tests.random_robots import central_differences
from theodolite.calibration.catalogue import METHODS as ALL_METHODS
from theodolite.calibration.catalogue import method_named
from theodolite.calibration.simulation import simulate

ERRORS = th.ParameterErrors(3e-3, 6e-3, 2e-3)

#: Methods for any robot; those for parallel ones and the camera have tests of their own.
METHODS = [name for name in ALL_METHODS if name not in ("implicit", "inverse", "camera")]


#: Methods whose residual vanishes for a robot of no size: their derivative is taken where it does.
CONSTRAINTS = ("position-link", "frame-link", "plane-known", "plane", "line", "sphere")


def off_data(method, noise: th.Noise, seed: int = 5):
    """A problem posed by a robot that is not nominal, so that residuals are not zero."""
    rng = np.random.default_rng(seed)
    robot = th.robots.puma560()
    true = th.perturb(robot, ERRORS, rng)
    data = simulate(true, method, points=5, rng=rng, per_set=3)
    return method.problem(robot, data, noise=noise, gains=True)


def exact_data(method, noise: th.Noise, seed: int = 5):
    """A problem posed by the robot that was measured: every residual is zero."""
    rng = np.random.default_rng(seed)
    true = th.perturb(th.robots.puma560(), ERRORS, rng)
    data = simulate(true, method, points=5, rng=rng, per_set=3)
    return method.problem(true, data, noise=noise, gains=True)


@pytest.mark.parametrize("name", METHODS)
def test_jacobians_equal_central_differences(name: str) -> None:
    constraint = name in CONSTRAINTS
    posed = exact_data if constraint else off_data
    problem = posed(method_named(name), th.Noise(position=1.0, orientation=1.0))
    values = np.array([parameter.value for parameter in problem.parameters])
    if not constraint:
        values += np.random.default_rng(1).uniform(-0.05, 0.05, len(values))

    def residual(point: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(point)])

    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    np.testing.assert_allclose(jacobian, central_differences(residual, values), atol=2e-8)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_derivative_of_a_constraint_does_not_see_size_or_place(name: str) -> None:
    """On data that miss the constraint by millimetres: growing the robot changes no residual."""
    problem = off_data(method_named(name), th.Noise())
    values = np.array([parameter.value for parameter in problem.parameters])
    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    grown = np.array(
        [
            p.value if p.unit.value == "m" else -p.value if p.unit.value == "1/m" else 0.0
            for p in problem.parameters
        ]
    )
    if name in ("plane-known", "line"):
        # A plane that is known gives the robot its size; a line's unknowns are offsets from points
        # that would have to grow as well.
        return
    effect = np.abs(jacobian @ grown).max()
    assert effect < 1e-6 * np.abs(jacobian * grown).max()


@pytest.mark.parametrize("name", METHODS)
def test_exact_data_leave_no_error(name: str, rng: np.random.Generator) -> None:
    robot = th.robots.puma560()
    method = method_named(name)
    data = method.observe(robot, 6, rng, per_set=3)
    for quantity, errors in th.residuals(robot, data, method).items():
        assert quantity in ("position", "orientation")
        assert errors.max() < 1e-11


@pytest.mark.parametrize("name", METHODS)
def test_generated_configurations_are_within_limits(name: str, rng: np.random.Generator) -> None:
    robot = th.robots.puma560()
    data = method_named(name).observe(robot, 8, rng, per_set=2)
    readings = robot.readings(data.motors)
    assert (readings >= robot.lower - 1e-9).all()
    assert (readings <= robot.upper + 1e-9).all()


@pytest.mark.parametrize("name", ["position-link", "frame-link"])
@pytest.mark.parametrize("per_set", [2, 3])
def test_sets_are_different_configurations_of_one_place(name: str, per_set: int) -> None:
    rng = np.random.default_rng(3)
    robot = th.perturb(th.robots.puma560(), ERRORS, rng)
    data = method_named(name).observe(robot, 5, rng, per_set=per_set)
    rotations, positions = robot.poses(data.motors)
    for label in range(5):
        members = np.flatnonzero(data.sets == label)
        assert len(members) == per_set
        assert np.ptp(positions[members], axis=0).max() < 1e-11
        if name == "frame-link":
            assert np.ptp(rotations[members], axis=0).max() < 1e-11
        for one, other in pairwise(members):
            assert np.abs(data.motors[one] - data.motors[other]).max() > 0.05


@pytest.mark.parametrize("name", METHODS)
def test_blocks_do_not_change_the_problem(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same triangular factor, up to signs, whatever the block size."""
    from theodolite.calibration import link
    from theodolite.estimation import slicing
    from theodolite.estimation.loss import Loss
    from theodolite.estimation.reduction import reduce

    problem = off_data(method_named(name), th.Noise())
    values = np.array([parameter.value for parameter in problem.parameters])
    whole = reduce(problem, values, Loss())
    monkeypatch.setattr(slicing.slices, "__defaults__", (2,))
    monkeypatch.setattr(link, "BLOCK", 3)
    pieces = reduce(problem, values, Loss())
    np.testing.assert_allclose(
        pieces.R.T @ pieces.R, whole.R.T @ whole.R, atol=1e-9 * np.abs(whole.R).max() ** 2
    )
    np.testing.assert_allclose(pieces.cost, whole.cost, rtol=1e-12)
    assert pieces.rows == whole.rows


def test_order_within_a_set_makes_no_difference(rng: np.random.Generator) -> None:
    robot = th.robots.puma560()
    true = th.perturb(robot, ERRORS, rng)
    data = simulate(true, th.PositionLink(), points=20, rng=rng, per_set=4)
    backwards = data.take(np.arange(len(data))[::-1])
    one, other = (
        th.identify(
            robot, d, th.PositionLink(), noise=th.Noise(), terms="none", gains=False, hold_out=0.0
        )
        for d in (data, backwards)
    )
    np.testing.assert_allclose(one.trace[0].cost, other.trace[0].cost, rtol=1e-10)


def test_the_unknown_plane_is_found_also_through_the_origin(rng: np.random.Generator) -> None:
    """a x + b y + c z + 1 = 0 cannot express it; the report says so instead of failing."""
    robot = th.robots.puma560()
    plane = np.array([0.6, 0.0, 0.8, 0.0])
    true = th.perturb(robot, ERRORS, rng)
    data = simulate(true, th.Plane(plane), points=150, rng=rng)
    result = th.identify(robot, data, th.Plane(), gains=True, terms="none", hold_out=0.0)
    assert result.status.good
    assert result.extras["plane"]["abc_per_m"] is None
    assert result.after["position"].maximum < 1e-12


def test_the_unknown_plane_is_reported_in_gecaros_form(rng: np.random.Generator) -> None:
    robot = th.robots.puma560()
    plane = np.array([0.36, 0.48, 0.80, 0.5])
    data = simulate(robot, th.Plane(plane), points=150, rng=rng)
    found = th.identify(robot, data, th.Plane(), terms="none", gains=False, hold_out=0.0).extras[
        "plane"
    ]
    np.testing.assert_allclose(found["normal"], plane[:3], atol=1e-9)
    np.testing.assert_allclose(found["distance_m"], 0.5, atol=1e-9)
    np.testing.assert_allclose(found["abc_per_m"], -plane[:3] / 0.5, atol=1e-9)


def test_a_scara_has_no_frame_link(rng: np.random.Generator) -> None:
    """Once its axes are not exactly parallel, no second configuration has the same pose."""
    from theodolite.errors import UnreachableError

    true = th.perturb(th.robots.scara(), ERRORS, rng)
    with pytest.raises(UnreachableError, match="Use position-link"):
        simulate(true, th.FrameLink(), points=10, rng=rng, per_set=2)


def test_too_many_configurations_per_set_are_refused(rng: np.random.Generator) -> None:
    from theodolite.errors import UnreachableError

    with pytest.raises(UnreachableError, match="fewer configurations"):
        th.FrameLink().observe(th.robots.puma560(), 2, rng, per_set=40)


@pytest.mark.parametrize("arm", range(4))
def test_ranks_of_degenerate_redundant_arms_do_not_depend_on_the_seed(arm: int) -> None:
    """Three slides and two parallel or crossed axes: sets may lie anywhere on a surface."""
    rng = np.random.default_rng(arm)
    slide, turn = th.Joint.PRISMATIC, th.Joint.REVOLUTE
    rows = [th.Row(th.Convention.POSE, th.Joint.FIXED)]
    for kind in (slide, turn, turn, slide, slide):
        angles = {"alpha": rng.choice([0.0, np.pi / 2]), "theta": rng.choice([0.0, np.pi / 2])}
        lengths = {"d": rng.choice([0.0, 0.3]), "r": rng.choice([0.0, 0.2])}
        rows.append(th.Row(th.Convention.KK, kind, {**angles, **lengths}))
    rows.append(th.Row(th.Convention.POSE, th.Joint.FIXED, nominal=(0.1, 0.05, 0.2, 0, 0, 0)))
    robot = th.Robot.of("prrpp", rows)
    for method in (th.PositionLink(), th.FrameLink()):
        assert len({th.identifiable(robot, method, rng=seed).rank for seed in range(5)}) == 1
