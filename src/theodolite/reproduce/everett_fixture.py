"""Everett's single-point sensor: the orientation fixture, tables 1 to 3 [Everett1988, 2.5].

Lengths are inches, as printed. Eq. 88's matrices are for negative angles of eq. 85. The report's
own method, the zero of the third line of eq. 81, is kept here beside least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.fixture import FixtureProblem, Touches
from theodolite.estimation.solver import solve
from theodolite.model.rotations import exp
from theodolite.reproduce.figure import Figure

TITLE = "Single-point sensor, orientation fixture (Everett 1988)"

POINTER = np.array([11.0, -2.0, 3.0])
#: Screw axes (x, y) and angles in degrees of eq. 85, and of the wanted transform, eq. 83.
AXES = np.array([[-0.25, 0.5], [0.5, 0.25], [0.1, 0.75], [0.75, 0.1]])
ANGLES = np.array([30.0, 45.0, -15.0, 50.0])
WANTED_AXIS, WANTED_ANGLE = np.array([-0.5, 0.5]), 45.0
WANTED_SHIFT = np.array([-2.0, 11.0, 3.0])
#: Noise of the screw axes' components, of the angles (degrees) and of the displacements (inches).
NOISE = (0.001, 0.1, 0.1)


def square(side: float) -> FloatArray:
    """The fixture of eq. 86: four targets at the corners of a square."""
    return side * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])


def screws(axes: FloatArray, degrees: FloatArray) -> FloatArray:
    """Rotations (n, 3, 3) about axes given by x and y, the third component making them unit."""
    third = np.sqrt(1.0 - (axes**2).sum(axis=1))
    return exp(np.column_stack([axes, third]) * np.radians(degrees)[:, None])


def wanted() -> FloatArray:
    """The transform to be found, (3, 4) of eq. 84."""
    return np.column_stack([screws(WANTED_AXIS[None], np.array([WANTED_ANGLE]))[0], WANTED_SHIFT])


@dataclass(frozen=True)
class Simulation:
    """One noisy experiment."""

    touches: Touches
    #: Mean error of the four given matrices.
    input_error: float


def exact(targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eq. 88: sensor frames in which each target touches the pointer."""
    turns = screws(AXES, -ANGLES)
    tips = targets @ wanted()[:, :3].T + WANTED_SHIFT
    return turns, POINTER - np.einsum("nij,nj->ni", turns, tips)


def simulated(targets: FloatArray, rng: np.random.Generator, repeats: int = 1) -> Simulation:
    """Eq. 89: the same with random errors, each target touched ``repeats`` times."""
    turns, shifts = exact(targets)
    axis_noise, angle_noise, shift_noise = NOISE
    given_turns, given_shifts = [], []
    for _ in range(repeats):
        axes = AXES + axis_noise * rng.standard_normal((4, 2))
        degrees = -(ANGLES + angle_noise * rng.standard_normal(4))
        given_turns.append(screws(axes, degrees))
        given_shifts.append(shifts + shift_noise * rng.standard_normal((4, 3)))
    R, p = np.concatenate(given_turns), np.concatenate(given_shifts)
    error = (
        np.abs(R - np.tile(turns, (repeats, 1, 1))).sum()
        + np.abs(p - np.tile(shifts, (repeats, 1))).sum()
    )
    target = np.tile(np.arange(4), repeats)
    return Simulation(Touches(R, p, target, targets), float(error) / len(target))


def by_least_squares(touches: Touches) -> FloatArray:
    """Our transform, (3, 4)."""
    problem = FixtureProblem(touches)
    values = solve(problem).values
    return np.column_stack([problem.rotation(values), values[3:6]])


def by_zeros(touches: Touches) -> FloatArray:
    """The report's transform, (3, 4): eq. 81 from X = 0, with n and o made unit vectors."""
    from scipy.optimize import root

    inverse = touches.rotations.transpose(0, 2, 1)
    S = touches.targets

    def frames(X: FloatArray) -> tuple[FloatArray, FloatArray]:
        y = np.einsum("nij,nj->ni", inverse, X - touches.positions)
        n = (y[1] - y[0]) / np.linalg.norm(y[1] - y[0])
        o = y[2] - y[0] - S[2, 0] * n
        o = o / np.linalg.norm(o)
        return y, np.column_stack([n, o, np.cross(n, o)])

    def gap(X: FloatArray) -> FloatArray:
        y, turn = frames(X)
        return y[3] - y[0] - turn @ S[3]

    X = root(gap, np.zeros(3), method="hybr").x
    y, turn = frames(X)
    return np.column_stack([turn, y[0]])


def mean_errors(
    side: float, runs: int, rng: np.random.Generator, repeats: int = 1
) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the input's, the report's and our error over some runs."""
    found: dict[str, list[float]] = {"input": [], "zeros": [], "least squares": []}
    for _ in range(runs):
        simulation = simulated(square(side), rng, repeats)
        found["input"].append(simulation.input_error)
        ours = by_least_squares(simulation.touches)
        found["least squares"].append(float(np.abs(ours - wanted()).sum()))
        if repeats == 1:
            theirs = by_zeros(simulation.touches)
            found["zeros"].append(float(np.abs(theirs - wanted()).sum()))
    return {
        name: (float(np.mean(errors)), float(np.std(errors)))
        for name, errors in found.items()
        if errors
    }


#: Table -> side of the square, the report's mean and standard deviation, and its runs.
TABLES = {
    "table 1": (10.0, 0.713, 0.378, 100),
    "table 2": (10.0, 0.752, 0.391, 1000),
    "table 3": (5.0, 0.787, 0.397, 100),
}


def figures(runs: int = 1000) -> list[Figure]:
    """Tables 1 to 3 by the report's method, and what least squares makes of the same touches."""
    rng = np.random.default_rng(1988)
    errors = {side: mean_errors(side, runs, rng) for side in (10.0, 5.0)}
    found = []
    for table, (side, paper, deviation, count) in TABLES.items():
        mean, spread = errors[side]["zeros"]
        tolerance = 2.0 * np.hypot(deviation / np.sqrt(count), spread / np.sqrt(runs))
        found.append(
            _near(f"{table}: mean error, two standard errors", f"{paper}", mean, paper, tolerance)
        )
    ours = errors[10.0]["least squares"][0]
    found.append(_near("least squares: mean error", "-", ours, 0.0, 0.47))
    repeated = mean_errors(10.0, max(runs // 10, 20), rng, repeats=20)["least squares"][0]
    found.append(
        _near("least squares, 20 touches per target: mean error", "-", repeated, 0.0, 0.12)
    )
    return found


def _near(what: str, paper: str, value: float, centre: float, tolerance: float) -> Figure:
    """A figure that is right if it is near enough."""
    expected = f"{centre} +- {tolerance:.3f}" if centre else f"at most {tolerance}"
    close = bool(abs(value - centre) <= tolerance)
    return Figure(what, paper, expected, f"{value:.3f}", holds=close)
