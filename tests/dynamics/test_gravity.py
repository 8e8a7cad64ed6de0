"""Which way is down, where nobody says so: the same for the command line and for Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import theodolite as th
from theodolite.dynamics.drives import State
from theodolite.dynamics.parameters import DynamicParameters
from theodolite.errors import InputError
from theodolite.model.rotations import about

G = 9.81
EMPTY = DynamicParameters({}, (), "puma560", "")
FLAT = """<robot name="flat"><link name="base"/><link name="arm"/><joint name="j" type="revolute">
<parent link="base"/><child link="arm"/><origin rpy="0.5 0 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1"/></joint></robot>"""


def test_a_urdf_has_z_upwards(tmp_path) -> None:
    """Whatever its first axis, and whatever stands between its root and that axis."""
    path = tmp_path / "flat.urdf"
    path.write_text(FLAT)
    np.testing.assert_allclose(th.Dynamics(th.read_urdf(path)).gravity, [0, 0, -G], atol=1e-15)


def test_a_urdf_that_was_placed_elsewhere_falls_along_its_own_base(tmp_path) -> None:
    """Calibration placed it in the world of a tracker, turned by 0.3 rad about x."""
    path = tmp_path / "flat.urdf"
    path.write_text(FLAT)
    placed = th.read_urdf(path).with_values({"e0rx": 0.3})
    expected = about(0, 0.3) @ np.array([0, 0, -G])
    np.testing.assert_allclose(th.Dynamics(placed).gravity, expected, atol=1e-12)


def test_a_table_stands_upright_on_its_first_axis() -> None:
    robot = th.robots.puma560()
    gravity = th.Dynamics(robot).gravity
    assert np.linalg.norm(gravity) == pytest.approx(G)
    # Turning the first joint alone changes no potential energy.
    dynamics = th.Dynamics(robot)
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, (5, 6))
    turned = q + np.array([0.7, 0, 0, 0, 0, 0])
    energies = []
    for positions in (q, turned):
        state = State(positions, np.zeros((5, 6)), np.zeros((5, 6)))
        energies.append(dynamics.energy(state))
    np.testing.assert_allclose(energies[0], energies[1], atol=1e-12)


def test_parameters_remember_the_gravity_they_were_identified_with() -> None:
    robot = th.robots.puma560()
    hung = th.Dynamics(robot, gravity=np.array([0.0, 0.0, G]))
    parameters = replace(EMPTY, gravity=(0.0, 0.0, G), stribeck_speed=0.3)
    again = th.build_dynamics(robot, parameters=parameters)
    np.testing.assert_array_equal(again.gravity, hung.gravity)
    assert again.stribeck_speed == 0.3
    other = th.build_dynamics(robot, gravity=np.array([1.0, 0.0, 0.0]), parameters=parameters)
    np.testing.assert_array_equal(other.gravity, [1.0, 0.0, 0.0])


@pytest.mark.parametrize("gravity", [[0.0, 0.0], [0.0, 0.0, np.nan], [0.0, 0.0, -9810.0]])
def test_nonsense_is_refused(gravity: list[float]) -> None:
    with pytest.raises(InputError, match="three numbers in m/s2"):
        th.Dynamics(th.robots.puma560(), gravity=np.array(gravity))


def test_mechanisms_need_their_own_dynamics() -> None:
    with pytest.raises(InputError, match="Use build_dynamics"):
        th.Dynamics(th.robots.load("fourbar"))
    assert isinstance(th.build_dynamics(th.robots.load("fourbar")), th.LoopDynamics)
