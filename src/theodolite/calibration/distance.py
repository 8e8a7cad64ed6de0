"""Distance: known or measured distances between two configurations.

    residual = |P(q_a) - P(q_b)| - d

A plate with holes of known spacing, two sockets, a scale bar moved by the robot. Each set has two
rows; the distance stands in both. Or, for a machine with several tools, the distance between two of
them in one configuration: balls that touch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.configurations import NEAREST_STEPS, SpanGoal, directions, satisfy
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Gauge, Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError, shown
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import BLOCK, slices
from theodolite.model.machine import Machine, Tip
from theodolite.model.mechanism import Mechanism

COLUMN = "distance_m"
#: Distances of one pair that differ by more than this part are two distances.
SAME = 1e-9


class DistanceProblem(GeometricProblem):
    """Distances between tips against those that were measured."""

    def __init__(self, robot: Machine, data: Dataset, noise: Noise, *, gains: bool = False) -> None:
        super().__init__(robot, data, noise, gains=gains)
        self._pairs = _pairs(data)
        self._distances = data.columns[COLUMN][self._pairs[:, 0]]

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        sigmas = np.array([self.noise.position])
        for part in slices(len(self._pairs), BLOCK // 2):
            pairs = self._pairs[part]
            one, other, along, distance = self._spans(full, pairs)
            J = one.position_jacobian(self.links) - other.position_jacobian(self.links)
            jacobian = np.einsum("ni,nip->np", along, J)[:, None]
            error = (distance - self._distances[part])[:, None]
            by_basis = error
            if self.noise.moves:
                # Both ends have joint errors of their own.
                ends = [tip.position_basis_jacobian() for tip in (one, other)]
                by_basis = np.concatenate(
                    [np.einsum("ni,nib->nb", along, end)[:, None] for end in ends], axis=1
                )
            yield self._block(error, jacobian, self._pair_whitener(sigmas, by_basis), pairs[:, 0])

    def _pair_whitener(self, sigmas: FloatArray, by_basis: FloatArray) -> FloatArray:
        if not self.noise.moves:
            return 1.0 / sigmas
        by_motor = self.robot.to_motors(by_basis) * self.motor_noise
        variance = np.sum(by_motor**2, axis=(1, 2)) + sigmas[0] ** 2
        return (1.0 / np.sqrt(variance))[:, None, None]

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        found = [np.empty(0)]
        for part in slices(len(self._pairs), BLOCK // 2):
            distance = self._spans(full, self._pairs[part])[3]
            found.append(np.abs(distance - self._distances[part]))
        return {"position": np.concatenate(found)}

    def error_rows(self, name: str) -> IntArray:
        return self._pairs[:, 0]

    def _spans(self, full: FloatArray, pairs: IntArray) -> tuple[Tip, Tip, FloatArray, FloatArray]:
        """The tips of both ends, the direction from the second to the first, and the distance."""
        one, other = (self._motion(full, self.data.motors[pairs[:, end]]) for end in range(2))
        along, distance = directions(one.position - other.position)
        return one, other, along, distance


class BetweenProblem(GeometricProblem):
    """Distances between two tools of one machine.

    Balls that touch are always as far apart: arms of no size, with the balls fixed at that
    distance, would satisfy all rows. So it is a constraint, as a ball of known radius is.
    """

    @property
    def constraint(self) -> bool:
        return True

    def __init__(
        self,
        robot: Mechanism,
        data: Dataset,
        noise: Noise,
        between: tuple[str, str],
        *,
        gains: bool = False,
    ) -> None:
        super().__init__(robot, data, noise, gains=gains)
        self._mechanism, self._between = robot, between
        self._distances = _positive(data)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        sigmas = np.array([self.noise.position])
        for rows in slices(len(self.data)):
            distance = directions(self._seen(full, self.data.motors[rows]).position)[1]
            motion = self._seen(full, self._touching(full, rows))
            along, _ = directions(motion.position)
            jacobian = np.einsum("ni,nip->np", along, motion.position_jacobian(self.links))
            error = (distance - self._distances[rows])[:, None]
            by_basis = error
            if self.noise.moves:
                by_basis = np.einsum("ni,nib->nb", along, motion.position_basis_jacobian())
                by_basis = by_basis[:, None]
            yield self._block(error, jacobian[:, None], self._whitener(sigmas, by_basis), rows)

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        found = [np.empty(0)]
        for rows in slices(len(self.data)):
            seen = self._seen(full, self.data.motors[rows])
            found.append(np.abs(directions(seen.position)[1] - self._distances[rows]))
        return {"position": np.concatenate(found)}

    def _seen(self, full: FloatArray, motors: FloatArray) -> Tip:
        """One of the tools as seen from the other."""
        return self._mechanism.motion_between(full, motors, *self._between)

    def _touching(self, full: FloatArray, rows: slice) -> FloatArray:
        """The nearest configurations in which the tools are as far apart as was measured."""
        motors = self.data.motors[rows]
        there, found = satisfy(
            self._mechanism,
            SpanGoal(self._distances[rows]),
            motors,
            values=full,
            steps=NEAREST_STEPS,
            moved=self._seen,
        )
        return np.where(found[:, None], there, motors)


@dataclass(frozen=True)
class Distance(Method):
    """Distances between pairs of configurations, or between two tools of a machine."""

    name: ClassVar[str] = "distance"
    title: ClassVar[str] = "distances between configurations"
    gauge: ClassVar[Gauge] = Gauge.PLACE
    columns: ClassVar[tuple[str, ...]] = (COLUMN,)
    reads: ClassVar[bool] = True
    options: ClassVar[frozenset[str]] = frozenset({"between"})

    #: Names of two tools.
    between: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        given = self.between
        if given is not None and not (isinstance(given, tuple | list) and len(given) == 2):
            raise InputError(f"between is {shown(given)}", allowed="the names of two tools")

    @property
    def needs(self) -> tuple[str, ...]:
        return ("sets",) if self.between is None else ()

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> DistanceProblem | BetweenProblem:
        if self.between is None:
            return DistanceProblem(robot, data, noise, gains=gains)
        return BetweenProblem(
            *_with_tools(robot, self.between, data), noise, self.between, gains=gains
        )

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 2
    ) -> Dataset:
        """Distances between random configurations, or between tools there."""
        ends = 1 if self.between is not None else 2
        return self.observe_at(robot, robot.random_motors(ends * points, rng))

    def observe_at(self, robot: Machine, motors: FloatArray) -> Dataset:
        """Distances between every two configurations that follow each other, or between tools."""
        if self.between is not None:
            machine, _ = _with_tools(robot, self.between, Dataset(motors))
            span = machine.motion_between(machine.values, motors, *self.between).position
            return Dataset(motors, columns={COLUMN: np.linalg.norm(span, axis=1)})
        if len(motors) % 2:
            raise InputError(
                f"{len(motors)} configurations are no pairs, between which distances are measured",
                remedy="Leave one out, or add one",
            )
        tips = robot.motion(robot.values, motors).position
        distances = np.linalg.norm(tips[0::2] - tips[1::2], axis=1)
        return Dataset(
            motors,
            sets=np.repeat(np.arange(len(distances)), 2),
            columns={COLUMN: np.repeat(distances, 2)},
        )

    def with_reading_noise(self, exact: Dataset, noise: Noise, rng: np.random.Generator) -> Dataset:
        """A distance is read once for both of its ends."""
        pair = exact.groups()
        shift = noise.position * rng.standard_normal(int(pair.max(initial=-1)) + 1)
        read = np.maximum(exact.columns[COLUMN] + shift[pair], 0.0)
        return replace(exact, columns={**exact.columns, COLUMN: read})

    def points_for(self, robot: Machine) -> int:
        return 3 * len(robot.parameters)


def _with_tools(
    robot: Machine, between: tuple[str, str], data: Dataset
) -> tuple[Mechanism, Dataset]:
    """The machine, if it has these two tools."""
    if (
        not isinstance(robot, Mechanism)
        or len(set(between)) != 2
        or not set(between) <= set(robot.tools)
    ):
        raise InputError(
            f"'{robot.name}' has no two tools {' and '.join(map(repr, between))}",
            where=data.name,
            allowed=[repr(name) for name in robot.target_names],
            remedy="Name two tools of a machine with several",
        )
    return robot, data


def _positive(data: Dataset) -> FloatArray:
    if COLUMN not in data.columns:
        raise InputError(f"the column {COLUMN} is missing", where=data.name)
    distances = data.columns[COLUMN]
    if (distances < 0.0).any():
        row = int(np.argmax(distances < 0.0))
        raise InputError(
            f"line {data.line(row)}: the distance is {distances[row]:.6g} m",
            where=data.name,
            allowed="distances that are not negative",
        )
    return distances


def _pairs(data: Dataset) -> IntArray:
    """The two rows of each set, (pairs, 2)."""
    if data.sets is None or COLUMN not in data.columns:
        missing = "sets" if data.sets is None else COLUMN
        raise InputError(
            f"distances need {missing}",
            where=data.name,
            remedy="Give each pair of rows a set of its own, and the distance in both",
        )
    order = np.argsort(data.sets, kind="stable")
    labels, counts = np.unique(data.sets, return_counts=True)
    if (counts != 2).any():
        wrong = labels[counts != 2][0]
        row = int(np.flatnonzero(data.sets == wrong)[0])
        raise InputError(
            f"line {data.line(row)}: set {wrong} has {counts[counts != 2][0]} rows",
            where=data.name,
            allowed="two rows in each set: a distance is between two configurations",
        )
    pairs = order.reshape(-1, 2)
    ends = data.columns[COLUMN][pairs]
    unlike = np.abs(ends[:, 0] - ends[:, 1]) > SAME * np.abs(ends).max(initial=0.0)
    bad = unlike | (ends[:, 0] < 0.0)
    if bad.any():
        one, other = pairs[int(np.argmax(bad))]
        raise InputError(
            f"lines {data.line(one)} and {data.line(other)}: the distances are "
            f"{data.columns[COLUMN][one]:.9g} and {data.columns[COLUMN][other]:.9g} m",
            where=data.name,
            allowed="one distance for both rows of a set, not negative",
        )
    return pairs
