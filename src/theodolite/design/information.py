"""What each candidate would tell: whitened derivatives, and what is known without it.

Parameters are counted in units of their tolerances, so that no unit matters. With J_g the rows of
candidate g and P the prior (the identity, zero where nothing is known), a choice has the
information

    M = P + sum_g J_g' J_g

and, noise being one, the covariance M^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.conditions import with_any_conditions
from theodolite.calibration.cross_validation import nominal_values
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.estimation.solver import examine
from theodolite.model.machine import Machine, Tip
from theodolite.model.parameters import Parameter
from theodolite.model.robot import Robot

#: Where a parameter has no tolerance, a change by this part of what the data resolve counts as one.
FREE = 1.0
#: Candidates with more rows than this are shortened.
MANY_ROWS = 12
#: Points of a grid of candidates.
LARGEST_GRID = 1_000_000
#: What tells less of a direction, as a part of what its tolerance does, tells nothing.
NOTHING = 1e-3


@dataclass(frozen=True, eq=False)
class Information:
    """Candidates and what they tell of all parameters, in units of tolerances."""

    data: Dataset
    parameters: tuple[Parameter, ...]
    #: Which candidate each row of the data belongs to.
    group: IntArray
    #: Whitened derivatives, (candidates, rows, parameters), zero where one has fewer rows.
    J: FloatArray
    #: Which parameters have a tolerance.
    tolerated: BoolArray
    #: What other measurements tell, (parameters, parameters).
    told: FloatArray
    #: Tolerances that parameters are counted in, one where there is none.
    scale: FloatArray
    #: Base parameters of all candidates together.
    base: IntArray

    def __len__(self) -> int:
        return len(self.J)

    @property
    def prior(self) -> FloatArray:
        """What is known without any of them, (parameters, parameters)."""
        return np.diag(self.tolerated.astype(np.float64)) + self.told

    def of(self, chosen: IntArray) -> FloatArray:
        """Information of some candidates, prior included."""
        rows = self.J[chosen].reshape(-1, self.J.shape[2])
        return self.prior + rows.T @ rows

    def take(self, chosen: IntArray) -> Dataset:
        """The rows of some candidates, in their order."""
        rows = [np.flatnonzero(self.group == one) for one in chosen]
        return self.data.take(np.concatenate(rows))


def information(
    robot: Machine,
    data: Dataset,
    method: Method,
    noise: Noise,
    *,
    gains: bool = False,
    given: Dataset | None = None,
) -> Information:
    """What each row, set or picture of some data tells, beside what ``given`` data tell."""
    problem = method.problem(robot, data, noise=method.noise_for(robot, noise), gains=gains)
    values = nominal_values(problem)
    parameters = problem.parameters
    tolerances = np.array([parameter.tolerance for parameter in parameters])
    known = np.isfinite(tolerances)
    scale = np.where(known, tolerances, FREE)
    group = data.groups()
    count = int(group.max(initial=-1)) + 1
    told = np.zeros((len(scale), len(scale)))
    parts: list[tuple[IntArray, FloatArray]] = []
    for block in problem.blocks(values):
        rows = block.jacobian * scale
        if block.rows is None:
            told += rows.T @ rows
            continue
        each = rows.reshape(block.width, -1, len(scale)).transpose(1, 0, 2)
        parts.append((group[block.rows], each))
    if given is not None:
        told += _told(robot, given, method, noise, scale, gains=gains)
    known_base = examine(problem, values, reduce(problem, values, Loss())).base
    J = _shortened(_stacked(parts, count, len(scale)))
    return Information(data, parameters, group, J, known, told, scale, known_base)


def _shortened(J: FloatArray) -> FloatArray:
    """The same information in as few rows for each candidate as it takes.

    A picture has hundreds of rows, and tells of a pose and a lens.
    """
    if J.shape[1] <= MANY_ROWS or not len(J):
        return J
    _, sizes, directions = np.linalg.svd(J, full_matrices=False)
    rows = max(1, int((sizes > NOTHING).sum(axis=1).max()))
    return sizes[:, :rows, None] * directions[:, :rows]


def _stacked(parts: list[tuple[IntArray, FloatArray]], count: int, size: int) -> FloatArray:
    """Rows of each candidate one below the other, (candidates, rows, parameters)."""
    used = np.zeros(count, dtype=np.intp)
    for owner, each in parts:
        np.add.at(used, owner, each.shape[1])
    J = np.zeros((count, int(used.max(initial=0)), size))
    filled = np.zeros(count, dtype=np.intp)
    for owner, each in parts:
        # Several observations of one candidate follow each other.
        order = np.argsort(owner, kind="stable")
        first = np.concatenate([[True], np.diff(owner[order]) != 0])
        starts = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        place = filled[owner[order]] + (np.arange(len(order)) - starts) * each.shape[1]
        for row in range(each.shape[1]):
            J[owner[order], place + row] = each[order, row]
        np.add.at(filled, owner, each.shape[1])
    return J


def _told(
    robot: Machine,
    given: Dataset,
    method: Method,
    noise: Noise,
    scale: FloatArray,
    *,
    gains: bool,
) -> FloatArray:
    """Information of measurements that were taken already."""
    problem = method.problem(robot, given, noise=noise, gains=gains)
    if len(problem.parameters) != len(scale):
        raise InputError(
            "the measurements given have other unknowns than those to be planned",
            where=given.name,
            remedy="Give measurements of the same method and targets",
        )
    total = np.zeros((len(scale), len(scale)))
    for block in problem.blocks(nominal_values(problem)):
        rows = block.jacobian * scale
        total += rows.T @ rows
    return total


def candidates(
    robot: Machine, method: Method, count: int, rng: np.random.Generator, *, per_set: int = 4
) -> Dataset:
    """Random configurations, sets or pictures that the method could measure."""
    found = method.observe(robot, count, rng, per_set=per_set)
    return with_any_conditions(found, robot, rng)


def grid_of(robot: Machine, counts: Sequence[int]) -> FloatArray:
    """Motor variables on a grid: so many values of each joint, evenly within its limits."""
    whole = int(np.prod(counts, dtype=float)) if counts else 0
    if len(counts) != robot.joints or min(counts) < 1 or not 1 <= whole <= LARGEST_GRID:
        raise InputError(
            f"a grid of {','.join(map(str, counts))}",
            allowed=f"{robot.joints} whole numbers, one for each joint, of which the product is at "
            f"most {LARGEST_GRID}",
        )
    # The middle of equal parts: limits themselves are where nobody measures.
    parts = [(np.arange(count) + 0.5) / count for count in counts]
    places = np.stack(np.meshgrid(*parts, indexing="ij"), axis=-1).reshape(-1, robot.joints)
    readings = robot.lower + places * (robot.upper - robot.lower)
    motors = robot.motors_at(readings) if isinstance(robot, Robot) else readings
    settled, closed = robot.settled(motors)
    return settled[closed]


def task_weights(
    robot: Machine, motors: FloatArray, known: Information, method: Method
) -> FloatArray:
    """Q with trace(Q M^-1) = mean squared error of the tip over configurations, m^2.

    In the world of the sensor where the method has one. Otherwise up to what it can never
    determine: where the robot stands, its size, its tool. That part of the errors is taken out, as
    two robots are compared (`calibration/alignment.py`).
    """
    names = {parameter.name: place for place, parameter in enumerate(robot.parameters)}
    columns = [names.get(parameter.name, -1) for parameter in known.parameters]
    settled, closed = robot.settled(motors)
    if not closed.any():
        raise InputError(f"the loops of '{robot.name}' close at no pose of the task")
    motion = robot.motion(robot.values, settled[closed])
    own = np.array([column for column in columns if column >= 0], dtype=np.intp)
    J = np.zeros((int(closed.sum()), 3, len(columns)))
    J[:, :, np.array(columns) >= 0] = motion.position_jacobian(own)
    free = _undetermined(method.gauge, motion)
    if free is None and not (method.places or method.of_world):
        free = _undetermined(Gauge.PLACE, motion)
    rows = (J * known.scale).reshape(-1, len(columns))
    if free is not None:
        rows = rows - free @ np.linalg.lstsq(free, rows, rcond=None)[0]
    return rows.T @ rows / len(J)


def _undetermined(gauge: Gauge, motion: Tip) -> FloatArray | None:
    """Displacements of all tips that a method never shows, (3 n, k); None: it shows them all."""
    if gauge in (Gauge.NONE, Gauge.LENGTHS):
        return None
    places = motion.position - motion.position.mean(axis=0)
    n = len(places)
    turns = np.cross(np.eye(3)[None], places[:, None]).transpose(0, 2, 1)
    parts = [np.broadcast_to(np.eye(3), (n, 3, 3)), turns]
    if gauge is not Gauge.PLACE:
        parts.append(places[:, :, None])
    if gauge is Gauge.SIMILARITY_AND_TOOL:
        parts.append(motion.rotation)
    return np.concatenate(parts, axis=2).reshape(3 * n, -1)
