"""The chain against 4 x 4 products and against central differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import theodolite as th
from tests.random_robots import central_differences, random_robots
from theodolite.model.chain import Chain
from theodolite.model.elements import Element, Term


def product(robot: th.Robot, motors: np.ndarray) -> np.ndarray:
    """The tip's pose by multiplying 4 x 4 matrices, straight from the conventions' definitions."""

    def turn(axis: str, angle: float) -> np.ndarray:
        T = np.eye(4)
        T[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
        return T

    def shift(axis: int, length: float) -> np.ndarray:
        T = np.eye(4)
        T[axis, 3] = length
        return T

    joints = robot.transmission.coa @ np.diag(robot.transmission.gains) @ robot.transmission.com
    q = iter(joints @ motors + robot.transmission.offset)
    T = np.eye(4)
    for row in robot.frames:
        v = {**dict.fromkeys(row.symbols, 0.0), **row.values}
        moved = 0.0 if row.joint is th.Joint.FIXED else next(q)
        angle = moved if row.joint is th.Joint.REVOLUTE else 0.0
        length = moved if row.joint is th.Joint.PRISMATIC else 0.0
        if row.convention is th.Convention.KK:
            T = T @ turn("y", v["beta"]) @ turn("x", v["alpha"]) @ shift(0, v["d"])
            T = T @ turn("z", v["theta"] + angle) @ shift(2, v["r"] + length)
        elif row.convention is th.Convention.DH:
            T = T @ turn("z", v["theta"] + angle) @ shift(2, v["d"] + length)
            T = T @ shift(0, v["a"]) @ turn("x", v["alpha"])
        elif row.convention is th.Convention.HAYATI:
            T = T @ turn("z", v["theta"] + angle) @ shift(0, v["a"])
            T = T @ turn("x", v["alpha"]) @ turn("y", v["beta"])
        elif row.convention is th.Convention.PRODUCT:
            for piece, slot in zip(row.pieces, row.slots, strict=True):
                amount = v[slot.symbol] + piece.sign * moved
                T = T @ (
                    turn("xyz"[piece.axis], amount) if piece.rotation else shift(piece.axis, amount)
                )
        else:
            x, y, z, roll, pitch, yaw = row.nominal
            before = row.convention is th.Convention.GENERALIZED
            joint = turn("z", angle) @ shift(2, length)
            T = T @ joint if before else T
            T = T @ shift(0, x) @ shift(1, y) @ shift(2, z)
            T = T @ turn("z", yaw) @ turn("y", pitch) @ turn("x", roll)
            T = T @ shift(0, v["x"]) @ shift(1, v["y"]) @ shift(2, v["z"])
            T = T @ turn("y", v["ry"]) @ turn("z", v["rz"]) @ turn("x", v["rx"])
            T = T if before else T @ joint
    return T


@given(random_robots(), st.integers(0, 2**32 - 1))
def test_poses_equal_products_of_matrices(robot: th.Robot, seed: int) -> None:
    motors = np.random.default_rng(seed).uniform(-2, 2, (3, robot.joints))
    rotations, positions = robot.poses(motors)
    for q, R, p in zip(motors, rotations, positions, strict=True):
        T = product(robot, q)
        np.testing.assert_allclose(R, T[:3, :3], atol=1e-13)
        np.testing.assert_allclose(p, T[:3, 3], atol=1e-13)


@given(random_robots(), st.integers(0, 2**32 - 1))
def test_jacobians_equal_central_differences(robot: th.Robot, seed: int) -> None:
    motors = np.random.default_rng(seed).uniform(-2, 2, (4, robot.joints))
    basis = robot.basis(motors)
    chain = robot.chains[0]
    motion = chain.motion(robot.values, basis)

    def position(values: np.ndarray) -> np.ndarray:
        return chain.motion(values, basis).position

    def turn(values: np.ndarray) -> np.ndarray:
        moved = chain.motion(values, basis).rotation @ motion.rotation.transpose(0, 2, 1)
        return Rotation.from_matrix(moved).as_rotvec()

    twist = motion.twist_jacobian()
    np.testing.assert_allclose(twist[:, :3], central_differences(position, robot.values), atol=2e-8)
    np.testing.assert_allclose(twist[:, 3:], central_differences(turn, robot.values), atol=2e-8)
    np.testing.assert_allclose(twist[:, :3], motion.position_jacobian(), atol=1e-14)


@given(random_robots(), st.integers(0, 2**32 - 1))
def test_joint_jacobian_equals_central_differences(robot: th.Robot, seed: int) -> None:
    motors = np.random.default_rng(seed).uniform(-2, 2, robot.joints)
    chain = robot.chains[0]

    def pose(q: np.ndarray) -> np.ndarray:
        motion = chain.motion(robot.values, robot.basis(q[None]))
        turn = motion.rotation @ reference.rotation.transpose(0, 2, 1)
        return np.append(motion.position[0], Rotation.from_matrix(turn).as_rotvec()[0])

    reference = chain.motion(robot.values, robot.basis(motors[None]))
    exact = robot.to_motors(reference.twist_basis_jacobian())[0]
    np.testing.assert_allclose(exact, central_differences(pose, motors), atol=2e-8)


def test_one_parameter_may_drive_several_elements(rng: np.random.Generator) -> None:
    """As in a symmetric parallel robot: both links have the same length."""
    elements = [
        Element(True, 2, (Term(None, 1),)),
        Element(False, 0, (Term(0),)),
        Element(True, 2, (Term(None, 2), Term(1, 1, 0.5))),
        Element(False, 0, (Term(0, 0, 2.0),)),
    ]
    chain = Chain(elements, parameters=2, basis=3)
    basis = np.column_stack([np.ones(5), rng.uniform(-1, 1, (5, 2))])
    values = np.array([0.3, 0.2])

    def position(v: np.ndarray) -> np.ndarray:
        return chain.motion(v, basis).position

    jacobian = chain.motion(values, basis).position_jacobian()
    np.testing.assert_allclose(jacobian, central_differences(position, values), atol=1e-9)


def test_a_chain_without_samples_has_no_rows() -> None:
    robot = th.robots.puma560()
    motion = robot.chains[0].motion(robot.values, robot.basis(np.empty((0, 6))))
    assert motion.position_jacobian().shape == (0, 3, len(robot.parameters))


@pytest.mark.parametrize("name", th.robots.SERIAL)
def test_built_in_robots_print_their_chain(name: str) -> None:
    text = th.robots.load(name).describe()
    assert text.count("q1") == 1
    assert text.split()[0][:2] in {"Rx", "Ry", "Rz", "Tx", "Ty", "Tz"}
