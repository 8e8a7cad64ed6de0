"""Renaud et al. [Renaud2006]: the H4 parallel robot seen by a camera.

Errata: Z < 0 and e = (+, -, -, +); l = 260 is the driven arm, L = 480 the rod. The paper's poses
are not printed; ours are 27 places within 100, 100 and 50 mm of Z = -450 mm times three turns. In
table 2 the 3.5e-3 of the second joint is most likely 3.5e-2. The truth of the simulations is the
paper's identified robot, column inverse-12 of table 1.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from theodolite import robots
from theodolite.arrays import FloatArray
from theodolite.calibration.calibrate import identifiable
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.parallel import Implicit, Inverse
from theodolite.estimation.solver import Solution, solve
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.rotations import exp
from theodolite.reproduce.figure import Figure
from theodolite.reproduce.renaud_legs import closed_form_inverse
from theodolite.reproduce.renaud_ruler import drawing_error, drawn, ruler, square

TITLE = "H4 parallel robot seen by a camera (Renaud et al. 2006)"

#: Table 1, inverse-12: millimetres made metres, radians.
IDENTIFIED = {
    "h": 0.061,
    "L": 0.4872,
    "l": 0.2596,
    "R": 0.1411,
    "a1": -0.0015,
    "a2": 3.094,
    "a3": 4.675,
    "a4": 4.680,
    "q10": -0.0692,
    "q20": -0.0191,
    "q30": -0.0525,
    "q40": -0.0609,
}
#: The paper's noise, as its residuals suggest.
NOISE = Noise(2e-4, 5e-4, known=True)
#: Where the ruler lies: from, to.
RULERS = (((-0.1, 0.0), (0.1, 0.02)), ((0.01, -0.1), (-0.01, 0.1)))


@cache
def h4() -> Mechanism:
    robot = robots.load("h4")
    assert isinstance(robot, Mechanism)
    return robot


@cache
def truth() -> Mechanism:
    return h4().with_values(IDENTIFIED)


@cache
def h4_31() -> Mechanism:
    robot = robots.load("h4_31")
    assert isinstance(robot, Mechanism)
    return robot


def grid(half: float = 0.1, centre: float = -0.45, height: float = 0.05) -> FloatArray:
    """Coordinates X Y Z theta of 81 poses, (81, 4)."""
    turns = np.radians([-50.0, 0.0, 50.0])
    return np.array(
        [
            (x, y, centre + z, turn)
            for x in (-half, 0.0, half)
            for y in (-half, 0.0, half)
            for z in (-height, 0.0, height)
            for turn in turns
        ]
    )


def joints_at(robot: Mechanism, coordinates: FloatArray) -> FloatArray:
    """Joints in closed form, eq. 2."""
    guess = np.tile(robot.home[0], (len(coordinates), 1))
    return closed_form_inverse(robot, robot.values, coordinates, guess)


def measured(
    robot: Mechanism,
    coordinates: FloatArray,
    noise: Noise | None = None,
    rng: np.random.Generator | None = None,
) -> Dataset:
    """Joints and poses of the target that the camera sees, at given coordinates."""
    motors = np.concatenate([joints_at(robot, coordinates), coordinates], axis=1)
    turned, positions = robot.poses(motors)
    if noise is not None and rng is not None:
        positions = positions + noise.position * rng.standard_normal(positions.shape)
        turned = exp(noise.orientation * rng.standard_normal(positions.shape)) @ turned
    return Dataset(motors, positions=positions[:, None], rotations=turned)


def calibrated(
    nominal: Mechanism, method: Method, data: Dataset, noise: Noise = NOISE
) -> tuple[CalibrationProblem, Solution]:
    problem = method.problem(nominal, data, noise=noise)
    # Each method by itself, from the a priori values.
    start = np.array([parameter.value for parameter in problem.parameters])
    return problem, solve(problem, start=start)


def target_error(one: Machine, other: Machine, motors: FloatArray) -> float:
    """Rms distance of the targets of two robots at the same joints, metres."""
    apart = one.poses(motors)[1] - other.poses(motors)[1]
    return float(np.sqrt((apart**2).sum(axis=1).mean()))


def figures() -> list[Figure]:
    """Ranks, tables 1 to 3 and the square."""
    found = _ranks()
    found += _tables()
    found += _calibrations()
    return found + _validation()


def _ranks() -> list[Figure]:
    found = []
    for name, robot, method, paper, expected, lost in (
        ("implicit-12", h4(), Implicit(), "-", "21 of 24", "tTe_rx tTe_ry tTe_z"),
        ("inverse-12", h4(), Inverse(), "-", "21 of 24", "tTe_rx tTe_ry tTe_z"),
        ("implicit-31", h4_31(), Implicit(), "-", "38 of 43", "d psi4 tTe_rx tTe_ry tTe_z"),
    ):
        known = identifiable(robot, method)
        ours = f"{known.rank} of {len(known.parameters)}"
        found.append(Figure(f"{name}: identifiable", paper, expected, ours))
        left = sorted(known.names(np.concatenate([known.regrouped, known.no_effect])))
        found.append(Figure(f"{name}: left out", paper, lost, " ".join(left)))
    return found


def _tables() -> list[Figure]:
    coordinates = grid()
    joints = joints_at(truth(), coordinates)
    off = (joints_at(h4(), coordinates) - joints).mean(axis=0)
    found = []
    for number, (paper, expected) in enumerate(
        (("0.090", 0.094), ("0.0035", 0.044), ("0.073", 0.077), ("0.083", 0.088))
    ):
        found.append(
            Figure(
                f"table 2, CAD model: mean error of q{number + 1} (rad)",
                paper,
                f"{expected}",
                f"{off[number]:.4f}",
                holds=bool(abs(off[number] - expected) < 0.0015),
            )
        )
    there = h4().close(h4().values, joints, coordinates)[0]
    apart = np.linalg.norm(there[:, :3] - coordinates[:, :3], axis=1).mean()
    found.append(
        Figure(
            "a priori against identified parameters: mean distance (mm)",
            "26",
            "26.9",
            f"{1e3 * apart:.1f}",
            holds=bool(abs(1e3 * apart - 26.9) < 1.0),
        )
    )
    return found


def _calibrations() -> list[Figure]:
    found = []
    coordinates = grid()
    rng = np.random.default_rng(2005)
    shown = rng.permutation(len(coordinates))[:71]
    fresh = truth().random_motors(200, np.random.default_rng(1))
    exact = measured(truth(), coordinates)
    for name, method in (("implicit-12", Implicit()), ("inverse-12", Inverse())):
        problem, solution = calibrated(h4(), method, exact)
        error = target_error(problem.calibrated(solution.values), truth(), fresh)
        found.append(
            Figure(
                f"{name}, no noise: evaluations, error on fresh poses (mm)",
                "-",
                "at most 6, below 1e-9",
                f"{solution.iterations + 1}, {1e3 * error:.0e}",
                holds=solution.iterations + 1 <= 6 and error < 1e-12,
            )
        )
    noisy = measured(truth(), coordinates, NOISE, rng).take(shown)
    results = {}
    for name, nominal, method in (
        ("implicit-12", h4(), Implicit()),
        ("inverse-12", h4(), Inverse()),
        ("implicit-31", h4_31(), Implicit()),
    ):
        data = noisy
        if nominal is h4_31():
            data = _in_frame_of_joint_1(noisy)
        problem, solution = calibrated(nominal, method, data)
        robot = problem.calibrated(solution.values)
        motors = fresh if nominal is h4() else _shifted(fresh)
        apart = robot.poses(motors)[1] - truth().poses(fresh)[1]
        results[name] = 1e3 * float(np.sqrt((apart**2).sum(axis=1).mean()))
    for name, expected in (
        ("implicit-12", "0.7 to 1.0"),
        ("inverse-12", "0.7 to 1.0"),
        ("implicit-31", "1.8"),
    ):
        found.append(
            Figure(
                f"{name}, 0.2 mm / 0.5 mrad: error on fresh poses (mm)",
                "-",
                f"{expected}, unweighted",
                f"{results[name]:.2f}",
                # Weighted by the noise, ours must not be worse.
                holds=results[name] < (1.0 if "12" in name else 1.8),
            )
        )
    found.append(
        Figure(
            "31 parameters are worse than 12",
            "yes",
            "yes",
            "yes"
            if results["implicit-31"] > max(results["implicit-12"], results["inverse-12"])
            else "no",
        )
    )
    return found


def _shifted(motors: FloatArray) -> FloatArray:
    """Configurations with the platform's coordinates in the frame of the 31-parameter model."""
    there = motors.copy()
    there[:, 4] -= 0.2
    return there


def _in_frame_of_joint_1(data: Dataset) -> Dataset:
    return Dataset(_shifted(data.motors), positions=data.positions, rotations=data.rotations)


def led_along(
    robot: Mechanism, ends: tuple[tuple[float, float], tuple[float, float]]
) -> FloatArray:
    """Coordinates of ten stations along a ruler, (10, 4)."""
    way = np.linspace(0.0, 1.0, 10)[:, None]
    (x0, y0), (x1, y1) = ends
    line = np.array([x0, y0]) + way * np.array([x1 - x0, y1 - y0])
    return np.column_stack([line, np.full(10, -0.43), np.full(10, 0.1)])


def _validation() -> list[Figure]:
    rng = np.random.default_rng(7)
    data = measured(truth(), grid(), NOISE, rng)
    problem, solution = calibrated(h4(), Inverse(), data)
    robot = problem.calibrated(solution.values)
    assert isinstance(robot, Mechanism)
    found = []
    for number, (ends, before, after) in enumerate(
        zip(RULERS, ("1.3", "2.5"), ("0.49", "0.38"), strict=True), 1
    ):
        stations = led_along(truth(), ends)
        joints = joints_at(truth(), stations)
        # Encoders of the real robot are read while it is led by hand.
        joints = joints + 2e-4 * rng.standard_normal(joints.shape)
        for name, model, paper, limit in (
            ("a priori", h4(), before, 4.0),
            ("inverse-12", robot, after, 0.5),
        ):
            deviation = 1e3 * ruler(model, joints, stations).deviation
            found.append(
                Figure(
                    f"table 3, direction {number}, {name}: deviation from the line (mm)",
                    paper,
                    f"at most {limit}",
                    f"{deviation:.2f}",
                    holds=deviation <= limit,
                )
            )
    corners = square(np.array([0.0, 0.0, -0.45, 0.0]), 0.1)
    for name, model, paper, low, high in (
        ("a priori", h4(), "about 10", 5.0, 15.0),
        ("inverse-12", robot, "about 1", 0.0, 1.0),
    ):
        error = 1e3 * drawing_error(drawn(truth(), model, corners), corners)
        expected = f"{low:.0f} to {high:.0f}" if low else f"below {high:.0f}"
        found.append(
            Figure(
                f"100 mm square, {name}: largest error of a corner (mm)",
                paper,
                expected,
                f"{error:.2f}",
                holds=low <= error < high,
            )
        )
    return found


def plots(folder: Path) -> list[Path]:
    """The square and the residuals of table 2, as pictures."""
    from theodolite.report.plots import compared_bars, drawn_squares

    data = measured(truth(), grid(), NOISE, np.random.default_rng(7))
    problem, solution = calibrated(h4(), Inverse(), data)
    robot = problem.calibrated(solution.values)
    assert isinstance(robot, Mechanism)
    corners = square(np.array([0.0, 0.0, -0.45, 0.0]), 0.1)
    drawings = {"commanded": corners}
    for name, model in (("a priori", h4()), ("identified", robot)):
        reached = drawn(truth(), model, corners)
        drawings[name] = reached - reached[0] + corners[0]
    paths = [folder / "h4-square.svg", folder / "h4-residuals.svg"]
    drawn_squares(paths[0], drawings)
    joints = joints_at(truth(), grid())
    after = joints_at(robot, grid()) - joints
    before = joints_at(h4(), grid()) - joints
    compared_bars(
        paths[1],
        ["q1", "q2", "q3", "q4"],
        {
            "a priori, paper": [0.090, 0.035, 0.073, 0.083],
            "a priori, ours": before.mean(axis=0).tolist(),
            "identified, ours": np.sqrt((after**2).mean(axis=0)).tolist(),
        },
        "mean error (rad)",
    )
    return paths
