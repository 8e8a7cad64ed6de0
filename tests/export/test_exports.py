"""Exports, read back by the programs that they are for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.export.links import along_z, placed_like, reading_links
from theodolite.export.nearest import carried
from theodolite.io.exports import Format, Options, export_robot
from theodolite.io.machines import machine_named
from theodolite.io.ur_kinematics import FRAMES, KEYS
from theodolite.io.urdf_patch import Visuals
from theodolite.model.conventions import Convention
from theodolite.model.poses import rotation_matrix

SERIAL = ("puma560", "rx90", "stanford", "scara", "irb120", "ur10e", "panda", "lwr4", "everett7")
ERRORS = th.ParameterErrors(3e-3, 6e-3, 0.0)

#: An arm with fixed links between its joints, a mimicking finger and a tool behind it.
ARM = """<?xml version="1.0"?>
<!-- kept -->
<robot name="arm" xmlns:x="http://example.org/x">
  <link name="world"/>
  <link name="base"/>
  <link name="a"/><link name="mount"/>
  <link name='b'>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
    <collision><origin rpy="0 0 1"/><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="c"/><link name="flange"/><link name="tool0"/><link name="finger"/>
  <link name="finger2"/>
  <joint name="j0" type="fixed"><parent link="world"/><child link="base"/>
    <origin xyz="0.1 0.2 0.3" rpy="0 0 0.5"/></joint>
  <joint name="j1" type="revolute"><parent link="base"/><child link="a"/>
    <origin  xyz = "0 0 0.4"  rpy='0 0 0' /><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="between" type="fixed"><parent link="a"/><child link="mount"/>
    <origin xyz="0.05 0 0.1" rpy="0.3 0 0"/></joint>
  <joint name="j2" type="continuous"><parent link="mount"/><child link="b"/>
    <axis xyz="0 1 1"/></joint>
  <joint name="j3" type="prismatic"><parent link="b"/><child link="c"/>
    <origin xyz="0.5 0 0" rpy="0 1.2 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.4" effort="1" velocity="1"/></joint>
  <joint name="f1" type="fixed"><parent link="c"/><child link="flange"/>
    <origin xyz="0 0 0.1"/></joint>
  <joint name="f2" type="fixed"><parent link="flange"/><child link="tool0"/>
    <origin xyz="0 0.02 0" rpy="0 0 1.5"/></joint>
  <joint name="g1" type="prismatic"><parent link="flange"/><child link="finger"/>
    <limit lower="0" upper="0.1" effort="1" velocity="1"/></joint>
  <joint name="g2" type="prismatic"><parent link="flange"/><child link="finger2"/>
    <limit lower="0" upper="0.1" effort="1" velocity="1"/><mimic joint="g1"/></joint>
  <transmission name="kept"/>
</robot>
"""


def chain_pose(robot: th.Robot, readings: np.ndarray) -> np.ndarray:
    """The tip by a product of links, written for this test."""
    links = reading_links(robot)
    T = links[0]
    for link, kind, amount in zip(links[1:], robot.joint_types, readings, strict=True):
        T = T @ along_z(kind, float(amount)) @ link
    return T


@pytest.mark.parametrize("name", SERIAL)
def test_links_describe_the_robot_wherever_its_frames_are(name, rng):
    nominal = th.robots.load(name)
    robot = th.perturb(nominal, ERRORS, rng)
    motors = robot.random_motors(1, rng)[0]
    readings = robot.transmission.coa @ robot.transmission.com @ motors
    T = chain_pose(robot, readings)
    rotation, position = robot.poses(motors)
    np.testing.assert_allclose(T[:3, 3], position[0], atol=1e-12)
    np.testing.assert_allclose(T[:3, :3], rotation[0], atol=1e-12)
    others = reading_links(nominal)
    links = placed_like(reading_links(robot), others, robot.joint_types)
    # Frames near the nominal ones: no farther than the errors could put them.
    assert max(np.abs(one - other).max() for one, other in zip(links, others, strict=True)) < 0.03


@pytest.mark.parametrize("keep", [{}, {"keep_base": True}, {"keep_base": True, "keep_tool": True}])
@pytest.mark.parametrize("name", ["puma560", "scara", "panda"])
def test_what_is_kept_moves_the_arm_as_a_whole(name, keep, rng):
    nominal = th.robots.load(name)
    robot = th.perturb(nominal, ERRORS, rng)
    before, others = reading_links(robot), reading_links(nominal)
    after = placed_like(before, others, robot.joint_types, **keep)
    moved = []
    for motors in robot.random_motors(3, rng):
        poses = []
        for links in (before, after):
            T = np.eye(4)
            for link, kind, amount in zip(links, robot.joint_types, motors, strict=False):
                T = T @ link @ along_z(kind, float(amount))
            poses.append((T, T @ links[-1]))
        (flange, tip), (new_flange, new_tip) = poses
        if keep.get("keep_tool"):
            # With base and tool exchanged, flanges stand in a constant relation on both sides.
            moved.append((flange, new_flange))
        else:
            moved.append((tip, new_tip))
    constant = [new @ np.linalg.inv(old) for old, new in moved]
    if not keep.get("keep_tool"):
        for one in constant[1:]:
            np.testing.assert_allclose(one, constant[0], atol=1e-12)
    if keep.get("keep_base"):
        np.testing.assert_array_equal(after[0], others[0])
    if keep.get("keep_tool"):
        np.testing.assert_array_equal(after[-1], others[-1])


def pinocchio_pose(text: bytes, tip: str, readings: np.ndarray, tmp_path: Path) -> np.ndarray:
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "judge.urdf"
    path.write_bytes(text)
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    q = pin.neutral(model)
    for number, amount in enumerate(readings, start=1):
        joint = model.joints[model.getJointId(f"j{number}")]
        if joint.nq == 2:
            q[joint.idx_q : joint.idx_q + 2] = [np.cos(amount), np.sin(amount)]
        else:
            q[joint.idx_q] = amount
    pin.framesForwardKinematics(model, data, q)
    pose = data.oMf[model.getFrameId(tip)]
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = pose.rotation, pose.translation
    return T


def own(tmp_path: Path, text: str, name: str = "nominal.urdf") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("visuals", Visuals)
def test_urdf_is_the_robot_to_pinocchio(visuals, tmp_path, rng):
    path = own(tmp_path, ARM)
    robot = th.perturb(machine_named(str(path), tip="tool0"), ERRORS, rng)
    options = Options(path, "tool0", base=True, visuals=visuals)
    found = export_robot(robot, Format.URDF, options=options)
    assert found.loss.none
    for motors in robot.random_motors(5, rng):
        T = pinocchio_pose(found.content, "tool0", motors, tmp_path)
        rotation, position = robot.poses(motors)
        np.testing.assert_allclose(T[:3, 3], position[0], atol=1e-9)
        np.testing.assert_allclose(T[:3, :3], rotation[0], atol=1e-9)
    # Read back by ourselves too.
    back = machine_named(str(own(tmp_path, found.content.decode(), "back.urdf")), tip="tool0")
    motors = robot.random_motors(20, rng)
    np.testing.assert_allclose(back.poses(motors)[1], robot.poses(motors)[1], atol=1e-9)


def test_urdf_keeps_what_it_does_not_know(tmp_path, rng):
    path = own(tmp_path, ARM)
    robot = machine_named(str(path), tip="tool0")
    text = export_robot(th.perturb(robot, ERRORS, rng), Format.URDF, options=Options(path, "tool0"))
    kept = text.content.decode()
    for part in ("<!-- kept -->", "<transmission name=\"kept\"/>", "xmlns:x=", "<mimic joint=",
                 "<link name='b'>", 'effort="1"', '<sphere radius="0.1"/>'):  # fmt: skip
        assert part in kept
    # The base stays as it is without --world.
    assert '<origin  xyz = "0 0 0.4"' in kept


def test_visuals_stay_in_the_world_at_zero(tmp_path, rng):
    pin = pytest.importorskip("pinocchio")
    path = own(tmp_path, ARM)
    robot = th.perturb(machine_named(str(path), tip="tool0"), ERRORS, rng)

    def shape(content: bytes) -> np.ndarray:
        place = tmp_path / "shapes.urdf"
        place.write_bytes(content)
        model = pin.buildModelFromUrdf(str(place))
        shapes = pin.buildGeomFromUrdf(model, str(place), pin.GeometryType.VISUAL)
        data, drawn = model.createData(), shapes.createData()
        pin.updateGeometryPlacements(model, data, shapes, drawn, pin.neutral(model))
        return drawn.oMg[0].homogeneous

    before = shape(ARM.encode())
    for visuals, same in ((Visuals.STAY, True), (Visuals.MOVE, False)):
        options = Options(path, "tool0", base=True, visuals=visuals)
        after = shape(export_robot(robot, Format.URDF, options=options).content)
        assert np.allclose(before, after, atol=1e-9) is same


MODEL = """<mujoco model="arm">
  <compiler angle="{angle}" eulerseq="XYZ"/>
  <default><joint damping="1"/><default class="arm"><joint axis="0 0 1"/>
    <default class="tilted"><joint axis="0 1 1"/></default></default></default>
  <worldbody>
    <!-- kept -->
    <body name="base" pos="0.1 0.2 0.3" euler="0 {a} 0" childclass="arm">
      <body name="one" pos="0 0 0.4" axisangle="0 0 1 {a}">
        <joint name="j1"/><geom type="sphere" size="0.05"/>
        <frame pos="0 0 0.05">
        <body name="between" pos="0.05 0 0.1" xyaxes="0 1 0 -1 0 0"><geom size="0.01"/>
          <body name="two" pos="0 0.1 0" zaxis="0 1 1">
            <joint name="j2" class="tilted" pos="0.01 0.02 0.03" ref="{a}"/>
            <geom type="sphere" size="0.05"/>
            <body name="three" pos="0.5 0 0" quat="0.7 0.7 0 0">
              <joint name="j3" type="slide" axis="1 0 0"/><geom type="sphere" size="0.05"/>
              <site name="tip" pos="0 0 0.2" euler="{a} 0 {a}"/>
            </body>
          </body>
        </body>
        </frame>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize(("angle", "a"), [("degree", 20.0), ("radian", 0.35)])
def test_mjcf_is_the_robot_to_mujoco(angle, a, tmp_path, rng):
    mujoco = pytest.importorskip("mujoco")

    def pose(content: str, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model = mujoco.MjModel.from_xml_string(content)
        data = mujoco.MjData(model)
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "tip")
        return data.site_xmat[site].reshape(3, 3), data.site_xpos[site]

    text = MODEL.format(angle=angle, a=a)
    path = own(tmp_path, text, "nominal.xml")
    # The robot as MuJoCo has it, found from its own poses: joints about z through what it says.
    frames = [np.eye(4)]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = 0.0
    mujoco.mj_forward(model, data)
    for joint in range(model.njnt):
        T = np.eye(4)
        z = data.xaxis[joint]
        x = np.cross(z, [0.3, 0.5, 0.7])
        x /= np.linalg.norm(x)
        T[:3, :3], T[:3, 3] = np.column_stack([x, np.cross(z, x), z]), data.xanchor[joint]
        frames.append(T)
    tip = np.eye(4)
    tip[:3, :3], tip[:3, 3] = pose(text, np.zeros(3))
    frames.append(tip)
    rows = []
    for number, kind in enumerate((0, 0, 1, 2)):
        link = np.linalg.inv(frames[number]) @ frames[number + 1]
        rpy = _rpy(link[:3, :3])
        rows.append(th.Row(Convention.POSE, th.Joint(kind), nominal=(*link[:3, 3], *rpy)))
    nominal = th.Robot.of("arm", rows)
    for q in nominal.random_motors(3, rng):
        np.testing.assert_allclose(nominal.poses(q)[1][0], pose(text, q)[1], atol=1e-9)
    robot = th.perturb(nominal, ERRORS, rng)
    found = export_robot(robot, Format.MJCF, options=Options(path, "tip", base=True))
    for q in robot.random_motors(5, rng):
        turned, there = pose(found.content.decode(), q)
        rotation, position = robot.poses(q)
        np.testing.assert_allclose(there, position[0], atol=1e-9)
        np.testing.assert_allclose(turned, rotation[0], atol=1e-9)
    assert "<!-- kept -->" in found.content.decode()


def _rpy(R: np.ndarray) -> tuple[float, float, float]:
    from scipy.spatial.transform import Rotation

    yaw, pitch, roll = Rotation.from_matrix(R).as_euler("ZYX")
    return float(roll), float(pitch), float(yaw)


#: As Universal Robots' description package lays it out; lengths of a UR10e [UR, DH parameters].
UR10E = {
    "shoulder": (0, 0, 0.1807, 0, 0, 0),
    "upper_arm": (0, 0, 0, 1.570796327, 0, 0),
    "forearm": (-0.6127, 0, 0, 0, 0, 0),
    "wrist_1": (-0.57155, 0, 0.17415, 0, 0, 0),
    "wrist_2": (0, -0.11985, 0, 1.570796327, 0, 0),
    "wrist_3": (0, 0.11655, 0, 1.570796326589793, 3.141592653589793, 3.141592653589793),
}


def ur_yaml(values: dict) -> str:
    lines = ["# UR10e", "kinematics:"]
    for name in FRAMES:
        lines.append(f"  {name}:")
        lines += [f"    {k}: {v}  # kept" for k, v in zip(KEYS, values[name], strict=True)]
    return "\n".join([*lines, "  hash: calib_1234"]) + "\n"


def test_ur_kinematics_is_the_robot(tmp_path, rng):
    nominal = th.robots.ur10e()
    path = own(tmp_path, ur_yaml(UR10E), "nominal.yaml")
    robot = th.perturb(nominal, ERRORS, rng)
    found = export_robot(robot, Format.UR, options=Options(path, base=True))
    text = found.content.decode()
    assert "hash: calib_1234" in text and text.count("# kept") == 36
    values: dict = {}
    for line in text.splitlines():
        key, _, value = line.split("#")[0].strip().partition(":")
        if key in FRAMES:
            values[key] = current = []
        elif key in KEYS:
            current.append(float(value))
    tools = []
    for motors in robot.random_motors(5, rng):
        T = np.eye(4)
        for name, q in zip(FRAMES, motors, strict=True):
            X = np.eye(4)
            X[:3, 3], X[:3, :3] = values[name][:3], rotation_matrix(*values[name][3:])
            T = T @ X @ along_z(th.Joint.REVOLUTE, float(q))
        # The flange differs from the robot's tip by a constant tool.
        rotation, position = robot.poses(motors)
        tip = np.eye(4)
        tip[:3, :3], tip[:3, 3] = rotation[0], position[0]
        tools.append(np.linalg.inv(T) @ tip)
    for tool in tools[1:]:
        np.testing.assert_allclose(tool, tools[0], atol=1e-9)
    # Frames near those of the nominal file.
    for name in FRAMES:
        np.testing.assert_allclose(values[name][:3], UR10E[name][:3], atol=0.03)


@pytest.mark.parametrize("kind", [Format.KK, Format.DH, Format.HAYATI])
@pytest.mark.parametrize("name", ["puma560", "stanford", "ur10e", "scara"])
def test_tables_read_back_as_the_arm_that_was_said(name, kind, tmp_path, rng):
    robot = th.perturb(th.robots.load(name), replace(ERRORS, gain=1e-3), rng)
    found = export_robot(robot, kind, suffix=".csv")
    path = tmp_path / "table.csv"
    path.write_bytes(found.content)
    back = th.read_dh_table(path)
    plain, _ = carried(robot, gains=True, convention=Convention(kind.value))
    # The table has no base and no tool: flanges of both stand in a constant relation.
    motors = robot.random_motors(6, rng)
    base, tool = (_pose_matrix(plain.frames[end].nominal) for end in (0, -1))
    for q in motors:
        R, p = back.poses(q)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R[0], p[0]
        rotation, position = plain.poses(q)
        made = base @ T @ tool
        np.testing.assert_allclose(made[:3, 3], position[0], atol=1e-9)
        np.testing.assert_allclose(made[:3, :3], rotation[0], atol=1e-9)
    np.testing.assert_allclose(back.lower, robot.lower, atol=1e-12)


def _pose_matrix(pose: tuple) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3], T[:3, :3] = pose[:3], rotation_matrix(*pose[3:])
    return T


def test_what_a_format_cannot_carry_is_said_and_fitted(rng):
    robot = th.perturb(th.robots.puma560(), th.ParameterErrors(1e-3, 2e-3, 1e-3), rng)
    plain, loss = carried(robot)
    assert loss.missing == ("transmission gains",)
    assert not loss.none
    # Fitted: better than gains that are simply dropped.
    dropped = replace(robot, transmission=replace(robot.transmission, gains=np.ones(6)))
    motors = robot.random_motors(400, rng)
    there = robot.poses(motors)[1]

    def away(other: th.Robot) -> float:
        return float(np.linalg.norm(other.poses(motors)[1] - there, axis=1).mean())

    assert away(plain) < 0.8 * away(dropped)
    assert away(plain) == pytest.approx(loss.mean, rel=0.2)


def test_an_exact_robot_loses_nothing(rng):
    robot = th.perturb(th.robots.rx90(), ERRORS, rng)
    for convention in (Convention.KK, None):
        _, loss = carried(robot, convention=convention)
        assert loss.none and not loss.missing


def test_wrong_files_are_refused(tmp_path):
    path = own(tmp_path, ARM)
    with pytest.raises(InputError, match="its chain has the joints RRP"):
        export_robot(th.robots.puma560(), Format.URDF, options=Options(path, "tool0"))
    with pytest.raises(InputError, match="to be put into"):
        export_robot(th.robots.puma560(), Format.URDF)
    broken = own(tmp_path, "kinematics:\n  shoulder:\n    x: 1\n", "broken.yaml")
    with pytest.raises(InputError, match="its frames are shoulder"):
        export_robot(th.robots.ur10e(), Format.UR, options=Options(broken))
    empty = own(tmp_path, "<mujoco/>", "empty.xml")
    with pytest.raises(InputError, match="no bodies"):
        export_robot(th.robots.ur10e(), Format.MJCF, options=Options(empty))
