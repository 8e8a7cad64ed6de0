"""Everett's five-bar robot, calibrated with Lagrange multipliers [Everett1988, 2.3.5].

``To = A0 A1 A2 At`` with At = Tx(6) (eq. 47 prints the identity), ``Tc = A3 A4 A5 A1 A2``, planar.
The .2 and .1 joint offsets of the initial estimate are degrees.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from theodolite import robots
from theodolite.arrays import FloatArray
from theodolite.calibration.calibrate import identifiable
from theodolite.calibration.data import Dataset
from theodolite.calibration.frame import Frame
from theodolite.calibration.method import CalibrationProblem, Method
from theodolite.calibration.noise import Noise
from theodolite.calibration.position import Position
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.multipliers import (
    MultiplierSolution,
    solve_with_multipliers,
    solve_with_penalty,
)
from theodolite.estimation.solver import Solution, solve
from theodolite.estimation.statistics import statistics
from theodolite.model.mechanism import Mechanism
from theodolite.reproduce.figure import NOTHING, Figure, below, between, near

TITLE = "Five-bar robot with Lagrange multipliers (Everett 1988)"

#: Tolerance of constants of which nothing is known, metres and radians.
UNKNOWN = 20.0
#: The initial estimate, eqs. 48-54: lengths as printed, angles in degrees.
START = {
    "A0": {"Tx": 0.1, "Ty": 0.2, "Rx": 1, "Ry": 1, "Tz": 1, "Txb": 4.8, "Tyb": 0.2, "Rxb": -88}
    | {"Ryb": 1},
    "A1": {"Rz": 0.2, "Tx": 4.2, "Ty": 0.1},
    "A2": {"Tx": 3.2, "Ty": 0.1},
    "A3": {"Tx": 3.2, "Ty": 0.2},
    "A4": {"Tx": 4.2, "Ty": 0.2, "Rzb": 1},
    "A5": {"Rz": 0.1, "Tx": 8.7, "Ty": 0.2},
    "At": {"Rz": 2, "Tx": 0.1, "Ty": 0.2, "Tz": 0.2, "Rx": 2, "Ry": 3},
}
#: Input angles in degrees, and the printed positions of P.
ROWS = np.array(
    [
        [0, 71, 211, 5.365, 0, 7.552],
        [10, 74, 214, 5.146, 0.907, 7.4215],
        [20, 77, 217, 4.809, 1.750, 7.135],
        [30, 68, 220, 4.415, 2.549, 8.633],
        [40, 65, 205, 4.390, 3.684, 7.463],
        [50, 60, 200, 3.923, 4.676, 7.106],
        [60, 57, 197, 3.171, 5.492, 6.793],
        [70, 50, 190, 2.357, 6.476, 5.853],
        [80, 45, 185, 1.257, 7.132, 5.076],
        [90, 40, 180, 0, 7.536, 4.283],
        [100, 89, 210, -0.524, 2.972, -0.053],
        [-10, 10, 130, 8.001, -1.410, -0.664],
        [-20, 83, 224, 3.682, -1.340, 0.716],
        [-30, 5, 126, 7.192, -4.152, -0.443],
        [-40, 0, 120, 6.428, -5.393, -0.393],
    ]
)
#: Rows (from 1) on the other assembly branch: joint 3 right of the line from joint 2 to joint 4.
OTHER_BRANCH = (11, 13)
#: One unit of the last digit of P: some of the printed positions are cut off, not rounded.
LAST_DIGIT = 1e-3
#: 90 residuals of 1e-14, the rounding of sums of lengths of 10, halved and squared.
OBJECTIVE = 1e-26
#: Such residuals, times what a loop makes of them, less than 100 fold.
MULTIPLIER = 1e-12
#: 45 - 19 degrees of freedom of rounding errors of variance 1e-6 / 12, halved: 1.1e-6, between
#: the 0.1 and the 99.9 % point of chi square.
PRINTED_OBJECTIVE = (0.38e-6, 2.3e-6)

CUT_OFF = "within 1e-3, one unit of the last digit: some positions are truncated, not rounded"
BRANCHES = (
    "joint 3 lies to the right of the line from joint 2 to joint 4; the report does not say so"
)
ROUNDING = (
    "nothing but rounding: 90 residuals of 1e-14 (lengths of 10 in double precision). The report "
    "stops at an objective of the order of 1e-14"
)
ITERATIONS = "the report's 9; an independent Gauss-Newton takes 9 from there, and 6 from x = 6.1"
BOTH_WAYS = (
    "multipliers and elimination; rounding of 1e-14 times the square of the condition number, 340 "
    "(standard errors: once more). From x = .1 elimination starts at what multipliers found"
)
THREE_DECIMALS = (
    "(45 - 19) / 2 x 1e-6 / 12 = 1.1e-6 for rounded positions, within the 99.8 % range of chi "
    "square: the report's 1e-14 comes from positions it does not print"
)
PENALTY = "in proportion to 1 / weight, to first order: 100-fold"
#: Lengths and angles count alike, as in the report: its normalising length is 1.
UNIT = Noise(1.0, 1.0)


@cache
def five_bar() -> Mechanism:
    robot = robots.load("fivebar")
    assert isinstance(robot, Mechanism)
    return robot


def start(x: float) -> Mechanism:
    """The printed initial estimate, with a chosen x of the tool."""
    values = {
        f"{body}.{symbol}": float(np.radians(value)) if symbol.startswith("R") else float(value)
        for body, amounts in START.items()
        for symbol, value in amounts.items()
    }
    guessed = five_bar().with_values({**values, "At.Tx": x})
    # The report knows no tolerances: as good as none.
    return guessed.with_tolerances({p.name: UNKNOWN for p in guessed.parameters})


def guesses(active: FloatArray, side: FloatArray | None = None) -> FloatArray:
    """Passive joints by hand: where two circles about joints 2 and 4 meet, on the right side.

    Joint 3 lies left of the line from joint 2 to joint 4 where ``side`` is 1, right of it where it
    is -1; as in the report unless said otherwise.
    """
    if side is None:
        side = np.ones(len(active))
        side[[row - 1 for row in OTHER_BRANCH if row <= len(active)]] = -1.0
    t1, t2 = active[:, 1], active[:, 2]
    second = 4.0 * np.column_stack([np.cos(t1), np.sin(t1)])
    # Joint 5 stands at distance 9 along x; the link from joint 4 to it points along pi - t2.
    fourth = np.array([9.0, 0.0]) - 4.0 * np.column_stack([np.cos(np.pi - t2), np.sin(np.pi - t2)])
    across = fourth - second
    half = np.linalg.norm(across, axis=1) / 2
    height = np.sqrt(np.maximum(9.0 - half**2, 0.0))
    left = np.column_stack([-across[:, 1], across[:, 0]]) / (2 * half[:, None])
    third = second + across / 2 + (side * height)[:, None] * left
    to_third = np.arctan2(*(third - second).T[::-1])
    to_fourth = np.arctan2(*(fourth - third).T[::-1])
    to_fifth = np.arctan2(*(np.array([9.0, 0.0]) - fourth).T[::-1])
    return np.column_stack([to_third - t1, to_fourth - to_third, to_fifth - to_fourth])


def distances(side: float | None = None) -> FloatArray:
    """Largest difference from each printed position, on the report's branch or on a given one."""
    active = np.radians(ROWS[:, :3])
    sides = None if side is None else np.full(len(ROWS), side)
    motors = np.concatenate([active, guesses(active, sides)], axis=1)
    return np.abs(five_bar().poses(motors)[1] - ROWS[:, 3:]).max(axis=1)


def measured(*, pose: bool) -> Dataset:
    """The exact five-bar in the fifteen configurations, each on its branch."""
    active = np.radians(ROWS[:, :3])
    motors = np.concatenate([active, guesses(active)], axis=1)
    turned, positions = five_bar().poses(motors)
    return Dataset(motors, positions=positions[:, None], rotations=turned if pose else None)


def posed(*, pose: bool, x: float) -> CalibrationProblem:
    """The calibration from the initial estimate, with a chosen x of the tool."""
    method: Method = Frame() if pose else Position()
    return method.problem(start(x), measured(pose=pose), noise=UNIT)


def identifiable_constants(*, pose: bool) -> Identifiability:
    """What the fifteen measurements determine of the 28 constants."""
    method: Method = Frame() if pose else Position()
    return identifiable(five_bar(), method, data=measured(pose=pose))


@cache
def by_multipliers(*, pose: bool, x: float) -> MultiplierSolution:
    problem = posed(pose=pose, x=x).constrained()
    assert problem is not None  # a five-bar has loops
    return solve_with_multipliers(problem)


def by_elimination(*, pose: bool, x: float, start: FloatArray | None = None) -> Solution:
    return solve(posed(pose=pose, x=x), start=start)


def agreement(*, pose: bool, x: float) -> tuple[float, float]:
    """Largest differences of constants and, relatively, of standard errors between both ways."""
    held = by_multipliers(pose=pose, x=x)
    # From the far start with positions, elimination alone ends in another minimum.
    closed = by_elimination(pose=pose, x=x, start=held.values if not pose and x < 1 else None)
    if set(held.identifiability.base) != set(closed.identifiability.base):
        return float("inf"), float("inf")
    errors = [
        statistics(found, noise_known=True).standard_errors[np.argsort(found.changed)]
        for found in (held, closed)
    ]
    return (
        float(np.abs(held.values - closed.values).max()),
        float(np.abs(errors[0] / errors[1] - 1.0).max()),
    )


def from_printed_positions() -> float:
    """The objective that the printed positions allow, with their three decimals."""
    active = np.radians(ROWS[:, :3])
    motors = np.concatenate([active, guesses(active)], axis=1)
    problem = Position().problem(
        start(6.1), Dataset(motors, positions=ROWS[:, None, 3:]), noise=UNIT
    )
    loops = problem.constrained()
    assert loops is not None  # a five-bar has loops
    return solve_with_multipliers(loops).objective


def figures() -> list[Figure]:
    """Positions, counts and calibrations of the five-bar."""
    right = int((distances() < LAST_DIGIT).sum())
    other = [row for row, near in enumerate(distances(-1.0) < LAST_DIGIT, start=1) if near]
    found = [
        Figure("positions of P right in their last digit", "15", "15", str(right), why=CUT_OFF),
        Figure(
            "rows on the other assembly branch", NOTHING, " ".join(map(str, OTHER_BRANCH)),
            " ".join(map(str, other)), why=BRANCHES,
        ),
    ]  # fmt: skip
    for name, pose, rank in (("pose", True, "22"), ("position", False, "19")):
        known = identifiable_constants(pose=pose)
        found.append(
            Figure(f"identifiable of 28 constants, {name}", NOTHING, rank, str(known.rank))
        )
    found += _calibration("pose, printed start", "9", 9, pose=True, x=0.1)
    found += _calibration("position, x = 6.1", NOTHING, 6, pose=False, x=6.1)
    found += _calibration("position, far start x = .1", NOTHING, None, pose=False, x=0.1)
    low, high = PRINTED_OBJECTIVE
    found.append(
        between(
            "objective that the printed P allow", NOTHING, (low, high), from_printed_positions(),
            form=".1e", why=THREE_DECIMALS,
        )
    )  # fmt: skip
    return found + _penalties()


def _calibration(
    name: str, printed: str, iterations: int | None, *, pose: bool, x: float
) -> list[Figure]:
    """One calibration with multipliers, and by elimination beside it."""
    solution = by_multipliers(pose=pose, x=x)
    largest = float(np.abs(solution.multipliers).max())
    objective, zero = ("1e-14", "0") if pose else (NOTHING, NOTHING)
    found = [
        below(f"{name}: objective", objective, OBJECTIVE, solution.objective, why=ROUNDING),
        below(f"{name}: largest multiplier", zero, MULTIPLIER, largest, why=ROUNDING),
    ]
    if iterations is not None:
        found.append(
            Figure(
                f"{name}: iterations", printed, f"at most {iterations}", str(solution.iterations),
                holds=solution.iterations <= iterations, why=ITERATIONS,
            )
        )  # fmt: skip
    constants, errors = agreement(pose=pose, x=x)
    return [
        *found,
        below(f"{name}: both ways, constants differ by", NOTHING, 1e-9, constants, why=BOTH_WAYS),
        below(f"{name}: both ways, errors differ by", NOTHING, 1e-6, errors, why=BOTH_WAYS),
    ]


def _penalties() -> list[Figure]:
    """What penalty weighting leaves open, with noise, where multipliers leave nothing."""
    data = measured(pose=True)
    assert data.positions is not None
    rng = np.random.default_rng(0)
    noisy = Dataset(
        data.motors,
        positions=data.positions + 1e-3 * rng.standard_normal(data.positions.shape),
        rotations=data.rotations,
    )
    problem = Frame().problem(start(6.1), noisy, noise=Noise(1e-3, 1e-3)).constrained()
    assert problem is not None  # a five-bar has loops
    exact = solve_with_multipliers(problem)
    weaker, stronger = (solve_with_penalty(problem, weight) for weight in (1e10, 1e12))
    off = [float(np.abs(one.values - exact.values).max()) for one in (weaker, stronger)]
    return [
        near(
            f"penalty 1e10 to 1e12: {what} shrink by", NOTHING, 100.0, before / after,
            within=5.0, form=".0f", why=PENALTY,
        )
        for what, before, after in (
            ("gaps of the loops", weaker.gap, stronger.gap),
            ("errors of the constants", off[0], off[1]),
        )
    ]  # fmt: skip
