"""What columns seem to be is found by fitting: directions, order, units, hand, zeros."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.io.proposal import Certainty, Proposal, propose

#: Off the last axis, so that every joint's direction shows.
TARGET = np.array([0.05, 0.02, 0.1])


def recorded(name: str, rows: int = 60) -> tuple[th.Robot, np.ndarray, np.ndarray]:
    """A robot, joints in deg and mm, and positions in mm of one that is not quite it."""
    robot = th.robots.load(name)
    rng = np.random.default_rng(5)
    true = th.perturb(robot, th.ParameterErrors(2e-3, 4e-3, 0.0), rng)
    motors = true.random_motors(rows, rng)
    rotations, positions = true.poses(motors)
    revolute = [kind is th.Joint.REVOLUTE for kind in robot.joint_types]
    joints = np.where(revolute, np.degrees(motors), 1e3 * motors)
    return robot, joints, 1e3 * (positions + rotations @ TARGET) + [2500.0, -300.0, 900.0]


def written(path: Path, joints: np.ndarray, points: np.ndarray, names: str) -> Path:
    rows = [
        names,
        *(",".join(map(repr, row)) for row in np.column_stack([joints, points]).tolist()),
    ]
    path.write_text("\n".join(rows))
    return path


def header(robot: th.Robot) -> str:
    units = ["deg" if kind is th.Joint.REVOLUTE else "mm" for kind in robot.joint_types]
    joints = [f"q{number}_{unit}" for number, unit in enumerate(units, 1)]
    return ",".join([*joints, "x_mm", "y_mm", "z_mm"])


def assert_maps(path: Path, robot: th.Robot, proposal: Proposal) -> None:
    """Read through the mapping, the file fits the robot to a few millimetres wherever it is."""
    data = th.read_measurements([path], robot, mapping=proposal.mapping, check_limits=False)
    placed = th.locate(robot, data)
    # The target is not the robot's own, so its place is found as well.
    assert proposal.rms < 0.02
    errors = th.residuals(placed, data, th.Position())["position"]
    assert np.sqrt((errors**2).mean()) < 0.3


def reverse(*numbers: int) -> Callable:
    def change(joints: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        joints[:, [number - 1 for number in numbers]] *= -1
        return joints, points

    return change


def exchange(one: int, other: int) -> Callable:
    def change(joints: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        joints[:, [one - 1, other - 1]] = joints[:, [other - 1, one - 1]]
        return joints, points

    return change


def turned(joints: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    joints[:, 2] = 90.0 - joints[:, 2]
    return joints, points


CHANGES = {
    "nothing": (lambda q, p: (q, p), ()),
    "reversed": (reverse(2), ("joint 2 reversed",)),
    "several reversed": (reverse(2, 3, 6), ("joints 2, 3 and 6 reversed",)),
    "exchanged": (exchange(2, 3), ("joints 2 and 3 exchanged",)),
    "exchanged and reversed": (
        lambda q, p: reverse(3)(*exchange(4, 5)(q, p)),
        ("joint 3 reversed; joints 4 and 5 exchanged",),
    ),
    "radians": (lambda q, p: (np.radians(q), p), ("joints are in rad, not in deg as their names",)),
    "metres": (lambda q, p: (q, 1e-3 * p), ("positions are in m, not in mm as their names say",)),
    "left hand": (lambda q, p: (q, p[:, [1, 0, 2]]), ("left-handed coordinates",)),
    "zero": (turned, ("joint 3 reversed; joint 3 counts from +90 deg",)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["puma560", "ur10e"])
def test_what_was_done_to_a_file_is_found(name: str, change: str, tmp_path: Path) -> None:
    robot, joints, points = recorded(name)
    alter, expected = CHANGES[change]
    path = written(tmp_path / "d.csv", *alter(joints, points), header(robot))
    proposal = propose(path, robot)
    assert len(proposal.findings) == len(expected)
    for finding, words in zip(proposal.findings, expected, strict=True):
        assert words in finding
    assert proposal.certainty is Certainty.SURE
    assert_maps(path, robot, proposal)


@pytest.mark.parametrize("name", th.robots.SERIAL)
@pytest.mark.parametrize("change", ["nothing", "reversed", "radians", "left hand"])
def test_every_built_in_robot_is_read_again(name: str, change: str, tmp_path: Path) -> None:
    """Symmetric arms leave a choice, but what is proposed always fits."""
    robot, joints, points = recorded(name)
    if change == "radians":
        revolute = [kind is th.Joint.REVOLUTE for kind in robot.joint_types]
        joints[:, revolute] = np.radians(joints[:, revolute])
    else:
        joints, points = CHANGES[change][0](joints, points)
    path = written(tmp_path / "d.csv", joints, points, header(robot))
    proposal = propose(path, robot)
    assert proposal.usable
    assert bool(proposal.findings) == (change != "nothing")
    assert_maps(path, robot, proposal)


@pytest.mark.parametrize(
    "names",
    [
        "J1,J2,J3,J4,J5,J6,X,Y,Z",
        "Axis 1,Axis 2,Axis 3,Axis 4,Axis 5,Axis 6,Meas.X,Meas.Y,Meas.Z",
        "theta0,theta1,theta2,theta3,theta4,theta5,pos_x,pos_y,pos_z",
        "qS,qL,qU,qR,qB,qT,x,y,z",
        "a,b,c,d,e,f,g,h,i",
    ],
)
def test_names_of_any_kind(names: str, tmp_path: Path) -> None:
    robot, joints, points = recorded("puma560")
    path = written(tmp_path / "d.csv", joints, points, names)
    proposal = propose(path, robot)
    assert proposal.certainty is Certainty.SURE
    columns = [term.column for term in proposal.mapping.terms.values()]
    assert columns == names.split(",")
    assert_maps(path, robot, proposal)


def test_columns_without_names_among_others(tmp_path: Path) -> None:
    robot, joints, points = recorded("puma560")
    rng = np.random.default_rng(1)
    table = np.column_stack([np.arange(60), points, rng.normal(size=(60, 2)), joints])
    path = tmp_path / "d.txt"
    path.write_text("\n".join(" ".join(map(repr, row)) for row in table.tolist()))
    proposal = propose(path, robot)
    columns = [term.column for term in proposal.mapping.terms.values()]
    assert columns == ["#7", "#8", "#9", "#10", "#11", "#12", "#2", "#3", "#4"]
    assert "column names say nothing" in proposal.findings[0]
    assert_maps(path, robot, proposal)


def test_a_direction_that_changes_nothing_is_left_open(tmp_path: Path) -> None:
    """The tool of the UR10e lies on its last axis."""
    robot = th.robots.ur10e()
    data = th.simulate(robot, th.Position(), points=40, rng=np.random.default_rng(0))
    th.write_measurements(data, robot, tmp_path / "d.csv")
    proposal = propose(tmp_path / "d.csv", robot)
    assert proposal.findings == ()
    assert proposal.undecided == ("the direction of joint 6 changes nothing",)
    assert proposal.certainty is Certainty.LIKELY


def test_data_of_another_robot_fit_in_no_way(tmp_path: Path) -> None:
    robot, joints, points = recorded("puma560")
    path = written(tmp_path / "d.csv", joints, points, header(robot))
    proposal = propose(path, th.robots.ur10e())
    assert proposal.certainty is Certainty.NONE
    assert not proposal.usable
    assert proposal.findings == ()


def test_too_few_rows_are_named_by_their_names(tmp_path: Path) -> None:
    robot, joints, points = recorded("puma560", rows=6)
    path = written(tmp_path / "d.csv", joints, points, "J1,J2,J3,J4,J5,J6,X,Y,Z")
    proposal = propose(path, robot)
    assert proposal.certainty is Certainty.NAMES
    assert str(proposal.mapping).startswith("q1_deg=J1,q2_deg=J2")


def test_files_without_enough_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("J1,J2,X,Y,Z\n" + "1,2,3,4,5\n" * 20)
    with pytest.raises(InputError, match="no 6 columns that could be the joints of 'puma560'"):
        propose(path, th.robots.puma560())


def test_the_irb120_of_a_laser_tracker(recordings: Path, tmp_path: Path) -> None:
    """Real data, spoilt in three ways at once."""
    path = recordings / "irb120-tracker" / "train.csv"
    robot = th.robots.irb120()
    assert propose(path, robot).findings == ()
    rows = [line.split(",") for line in path.read_text().splitlines()]
    values = np.array(rows[1:], dtype=float)
    joints, points = np.radians(values[:, :6]), values[:, 6:9]
    joints[:, 4] *= -1
    points[:, 2] *= -1
    other = written(tmp_path / "d.csv", joints, points, "A1,A2,A3,A4,A5,A6,X,Y,Z")
    proposal = propose(other, robot)
    assert proposal.findings == ("left-handed coordinates; joint 5 reversed",)
    assert proposal.rms == pytest.approx(0.8e-3, abs=0.2e-3)
