"""Exciting trajectories: exact gradients, strict limits, figures that another road confirms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite as th
from tests.dynamics.simulated import grown_dynamics
from tests.dynamics.test_regressors import random_tree
from tests.random_robots import random_robots
from theodolite.dynamics.base_parameters import base_parameters
from theodolite.dynamics.drives import FRICTION, ROTORS, Drive, State
from theodolite.dynamics.excitation.criteria import (
    Criterion,
    condition_number,
    evaluate_criterion,
    log_det,
)
from theodolite.dynamics.excitation.limits import (
    Limits,
    Surroundings,
    TorqueLimit,
    ball_centres,
)
from theodolite.dynamics.excitation.optimise import Part, _Search, excite
from theodolite.dynamics.excitation.slopes import point_slopes, torque_slopes
from theodolite.dynamics.excitation.trajectory import FourierBasis, Move
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.errors import InputError

#: Terms of friction that have a derivative everywhere but at rest.
DRIVES = (Drive.ROTOR, Drive.VISCOUS, Drive.ASYMMETRIC, Drive.STRIBECK, Drive.SPRING)


def puma_limits(dynamics: Dynamics, **more) -> Limits:
    robot = dynamics.robot
    return Limits(robot.lower, robot.upper, np.full(6, 2.0), np.full(6, 6.0), **more)


@settings(max_examples=20)
@given(robot=random_robots(), seed=st.integers(0, 1000))
def test_slopes_of_random_robots_are_those_of_differences(robot: th.Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(robot, gravity=np.array([1.0, -2.0, -9.0]))
    state = random_state(dynamics, 4, rng)
    weights = rng.standard_normal(dynamics.regressor(state, DRIVES).shape)
    slopes = torque_slopes(dynamics, state, weights, DRIVES)
    size = 1 + np.abs(slopes.q).max()
    for name in ("q", "qd", "qdd"):
        for motor in range(dynamics.motors):
            ahead, behind = (
                (weights * dynamics.regressor(_moved(state, name, motor, h), DRIVES)).sum((0, 1))
                for h in (1e-6, -1e-6)
            )
            found = getattr(slopes, name)[:, motor]
            np.testing.assert_allclose(found, (ahead - behind) / 2e-6, atol=1e-6 * size)
    pulls = rng.standard_normal(ball_centres(dynamics, state).shape)
    found = point_slopes(dynamics, state, pulls)
    for motor in range(dynamics.motors):
        ahead, behind = (
            (pulls * ball_centres(dynamics, _moved(state, "q", motor, h))).sum((1, 2))
            for h in (1e-6, -1e-6)
        )
        np.testing.assert_allclose(
            found[:, motor], (ahead - behind) / 2e-6, atol=1e-6 * (1 + np.abs(found).max())
        )


@pytest.mark.parametrize("seed", range(5))
def test_slopes_of_random_trees_are_those_of_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6)[0]
    state = random_state(tree, 5, rng)
    weights = rng.standard_normal(tree.regressor(state, ROTORS).shape)
    slopes = torque_slopes(tree, state, weights, ROTORS)
    for name in ("q", "qd", "qdd"):
        for motor in range(tree.motors):
            ahead, behind = (
                (weights * tree.regressor(_moved(state, name, motor, h), ROTORS)).sum((0, 1))
                for h in (1e-6, -1e-6)
            )
            size = 1 + np.abs(ahead).max()
            found = getattr(slopes, name)[:, motor]
            np.testing.assert_allclose(found, (ahead - behind) / 2e-6, atol=1e-6 * size)


def _moved(state: State, name: str, motor: int, amount: float) -> State:
    parts = {key: getattr(state, key).copy() for key in ("q", "qd", "qdd")}
    parts[name][:, motor] += amount
    return State(**parts)


@pytest.mark.parametrize("which", list(Criterion))
def test_criteria_and_their_slopes(which: Criterion) -> None:
    rng = np.random.default_rng(0)
    W = rng.standard_normal((60, 7)) * np.array([1, 10, 0.1, 1, 1, 3, 1])
    value, slope = evaluate_criterion(W, which)
    for _ in range(5):
        step = 1e-6 * rng.standard_normal(W.shape)
        change = evaluate_criterion(W + step, which)[0] - evaluate_criterion(W - step, which)[0]
        assert change == pytest.approx(2 * (slope * step).sum(), rel=1e-5, abs=1e-12)
    if which is Criterion.CONDITION:
        # A smooth bound: never below the logarithm of the condition number.
        assert np.log(condition_number(W)) <= value < np.log(condition_number(W)) + 0.4
    unit = W / np.linalg.norm(W, axis=0)
    assert condition_number(W) == pytest.approx(np.linalg.cond(unit))
    assert log_det(W) == pytest.approx(np.linalg.slogdet(unit.T @ unit)[1])


@pytest.mark.parametrize("around", [False, True])
def test_the_whole_gradient(around: bool) -> None:
    """By the free numbers, with torque limits and surroundings, for slow and fast parts."""
    dynamics, rng = Dynamics(th.robots.puma560()), np.random.default_rng(0)
    more = {}
    if around:
        values = np.abs(rng.standard_normal(len(dynamics.names(FRICTION))))
        more = {
            "torque": TorqueLimit(np.full(6, 30.0), values, FRICTION),
            "surroundings": Surroundings(0.1, 0.6, ((0.3, 0.0, 0.8, 0.3),)),
        }
    search = _Search(
        dynamics, puma_limits(dynamics, **more), [Part(5.0, 0.2), Part(5.0)], 3,
        (Drive.ROTOR, Drive.VISCOUS), Criterion.CONDITION, rng,
    )  # fmt: skip
    x = search.random(rng)
    value, slope = search.value_and_slope(x)
    assert value == pytest.approx(search.value(x))
    for _ in range(6):
        step = 1e-6 * rng.standard_normal(len(x))
        change = search.value(x + step) - search.value(x - step)
        assert change == pytest.approx(2 * slope @ step, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_surroundings_count_alike_at_any_size(factor: float) -> None:
    """The value of a motion, with the same floor and sphere in parts of the reach."""
    robot, values = th.robots.puma560(), []
    for size in (1.0, factor):
        dynamics, rng = grown_dynamics(robot, size), np.random.default_rng(0)
        x, y, z, r = size * np.array([0.3, 0.0, 0.8, 0.3])
        around = Surroundings(0.1 * size, 0.6 * size, ((x, y, z, r),))
        limits = puma_limits(dynamics, surroundings=around)
        search = _Search(dynamics, limits, [Part(5.0)], 3, ROTORS, Criterion.CONDITION, rng)
        motion = search.random(np.random.default_rng(1))
        assert search._penalties(search.state(motion))[0] > 0.1
        values.append(search.value(motion))
    assert values[1] == pytest.approx(values[0], rel=1e-9)


def test_a_poor_motion_within_limits_is_better_than_any_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dynamics = Dynamics(th.robots.scara())
    scores = {0: (True, 5.0), 1: (False, 3e6), 2: (False, 2e6)}
    improved: list[np.ndarray] = []

    def improve(search: _Search, x: np.ndarray, iterations: int) -> np.ndarray:
        improved.append(x)
        return x

    monkeypatch.setattr(_Search, "improve", improve)
    monkeypatch.setattr(_Search, "score", lambda search, x: scores[len(improved) - 1])
    monkeypatch.setattr(_Search, "result", lambda search, x, reached: (x, reached))
    best, reached = excite(
        dynamics, Limits.of(dynamics), harmonics=2, starts=3, rng=np.random.default_rng(0)
    )
    assert best is improved[2]
    assert reached == (5.0, 3e6, 2e6)


def test_puma_within_ten_seconds_and_strict_limits() -> None:
    """Condition number below 12; confirmed from the sampled file by plain linear algebra."""
    dynamics = Dynamics(th.robots.puma560())
    limits = puma_limits(dynamics)
    found = excite(dynamics, limits, starts=1, iterations=60, rng=np.random.default_rng(0))
    assert found.condition_number < 12
    times, state = found.trajectory.sample(1000.0)
    assert len(times) == 10_001
    assert (state.q > limits.lower).all()
    assert (state.q < limits.upper).all()
    assert (np.abs(state.qd) < limits.velocity).all()
    assert (np.abs(state.qdd) < limits.acceleration).all()
    for part in (state.qd, state.qdd):
        np.testing.assert_allclose(part[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.gradient(state.q, times, axis=0)[1:-1], state.qd[1:-1], atol=1e-4)
    known = base_parameters(
        TorqueProblem(dynamics, Run.of(random_state(dynamics, 250, np.random.default_rng(5))))
    )
    W = dynamics.regressor(state)[np.sort(known.base)].reshape(known.rank, -1).T
    cond = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    assert cond == pytest.approx(found.condition_number, rel=0.01)


@pytest.mark.parametrize("which", list(Criterion))
def test_the_best_start_is_taken(which: Criterion) -> None:
    dynamics = Dynamics(th.robots.scara())
    limits = Limits(dynamics.robot.lower, dynamics.robot.upper, np.full(4, 1.0), np.full(4, 4.0))
    found = excite(
        dynamics, limits, starts=4, iterations=8, harmonics=3, criterion=which,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    reached = found.condition_number if which is Criterion.CONDITION else -found.log_det
    assert reached == pytest.approx(min(found.starts), rel=0.02)


def test_motors_of_coupled_robots_keep_their_joints_within_limits() -> None:
    com = np.eye(6)
    com[5, 3:5] = (-0.5, 0.8)
    robot = replace(th.robots.puma560(), transmission=th.Transmission.of(6, com=com))
    dynamics = Dynamics(robot)
    lower, upper = dynamics.motor_limits()
    corners = np.where(np.random.default_rng(0).random((200, 6)) < 0.5, lower, upper)
    readings = robot.readings(corners)
    assert (readings >= robot.lower - 1e-9).all()
    assert (readings <= robot.upper + 1e-9).all()


def test_the_same_seed_gives_the_same_motion() -> None:
    dynamics = Dynamics(th.robots.puma560())
    both = [
        excite(
            dynamics, puma_limits(dynamics), starts=1, iterations=5, rng=np.random.default_rng(3)
        )
        for _ in range(2)
    ]
    q, same = (found.trajectory.sample(50.0)[1].q for found in both)
    np.testing.assert_array_equal(q, same)


def test_floor_torque_and_slow_part_are_respected() -> None:
    dynamics = Dynamics(th.robots.stanford())
    rng = np.random.default_rng(0)
    values = np.abs(rng.standard_normal(len(dynamics.names(FRICTION)))) * 0.3
    robot = dynamics.robot
    limits = Limits(
        robot.lower,
        robot.upper,
        np.full(6, 1.0),
        np.full(6, 3.0),
        TorqueLimit(np.full(6, 40.0), values, FRICTION),
        Surroundings(0.05, -0.2, ((0.0, 0.0, -0.5, 0.3),)),
    )
    found = excite(
        dynamics, limits, parts=[Part(6.0, 0.2), Part(6.0)], harmonics=3, starts=1,
        iterations=25, drives=FRICTION, rng=rng,
    )  # fmt: skip
    assert found.within_limits
    assert set(found.use) == {"position", "velocity", "acceleration", "torque"}
    _, state = found.trajectory.sample(200.0)
    table = dynamics.regressor(state, FRICTION)
    assert np.abs(np.tensordot(values, table, axes=1)).max() < 40.0
    points = ball_centres(dynamics, state)
    assert points[:, :, 2].min() > -0.2 + 0.05
    slow = found.trajectory.segments[0].at(np.linspace(0, 6, 100))
    assert np.abs(slow.qd).max() < 0.2


def test_loops_are_excited_too() -> None:
    dynamics = LoopDynamics(th.robots.load("fourbar"))
    limits = Limits.of(dynamics, velocity=1.0, acceleration=4.0)
    found = excite(
        dynamics, limits, starts=1, iterations=5, harmonics=3, rng=np.random.default_rng(0)
    )
    assert found.within_limits
    _, state = found.trajectory.sample(20.0)
    assert dynamics.mechanism.can_close(state.q).all()


def test_moves_respect_speed_and_acceleration() -> None:
    move = Move.within(np.zeros(2), np.array([1.0, -2.0]), np.full(2, 0.5), np.full(2, 0.8))
    state = move.at(np.linspace(0, move.duration, 500))
    assert np.abs(state.qd).max() <= 0.5
    assert np.abs(state.qdd).max() <= 0.8
    np.testing.assert_allclose(state.q[-1], [1.0, -2.0])


def test_nonsense_is_refused() -> None:
    dynamics = Dynamics(th.robots.puma560())
    with pytest.raises(InputError, match="start at rest"):
        excite(dynamics, puma_limits(dynamics), harmonics=1, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="leave no room"):
        Limits(np.ones(2), np.zeros(2), np.ones(2), np.ones(2))
    with pytest.raises(InputError, match="velocity of joint 2 is 0"):
        Limits(np.zeros(2), np.ones(2), np.array([1.0, 0.0]), np.ones(2))
    assert FourierBasis(10.0, 5).size == 9


def test_long_motions_are_planned_too() -> None:
    """An hour has fewer samples per second than any file; the search must not mind."""
    dynamics = Dynamics(th.robots.scara())
    found = excite(
        dynamics, Limits.of(dynamics), parts=[Part(3600.0)], harmonics=2, starts=1, iterations=2,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found.trajectory.duration == 3600.0
    for rate in (0.5, 1e3, np.nan):
        with pytest.raises(InputError, match="samples per second; allowed: 1 to 277"):
            found.trajectory.sample(rate)


def test_poor_motions_and_broken_limits_are_said() -> None:
    dynamics = Dynamics(th.robots.scara())
    limits = Limits.of(dynamics, velocity=1.0, acceleration=4.0)
    found = excite(
        dynamics, limits, harmonics=2, starts=1, iterations=2, rng=np.random.default_rng(0)
    )
    assert found.good
    (words,) = replace(found, condition_number=1e4).warnings
    assert "some parameters are hardly excited" in words
    (words,) = replace(found, use={"position": 1.2}).warnings
    assert "no motion within all limits" in words
