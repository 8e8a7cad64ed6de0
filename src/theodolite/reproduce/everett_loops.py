"""Everett's five-bar robot, calibrated with Lagrange multipliers [Everett1988, 2.3.5].

``To = A0 A1 A2 At`` with At = Tx(6) (eq. 47 prints the identity), ``Tc = A3 A4 A5 A1 A2``, planar.
The .2 and .1 joint offsets of the initial estimate are degrees.
"""

from __future__ import annotations

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.identification.identifiability import Identifiability
from theodolite.identification.loss import Loss
from theodolite.identification.multipliers import MultiplierSolution, solve_with_multipliers
from theodolite.identification.reduction import reduce
from theodolite.identification.solver import examine
from theodolite.io.product import parse_segment
from theodolite.measure.loop import LoopData, LoopProblem
from theodolite.measure.noise import Noise
from theodolite.model.mechanism import ClosureKind, Loops, Mechanism
from theodolite.reproduce.figure import Figure

TITLE = "Five-bar robot with Lagrange multipliers (Everett 1988)"

#: Eqs. 41-47 and 48-54, with the constants of the first in the structure of the second.
TRUE = {
    "A0": "Tx(0) Ty(0) Rx(0) Ry(0) Tz(1) Rz(t0=180) Tx(4.5) Ty(0) Rx(-90) Ry(0) Rz(=180)",
    "A1": "Rz(t1+0) Tx(4) Ty(0)",
    "A2": "Rz(a1) Tx(3) Ty(0)",
    "A3": "Rz(a2) Tx(3) Ty(0)",
    "A4": "Rz(a3) Tx(4) Ty(0) Rz(0)",
    "A5": "Rz(t2+0) Tx(9) Ty(0) Rz(=180)",
    "At": "Rz(0) Tx(6) Ty(0) Tz(0) Rx(0) Ry(0)",
}
START = {
    "A0": "Tx(.1) Ty(.2) Rx(1) Ry(1) Tz(1) Rz(t0=180) Tx(4.8) Ty(.2) Rx(-88) Ry(1) Rz(=180)",
    "A1": "Rz(t1+.2) Tx(4.2) Ty(.1)",
    "A2": "Rz(a1) Tx(3.2) Ty(.1)",
    "A3": "Rz(a2) Tx(3.2) Ty(.2)",
    "A4": "Rz(a3) Tx(4.2) Ty(.2) Rz(1)",
    "A5": "Rz(t2+.1) Tx(8.7) Ty(.2) Rz(=180)",
    "At": "Rz(2) Tx(.1) Ty(.2) Tz(.2) Rx(2) Ry(3)",
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


def five_bar(segments: dict[str, str], **changed: str) -> Mechanism:
    """The five-bar with given segments; others may be changed by name."""
    texts = {**segments, **changed}
    return Mechanism(
        "five-bar",
        {name: parse_segment(text, angle=float(np.pi / 180)) for name, text in texts.items()},
        tool=("A0", "A1", "A2", "At"),
        loops=((("A3", "A4", "A5", "A1", "A2"), ClosureKind.PLANAR),),
        active=("t0", "t1", "t2"),
        passive=("a1", "a2", "a3"),
    )


def guesses(active: FloatArray) -> FloatArray:
    """Passive joints by hand: where two circles about joints 2 and 4 meet, on the right side."""
    t1, t2 = active[:, 1], active[:, 2]
    second = 4.0 * np.column_stack([np.cos(t1), np.sin(t1)])
    # Joint 5 stands at distance 9 along x; the link from joint 4 to it points along pi - t2.
    fourth = np.array([9.0, 0.0]) - 4.0 * np.column_stack([np.cos(np.pi - t2), np.sin(np.pi - t2)])
    across = fourth - second
    half = np.linalg.norm(across, axis=1) / 2
    height = np.sqrt(np.maximum(9.0 - half**2, 0.0))
    left = np.column_stack([-across[:, 1], across[:, 0]]) / (2 * half[:, None])
    side = np.ones(len(active))
    side[[row - 1 for row in OTHER_BRANCH if row <= len(active)]] = -1.0
    third = second + across / 2 + (side * height)[:, None] * left
    to_third = np.arctan2(*(third - second).T[::-1])
    to_fourth = np.arctan2(*(fourth - third).T[::-1])
    to_fifth = np.arctan2(*(np.array([9.0, 0.0]) - fourth).T[::-1])
    return np.column_stack([to_third - t1, to_fourth - to_third, to_fifth - to_fourth])


def measured(*, pose: bool) -> tuple[LoopData, FloatArray]:
    """The exact five-bar in the fifteen configurations, and the constants it has."""
    mechanism = five_bar(TRUE)
    loops = Loops.of(mechanism)
    values = np.array([parameter.value for parameter in mechanism.parameters])
    active = np.radians(ROWS[:, :3])
    passive, closed = loops.closed(values, active, guesses(active))
    assert closed.all()
    motion = loops.tool.motion(values, loops.basis(active, passive))
    data = LoopData(active, passive, motion.position, motion.rotation if pose else None)
    return data, values


def identifiable_constants(*, pose: bool) -> Identifiability:
    """What the fifteen measurements determine of the 28 constants."""
    data, values = measured(pose=pose)
    problem = LoopProblem(five_bar(TRUE), data, noise=Noise(1.0, 1.0))
    return examine(problem, values, reduce(problem, values, Loss()))


def calibrated(*, pose: bool, x: float) -> MultiplierSolution:
    """The calibration from the printed start, with a chosen x of the tool."""
    data, _ = measured(pose=pose)
    start = five_bar(START, At=START["At"].replace("Tx(.1)", f"Tx({x})"))
    problem = LoopProblem(start, data, noise=Noise(1.0, 1.0))
    return solve_with_multipliers(problem, data.guess)


def figures() -> list[Figure]:
    """Positions, counts and calibrations of the five-bar."""
    data, _ = measured(pose=False)
    right = int((np.abs(data.positions - ROWS[:, 3:]).max(axis=1) < 1e-3).sum())
    found = [Figure("printed positions to 1e-3", "15", "15", str(right))]
    for name, pose, rank in (("pose", True, "22"), ("position", False, "19")):
        known = identifiable_constants(pose=pose)
        found.append(Figure(f"identifiable of 28 constants, {name}", "-", rank, str(known.rank)))
    for name, pose, x, limit in (
        ("pose, printed start", True, 0.1, 9),
        ("position, x = 6.1", False, 6.1, 9),
        ("position, far start x = .1", False, 0.1, 60),
    ):
        solution = calibrated(pose=pose, x=x)
        good = (
            solution.converged
            and solution.iterations <= limit
            and solution.objective < 1e-14
            and np.abs(solution.multipliers).max() < 1e-10
        )
        ours = f"{solution.objective:.0e} in {solution.iterations}"
        expected = f"below 1e-14 in {limit}"
        found.append(
            Figure(f"{name}: objective, iterations", "-", expected, ours, holds=bool(good))
        )
    return found
