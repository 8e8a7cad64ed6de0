"""A robot from scratch: axes from circles and lines of single joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.io.machines import machine_named


def recorded(
    name: str, noise: float, seed: int, positions: int = 12
) -> tuple[th.Robot, np.ndarray, np.ndarray]:
    """A robot that is off, readings with one joint moving at a time, and positions."""
    robot = machine_named(name)
    rng = np.random.default_rng(seed)
    true = th.perturb(robot, th.ParameterErrors(length=3e-3, angle=6e-3), rng)
    assert isinstance(true, th.Robot)
    home = robot.lower + rng.uniform(0.3, 0.7, robot.joints) * (robot.upper - robot.lower)
    rows = []
    for joint in range(robot.joints):
        for part in np.linspace(0.1, 0.9, positions):
            reading = home.copy()
            # What comes after a joint may stand anywhere.
            reading[joint + 1 :] += 0.01 * joint
            reading[joint] = robot.lower[joint] + part * (robot.upper - robot.lower)[joint]
            rows.append(reading)
    motors = np.array(rows)
    seen = true.motion(true.values, motors).position
    return true, motors, seen + noise * rng.standard_normal(seen.shape)


@pytest.mark.parametrize("name", ["puma560", "irb120", "panda", "scara", "stanford"])
def test_exact_circles_give_the_robot(name: str) -> None:
    true, motors, positions = recorded(name, 0.0, 1)
    robot, axes = th.robot_from_circles(motors, positions, true.joint_types)
    assert len(axes) == true.joints
    assert th.compare(robot, true, rng=2).max() < 1e-11
    assert th.completeness(robot).complete


def test_the_errors_of_the_axes_are_as_said() -> None:
    """Over 200 noisy recordings, tilts and shifts scatter by their standard deviations."""
    tilts, shifts = [], []
    true, motors, exact = recorded("puma560", 0.0, 3)
    _, wanted = th.robot_from_circles(motors, exact, true.joint_types)
    for seed in range(200):
        rng = np.random.default_rng(100 + seed)
        noisy = exact + 1e-4 * rng.standard_normal(exact.shape)
        _, axes = th.robot_from_circles(motors, noisy, true.joint_types)
        for one, other in zip(axes, wanted, strict=True):
            tilt = np.linalg.norm(np.cross(one.direction, other.direction))
            tilts.append((tilt / one.direction_error) ** 2)
            shifts.append(np.sum((one.point - other.point) ** 2) / (3 * one.point_error**2))
    # Each is one mean square of about 200 x 6 numbers, whose scatter is some per cent.
    assert np.mean(tilts) == pytest.approx(1.0, abs=0.15)
    assert np.mean(shifts) == pytest.approx(1.0, abs=0.15)


def test_it_is_a_start_for_a_calibration() -> None:
    true, motors, positions = recorded("irb120", 2e-5, 4)
    robot, _ = th.robot_from_circles(motors, positions, true.joint_types)
    noise = th.Noise(position=2e-5)
    data = th.simulate(true, "position", points=60, rng=5, noise=noise)
    result = th.identify(robot, data, "position", gains=False, terms="none")
    before, after = (th.compare(one, true, rng=6).mean() for one in (robot, result.robot))
    assert result.good, result.doubts()
    assert after < before
    assert after < 3e-5


def written(path: Path, motors: np.ndarray, positions: np.ndarray) -> Path:
    names = [f"q{n}_deg" for n in range(1, motors.shape[1] + 1)] + ["x_mm", "y_mm", "z_mm"]
    table = np.column_stack([np.degrees(motors), 1e3 * positions])
    lines = [",".join(names), *(",".join(map(repr, row)) for row in table.tolist())]
    path.write_text("\n".join(lines))
    return path


def test_a_file_says_which_joints_slide(tmp_path: Path) -> None:
    true, motors, positions = recorded("stanford", 0.0, 7)
    scaled = motors.copy()
    slides = [kind is th.Joint.PRISMATIC for kind in true.joint_types]
    scaled[:, slides] = np.radians(1e3 * motors[:, slides])
    path = written(tmp_path / "circles.csv", scaled, positions)
    path.write_text(path.read_text().replace("q3_deg", "q3_mm"))
    robot, _ = th.read_circles(path)
    assert robot.joint_types == true.joint_types
    assert th.compare(robot, true, rng=2).max() < 1e-11


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q, p: (np.where(np.arange(6) == 4, 0.3, q), p), "joint 5 never moves"),
        (lambda q, p: (q + 0.05 * np.arange(len(q))[:, None], p), "moves alone through 1 readings"),
        (lambda q, p: (q, 0.0 * p), "does not move when joint 1 does"),
        (
            lambda q, p: (q + np.where(np.arange(len(q)) < 30, 0.0, 0.2)[:, None], p),
            "stands in different places while later joints move",
        ),
    ],
)
def test_what_is_wrong_is_named(change, message: str) -> None:
    true, motors, positions = recorded("puma560", 0.0, 8)
    with pytest.raises(th.InputError, match=message):
        th.robot_from_circles(*change(motors, positions), true.joint_types)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("q2_deg", "q9_deg", "a column of joint 2"), ("z_mm", "w_mm", "unknown column 'w_mm'")],
)
def test_columns_that_are_missing(tmp_path: Path, old: str, new: str, message: str) -> None:
    _, motors, positions = recorded("puma560", 0.0, 9)
    path = written(tmp_path / "circles.csv", motors, positions)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(th.InputError, match=message):
        th.read_circles(path)
