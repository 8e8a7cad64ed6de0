"""Dynamics: regressors against Pinocchio, energy against power, every robot and gravity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite as th
from tests.random_robots import random_robots
from theodolite.measure.torque import random_state
from theodolite.model.dynamics import Drive, Dynamics, State

DOWN = np.array([0.0, 0.0, -9.81])
#: Pinocchio's order of the ten parameters, in ours.
ORDER = [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]
URDFS = [
    ("ur10e-dynamics/ur10e.urdf", "tool0"),
    ("lwr4-dynamics/kuka_lwr4.urdf", None),
    ("panda-sockets/panda.urdf", "ball_link"),
]


def turned(R: np.ndarray) -> np.ndarray:
    """How the ten parameters change when a body's frame turns by R, (10, 10)."""
    change = np.zeros((10, 10))
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    for column, (i, j) in enumerate(pairs):
        unit = np.zeros((3, 3))
        unit[i, j] = unit[j, i] = 1.0
        there = R.T @ unit @ R
        change[:6, column] = [there[a, b] for a, b in pairs]
    change[6:9, 6:9] = R.T
    change[9, 9] = 1.0
    return change


@pytest.mark.parametrize(("file", "tip"), URDFS)
def test_torque_regressor_is_pinocchios(file: str, tip: str | None, recordings: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    path = recordings / file
    robot = th.read_urdf(path, tip=tip)
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    dynamics = Dynamics(robot, gravity=DOWN)
    joints = robot.joints
    state = random_state(dynamics, 20, np.random.default_rng(0))
    ours = dynamics.torques(state, drives=())
    # Frames: ours have the joint about z, theirs as the file has it; the turn between is constant.
    q0 = pin.neutral(model)
    pin.forwardKinematics(model, data, q0)
    zero = State(*(np.zeros((1, joints)),) * 3)
    frames = _frames(dynamics, zero)
    changes = [turned(frames[j].T @ data.oMi[j + 1].rotation) for j in range(joints)]
    for sample in range(20):
        parts = []
        for values, size in ((state.q, model.nq), (state.qd, model.nv), (state.qdd, model.nv)):
            padded = np.zeros(size)
            padded[:joints] = values[sample]
            parts.append(padded)
        theirs = pin.computeJointTorqueRegressor(model, data, *parts)[:joints]
        for j in range(joints):
            mine = ours[10 * j : 10 * j + 10, :, sample].T
            reference = theirs[:, 10 * j : 10 * j + 10][:, ORDER]
            # Their parameters in their frame are ours in ours: W_ours = W_theirs T.
            np.testing.assert_allclose(mine, reference @ changes[j], atol=1e-11)


def _frames(dynamics: Dynamics, state: State) -> list[np.ndarray]:
    """Orientation of every link's own frame in the world."""
    from theodolite.model.dynamics import _Motion

    motion = _Motion.at_rest(dynamics.joints, 1, np.zeros(3))
    found = []
    for number, link in enumerate(dynamics.links):
        zero = np.zeros(1)
        motion.advance(link, number, zero, zero, zero)
        found.append(motion.frame[:, :, 0].copy())
    return found


@settings(max_examples=30)
@given(robot=random_robots(), seed=st.integers(0, 1000))
def test_power_is_the_change_of_energy(robot: th.Robot, seed: int) -> None:
    """For random robots and parameters: qd . tau = dH/dt along a smooth motion."""
    dynamics = Dynamics(robot, gravity=np.array([1.0, -2.0, -9.0]))
    rng = np.random.default_rng(seed)
    n = dynamics.joints
    parameters = rng.uniform(-1, 1, 11 * n)
    q0, a, b = rng.uniform(-1, 1, (3, n))
    step = 1e-4

    def at(t: np.ndarray) -> State:
        t = t[:, None]
        return State(
            q0 + a * np.sin(t) + b * t**2, a * np.cos(t) + 2 * b * t, -a * np.sin(t) + 2 * b + 0 * t
        )

    now = at(np.array([0.3]))
    energy = parameters @ dynamics.energy(at(np.array([0.3 - step, 0.3 + step])))
    torques = np.tensordot(parameters, dynamics.torques(now), axes=1)[:, 0]
    power = float(torques @ now.qd[0])
    # Energy counts the other way where gravity does work: H = E + U.
    assert abs((energy[1] - energy[0]) / (2 * step) - power) < 1e-5 * (1 + abs(power))


def test_drives_add_to_their_own_joint() -> None:
    dynamics = Dynamics(th.robots.puma560())
    state = random_state(dynamics, 4, np.random.default_rng(0))
    drives = tuple(Drive)
    table = dynamics.torques(state, drives)
    names = dynamics.names(drives)
    for j in range(6):
        for name, column in (
            (f"Ia{j + 1}", state.qdd), (f"fv{j + 1}", state.qd), (f"k{j + 1}", state.q),
            (f"fc{j + 1}", np.sign(state.qd)), (f"off{j + 1}", np.ones_like(state.q)),
        ):  # fmt: skip
            found = table[names.index(name)]
            np.testing.assert_array_equal(found[j], column[:, j])
            assert not np.delete(found, j, axis=0).any()
