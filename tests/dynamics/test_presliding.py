"""Friction that remembers which way a joint went."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.simulated import puma
from tests.dynamics.test_friction import run_with
from theodolite.dynamics.drives import FRICTION, State
from theodolite.dynamics.friction_choice import choose_friction
from theodolite.dynamics.judge import judge_identification
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.presliding import bent
from theodolite.errors import InputError
from theodolite.io.dynamics_file import read_dynamics, write_dynamics


def test_dahls_equation_is_solved() -> None:
    """Beside the differential equation, integrated numerically between the reversals."""
    from scipy.integrate import solve_ivp

    distance = 0.03
    times = np.linspace(0, 6, 1201)
    position = 0.2 * np.sin(times) + 0.05 * np.sin(3.1 * times)
    speed = 0.2 * np.cos(times) + 0.155 * np.cos(3.1 * times)

    def slope(t: float, z: np.ndarray) -> np.ndarray:
        v = 0.2 * np.cos(t) + 0.155 * np.cos(3.1 * t)
        return (v - z * abs(v)) / distance

    exact = solve_ivp(slope, (0, 6), [0.0], t_eval=times, rtol=1e-9, atol=1e-11, max_step=0.01)
    found = bent(position, len(position), distance)
    # The motion is straight between samples, except where it turns round within one.
    np.testing.assert_allclose(found, exact.y[0], atol=2e-4)
    assert np.abs(found - np.sign(speed)).max() > 1.5


def test_a_part_of_a_motion_remembers_what_came_before() -> None:
    q = np.cumsum(np.random.default_rng(0).standard_normal((400, 2)), axis=0) * 1e-3
    state = State(q, np.zeros_like(q), np.zeros_like(q))
    dynamics = puma().with_shape(presliding_distances=np.full(6, 5e-3))
    whole = dynamics.axis(state, state, 1).direction
    for rows in (slice(150, 300), slice(399, 400), slice(0, 10)):
        part = state[rows]
        np.testing.assert_allclose(dynamics.axis(part, part, 1).direction, whole[rows], atol=1e-15)
    twice = state[100:300][50:120]
    np.testing.assert_allclose(
        dynamics.axis(twice, twice, 0).direction,
        dynamics.axis(state, state, 0).direction[150:220],
        atol=1e-15,
    )


def test_presliding_is_chosen_where_there_is_some(tmp_path: Path) -> None:
    true = np.array([0.005, 0.004, 0.003, 0.006, 0.004, 0.005])
    bending = puma().with_shape(presliding_distances=true)
    run, _ = run_with(bending, FRICTION, 3, 0.1, samples=6000)
    chosen = choose_friction(puma(), [run])
    assert chosen.choice is not None
    assert chosen.choice.chosen.endswith("presliding")
    np.testing.assert_allclose(chosen.dynamics.presliding_distances, true, rtol=0.5)

    other, _ = run_with(bending, FRICTION, 3, 0.0, samples=6000)
    at_once = th.identify_dynamics(puma(), run, drives=FRICTION)
    found = th.identify_dynamics(puma(), run)
    assert predict(found, other).judged.error < 0.5 * predict(at_once, other).judged.error

    write_dynamics(tmp_path / "puma.json", found, judge_identification(found))
    read = read_dynamics(tmp_path / "puma.json")
    again = th.build_dynamics(th.robots.puma560(), parameters=read)
    np.testing.assert_array_equal(again.presliding_distances, found.dynamics.presliding_distances)


def test_random_configurations_have_no_memory() -> None:
    """What can be identified does not depend on how friction reverses."""
    dynamics = puma().with_shape(presliding_distances=np.full(6, 1e-3))
    base = th.find_base_parameters(dynamics, drives=FRICTION)
    assert base.rank == th.find_base_parameters(puma(), drives=FRICTION).rank


@pytest.mark.parametrize("distances", [[0.1], [np.nan] * 6, [-1.0] * 6, [1e3] * 6])
def test_wrong_distances_are_refused(distances: list[float]) -> None:
    with pytest.raises(InputError, match="presliding distance"):
        puma().with_shape(presliding_distances=np.array(distances))
