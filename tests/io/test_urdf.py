"""URDF and DH tables, with Pinocchio as the judge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError

URDF = """<robot name="odd">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <link name="e"/><link name="side"/>
  <joint name="j1" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.1 1.5707963267948966 -2"/><axis xyz="1 2 -2"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="f" type="fixed"><parent link="b"/><child link="c"/>
    <origin xyz="0 0.5 0" rpy="0 0 0.7"/></joint>
  <joint name="j2" type="prismatic"><parent link="c"/><child link="d"/>
    <origin xyz="0.3 0 0" rpy="1 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="-0.1" upper="0.4" effort="1" velocity="1"/></joint>
  <joint name="j3" type="continuous"><parent link="d"/><child link="e"/>
    <origin xyz="0 0 0.2" rpy="0 -1.5707963267948966 0"/><axis xyz="-1 0 0"/></joint>
  <joint name="s" type="fixed"><parent link="a"/><child link="side"/></joint>
</robot>
"""


def assert_like_pinocchio(path: Path, robot: th.Robot, tip: str) -> None:
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    frame = model.getFrameId(tip)
    rng = np.random.default_rng(0)
    motors = rng.uniform(robot.lower, robot.upper, (20, robot.joints))
    rotations, positions = robot.poses(motors)
    for q, R, p in zip(motors, rotations, positions, strict=True):
        # Joints off the chain, such as fingers, come last and stay where they are.
        configuration = pin.neutral(model)
        for joint, angle in zip(list(model.joints)[1:], q, strict=False):
            # Pinocchio holds unbounded joints as cosine and sine.
            value = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            configuration[joint.idx_q : joint.idx_q + joint.nq] = value
        pin.framesForwardKinematics(model, data, configuration)
        np.testing.assert_allclose(p, data.oMf[frame].translation, atol=1e-12)
        np.testing.assert_allclose(R, data.oMf[frame].rotation, atol=1e-12)


def test_any_axis_and_origin_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(URDF)
    robot = th.read_urdf(path)
    assert robot.joint_types == (th.Joint.REVOLUTE, th.Joint.PRISMATIC, th.Joint.REVOLUTE)
    np.testing.assert_allclose(robot.lower, [-2, -0.1, -np.pi])
    assert_like_pinocchio(path, robot, "e")


@pytest.mark.parametrize(
    ("file", "tip"),
    [
        ("lwr4-dynamics/kuka_lwr4.urdf", "lwr_7_link"),
        ("panda-sockets/panda.urdf", "ball_link"),
        ("ur10e-dynamics/ur10e.urdf", "tool0"),
        ("ur10e-dynamics/ur10e.urdf", "ee_link"),
    ],
)
def test_real_robots_are_pinocchios(file: str, tip: str, recordings: Path) -> None:
    robot = th.read_urdf(recordings / file, tip=tip)
    assert_like_pinocchio(recordings / file, robot, tip)


def test_built_in_robots_are_those_of_the_urdf_files(recordings: Path) -> None:
    """Up to where base and flange are, which the files place otherwise."""
    for name, file, tip, turn in (
        ("panda", "panda-sockets/panda.urdf", "panda_link8", 1.0),
        ("lwr4", "lwr4-dynamics/kuka_lwr4.urdf", "lwr_7_link", 1.0),
    ):
        motors = np.random.default_rng(0).uniform(-1, 1, (5, 7))
        ours = th.robots.load(name).poses(motors)[1]
        theirs = th.read_urdf(recordings / file, tip=tip).poses(motors)[1]
        shift = theirs[0] - turn * ours[0]
        np.testing.assert_allclose(theirs, turn * ours + shift, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("</robot>", ""), "not well-formed"),
        (("robot", "machine"), "not URDF"),
        (('type="prismatic"', 'type="planar"'), "joint 'j2' is of type 'planar'"),
        (('xyz="0.3 0 0"', 'xyz="0.3 0"'), "joint 'j2': '0.3 0' is not 3 numbers"),
        (('xyz="0 -1 0"', 'xyz="0 0 0"'), "joint 'j2' has a zero axis"),
    ],
)
def test_bad_urdf_is_refused(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(URDF.replace(*change))
    with pytest.raises(InputError) as error:
        th.read_urdf(path)
    assert message in str(error.value)


def test_links_that_are_not_there_are_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(URDF)
    with pytest.raises(InputError, match="no link 'hand'; allowed: b, c, d, e, side"):
        th.read_urdf(path, tip="hand")
    with pytest.raises(InputError, match="the chain has no joints"):
        th.read_urdf(path, tip="side")
    assert th.read_urdf(path, root="c").joints == 2


def test_dh_and_kk_tables(tmp_path: Path) -> None:
    dh = tmp_path / "dh.csv"
    dh.write_text("theta_deg,d_mm,a_mm,alpha_deg\n0,100,0,90\n90,0,200,0\n")
    robot = th.read_dh_table(dh)
    assert [row.convention.value for row in robot.frames] == ["pose", "dh", "dh", "pose"]
    # By hand: up 100, the second link turned by 90 degrees points up, 200 long.
    np.testing.assert_allclose(robot.poses(np.zeros(2))[1][0], [0, 0, 0.3], atol=1e-15)
    kk = tmp_path / "kk.csv"
    kk.write_text("sigma,alpha_deg,d_mm,theta_deg,r_mm\n0,0,0,0,100\n1,90,0,0,0\n")
    robot = th.read_dh_table(kk)
    assert robot.joint_types == (th.Joint.REVOLUTE, th.Joint.PRISMATIC)
    # By hand: z of frame 2 points along -y of frame 1.
    np.testing.assert_allclose(robot.poses(np.array([0, 0.5]))[1][0], [0, -0.5, 0.1], atol=1e-15)


def test_a_table_in_craigs_convention(tmp_path: Path, theodolite) -> None:
    """The Panda as its maker's documentation lists it: a and alpha of the link before."""
    path = tmp_path / "panda.csv"
    path.write_text(
        "a_m,d_m,alpha_deg\n0,0.333,0\n0,0,-90\n0,0.316,90\n0.0825,0,90\n-0.0825,0.384,-90\n"
        "0,0,90\n0.088,0,90\n"
    )
    robot = th.read_dh_table(path, modified=True)
    # Stretched upwards, the last joint beside the column.
    rotation, position = robot.poses(np.zeros(7))
    np.testing.assert_allclose(position[0], [0.088, 0, 0.333 + 0.316 + 0.384], atol=1e-15)
    np.testing.assert_allclose(rotation[0], np.diag([1.0, -1.0, -1.0]), atol=1e-15)
    code, _, errors = theodolite("new", "panda.csv", "panda.toml", "--modified")
    assert code == 0, errors
    written = th.read_robot("panda.toml")
    np.testing.assert_allclose(written.poses(np.zeros(7))[1], position, atol=1e-15)
    code, _, errors = theodolite("new", "puma560", "p.toml", "--modified")
    assert code == 2
    assert "--modified is for DH tables" in errors
    path.write_text("alpha_deg,d_mm,theta_deg,r_mm\n0,0,0,100\n")
    with pytest.raises(InputError, match="has a column r"):
        th.read_dh_table(path, modified=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("theta_deg,d_mm,a_mm\n1,2,3\n", "column alpha missing"),
        ("theta_deg,d_mm,a_mm,alpha\n1,2,3,4\n", "column 'alpha' does not say its unit"),
        ("theta_mm,d_mm,a_mm,alpha_deg\n1,2,3,4\n", "wrong kind of unit"),
        ("theta_deg,d_mm,a_mm,alpha_deg,x_mm\n1,2,3,4,5\n", "unknown column 'x_mm'"),
        ("theta_deg,d_mm,a_mm,alpha_deg\n1,2,z,4\n", "line 2, column 'a_mm': 'z' is not a number"),
        ("sigma,theta_deg,d_mm,a_mm,alpha_deg\n5,1,2,3,4\n", "line 2: sigma is 5"),
        ("sigma,theta_deg,d_mm,a_mm,alpha_deg\n2,1,2,3,4\n", "no joints"),
    ],
)
def test_bad_tables_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        th.read_dh_table(path)
    assert message in str(error.value)
