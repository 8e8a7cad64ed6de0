"""Whatever our verbs write is read back as the same robot, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import theodolite as th
from tests.io.test_robot_file import assert_identical
from tests.random_mechanisms import polygon_robot
from tests.random_robots import random_robots
from theodolite.errors import InputError
from theodolite.io.robot_file import format_robot, parse_robot

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp", "Zs"))
    | st.sampled_from(" \t\n"),
    max_size=30,
)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,8}", fullmatch=True).filter(
    # Not like a joint, and not like another parameter of a robot: K1, e0x.
    lambda name: not (name[0] in "qKeTR" or name.startswith(("theta", "alpha", "beta")))
)
LENGTHS = st.floats(-1e3, 1e3, allow_nan=False)
POINTS = st.tuples(LENGTHS, LENGTHS, LENGTHS)


@given(random_robots(), TEXTS, TEXTS, st.dictionaries(NAMES, POINTS, max_size=4), st.data())
def test_serial_robots(
    robot: th.Robot, name: str, source: str, targets: dict[str, tuple], data: st.DataObject
) -> None:
    robot = replace(robot, name=name, source=source)
    robot = robot.with_targets(th.Target(key, point) for key, point in targets.items())
    names = [parameter.name for parameter in robot.parameters]
    if len(set(names)) < len(names):
        return
    chosen = data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 10**9), max_size=5))
    robot = robot.with_priorities(chosen)
    again = parse_robot(format_robot(robot), "text")
    assert_identical(again, robot)
    assert format_robot(again) == format_robot(robot)


@given(st.text(max_size=20), st.text(max_size=20))
def test_names_of_any_kind_are_written_so_that_they_can_be_read(name: str, source: str) -> None:
    """As names of files get into robots: control characters and broken encodings too."""
    for robot in (th.robots.scara(), th.robots.load("fourbar")):
        text = format_robot(replace(robot, name=name, source=source))
        again = parse_robot(text.encode(errors="strict").decode(), "text")
        assert format_robot(again) == text


@given(random_robots(), st.sampled_from(list(th.Convention)))
def test_converted_robots(robot: th.Robot, convention: th.Convention) -> None:
    try:
        other = th.convert(robot, convention)
    except InputError:
        return
    assert_identical(parse_robot(format_robot(other), "text"), other)


@given(st.integers(0, 10**6), st.sampled_from([4, 5]), st.sampled_from(["planar", "frame"]), TEXTS)
def test_mechanisms(seed: int, links: int, kind: str, source: str) -> None:
    rng = np.random.default_rng(seed)
    try:
        robot = polygon_robot(rng, links, kind=kind)
    except InputError:
        return
    robot = replace(robot, source=source)
    errors = th.ParameterErrors(1e-3, 1e-3, 1e-3)
    robot = th.perturb(robot, errors, rng).with_priorities({robot.parameters[0].name: 3})
    again = parse_robot(format_robot(robot), "text")
    for field in ("name", "bodies", "tool", "closures", "active", "passive", "constants", "source"):
        assert getattr(again, field) == getattr(robot, field)
    assert again.priorities == robot.priorities
    np.testing.assert_array_equal(again.values, robot.values)
    assert format_robot(again) == format_robot(robot)


ANGLES = st.floats(-180, 180, allow_nan=False) | st.sampled_from([0.0, 90.0, -90.0, 180.0])


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1]), ANGLES, LENGTHS, LENGTHS, ANGLES, st.sampled_from([1, -1])
        ),
        min_size=1,
        max_size=7,
    ),
    st.sampled_from(["theta_deg,d_mm,a_mm,alpha_deg", "theta_deg,r_mm,d_mm,alpha_deg"]),
)
def test_tables(tmp_path_factory, rows: list[tuple], symbols: str) -> None:
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    lines = [f"sigma,{symbols},sign", *(",".join(map(repr, row)) for row in rows)]
    path.write_text("\n".join(lines))
    robot = th.read_dh_table(path)
    assert robot.joint_types == tuple(th.Joint(row[0]) for row in rows)
    th.write_robot(robot, path.with_suffix(".toml"))
    assert_identical(th.read_robot(path.with_suffix(".toml")), robot)


def urdf_joint(number: int, kind: str, numbers: tuple[float, ...]) -> str:
    x, y, z, roll, pitch, yaw, ax, ay, az = numbers
    limit = '<limit lower="-1.5" upper="2" effort="1" velocity="1"/>' if kind != "fixed" else ""
    return (
        f'<joint name="j{number}" type="{kind}"><parent link="l{number}"/>'
        f'<child link="l{number + 1}"/><origin xyz="{x!r} {y!r} {z!r}" '
        f'rpy="{roll!r} {pitch!r} {yaw!r}"/><axis xyz="{ax!r} {ay!r} {az!r}"/>{limit}</joint>'
    )


COMPONENTS = st.floats(-3, 3, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-3)
URDF_JOINTS = st.tuples(
    st.sampled_from(["revolute", "prismatic", "continuous", "fixed"]),
    st.tuples(*[COMPONENTS] * 9).filter(lambda n: any(n[6:])),
)


@given(st.lists(URDF_JOINTS, min_size=1, max_size=6))
def test_urdf(tmp_path_factory, joints: list[tuple]) -> None:
    path = tmp_path_factory.mktemp("urdf") / "arm.urdf"
    links = "".join(f'<link name="l{number}"/>' for number in range(len(joints) + 1))
    body = "".join(urdf_joint(n, kind, numbers) for n, (kind, numbers) in enumerate(joints))
    path.write_text(f'<robot name="arm">{links}{body}</robot>')
    if all(kind == "fixed" for kind, _ in joints):
        return
    robot = th.read_urdf(path)
    th.write_robot(robot, path.with_suffix(".toml"))
    again = th.read_robot(path.with_suffix(".toml"))
    assert_identical(again, robot)
    motors = robot.random_motors(3, np.random.default_rng(0))
    np.testing.assert_array_equal(again.poses(motors)[1], robot.poses(motors)[1])


@given(
    st.integers(0, 10**6), st.sampled_from(["position", "frame", "position-link", "plane-known"])
)
def test_measurements(tmp_path_factory, seed: int, method: str) -> None:
    """Written in degrees and millimetres, so the last bit of a factor may differ."""
    from theodolite.calibration.catalogue import method_named

    robot = th.robots.puma560().with_targets([th.Target("ball", (0.1, 0.2, 0.3))])
    if method != "position":
        robot = th.robots.puma560()
    rng = np.random.default_rng(seed)
    data = method_named(method).observe(robot, 3, rng, per_set=2)
    path: Path = tmp_path_factory.mktemp("data") / "d.csv"
    th.write_measurements(data, robot, path)
    read = th.read_measurements([path], robot, needs=method_named(method).needs)
    assert read.targets == data.targets
    np.testing.assert_allclose(read.motors, data.motors, rtol=4e-16)
    if data.positions is not None:
        np.testing.assert_allclose(read.positions, data.positions, rtol=4e-16)
