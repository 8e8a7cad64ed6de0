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
from theodolite.calibration.data import Dataset
from theodolite.calibration.frame import Frame, FrameProblem
from theodolite.calibration.noise import Noise
from theodolite.estimation.solver import solve
from theodolite.io.robot_file import parse_robot
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot
from theodolite.reproduce.figure import NOTHING, Figure, below

TITLE = "Calibration models (Everett 1988)"

#: Entries of a pose are products of about 20 numbers below 2, each with a rounding error of 2e-16.
ROUNDING = 1e-14
#: The same times the condition number of their columns, 17, in 19 parameters: a sum of squares.
SQUARES = 1e-24
EQUATION_73 = "the report prints 18 parameters in each model, which are 4 x 3 + 6 of its eq. 73"
SAME_ARM = (
    "the three models describe the same arms: one with 18 errors up to 5 mm and 5 mrad, fitted by "
    "each model; only rounding is left"
)
A_SLIDE = "the 34 of the text is for seven revolute joints; joint 4 is prismatic"
SUM_OF_SQUARES = (
    "called a two-norm in the report, but 1e-29 can only be a sum of squares of rounding errors; "
    "it is one below 1e-24: 1e-14 times the condition number, 17, in each of 19 parameters"
)
STEPS = "an independent Gauss-Newton takes 5 steps; the report prints no number"
POSES = "48 parameters for 32: the parameters are not unique, but the poses are; rounding is left"

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
#: Eqs. 15-22: where the same parameters start. The tool's Ty, which eq. 22 lacks, starts at 0.
SEVEN_JOINTS_START = [
    "Rx(0) Ry(0) Tz(0.67) Rz(q)",
    "Tx(0) Rx(-90) Rz(q)",
    "Tx(0.43) Rx(0) Rz(q)",
    "Tz(0.15) Rx(90) Tz(q)",
    "Rx(0) Ry(0) Rz(q)",
    "Tz(0) Rx(-90) Rz(q)",
    "Tz(0) Rx(90) Rz(q)",
    "Tz(0.2) Ty(0) Rx(0) Ry(0)",
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


def _serial(name: str) -> Robot:
    robot = robots.load(name)
    assert isinstance(robot, Robot)
    return robot


def essential(robot: Robot) -> int:
    """How many parameters cannot be left out without losing one that exists [2.4.4]."""
    rank = analytic(robot, Measured.POSE).rank
    names = [parameter.name for parameter in robot.parameters if not parameter.gain]
    return sum(
        analytic(robot.with_priorities({name: 0}), Measured.POSE).rank < rank for name in names
    )


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


def parameter_errors() -> tuple[int, float]:
    """How many printed parameters are found, and the sum of their squared errors, m and rad."""
    true, data = seven_joint_data()
    problem = Frame().problem(
        product_robot("everett7-start", SEVEN_JOINTS_START, slides=(4,)), data, noise=Noise()
    )
    solution = solve(problem)
    right = {parameter.name: parameter.value for parameter in true.parameters}
    wanted = np.array([right[parameter.name] for parameter in problem.parameters])
    return solution.identifiability.rank, float(((solution.values - wanted) ** 2).sum())


def described_by(rows: list[str], data: Dataset) -> float:
    """Largest pose error of a model that is fitted to another robot's poses."""
    problem = Frame().problem(product_robot("model", rows), data, noise=Noise())
    return pose_error(problem.calibrated(solve(problem).values), data)


def some_robot() -> Dataset:
    """Poses of an arm of figure 10 with errors in all its 18 parameters."""
    rng = np.random.default_rng(10)
    nominal = product_robot("figure 10", MODELS["figure 10"])
    names = [parameter.name for parameter in nominal.parameters if not parameter.gain]
    values = {p.name: p.value for p in nominal.parameters}
    errors = 5e-3 * rng.uniform(-1, 1, len(names))
    true = nominal.with_values({n: values[n] + e for n, e in zip(names, errors, strict=True)})
    motors = rng.uniform(-2.0, 2.0, (30, 3))
    rotations, positions = true.poses(motors)
    return Dataset(motors, positions=positions[:, None], rotations=rotations)


def figures() -> list[Figure]:
    """Every figure of the report's sections 2.2 and 2.4."""
    return _models() + _seven_joints()


def _models() -> list[Figure]:
    puma = analytic(_serial("puma560"), Measured.POSE).rank
    found = [Figure("PUMA with six joints: free variables", "30", "30", str(puma))]
    data = some_robot()
    for name, rows in MODELS.items():
        robot = product_robot(name, rows)
        rank = analytic(robot, Measured.POSE).rank
        found += [
            Figure(f"{name}: rank of 18 parameters", "18", "18", str(rank), why=EQUATION_73),
            Figure(
                f"{name}: parameters that cannot be left out", "18", "18", str(essential(robot)),
                why=EQUATION_73,
            ),
            below(
                f"{name}: error of the poses of one and the same arm", NOTHING, ROUNDING,
                described_by(rows, data), why=SAME_ARM,
            ),
        ]  # fmt: skip
    return found


def _seven_joints() -> list[Figure]:
    nominal = robots.load("everett7")
    true, data = seven_joint_data()
    rank = identifiable(nominal, Frame()).rank
    given = identifiable(nominal, Frame(), data=data).rank
    independent = analytic(true, Measured.POSE).rank
    problem = Frame().problem(nominal, data, noise=Noise())
    solution = solve(problem)
    error = pose_error(problem.calibrated(solution.values), data)
    shortest = pose_error(problem.calibrated(minimum_norm(problem)), data)
    identified, squares = parameter_errors()
    return [
        Figure("seven joints RRRPRRR: 4 R + 2 P + 6", "34", "32", str(rank), why=A_SLIDE),
        Figure("the same at the twelve configurations", NOTHING, "32", str(given)),
        Figure("printed parameters that are independent", "19", "19", str(independent)),
        Figure("the same, identified from eqs. 15-22", "19", "19", str(identified)),
        below("their squared errors, summed", "2.7e-29", SQUARES, squares, why=SUM_OF_SQUARES),
        Figure(
            "all 48 parameters from eqs. 15-22: iterations", NOTHING, "at most 5",
            str(solution.iterations), holds=solution.iterations <= 5, why=STEPS,
        ),
        below("all 48 parameters: pose error", NOTHING, ROUNDING, error, why=POSES),
        below("all 48, minimum norm: pose error", NOTHING, ROUNDING, shortest, why=POSES),
    ]  # fmt: skip
