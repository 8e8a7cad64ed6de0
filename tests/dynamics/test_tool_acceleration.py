"""An accelerometer on the platform: accelerations that need not be differentiated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from tests.dynamics.test_mechanism_forces import motion
from theodolite.dynamics.drives import State
from theodolite.dynamics.machine_dynamics import MachineDynamics, build_dynamics
from theodolite.dynamics.preparation import prepare_runs
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.tool_acceleration import use_tool_acceleration
from theodolite.errors import InputError


def moving(name: str, seconds: float = 5.0) -> tuple[MachineDynamics, np.ndarray, State]:
    dynamics = build_dynamics(th.robots.load(name))
    low, high = dynamics.position_range()
    times = np.arange(0, seconds, 0.005)
    state = motion(dynamics, times, 1)
    lower, upper = dynamics.motor_limits()
    q = (low + high) / 2 + 0.3 * (state.q - (lower + upper) / 2)
    return dynamics, times, State(q, 0.3 * state.qd, 0.3 * state.qdd)


def acceleration(dynamics: MachineDynamics, times: np.ndarray, state: State) -> np.ndarray:
    """By differences of the tool's positions."""
    step = times[1] - times[0]
    x = dynamics.robot.poses(dynamics.assemble(state).q)[1]
    return np.gradient(np.gradient(x, step, axis=0), step, axis=0)


@pytest.mark.parametrize("name", ["delta", "puma560"])
def test_a_wrong_acceleration_is_corrected(name: str) -> None:
    """The tool then accelerates as it was measured; three motors of a delta are found exactly."""
    dynamics, times, state = moving(name)
    measured = acceleration(dynamics, times, state)
    rng = np.random.default_rng(0)
    wrong = replace(state, qdd=state.qdd + rng.standard_normal(state.qdd.shape))
    found = use_tool_acceleration(dynamics, wrong, measured)
    inner = slice(5, -5)
    if name == "delta":
        np.testing.assert_allclose(found.qdd[inner], state.qdd[inner], atol=5e-3)
    off = np.linalg.norm((found.qdd - state.qdd)[inner])
    assert off < np.linalg.norm((wrong.qdd - state.qdd)[inner])


def test_recordings_use_it(tmp_path) -> None:
    dynamics, times, state = moving("delta", 10.0)
    rng = np.random.default_rng(1)
    noisy = state.q + 2e-4 * rng.standard_normal(state.q.shape)
    recording = Recording(times, noisy, np.ones_like(noisy), slides=dynamics.slides)
    helped = replace(recording, tool_acceleration=acceleration(dynamics, times, state))
    errors = []
    for each in (recording, helped):
        run, *_ = prepare_runs(each, cutoff=20.0, trim=False, dynamics=dynamics)
        start = (len(state) - len(run.state)) // 2
        true = state[start : start + len(run.state)]
        errors.append(np.linalg.norm(run.state.qdd - true.qdd))
    assert errors[1] < 0.3 * errors[0]
    with pytest.raises(InputError, match="need a robot with a tool"):
        prepare_runs(helped, cutoff=20.0)
    header = "t_s," + ",".join(f"q{j}_rad" for j in (1, 2, 3)) + ",tau1_Nm,tau2_Nm,tau3_Nm"
    table = np.column_stack([times, noisy, noisy, helped.tool_acceleration, noisy])
    path = tmp_path / "r.csv"
    names = f"{header},ax_m_s2,ay_m_s2,az_m_s2,temp1_C,temp2_C,temp3_C"
    np.savetxt(path, table, delimiter=",", header=names, comments="")
    read = th.read_recording(path, dynamics.robot)
    np.testing.assert_allclose(read.tool_acceleration, helped.tool_acceleration)
    np.testing.assert_allclose(read.temperatures, noisy)
