"""Compiled regressors and folds against NumPy's, over random robots, trees and loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite as th
from tests.dynamics.test_regressors import random_tree
from tests.random_robots import random_robots
from theodolite.dynamics.drives import FRICTION, ROTORS, State
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import TorqueProblem, random_state
from theodolite.dynamics.tree import Tree
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import Reduction, reduce
from theodolite.kernels import switch
from theodolite.kernels.streaming import LARGE

pytest.importorskip("numba")
#: One process compiles for all of them.
pytestmark = pytest.mark.xdist_group("kernels")
#: Relative to the largest entry.
EQUAL = 1e-12


def both(work):
    """What NumPy and what the kernels make of the same."""
    found = []
    for wish in ("0", "1"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(switch.FAST, wish)
            found.append(work())
    return found


def same(one: np.ndarray, other: np.ndarray, size: float | None = None) -> None:
    largest = np.abs(one).max(initial=0.0) if size is None else size
    assert np.abs(one - other).max(initial=0.0) <= EQUAL * largest


def check_regressor(dynamics: Tree, samples: int, drives, rng: np.random.Generator) -> None:
    state = random_state(dynamics, samples, rng)
    same(*both(lambda: dynamics.regressor(state, drives)))


def check_fold(problem: TorqueProblem, values: np.ndarray) -> None:
    plain, fast = both(lambda: reduce(problem, values, Loss()))
    # R is unique only where the columns are independent: R'R and R'z always are.
    lengths = np.linalg.norm(plain.R, axis=0)
    # Small columns are differences of large numbers: 1e-12 of them cannot be more than 1e-15 of
    # the largest.
    scale = np.maximum(lengths, 1e-3 * lengths.max(initial=1e-300))
    scaled = [one.R / scale for one in (plain, fast)]
    same(*(R.T @ R for R in scaled), 1.0)
    same(*(R.T @ one.z for R, one in zip(scaled, (plain, fast), strict=True)), size(plain))
    assert fast.squares == pytest.approx(plain.squares, rel=EQUAL)
    assert fast.cost == pytest.approx(plain.cost, rel=EQUAL)
    assert fast.rows == plain.rows
    same(plain.sizes, fast.sizes)
    assert np.array_equal(plain.widths, fast.widths)
    assert np.array_equal(np.triu(fast.R), fast.R)


def size(reduction: Reduction) -> float:
    return float(np.sqrt(reduction.squares))


@settings(max_examples=20, deadline=None)
@given(random_robots(), st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_regressor_of_random_robots(robot: th.Robot, samples: int, seed: int) -> None:
    check_regressor(Dynamics(robot), samples, FRICTION, np.random.default_rng(seed))


@pytest.mark.parametrize("name", ["puma560", "ur10e", "palletizer", "delta", "h4"])
def test_regressor_of_machines(name: str) -> None:
    dynamics = th.build_dynamics(th.robots.load(name))
    rng = np.random.default_rng(0)
    low, high = dynamics.position_range()
    q = rng.uniform(low + 0.4 * (high - low), high - 0.4 * (high - low), (131, dynamics.motors))
    speeds = [rng.uniform(-1.0, 1.0, q.shape) for _ in range(2)]
    state = dynamics.assemble(State(q, *speeds))
    same(*both(lambda: dynamics.regressor(state)))


def test_a_table_larger_than_the_caches() -> None:
    """It is written past them."""
    dynamics, samples = Dynamics(th.robots.load("ur10e")), 13_001
    assert 8 * 60 * 6 * samples > LARGE
    check_regressor(dynamics, samples, (), np.random.default_rng(0))


def test_regressor_into_a_table_of_before() -> None:
    dynamics = th.build_dynamics(th.robots.load("palletizer"))
    rng = np.random.default_rng(0)
    states = [random_state(dynamics, 70, rng) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(switch.FAST, "1")
        table = dynamics.regressor(states[0])
        dynamics.regressor(states[1], out=table)
        same(dynamics.regressor(states[1]), table)


@settings(max_examples=12, deadline=None)
@given(random_robots(), st.integers(100, 400), st.booleans(), st.integers(0, 2**32 - 1))
def test_fold_of_random_robots(robot: th.Robot, samples: int, white: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(robot)
    state = random_state(dynamics, samples, rng)
    torques = rng.standard_normal(state.qd.shape)
    whitening = rng.standard_normal((dynamics.motors, dynamics.motors)) if white else None
    problem = TorqueProblem(dynamics, Run(state, torques), drives=FRICTION, whitening=whitening)
    check_fold(problem, rng.standard_normal(len(problem.parameters)))


def test_fold_of_several_runs_and_some_columns() -> None:
    rng = np.random.default_rng(0)
    dynamics = Dynamics(th.robots.load("ur10e"))
    states = [random_state(dynamics, samples, rng) for samples in (3000, 170)]
    runs = [Run(state, rng.standard_normal(state.qd.shape)) for state in states]
    names = dynamics.names(ROTORS)
    for only in (None, names[::3]):
        problem = TorqueProblem(dynamics, runs, only=only)
        check_fold(problem, np.zeros(len(problem.parameters)))


def test_threads_change_nothing_but_rounding() -> None:
    rng = np.random.default_rng(0)
    dynamics = Dynamics(th.robots.load("puma560"))
    state = random_state(dynamics, 5000, rng)
    problem = TorqueProblem(dynamics, Run(state, rng.standard_normal(state.qd.shape)))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(switch.FAST, "1")
        for count in ("1", "3"):
            patch.setenv(switch.THREADS, count)
            found.append(reduce(problem, np.zeros(len(problem.parameters)), Loss()))
    same(*(one.R.T @ one.R for one in found))


@settings(max_examples=12, deadline=None)
@given(random_robots(), st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_slopes_of_random_robots(robot: th.Robot, samples: int, seed: int) -> None:
    check_slopes(Dynamics(robot, gravity=np.array([1.0, -2.0, -9.0])), samples, seed)


@pytest.mark.parametrize("seed", range(4))
def test_slopes_of_trees(seed: int) -> None:
    check_slopes(random_tree(np.random.default_rng(seed), 5)[0], 70, seed)


def check_slopes(dynamics: Tree, samples: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = random_state(dynamics, samples, rng)
    weights = rng.standard_normal((len(dynamics.columns(ROTORS)), dynamics.motors, samples))
    same(*both(lambda: dynamics.link_slopes(state, weights, ROTORS)))
