"""Inertias of a URDF: read, written in place, and what Pinocchio makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.dynamics.drives import FRICTION
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.torque import random_state
from theodolite.errors import InputError
from theodolite.io.urdf_inertia import read_inertias, write_inertias

DOWN = np.array([0.0, 0.0, -9.81])
SMALL = """<?xml version="1.0"?>
<!-- a comment, kept -->
<robot name="two" xmlns:extra="urn:extra">
  <link name="world"/>
  <link name="upper" extra:colour='red'>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
    <inertial><mass value="2"/><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial>
  </link>
  <link name="lower"/>
  <link name="plate"><inertial><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="a" type="revolute"><parent link="world"/><child link="upper"/>
    <origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="9" velocity="1"/></joint>
  <joint name="b" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.6 0 0" rpy="0 0.2 0"/><axis xyz="1 0 0"/>
    <limit lower="-2" upper="2" effort="9" velocity="1"/></joint>
  <joint name="c" type="fixed"><parent link="lower"/><child link="plate"/>
    <origin xyz="0.2 0.1 0" rpy="0 0 0.4"/></joint>
  <gazebo reference="upper"><unknown/></gazebo>
</robot>
"""


def torques(path: Path, state) -> np.ndarray:
    """By Pinocchio, from the inertias that the file has."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    rows = zip(state.q, state.qd, state.qdd, strict=True)
    return np.array([pin.rnea(model, data, *row) for row in rows])


def ours(path: Path, state, tip: str | None = None) -> np.ndarray:
    dynamics = Dynamics(th.read_urdf(path, tip=tip, any_tip=True), gravity=DOWN)
    values = read_inertias(path, tip=tip)
    vector = np.array([values[name] for name in dynamics.names(())])
    return np.tensordot(vector, dynamics.regressor(state, ()), axes=1).T


def test_inertias_are_pinocchios(tmp_path: Path) -> None:
    path = tmp_path / "two.urdf"
    path.write_text(SMALL)
    dynamics = Dynamics(th.read_urdf(path))
    state = random_state(dynamics, 10, np.random.default_rng(0))
    np.testing.assert_allclose(ours(path, state), torques(path, state), atol=1e-12)


def test_the_real_ur10e_too(recordings: Path) -> None:
    path = recordings / "ur10e-dynamics" / "ur10e.urdf"
    dynamics = Dynamics(th.read_urdf(path, any_tip=True))
    state = random_state(dynamics, 5, np.random.default_rng(0))
    np.testing.assert_allclose(ours(path, state), torques(path, state), atol=1e-10)


def test_only_inertials_change(tmp_path: Path) -> None:
    """A file written with other bodies: its torques are theirs, its other bytes are the same."""
    source, target = tmp_path / "two.urdf", tmp_path / "new.urdf"
    source.write_text(SMALL)
    values = read_inertias(source)
    scaled = {name: 1.5 * value for name, value in values.items()}
    assert write_inertias(source, target, scaled) == ["upper", "lower", "plate"]
    dynamics = Dynamics(th.read_urdf(source))
    state = random_state(dynamics, 10, np.random.default_rng(0))
    np.testing.assert_allclose(torques(target, state), 1.5 * torques(source, state), atol=1e-12)
    text = target.read_text()
    for kept in (
        "<!-- a comment, kept -->", "extra:colour='red'", "<unknown/>", '<link name="world"/>',
        '<box size="1 1 1"/>', 'xmlns:extra="urn:extra"',
    ):  # fmt: skip
        assert kept in text
    assert text.count("<inertial>") == 2
    without = [line for line in text.splitlines() if "in" not in line and "mass" not in line]
    assert set(without) <= {*SMALL.splitlines(), '  <link name="lower">', "  </link>"}


def test_bodies_that_cannot_exist_are_not_written(tmp_path: Path) -> None:
    source, target = tmp_path / "two.urdf", tmp_path / "new.urdf"
    source.write_text(SMALL)
    values = read_inertias(source) | {"M1": -1.0}
    with pytest.raises(InputError, match="the body of link 1 is not physically possible"):
        write_inertias(source, target, values)
    assert not target.exists()


def test_a_branch_that_moves_is_refused(tmp_path: Path) -> None:
    source, target = tmp_path / "two.urdf", tmp_path / "new.urdf"
    finger = (
        '<link name="finger"/><joint name="grip" type="prismatic"><parent link="upper"/>'
        '<child link="finger"/><axis xyz="1 0 0"/><limit lower="0" upper="1"/></joint></robot>'
    )
    source.write_text(SMALL.replace("</robot>", finger))
    with pytest.raises(InputError, match="also carries joint 'grip'"):
        write_inertias(source, target, read_inertias(source, tip="plate"), tip="plate")


def test_identified_bodies_predict_the_same_in_a_simulator(tmp_path: Path) -> None:
    """What was identified and what Pinocchio computes from the written file agree."""
    from theodolite.dynamics.consistent import consistent
    from theodolite.dynamics.filtering import Run
    from theodolite.dynamics.identify import identify_dynamics

    source, target = tmp_path / "two.urdf", tmp_path / "new.urdf"
    source.write_text(SMALL)
    dynamics = Dynamics(th.read_urdf(source), gravity=DOWN)
    rng = np.random.default_rng(0)
    state = random_state(dynamics, 400, rng)
    measured = torques(source, state) + 0.01 * rng.standard_normal((400, 2))
    found = consistent(identify_dynamics(dynamics, Run(state, measured), drives=FRICTION))
    write_inertias(source, target, found.named())
    fresh = random_state(dynamics, 20, rng)
    table = dynamics.regressor(fresh, ())
    rigid = np.array([found.named()[name] for name in dynamics.names(())])
    np.testing.assert_allclose(
        torques(target, fresh), np.tensordot(rigid, table, axes=1).T, atol=1e-9
    )
