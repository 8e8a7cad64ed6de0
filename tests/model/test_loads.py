"""Known loads of joints, against the torques of the dynamics and against virtual work."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.dynamics.drives import State
from theodolite.dynamics.serial import Dynamics
from theodolite.errors import InputError
from theodolite.io.masses import read_masses
from theodolite.io.robot_file import format_robot, parse_robot
from theodolite.model.conversion import convert
from theodolite.model.loads import Balancer, LinkMass
from theodolite.model.terms import ErrorTerm

ARMS = ("puma560", "stanford", "scara", "irb120", "ur10e", "panda")


def with_load_terms(robot: th.Robot, axes: str = "z") -> th.Robot:
    """A robot that is told the load about every joint's axes."""
    terms = [
        ErrorTerm(row + robot.first_number, "q" if axis == "z" else f"r{axis}", f"load({axis}{n})")
        for axis in axes
        for n, row in enumerate(robot.joint_rows, start=1)
    ]
    return robot.with_terms(terms)


def heavy(robot: th.Robot, rng: np.random.Generator) -> th.Robot:
    """A robot whose links have any weights."""
    return robot.with_loads(
        LinkMass(row + robot.first_number, float(rng.uniform(1, 9)), tuple(rng.normal(size=3)))
        for row in robot.joint_rows
    )


def told(robot: th.Robot, motors: np.ndarray, columns: dict | None = None) -> np.ndarray:
    """The loads of all joints, (n, joints)."""
    return with_load_terms(robot).inputs(motors, columns)[:, robot.joints :]


@pytest.mark.parametrize("name", ARMS)
def test_weights_load_joints_as_the_dynamics_say(name: str) -> None:
    rng = np.random.default_rng(1)
    robot = heavy(th.robots.load(name), rng)
    motors = robot.random_motors(20, rng)
    dynamics = Dynamics(robot)
    names = dynamics.names(())
    values = np.zeros(len(names))
    for mass in robot.masses:
        for symbol, value in zip(("MX", "MY", "MZ", "M"), (*mass.moment, mass.mass), strict=True):
            values[names.index(f"{symbol}{mass.row}")] = value
    still = State(motors, np.zeros_like(motors), np.zeros_like(motors))
    held = np.einsum("cmn,c->nm", dynamics.regressor(still, ()), values)
    # A motor holds against the load.
    np.testing.assert_allclose(told(robot, motors), -held, atol=1e-11)


def test_a_payload_is_a_body_at_the_flange() -> None:
    rng = np.random.default_rng(2)
    robot = th.robots.ur10e()
    motors = robot.random_motors(15, rng)
    mass, centre = 3.2, np.array([0.02, -0.05, 0.11])
    columns = {"payload_kg": np.full(15, mass)}
    columns |= {f"payload_{a}_mm": np.full(15, 1e3 * c) for a, c in zip("xyz", centre, strict=True)}
    dynamics = Dynamics(robot)
    # Ten parameters of a point mass in the flange's frame, in the order XX ... ZZ MX MY MZ M.
    x, y, z = centre
    square = mass * np.array([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y])
    body = dynamics.flange_to_link() @ np.array([*square, *(mass * centre), mass])
    names = dynamics.names(())
    values = np.zeros(len(names))
    values[[names.index(f"{s}6") for s in ("MX", "MY", "MZ", "M")]] = body[6:]
    still = State(motors, np.zeros_like(motors), np.zeros_like(motors))
    held = np.einsum("cmn,c->nm", dynamics.regressor(still, ()), values)
    np.testing.assert_allclose(told(robot, motors, columns), -held, atol=1e-12)


@pytest.mark.parametrize("name", ARMS)
def test_a_wrench_loads_joints_by_virtual_work(name: str) -> None:
    rng = np.random.default_rng(3)
    robot = th.robots.load(name).with_targets(())
    motors = robot.random_motors(12, rng)
    wrench = rng.normal(size=(12, 6))
    columns = {f"force_{a}_n": wrench[:, k] for k, a in enumerate("xyz")}
    columns |= {f"torque_{a}_nm": wrench[:, 3 + k] for k, a in enumerate("xyz")}
    motion = robot.motion(robot.values, motors)
    world = np.concatenate(
        [np.einsum("nij,nj->ni", motion.rotation, part) for part in np.split(wrench, 2, axis=1)],
        axis=1,
    )
    by_joint = motion.twist_basis_jacobian()[:, :, 1 : 1 + robot.joints]
    work = np.einsum("nij,ni->nj", by_joint, world)
    # Motor by motor: none of these arms has coupled drives.
    np.testing.assert_array_equal(robot.transmission.coa, np.eye(robot.joints))
    np.testing.assert_allclose(told(robot, motors, columns), work, atol=1e-12)


def test_a_balancer_adds_to_the_load_of_its_joint_alone() -> None:
    rng = np.random.default_rng(4)
    robot = heavy(th.robots.puma560(), rng)
    motors = robot.random_motors(9, rng)
    helped = robot.with_loads(robot.masses, [Balancer(2, "-900*sin(q2)")])
    difference = told(helped, motors) - told(robot, motors)
    expected = np.zeros_like(difference)
    expected[:, 1] = -900 * np.sin(robot.readings(motors)[:, 1])
    np.testing.assert_allclose(difference, expected, atol=1e-10)


@pytest.mark.parametrize("convention", ["dh", "kk", "pose"])
def test_loads_are_the_same_in_every_convention(convention: str) -> None:
    rng = np.random.default_rng(5)
    robot = heavy(th.robots.puma560(), rng)
    robot = robot.with_loads(robot.masses, [Balancer(3, "40*cos(q3)")])
    motors = robot.random_motors(9, rng)
    other = convert(robot, convention)
    np.testing.assert_allclose(told(other, motors), told(robot, motors), atol=1e-10)


def test_weights_and_balancers_survive_the_file() -> None:
    robot = heavy(th.robots.irb120(), np.random.default_rng(6))
    robot = robot.with_loads(robot.masses, [Balancer(2, "-12*sin(q2+0.1)")])
    again = parse_robot(format_robot(robot), "again")
    assert (again.masses, again.balancers) == (robot.masses, robot.balancers)


def test_masses_come_from_a_urdf(recordings: Path) -> None:
    path = recordings / "ur10e-dynamics" / "ur10e.urdf"
    robot = th.read_urdf(path, tip="tool0")
    masses = read_masses(path, robot)
    # As the file has them: the base first, which does not move.
    written = [float(m) for m in re.findall(r'<mass value="([^"]+)"', path.read_text())]
    assert [mass.mass for mass in masses] == pytest.approx(written[1:7])
    with pytest.raises(InputError, match="whose frames are not those of"):
        read_masses(path, th.robots.puma560())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("masses = [{ row = 9, kg = 1, moment_kgm = [0, 0, 0] }]", "row 9, which has no joint"),
        ("masses = [{ row = 1, kg = 1, moment_kgm = [0, 0] }]", "not three numbers"),
        ("masses = 3", "masses is not a list"),
        ("masses = [{ row = 1.5, kg = 1, moment_kgm = [0, 0, 0] }]", "row is not a whole number"),
        ('balancers = [{ row = 2, torque = "time_s" }]', "depends on more than the joints"),
        ('balancers = [{ row = 2, torque = "load(z2)" }]', "depends on more than the joints"),
        ("balancers = [{ row = 2 }]", "has no torque"),
    ],
)
def test_what_cannot_be_is_refused(line: str, message: str) -> None:
    text = format_robot(th.robots.puma560())
    head, frames = text.split("\nframes = [", 1)
    with pytest.raises(InputError, match=message):
        parse_robot(f"{head}\n{line}\nframes = [{frames}", "robot.toml")
