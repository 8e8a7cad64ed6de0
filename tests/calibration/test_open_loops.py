"""Closed loops: implicit derivatives, two ways that agree, and calibration that finds the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite as th
from tests.calibration.mahalanobis import relative_scatter, squared_distance
from tests.random_mechanisms import polygon_robot
from tests.random_robots import central_differences
from theodolite.estimation.descent import Status
from theodolite.estimation.multipliers import solve_with_multipliers, solve_with_penalty
from theodolite.estimation.solver import solve
from theodolite.estimation.statistics import statistics
from theodolite.io.mechanism_file import format_mechanism
from theodolite.io.robot_file import parse_robot
from theodolite.reproduce import everett_loops as paper

SMALL = th.ParameterErrors(1e-3, 2e-3)


def pose_gap(one: th.Mechanism, other: th.Mechanism, motors: np.ndarray) -> float:
    """Largest difference of positions and orientations at given configurations."""
    (R1, p1), (R2, p2) = one.poses(motors), other.poses(motors)
    return max(np.abs(p1 - p2).max(), np.abs(R1 - R2).max())


def test_printed_positions_lie_on_their_branches() -> None:
    positions = paper.measured(pose=False).positions[:, 0]
    np.testing.assert_allclose(positions, paper.ROWS[:, 3:], atol=1e-3)


def test_home_is_on_the_papers_branch() -> None:
    """The first ten rows need no guess: they are reached from home."""
    found, gap = paper.five_bar().assembled(np.radians(paper.ROWS[:10, :3]))
    assert gap.max() < 1e-11
    positions = paper.five_bar().poses(found)[1]
    np.testing.assert_allclose(positions, paper.ROWS[:10, 3:], atol=1e-3)


@pytest.mark.parametrize("name", th.robots.MECHANISMS)
@pytest.mark.parametrize("method", [th.Frame(), th.Position()])
def test_implicit_derivatives_equal_central_differences(name: str, method) -> None:
    """The loops are closed anew for every change of a constant."""
    robot = th.robots.load(name)
    rng = np.random.default_rng(0)
    true = th.perturb(robot, SMALL, rng)
    data = th.simulate(true, method, points=6, rng=rng)
    problem = method.problem(robot, data, noise=th.Noise(1.0, 1.0), gains=True)
    values = np.array([parameter.value for parameter in problem.parameters])

    def residual(x: np.ndarray) -> np.ndarray:
        return np.concatenate([block.residual for block in problem.blocks(x)])

    jacobian = np.concatenate([block.jacobian for block in problem.blocks(values)])
    np.testing.assert_allclose(jacobian, central_differences(residual, values), atol=2e-6)


@pytest.mark.parametrize("name", th.robots.MECHANISMS)
def test_joint_derivatives_equal_central_differences(name: str) -> None:
    robot = th.robots.load(name)
    motors = robot.random_motors(5, np.random.default_rng(1))
    slopes = robot.to_motors(robot.motion(robot.values, motors).position_basis_jacobian())
    for joint in range(robot.joints):
        step = np.zeros(motors.shape[1])
        step[joint] = 1e-6
        ahead, behind = (robot.poses(motors + s)[1] for s in (step, -step))
        np.testing.assert_allclose(slopes[:, :, joint], (ahead - behind) / 2e-6, atol=1e-7)


@pytest.mark.parametrize(("pose", "x"), [(True, 0.1), (False, 6.1)])
def test_both_ways_agree_from_the_reports_starts(pose: bool, x: float) -> None:
    """The same constants to 1e-9 and the same standard errors, each way from the start itself."""
    constants, errors = paper.agreement(pose=pose, x=x)
    assert constants < 1e-9
    assert errors < 1e-6


@pytest.mark.parametrize(
    ("pose", "x", "limit"), [(True, 0.1, 9), (False, 6.1, 9), (False, 0.1, 20)]
)
def test_multipliers_reach_the_reports_robot(pose: bool, x: float, limit: int) -> None:
    solution = paper.by_multipliers(pose=pose, x=x)
    assert solution.status is Status.CONVERGED
    assert solution.iterations <= limit
    assert solution.objective < 1e-14
    assert np.abs(solution.multipliers).max() < 1e-10


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "rssr"])
@pytest.mark.parametrize("method", [th.Frame(), th.Position()])
def test_both_ways_agree_with_noise(name: str, method) -> None:
    """On noisy data, each way from nominal, with the tolerances that a file would state."""
    robot = th.robots.load(name)
    robot = replace(robot, tolerances={one.name: one.tolerance for one in robot.parameters})
    rng = np.random.default_rng(3)
    true = th.perturb(robot, SMALL, rng)
    noise = th.Noise(5e-5, 5e-5, known=True)
    data = th.simulate(true, method, points=80, rng=rng, noise=noise)
    problem = method.problem(robot, data, noise=noise)
    closed = solve(problem, noise_known=True)
    held = solve_with_multipliers(problem.constrained(), noise_known=True)
    assert closed.status.good
    assert held.status.good
    assert held.gap < 1e-11
    assert list(held.identifiability.base) == list(closed.identifiability.base)
    errors = [statistics(one, noise_known=True).standard_errors for one in (closed, held)]
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-4)
    apart = np.abs(held.values - closed.values)[closed.identifiability.base]
    # The solver ends where a step is a thousandth of a standard error.
    assert (apart / errors[0]).max() < 5e-3


def test_both_ways_give_the_same_palletizer() -> None:
    """Parallelograms have nearly dependent constants, so base sets differ; the robot does not."""
    robot = th.robots.load("palletizer")
    rng = np.random.default_rng(3)
    true = th.perturb(robot, SMALL, rng)
    noise = th.Noise(5e-5, 5e-5, known=True)
    data = th.simulate(true, th.Frame(), points=80, rng=rng, noise=noise)
    problem = th.Frame().problem(robot, data, noise=noise)
    closed = solve(problem, noise_known=True)
    held = solve_with_multipliers(problem.constrained(), noise_known=True)
    assert closed.status.good
    assert held.status.good
    fresh = true.random_motors(50, rng)
    robots = [problem.calibrated(one.values) for one in (closed, held)]
    assert pose_gap(*robots, fresh) < 5e-5
    assert max(pose_gap(one, true, fresh) for one in robots) < 2e-4


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), links=st.sampled_from([4, 5]))
def test_random_four_and_five_bars_are_found(seed: int, links: int) -> None:
    """The calibrated robot is the true one in pose at fresh configurations."""
    rng = np.random.default_rng(seed)
    robot = polygon_robot(rng, links)
    true = th.perturb(robot, SMALL, rng)
    data = th.simulate(true, th.Frame(), points=40, rng=rng)
    result = th.identify(robot, data, th.Frame(), terms="none", gains=False, hold_out=0.0)
    assert result.status.good
    fresh = true.random_motors(50, rng)
    assert pose_gap(result.robot, true, fresh) < 1e-9


@pytest.mark.parametrize("links", [4, 5])
def test_six_equations_of_a_planar_loop(links: int) -> None:
    """Redundant closures: half of the multipliers are not unique, the robot is found anyway."""
    rng = np.random.default_rng(5)
    planar, spatial = (
        polygon_robot(np.random.default_rng(7), links, kind=kind) for kind in ("planar", "frame")
    )
    true = th.perturb(planar, SMALL, rng)
    data = th.simulate(true, th.Frame(), points=30, rng=rng)
    assert spatial.redundant
    problem = th.Frame().problem(spatial, data, noise=th.Noise())
    held = solve_with_multipliers(problem.constrained())
    assert held.status.good
    assert held.multipliers.shape == (30, 6)
    assert held.gap < 1e-11
    result = th.identify(spatial, data, th.Frame(), terms="none", gains=False, hold_out=0.0)
    fresh = true.random_motors(20, rng)
    assert pose_gap(result.robot, true, fresh) < 1e-9
    assert pose_gap(problem.calibrated(held.values), true, fresh) < 1e-9


def test_what_would_open_a_rigid_loop_is_held() -> None:
    """A twist of a bar in a planar loop closed in six components, but not the bar's length."""
    robot = polygon_robot(np.random.default_rng(7), 4, kind="frame")
    text = format_mechanism(robot).replace("Rz(a1) ", "Rz(a1) Rx(0.0) Ty(0.0) ")
    twisted = parse_robot(text, "twisted")
    assert twisted.held_by_closures == {"bar2.Rx"}
    known = th.identifiable(twisted, th.Frame())
    assert "bar2.Rx" not in [parameter.name for parameter in known.parameters]
    assert "bar2.Tx" in known.identifiable


def test_penalties_leave_the_loops_open_as_their_weight_says() -> None:
    problem = paper.posed(pose=True, x=6.1).constrained()
    exact = solve_with_multipliers(problem)
    heavy = solve_with_penalty(problem, 1e6)
    np.testing.assert_allclose(heavy.values, exact.values, atol=1e-9)
    assert heavy.status.good


def test_intervals_hold_on_a_closed_loop() -> None:
    """The covariance of 15 calibrations of the four-bar is the one that is stated."""
    robot = th.robots.load("fourbar")
    noise = th.Noise(1e-4, 1e-4, known=False)
    squares, runs = 0.0, 15
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        true = th.perturb(robot, SMALL, rng)
        data = th.simulate(true, th.Frame(), points=30, rng=rng, noise=noise)
        result = th.identify(
            robot, data, th.Frame(), noise=noise, terms="none", gains=False, hold_out=0.0
        )
        truth = dict(zip((p.name for p in true.parameters), true.values, strict=True))
        found = {estimate.name: estimate.identified for estimate in result.estimates}
        error = np.array([found[name] - truth[name] for name in result.order])
        squares += squared_distance(error, result.statistics.covariance) / len(error) / runs
    # The noise is estimated as well: with f degrees of freedom the mean is f / (f - 2).
    degrees = result.statistics.degrees_of_freedom
    expected, scatter = degrees / (degrees - 2), relative_scatter(len(error), runs)
    assert squares == pytest.approx(expected, abs=4 * scatter)


def test_the_scale_of_a_loop_is_shared_where_only_turns_are_seen() -> None:
    """A rocker's angle depends on ratios of lengths alone, so crank and ground share a scale."""
    known = th.identifiable(th.robots.load("rssr"), th.Frame())
    relations = known.regrouping()
    assert "coupler.Tx" in relations
    assert {"crank.Tx", "pivot.Tx", "rocker.Tx"} <= set(relations["coupler.Tx"])


def test_links_and_planes_work_on_mechanisms_too() -> None:
    robot = th.robots.load("fourbar")
    rng = np.random.default_rng(2)
    true = th.perturb(robot, SMALL, rng)
    data = th.simulate(true, th.PlaneKnown(), points=60, rng=rng)
    result = th.identify(robot, data, th.PlaneKnown(), terms="none", gains=False, hold_out=0.0)
    assert result.after["position"].rms < 1e-9


def test_multipliers_need_loops_and_positions() -> None:
    robot = th.robots.puma560()
    data = th.simulate(robot, th.Position(), points=5, rng=np.random.default_rng(0))
    assert th.Position().problem(robot, data, noise=th.Noise()).constrained() is None


@pytest.mark.parametrize(
    "method", [th.PlaneKnown(), pytest.param(th.Plane(), marks=pytest.mark.study)]
)
def test_rows_in_which_the_nominal_loops_stay_open_are_used_too(method: th.Method) -> None:
    """There are no multipliers for planes: the other rows lead to a robot that closes them."""
    robot, rng = th.robots.load("h4"), np.random.default_rng(8)
    true = th.perturb(robot, th.ParameterErrors(6e-3 * robot.reach(), 8e-3), rng)
    data = th.simulate(true, method, points=80, rng=rng)
    assert not robot.can_close(data.motors).all()
    result = th.identify(robot, data, method, gains=False, terms="none", hold_out=0.0)
    assert result.status.good
    assert all(errors.rms < 1e-9 for errors in result.after.values())
