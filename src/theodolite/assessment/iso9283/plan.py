"""The test: a cube in the workspace, five poses in one of its diagonal planes, and cycles.

P1 is the centre of the cube; P2 to P5 lie on the diagonals of the plane, a tenth of their length
from the corners. All are reached with one orientation of the tool, within the joints' limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.assessment.iso9283.attained import Test
from theodolite.compensation.controller import controlled
from theodolite.compensation.inverse import Targets, inverse
from theodolite.compensation.path import followed
from theodolite.errors import InputError
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot

#: Edges of cubes that are used: the standard's, metres.
EDGES = (1.0, 0.63, 0.4, 0.25, 0.16, 0.1, 0.063, 0.04, 0.025)
#: Centres of cubes that are tried, and so many where loops have to be closed.
CENTRES, CENTRES_OF_LOOPS = 2000, 25
#: Cubes of one size that are tried with all poses.
TRIES = 5
#: A corner is reached where less than this is left, metres and radians.
REACHED = 1e-9
#: Distance of the poses from the ends of the diagonals, as a part of their length.
FROM_ENDS = 0.1
#: Cycles of each test, directions of approach and how far away they begin.
CYCLES, DRIFT_BLOCKS, PATH_CYCLES = 30, 48, 10
APPROACH = 0.1
#: Samples of a commanded path.
PATH_SAMPLES = 51
#: The four diagonal planes of a cube, by the corners that they hold, in half edges.
PLANES = {
    "a": ((1, 1, 1), (-1, -1, 1), (-1, -1, -1), (1, 1, -1)),
    "b": ((-1, 1, 1), (1, -1, 1), (1, -1, -1), (-1, 1, -1)),
    "c": ((1, 1, 1), (1, -1, 1), (-1, -1, -1), (-1, 1, -1)),
    "d": ((-1, 1, 1), (-1, -1, 1), (1, -1, -1), (1, 1, -1)),
}


@dataclass(frozen=True, eq=False)
class Command:
    """One row of the plan."""

    test: Test
    pose: str
    cycle: int
    direction: int
    block: int
    #: Which of the plan's poses.
    number: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Poses in the frame before the first joint, with joints, and what is run in which order."""

    centre: FloatArray
    edge: float
    #: Names, positions (k, 3), one rotation or none, and joints (k, joints).
    names: tuple[str, ...]
    positions: FloatArray
    rotation: FloatArray | None
    motors: FloatArray
    rows: tuple[Command, ...]


def plan_tests(
    robot: Machine,
    tests: Sequence[Test],
    *,
    centre: FloatArray | None = None,
    edge: float | None = None,
    rotation: FloatArray | None = None,
    plane: str = "a",
    rng: np.random.Generator | None = None,
) -> Plan:
    """The test poses of a cube, the largest there is or a given one, and the rows of some tests."""
    rng = rng or np.random.default_rng(0)
    if plane not in PLANES:
        raise InputError(f"there is no plane {plane!r}", allowed=list(PLANES))
    cubes = _cubes(robot, centre, edge, rotation, rng)
    trouble = ""
    for cube in cubes:
        found = _plan(robot, tests, cube, plane)
        if isinstance(found, Plan):
            return found
        trouble = found
    what = "no cube of the standard's sizes" if edge is None else f"no cube of {1e3 * edge:g} mm"
    raise InputError(
        f"{what} was found in the workspace of '{robot.name}' that can be tested with one "
        f"orientation{f': {trouble}' if trouble else ''}",
        remedy="Give a centre, another edge or orientation, or fewer tests; or try another seed",
    )


@dataclass(frozen=True, eq=False)
class _Cube:
    """A cube whose corners are reached, with the tool's orientation and joints at its centre."""

    centre: FloatArray
    edge: float
    rotation: FloatArray | None
    motors: FloatArray


def _plan(robot: Machine, tests: Sequence[Test], cube: _Cube, plane: str) -> Plan | str:
    """The poses and rows of a cube; or what cannot be reached, and why."""
    seen = controlled(robot, robot, None, world=False)
    points = [cube.centre, *_corners(cube.centre, cube.edge, plane)]
    names = ["P1", "P2", "P3", "P4", "P5"]
    if Test.MULTI in tests:
        for label in ("P1", "P2", "P4"):
            for way in range(3):
                away = np.zeros(3)
                away[way] = -APPROACH * cube.edge
                points.append(points[names.index(label)] + away)
                names.append(f"{label} from {'xyz'[way]}")
    if Test.PATH in tests:
        parts = np.linspace(0.0, 1.0, PATH_SAMPLES)[1:-1, None]
        line = points[1] + parts * (points[3] - points[1])
        points += list(line)
        names += [f"path {number}" for number in range(1, len(line) + 1)]
    positions = np.array(points)
    targets = seen.of(Targets(positions, _all(cube.rotation, len(points))))
    start = np.tile(cube.motors, (len(points), 1))
    motors = followed(seen.robot, targets, inverse(seen.robot, targets, start).motors)
    reached = inverse(seen.robot, targets, motors)
    if not reached.good.all():
        bad = int(np.argmin(reached.good))
        return f"{names[bad]} is not reached, {reached.outcome[bad].value}"
    rows = tuple(row for test in tests for row in _rows(test, names))
    return Plan(
        cube.centre, cube.edge, tuple(names), positions, cube.rotation, reached.motors, rows
    )


def _all(rotation: FloatArray | None, count: int) -> FloatArray | None:
    return None if rotation is None else np.repeat(rotation[None], count, axis=0)


def _corners(centre: FloatArray, edge: float, plane: str) -> list[FloatArray]:
    """P2 to P5."""
    part = 1.0 - 2.0 * FROM_ENDS
    return [centre + 0.5 * edge * part * np.array(corner) for corner in PLANES[plane]]


def _cubes(
    robot: Machine,
    centre: FloatArray | None,
    edge: float | None,
    rotation: FloatArray | None,
    rng: np.random.Generator,
) -> Iterator[_Cube]:
    """Cubes whose corners are reached with one orientation, the largest first."""
    seen = controlled(robot, robot, None, world=False)
    count = CENTRES if isinstance(robot, Robot) else CENTRES_OF_LOOPS
    motors = robot.random_motors(count, rng)
    tips = seen.tips(motors)
    middles = tips.position if centre is None else np.repeat(centre[None], count, axis=0)
    turns = tips.rotation if rotation is None else np.repeat(rotation[None], count, axis=0)
    turned = robot.joints >= 6
    at = inverse(seen.robot, seen.of(Targets(middles, turns if turned else None)), motors)
    tried = np.flatnonzero(at.margin >= 0.0)
    tried = tried[at.distance[tried] + at.angle[tried] < REACHED]
    corners = np.array(list(np.ndindex(2, 2, 2))) * 2.0 - 1.0
    for size in EDGES if edge is None else (edge,):
        if not len(tried) or size > 2 * (robot.reach() or 1.0):
            continue
        every = np.repeat(turns[tried], 8, axis=0) if turned else None
        start = np.repeat(at.motors[tried], 8, axis=0)
        for part in (0.25, 0.5):
            # Half the way first: far corners are found from there.
            points = (middles[tried, None] + part * size * corners).reshape(-1, 3)
            found = inverse(seen.robot, seen.of(Targets(points, every)), start)
            start = found.motors
        ok = (found.margin >= 0.0) & (found.distance + found.angle < REACHED)
        clear = centre is not None or ~_about_its_column(robot, middles[tried], size)
        whole = np.flatnonzero(ok.reshape(-1, 8).all(axis=1) & clear)
        for best in tried[whole[:TRIES]].tolist():
            yield _Cube(middles[best], size, turns[best] if turned else None, at.motors[best])


def _about_its_column(robot: Machine, centres: FloatArray, size: float) -> BoolArray:
    """Which cubes hold a part of the first axis, where the robot itself stands."""
    if not isinstance(robot, Robot) or robot.joint_types[0] is not Joint.REVOLUTE:
        return np.zeros(len(centres), dtype=bool)
    return np.asarray((np.abs(centres[:, :2]) < size / 2).all(axis=1))


def _rows(test: Test, names: Sequence[str]) -> list[Command]:
    """What is run: each cycle visits the poses in one order, from the last to the first."""
    rows: list[Command] = []

    def visit(label: str, cycle: int, direction: int = 0, block: int = 0) -> None:
        rows.append(Command(test, label, cycle, direction, block, names.index(label)))

    if test is Test.POSE:
        for cycle in range(1, CYCLES + 1):
            for label in ("P5", "P4", "P3", "P2", "P1"):
                visit(label, cycle)
    elif test is Test.MULTI:
        for direction in range(1, 4):
            for cycle in range(1, CYCLES + 1):
                for label in ("P1", "P2", "P4"):
                    visit(label, cycle, direction)
    elif test is Test.DISTANCE:
        for cycle in range(1, CYCLES + 1):
            for label in ("P4", "P2"):
                visit(label, cycle)
    elif test is Test.DRIFT:
        for block in range(1, DRIFT_BLOCKS + 1):
            for cycle in range(1, 11):
                visit("P1", cycle, 0, block)
    elif test is Test.PATH:
        for cycle in range(1, PATH_CYCLES + 1):
            visit("P2", cycle)
            rows += [
                Command(test, name, cycle, 0, 0, number)
                for number, name in enumerate(names)
                if name.startswith("path ")
            ]
            visit("P4", cycle)
    return rows
