"""Dynamics: regressors against Pinocchio, energy against power, every robot and gravity."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import theodolite as th
from tests.random_mechanisms import polygon_robot
from tests.random_robots import random_robots
from theodolite.dynamics.base_parameters import base_parameters
from theodolite.dynamics.drives import Drive, State
from theodolite.dynamics.energy import EnergyProblem
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.link_motion import Link
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import SAMPLES, TorqueProblem, random_state
from theodolite.dynamics.tree import Tree

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
    ours = dynamics.regressor(state, drives=())
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
            np.testing.assert_allclose(mine, reference @ changes[j], atol=1e-12)


def _frames(dynamics: Dynamics, state: State) -> list[np.ndarray]:
    """Orientation of every link's own frame in the world."""
    return [motion.frame[:, :, 0].copy() for _, motion, _ in dynamics._motions(state)]


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
    torques = np.tensordot(parameters, dynamics.regressor(now), axes=1)[:, 0]
    power = float(torques @ now.qd[0])
    # Energy counts the other way where gravity does work: H = E + U.
    assert abs((energy[1] - energy[0]) / (2 * step) - power) < 1e-5 * (1 + abs(power))


def test_drives_add_to_their_own_joint() -> None:
    dynamics = Dynamics(th.robots.puma560())
    state = random_state(dynamics, 4, np.random.default_rng(0))
    state = replace(state, temperatures=np.full((4, 6), 30.0))
    drives = tuple(Drive)
    table = dynamics.regressor(state, drives)
    names = dynamics.names(drives)
    stribeck = np.sign(state.qd) * np.exp(-np.abs(state.qd) / 0.1)
    for j in range(6):
        for name, column in (
            (f"fva{j + 1}", np.abs(state.qd)), (f"fs{j + 1}", stribeck),
            (f"Ia{j + 1}", state.qdd), (f"fv{j + 1}", state.qd), (f"k{j + 1}", state.q),
            (f"fc{j + 1}", np.sign(state.qd)), (f"off{j + 1}", np.ones_like(state.q)),
            (f"ft{j + 1}", 10.0 * state.qd), (f"fq{j + 1}", state.qd * np.abs(state.qd)),
            (f"rs{j + 1}", np.sin(state.q)), (f"k2{j + 1}", state.q**2),
        ):  # fmt: skip
            found = table[names.index(name)]
            np.testing.assert_array_equal(found[j], column[:, j])
            assert not np.delete(found, j, axis=0).any()


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "palletizer", "rssr", "delta", "h4"])
def test_power_of_motors_is_the_change_of_energy_of_loops(name: str) -> None:
    mechanism = th.robots.load(name)
    assert_balance(mechanism, np.random.default_rng(0))


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), links=st.sampled_from([4, 5]))
def test_random_loops_balance(seed: int, links: int) -> None:
    rng = np.random.default_rng(seed)
    assert_balance(polygon_robot(rng, links), rng)


def assert_balance(mechanism: th.Mechanism, rng: np.random.Generator) -> None:
    """qd . tau = dH/dt for random parameters, motions and gravity."""
    dynamics = LoopDynamics(mechanism, gravity=np.array([1.0, -2.0, -9.0]))
    motors = mechanism.joints
    configurations = mechanism.random_motors(3, rng)
    a, b = rng.uniform(-0.3, 0.3, (2, 3, motors))
    parameters = rng.uniform(-1, 1, len(dynamics.names()))
    step = 1e-4

    def at(t: float) -> State:
        moved = configurations.copy()
        moved[:, :motors] += a * t + b * t**2
        return State(moved, a + 2 * b * t, 2 * b)

    torques = np.tensordot(parameters, dynamics.regressor(at(0.0)), axes=1)
    ahead, behind = (parameters @ dynamics.energy(at(t)) for t in (step, -step))
    power = (torques.T * a).sum(axis=1)
    np.testing.assert_allclose(
        power, (ahead - behind) / (2 * step), atol=2e-6 * (1 + abs(power).max())
    )


def test_torques_and_energy_give_the_palletizer_the_same_base_parameters() -> None:
    """Two roads: the projected torques, and differences of the energy along the same loops."""
    mechanism = th.robots.load("palletizer")
    dynamics = LoopDynamics(mechanism)
    state = random_state(dynamics, 200, np.random.default_rng(0))
    by_torque = base_parameters(TorqueProblem(dynamics, Run.of(state)))
    by_energy = base_parameters(EnergyProblem(dynamics, Run.of(state)))
    assert by_torque.rank == by_energy.rank
    assert set(by_torque.names(by_torque.no_effect)) == set(by_energy.names(by_energy.no_effect))


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "palletizer", "rssr", "delta"])
def test_explicit_and_implicit_forms_agree(name: str) -> None:
    """Closures projected away, or their forces as unknowns of one linear system per sample."""
    dynamics = LoopDynamics(th.robots.load(name))
    mechanism = dynamics.mechanism
    rng = np.random.default_rng(0)
    state = random_state(dynamics, 6, rng)
    values = rng.uniform(-1, 1, len(dynamics.names(())))
    explicit = np.tensordot(values, dynamics.regressor(state, ()), axes=1).T
    implicit, _ = dynamics.implicit_torques(state, values)
    np.testing.assert_allclose(implicit, explicit, atol=1e-8 * np.abs(explicit).max())
    whole, _ = dynamics.joint_state(state)
    cut = Tree(dynamics.links, [""] * dynamics.joints, dynamics.joints, dynamics.gravity)
    torques = np.tensordot(values, cut.regressor(whole, ()), axes=1).T
    gap = mechanism.gap(mechanism.values, whole.q)
    m = dynamics.motors
    for sample in range(len(state)):
        # tau - G_q' lambda = W_q X and -G_a' lambda = W_a X, for tau and lambda together.
        G = np.concatenate([gap.by_active[sample], gap.by_passive[sample]], axis=1)
        system = np.concatenate([np.eye(dynamics.joints, m), -G.T], axis=1)
        found = np.linalg.lstsq(system, torques[sample], rcond=1e-10)[0]
        np.testing.assert_allclose(system @ found, torques[sample], atol=1e-8)
        np.testing.assert_allclose(found[:m], explicit[sample], atol=1e-7 * np.abs(explicit).max())


@pytest.mark.parametrize("name", ["fivebar", "palletizer", "delta", "h4"])
def test_loops_obey_lagrange(name: str) -> None:
    """Every component of the motors' torques, by differences of the energy alone.

    d/dt dE/dq' - dE/dq + dU/dq, with h = E + U of the whole mechanism at motors (q, q').
    """
    dynamics = LoopDynamics(th.robots.load(name), gravity=np.array([1.0, -2.0, -9.0]))
    rng = np.random.default_rng(0)
    m = dynamics.motors
    start = dynamics.mechanism.random_motors(1, rng)
    qd, qdd = rng.uniform(-0.5, 0.5, (2, 1, m))
    values = rng.uniform(-1, 1, len(dynamics.names()))

    def energy(q: np.ndarray, speed: np.ndarray) -> float:
        moved = start.copy()
        moved[:, :m] = q
        return float(values @ dynamics.energy(State(moved, speed, 0 * speed))[:, 0])

    def kinetic(q: np.ndarray, speed: np.ndarray) -> float:
        return energy(q, speed) - energy(q, 0 * speed)

    h = 1e-3
    q = start[:, :m]
    expected = np.empty(m)
    for motor, step in enumerate(h * np.eye(m)):

        def momentum(q: np.ndarray, speed: np.ndarray, step=step) -> float:
            return (kinetic(q, speed + step) - kinetic(q, speed - step)) / (2 * h)

        along = momentum(q + h * qd, qd + h * qdd) - momentum(q - h * qd, qd - h * qdd)
        ahead, behind = q + step, q - step
        by_q = (kinetic(ahead, qd) - kinetic(behind, qd)) / (2 * h)
        uphill = (energy(ahead, 0 * qd) - energy(behind, 0 * qd)) / (2 * h)
        expected[motor] = along / (2 * h) - by_q + uphill
    found = np.tensordot(values, dynamics.regressor(State(start, qd, qdd)), axes=1)[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


def test_coupled_drives_keep_the_power() -> None:
    """Motor torques of a coupled wrist: the same power, and rotors that turn with the motors."""
    coupled = th.robots.puma560()
    com = np.eye(6)
    com[4, 3], com[5, 3:5] = 0.014, (-0.013, 0.18)
    gains = np.array([1.0, -0.5, 1.0, 2.0, 1.0, 1.0])
    coupled = replace(coupled, transmission=th.Transmission.of(6, com=com, gains=gains))
    plain, driven = Dynamics(th.robots.puma560()), Dynamics(coupled)
    rng = np.random.default_rng(0)
    motors = random_state(driven, 5, rng)
    A = np.diag(gains) @ com
    joints = State(*(part @ A.T for part in (motors.q, motors.qd, motors.qdd)))
    values = rng.uniform(-1, 1, 60)
    at_joints = np.tensordot(values, plain.regressor(joints, ()), axes=1).T
    at_motors = np.tensordot(values, driven.regressor(motors, ()), axes=1).T
    np.testing.assert_allclose(
        (at_motors * motors.qd).sum(axis=1), (at_joints * joints.qd).sum(axis=1), rtol=1e-12
    )
    rotors = driven.regressor(motors)[driven.names().index("Ia5")]
    np.testing.assert_array_equal(rotors[4], motors.qdd[:, 4])


def random_tree(
    rng: np.random.Generator, size: int
) -> tuple[Tree, list[tuple[np.ndarray, np.ndarray]]]:
    """Random branches, axes and kinds of joints, and where the joints are."""
    links, placements = [], []
    for number in range(size):
        parent = int(rng.integers(-1, number))
        rotation = Rotation.random(rng=rng).as_matrix()
        if rng.random() < 0.3:
            # Aligned axes are the interesting ones.
            rotation = np.eye(3)
        position = rng.uniform(-1, 1, 3)
        revolute, axis = bool(rng.random() < 0.7), int(rng.integers(3))
        placements.append((rotation, position))
        links.append(
            Link(
                parent, rotation, position, number, revolute, axis, 0.0, 1.0, np.eye(3),
                np.zeros(3), str(number),
            )
        )  # fmt: skip
    return Tree(links, [str(number) for number in range(size)], size, DOWN), placements


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 8))
def test_random_trees_are_pinocchios(seed: int, size: int) -> None:
    """Random branches, axes and kinds of joints: every column to 1e-12."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    tree, placements = random_tree(rng, size)
    model = pin.Model()
    for number, link in enumerate(tree.links):
        kind = getattr(pin, f"JointModel{'R' if link.revolute else 'P'}{'XYZ'[link.axis]}")
        model.addJoint(link.parent + 1, kind(), pin.SE3(*placements[number]), f"j{number}")
    state = random_state(tree, 3, rng)
    ours = tree.regressor(state, ())
    data = model.createData()
    for sample in range(3):
        # Joints deeper in the tree may be numbered otherwise: ask by name.
        order = [model.getJointId(f"j{number}") - 1 for number in range(size)]
        q, v, a = (np.empty(size) for _ in range(3))
        q[order], v[order], a[order] = state.q[sample], state.qd[sample], state.qdd[sample]
        theirs = pin.computeJointTorqueRegressor(model, data, q, v, a).reshape(size, -1)[order]
        for number, place in enumerate(order):
            reference = theirs[:, 10 * place : 10 * place + 10][:, ORDER]
            mine = ours[10 * number : 10 * number + 10, :, sample].T
            np.testing.assert_allclose(mine, reference, atol=1e-12 * max(1, np.abs(mine).max()))


@pytest.mark.parametrize("options", [{}, {"payload": True}, {"only": ["ZZ1", "fc3", "MX2"]}])
def test_a_list_of_blocks_is_the_stream(options: dict) -> None:
    """Blocks stay what they are when the next ones are made."""
    dynamics = Dynamics(th.robots.puma560())
    rng = np.random.default_rng(0)
    drives = (Drive.ROTOR, Drive.COULOMB)
    state = random_state(dynamics, 2 * SAMPLES + 100, rng)
    run = Run(state, rng.standard_normal(state.q.shape))
    problem = TorqueProblem(dynamics, run, drives=drives, **options)
    values = rng.standard_normal(len(problem.parameters))
    stream = (block.columns.copy() for block in problem.blocks(values))
    kept = list(problem.blocks(values))
    assert len(kept) == 3
    for block, columns in zip(kept, stream, strict=True):
        np.testing.assert_array_equal(block.columns, columns)
