"""Renaud et al. [Renaud2006]: the H4 parallel robot seen by a camera.

Errata: Z < 0 and e = (+, -, -, +); l = 260 is the driven arm, L = 480 the rod. The paper's poses
are not printed; ours are 27 places within 100, 100 and 50 mm of Z = -450 mm times three turns. The
truth of the simulations are the paper's identified robots, the columns of table 1. Tables 1 and 2
are in `renaud_tables.py`, table 3 and the square in `renaud_checks.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from theodolite import robots
from theodolite.arrays import FloatArray
from theodolite.calibration.calibrate import identifiable
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.parallel import Implicit, Inverse
from theodolite.estimation.solver import Change, Solution, solve
from theodolite.estimation.statistics import statistics
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.rotations import exp
from theodolite.reproduce.figure import NOTHING, Figure, below, between
from theodolite.reproduce.renaud_legs import closed_form_inverse

TITLE = "H4 parallel robot seen by a camera: what it shows (Renaud et al. 2006)"

#: Table 1, implicit-12 and inverse-12: millimetres made metres, radians.
IMPLICIT_12 = {
    "h": 0.061,
    "L": 0.4886,
    "l": 0.2598,
    "R": 0.1403,
    "a1": -0.05,
    "a2": 3.070,
    "a3": 4.678,
    "a4": 4.682,
    "q10": -0.0654,
    "q20": -0.0071,
    "q30": -0.0489,
    "q40": -0.0570,
}
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
#: Noise of our camera; the paper prints none of its own.
NOISE = Noise(2e-4, 5e-4, known=True)
#: Poses of which the paper identifies, of 81.
SHOWN = 71
#: Half of the part of the workspace that the grid fills, and of a wider one: m, m, m, rad.
NARROW = np.array([0.1, 0.1, 0.05, np.radians(50.0)])
WIDE = np.array([0.16, 0.16, 0.08, np.radians(50.0)])
#: The 0.1 and the 99.9 % point: what random errors stay between.
TAILS = (0.001, 0.999)

EVALUATIONS = (
    "an independent Gauss-Newton takes 4; one more widens the tolerances that the a priori values "
    "exceed, and one finds that nothing is left to do"
)
STOPPED = "the solver stops where a step is a thousandth of the error that the noise would make"
PROPAGATED = (
    "fresh poses in four times the volume of the 81. The noise is ours, 0.2 mm and 0.5 mrad. "
    "Expected: what its covariance gives, from the 0.1 to the 99.9 % point"
)
UNNAMED = (
    "the paper says that tTe and bTc hold parameters that cannot be identified, and that d is "
    "coupled with bTc_y; it does not mention the turn of the base with all joints, psi4"
)


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
    nominal: Mechanism,
    method: Method,
    data: Dataset,
    noise: Noise = NOISE,
    *,
    change: Change = Change.BASE,
) -> tuple[CalibrationProblem, Solution]:
    problem = method.problem(nominal, data, noise=noise)
    # Each method by itself, from the a priori values.
    start = np.array([parameter.value for parameter in problem.parameters])
    return problem, solve(problem, start=start, change=change)


def target_error(one: Machine, other: Machine, motors: FloatArray) -> float:
    """Rms distance of the targets of two robots at the same joints, metres."""
    apart = one.poses(motors)[1] - other.poses(motors)[1]
    return float(np.sqrt((apart**2).sum(axis=1).mean()))


def within(half: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Random coordinates X Y Z theta about the middle of the workspace, (count, 4)."""
    return np.array([0.0, 0.0, -0.45, 0.0]) + half * rng.uniform(-1, 1, (count, 4))


def in_its_frame(robot: Mechanism, motors: FloatArray) -> FloatArray:
    """Configurations with the platform's coordinates in the frame of the robot's own model.

    That of 31 parameters counts from joint 1 of the a priori robot, with the nacelle's arm: 0.2 m.
    """
    there = motors.copy()
    if "x2" in {parameter.name for parameter in robot.parameters}:
        there[:, 4] -= 0.2
    return there


@dataclass(frozen=True, eq=False)
class Identified:
    """A model of the H4 that was identified from simulated poses of another."""

    true: Mechanism
    robot: Mechanism
    problem: CalibrationProblem
    solution: Solution
    #: The poses that were not shown, with noise.
    held_out: Dataset

    def errors(self) -> dict[str, tuple[float, float]]:
        """Identified value and standard error of each identifiable parameter."""
        known = self.solution.identifiability
        standard = statistics(self.solution, noise_known=True).standard_errors
        values = self.solution.values[known.base]
        return {
            name: (float(value), float(error))
            for name, value, error in zip(known.identifiable, values, standard, strict=True)
        }


def identified(
    column: dict[str, float],
    nominal: Mechanism,
    method: Method,
    noise: Noise | None = NOISE,
    seed: int = 2005,
    change: Change = Change.BASE,
) -> Identified:
    """A model, identified from 71 of 81 poses of the robot of a column of table 1."""
    true = h4().with_values(column)
    rng = np.random.default_rng(seed)
    data = measured(true, grid(), noise, rng)
    data = Dataset(
        in_its_frame(nominal, data.motors), positions=data.positions, rotations=data.rotations
    )
    order = rng.permutation(len(data))
    problem, solution = calibrated(nominal, method, data.take(order[:SHOWN]), change=change)
    robot = problem.calibrated(solution.values)
    assert isinstance(robot, Mechanism)
    return Identified(true, robot, problem, solution, data.take(order[SHOWN:]))


@cache
def studies() -> dict[str, Identified]:
    """The paper's three models, identified from the same simulated robot, inverse-12 of table 1."""
    return {
        "implicit-12": identified(IDENTIFIED, h4(), Implicit()),
        "inverse-12": identified(IDENTIFIED, h4(), Inverse()),
        "implicit-31": identified(IDENTIFIED, h4_31(), Implicit()),
    }


@cache
def fresh() -> FloatArray:
    """Random configurations in four times the volume that the 81 poses fill, where legs reach."""
    coordinates = within(WIDE, 100, np.random.default_rng(1))
    joints = joints_at(truth(), coordinates)
    reached = np.isfinite(joints).all(axis=1)
    return np.concatenate([joints, coordinates], axis=1)[reached]


def fresh_error(found: Identified, motors: FloatArray) -> float:
    """Rms distance of the targets of identified and true robot at the same joints, metres."""
    apart = found.robot.poses(in_its_frame(found.robot, motors))[1] - found.true.poses(motors)[1]
    return float(np.sqrt((apart**2).sum(axis=1).mean()))


def predicted_error(found: Identified, motors: FloatArray) -> tuple[float, float, float]:
    """The same as the covariance predicts it: expected, and between what it should be, metres."""
    from scipy.stats import chi2

    known = found.solution.identifiability
    covariance = statistics(found.solution, noise_known=True).covariance
    names = [parameter.name for parameter in found.robot.parameters]
    columns = [names.index(name) for name in known.identifiable]
    motion = found.robot.motion(found.robot.values, in_its_frame(found.robot, motors))
    J = motion.position_jacobian()[:, :, columns]
    shares = np.linalg.eigvals(np.einsum("nij,nik->jk", J, J) / len(J) @ covariance).real
    # A sum of squares with different weights is nearly chi square, with fewer degrees of freedom.
    mean = float(shares.sum())
    freedom = mean**2 / float((shares**2).sum())
    low, high = (np.sqrt(mean * chi2.ppf(tail, freedom) / freedom) for tail in TAILS)
    return float(np.sqrt(mean)), float(low), float(high)


def figures() -> list[Figure]:
    """What the three models can identify, and how well."""
    return _ranks() + _exact() + _noisy()


def _ranks() -> list[Figure]:
    found = []
    coordinates = within(NARROW, 60, np.random.default_rng(1))
    for name, robot, method, expected, lost in (
        ("implicit-12", h4(), Implicit(), "21 of 24", "tTe_rx tTe_ry tTe_z"),
        ("inverse-12", h4(), Inverse(), "21 of 24", "tTe_rx tTe_ry tTe_z"),
        ("implicit-31", h4_31(), Implicit(), "38 of 43", "d psi4 tTe_rx tTe_ry tTe_z"),
    ):
        there = in_its_frame(robot, np.pad(coordinates, ((0, 0), (4, 0))))[:, 4:]
        known = identifiable(robot, method, data=measured(robot, there))
        ours = f"{known.rank} of {len(known.parameters)}"
        left = sorted(known.names(np.concatenate([known.regrouped, known.no_effect])))
        found += [
            Figure(f"{name}: identifiable", NOTHING, expected, ours, why=UNNAMED),
            Figure(f"{name}: left out", NOTHING, lost, " ".join(left), why=UNNAMED),
        ]
    return found


def _exact() -> list[Figure]:
    found = []
    for name, method in (("implicit-12", Implicit()), ("inverse-12", Inverse())):
        study = identified(IDENTIFIED, h4(), method, noise=None)
        # The paper moves all its parameters; base parameters alone take a few steps more.
        whole = identified(IDENTIFIED, h4(), method, noise=None, change=Change.ALL)
        count = whole.solution.iterations + 1
        limit = 1e-3 * predicted_error(study, fresh())[0]
        found += [
            Figure(
                f"{name}, no noise: evaluations", NOTHING, "at most 6", str(count),
                holds=count <= 6, why=EVALUATIONS,
            ),
            below(
                f"{name}, no noise: error on fresh poses (mm)", NOTHING, 1e3 * limit,
                1e3 * fresh_error(study, fresh()), why=STOPPED,
            ),
        ]  # fmt: skip
    return found


def _noisy() -> list[Figure]:
    found, errors = [], {}
    for name, study in studies().items():
        errors[name] = fresh_error(study, fresh())
        bounds = predicted_error(study, fresh())[1:]
        found.append(
            between(
                f"{name}, with noise: error on fresh poses (mm)", NOTHING,
                (1e3 * bounds[0], 1e3 * bounds[1]), 1e3 * errors[name], form=".2f", why=PROPAGATED,
            )
        )  # fmt: skip
    worse = errors["implicit-31"] > max(errors["implicit-12"], errors["inverse-12"])
    return [
        *found,
        Figure("31 parameters are worse than 12", "yes", "yes", "yes" if worse else "no"),
    ]
