"""Everett's study of calibration models [Everett1988, 2.2 and 2.4].

Three complete models of a three-joint arm, and the redundant arm with seven joints, calibrated
from the report's configurations and initial estimates.
"""

from __future__ import annotations

import numpy as np

from theodolite import robots
from theodolite.arrays import FloatArray
from theodolite.calibration.analytic import Measured, analytic
from theodolite.calibration.calibrate import identifiable
from theodolite.calibration.completeness import completeness
from theodolite.calibration.data import Dataset
from theodolite.calibration.frame import Frame, FrameProblem
from theodolite.calibration.noise import Noise
from theodolite.estimation.solver import solve
from theodolite.io.robot_file import parse_robot
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot
from theodolite.reproduce.figure import Figure

TITLE = "Calibration models (Everett 1988)"

_TOOL = "Tx(0) Ty(0) Tz(0.1) Rx(0) Ry(0) Rz(0)"
_SHOULDER = "Tx(0) Ty(0) Rx(0) Ry(0) Rz(q)"
_ELBOW = "Ty(0.4) Tz(0) Rz(0) Ry(0) Rx(-q)"
#: Figures 10 to 12, with L = 0.5 and D = 0.4; joint 1 about z, joints 2 and 3 about -x.
MODELS = {
    "figure 10": [_SHOULDER, "Ty(0) Tz(0.5) Rz(0) Ry(0) Rx(-q)", _ELBOW, _TOOL],
    "figure 11, shifted": [
        "Tx(0) Ty(0) Tz(0.5) Rx(0) Ry(0) Rz(q+0)",
        "Tx(0) Ty(0) Ry(0) Rx(-q)",
        _ELBOW,
        "Ty(0) Tz(0.1) Rx(0) Ry(0) Rz(0)",
    ],
    "figure 12, polar": [
        _SHOULDER,
        "Ty(0) Tz(0.5) Rz(0) Ry(0) Rx(-q+0)",
        "Ty(0.4) Rz(0) Ry(0) Rx(-q)",
        _TOOL,
    ],
}
#: Eqs. 7-14: the seven-joint arm as it is, in metres and degrees.
SEVEN_JOINTS = [
    "Rx(2) Ry(1) Tz(0.67) Rz(q)",
    "Tx(0.05) Rx(-90) Rz(q)",
    "Tx(0.42) Rx(-2) Rz(q)",
    "Tz(0.17) Rx(90) Tz(q)",
    "Rx(1) Ry(-2) Rz(q)",
    "Tz(0.1) Rx(-90) Rz(q)",
    "Tz(0.05) Rx(90) Rz(q)",
    "Tz(0.25) Ty(0.05) Rx(1) Ry(-2)",
]
#: The twelve configurations: degrees, and metres for joint 4.
CONFIGURATIONS = np.array(
    [
        [10, 20, 30, 0.4, 50, 60, 70],
        [-10, -30, -40, 0.43, -40, -30, 90],
        [20, 50, 70, 0.16, -10, 20, -50],
        [-60, 15, 90, 0.20, 30, 45, 10],
        [-30, 45, -30, 0.30, 20, -10, -30],
        [45, 60, 10, 0.1, 70, -46, 30],
        [-45, -20, -10, 0.25, -50, -60, 20],
        [0, -60, -70, 0.3, -20, -20, 45],
        [60, 90, -90, 0.35, -30, 30, -45],
        [30, -50, 40, 0.50, -70, 90, -90],
        [10, 0, 45, -0.1, 75, 35, 0],
        [-90, -90, -45, -0.2, 25, -45, -20],
    ]
)


def product_robot(name: str, rows: list[str], slides: tuple[int, ...] = ()) -> Robot:
    """A robot from products of elements, in metres and degrees."""
    frames = [
        f'{{ sigma = {2 if "q" not in row else int(number in slides)}, product = "{row}" }}'
        for number, row in enumerate(rows, start=1)
    ]
    moving = sum("q" in row for row in rows)
    text = [
        'format = "theodolite robot 1"',
        f'name = "{name}"',
        'units = { length = "m", angle = "deg" }',
        'convention = "product"',
        f"frames = [{', '.join(frames)}]",
        f"Qmin = [{', '.join(['-180'] * moving)}]",
        f"Qmax = [{', '.join(['180'] * moving)}]",
    ]
    robot = parse_robot("\n".join(text), name)
    assert isinstance(robot, Robot)
    return robot


def loses_completeness(robot: Robot) -> int:
    """How many parameters cannot be left out without losing completeness."""
    names = [parameter.name for parameter in robot.parameters if not parameter.gain]
    return sum(not completeness(robot.with_priorities({name: 0})).complete for name in names)


def seven_joint_data() -> tuple[Robot, Dataset]:
    """The arm as it is, and its poses in the twelve configurations."""
    true = product_robot("everett7-true", SEVEN_JOINTS, slides=(4,))
    motors = np.radians(CONFIGURATIONS)
    motors[:, 3] = CONFIGURATIONS[:, 3]
    rotations, positions = true.poses(motors)
    return true, Dataset(motors, positions=positions[:, None], rotations=rotations)


def minimum_norm(problem: FrameProblem, iterations: int = 8) -> FloatArray:
    """All parameters at once: the shortest step of each Gauss-Newton iteration."""
    values = np.array([parameter.value for parameter in problem.parameters])
    for _ in range(iterations):
        blocks = list(problem.blocks(values))
        J = np.concatenate([block.jacobian for block in blocks])
        r = np.concatenate([block.residual for block in blocks])
        values = values - np.linalg.lstsq(J, r, rcond=1e-10)[0]
    return values


def pose_error(robot: Machine, data: Dataset) -> float:
    """Largest difference between the poses' entries."""
    rotations, positions = robot.poses(data.motors)
    assert data.positions is not None
    assert data.rotations is not None
    turn, shift = rotations - data.rotations, positions - data.positions[:, 0]
    return float(max(np.abs(turn).max(), np.abs(shift).max()))


def figures() -> list[Figure]:
    """Every figure of the report's sections 2.2 and 2.4."""
    found = []
    for name, rows in MODELS.items():
        robot = product_robot(name, rows)
        report = completeness(robot)
        rank = analytic(robot, Measured.POSE).rank
        found.append(Figure(f"{name}: rank of 18 parameters", "18", "18", str(rank)))
        found.append(
            Figure(
                f"{name}: parameters that cannot be left out",
                "18",
                "18",
                str(loses_completeness(robot) if report.complete else 0),
            )
        )
    nominal = robots.load("everett7")
    true, data = seven_joint_data()
    rank = identifiable(nominal, Frame()).rank
    given = identifiable(nominal, Frame(), data=data).rank
    found.append(Figure("seven joints RRRPRRR: 4 R + 2 P + 6", "34", "32", str(rank)))
    found.append(Figure("the same at the twelve configurations", "-", "32", str(given)))
    printed = len([parameter for parameter in true.parameters if not parameter.gain])
    independent = analytic(true, Measured.POSE).rank
    found.append(Figure("printed parameters that are independent", "19", "19", str(independent)))
    assert printed == 19
    problem = Frame().problem(nominal, data, noise=Noise())
    solution = solve(problem)
    error = pose_error(problem.calibrated(solution.values), data)
    found.append(
        Figure(
            "calibration from the initial estimates: iterations",
            "-",
            "at most 6",
            str(solution.iterations),
            holds=solution.iterations <= 6,
        )
    )
    found.append(Figure("pose error", "-", "below 1e-13", f"{error:.1e}", holds=error < 1e-13))
    error = pose_error(problem.calibrated(minimum_norm(problem)), data)
    found.append(
        Figure(
            "all 48 parameters, minimum norm: pose error",
            "-",
            "below 1e-13",
            f"{error:.1e}",
            holds=error < 1e-13,
        )
    )
    return found
