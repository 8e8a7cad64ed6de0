"""Single-point sensor: where one point of the hand is, and touches of a fixture at a pointer.

A sensor that sees one point calibrates all of a robot but how its hand is turned. Touches complete
it: the hand carries a fixture with targets at known places S_t, and brings each to a pointer that
stands somewhere, at X [Everett1988, 2.5]. With the sensor's frame (R_i, p_i) at each configuration
and the fixture's place (R, p) in it,

    residual = p_i - P_measured                       where the sensor was read
    residual = R_i (R S_t + p) + p_i - X              where a target touched the pointer

in one problem over robot, pointer and fixture. Touches alone are enough where there is no sensor.

Where it is known how the tool is turned in the fixture, R_t, the calibrated robot's tool is turned
by R R_t in the sensor's frame [Everett1988, eq. 77]. Otherwise how it is turned stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.calibration.configurations import satisfy, within_limits
from theodolite.calibration.data import Dataset
from theodolite.calibration.fixture import FixtureProblem, Touches, touch_rows
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.errors import InputError, UnreachableError
from theodolite.estimation.problem import Block
from theodolite.estimation.slicing import slices
from theodolite.model import rotations
from theodolite.model.machine import Machine, Tip
from theodolite.model.twists import skews

#: Decimals of a metre to which two touches name the same target.
SAME_TARGET = 6
#: Of the simulated fixture: size as part of the reach, place in the hand, and how it is turned.
SIDE = 0.06
PLACE = np.array([0.02, 0.03, 0.05])
TURN = np.array([0.3, -0.5, 0.8])
#: Rounds of random starts for simulated touches.
ATTEMPTS = 30
#: So many pointers that not every target reached: none will be.
HOPELESS = 12


class PointSensorProblem(GeometricProblem):
    """Read positions and touches together."""

    def __init__(
        self,
        robot: Machine,
        data: Dataset,
        noise: Noise,
        *,
        gains: bool = False,
        tool: FloatArray | None = None,
    ) -> None:
        self._tool = tool
        touched = np.zeros(len(data), dtype=bool)
        if data.fixture is not None:
            touched = np.array(np.isfinite(data.fixture).all(axis=1))
        read = np.zeros(len(data), dtype=bool)
        if data.positions is not None:
            read = np.array(np.isfinite(data.positions[:, 0]).all(axis=1))
        _check_whole(data)
        neither = np.flatnonzero(~touched & ~read)
        if len(neither):
            line = neither[0] + 1 if data.lines is None else data.lines[neither[0]]
            raise InputError(
                f"line {line} has neither a position nor a touched target",
                where=data.name,
                remedy="Give x_mm y_mm z_mm or fixture_x_mm fixture_y_mm fixture_z_mm",
            )
        self._read, self._touched = np.flatnonzero(read), np.flatnonzero(touched)
        self._fixture: FixtureProblem | None = None
        if len(self._touched) and data.fixture is not None:
            # Where the nominal loops stay open there is no hand yet.
            closing = self._touched[robot.can_close(data.motors[self._touched])]
            motion = robot.motion(robot.values, data.motors[closing])
            rounded = np.round(data.fixture[closing], SAME_TARGET)
            _, first, target = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
            places = data.fixture[closing][first]
            lines = None if data.lines is None else data.lines[closing]
            touches = Touches(
                np.ascontiguousarray(motion.rotation),
                np.ascontiguousarray(motion.position),
                target.ravel(),
                places,
                lines,
                data.name,
            )
            self._fixture = FixtureProblem(touches, noise=noise.position)
        extra = () if self._fixture is None else self._fixture.parameters
        super().__init__(robot, data, noise, gains=gains, extra=extra)

    def blocks(self, values: FloatArray) -> Iterator[Block]:
        full = self.full_values(values)
        white: FloatArray | float = 1.0 / self.noise.position
        sigmas = np.full(3, self.noise.position)
        for rows in slices(len(self._read)):
            motion = self._motion(full, self.data.motors[self._read[rows]])
            jacobian = np.zeros((len(motion.position), 3, len(self._columns)))
            jacobian[:, :, : len(self.links)] = motion.position_jacobian(self.links)
            if self.noise.moves:
                white = self._whitener(sigmas, motion.position_basis_jacobian())
            error = self._read_error(motion, rows)
            yield self._block(error, jacobian, white, self._read[rows])
        for rows in slices(len(self._touched)):
            motion = self._motion(full, self.data.motors[self._touched[rows]])
            error, by_fixture, arm = self._touch_rows(motion, full, rows)
            jacobian = np.zeros((len(error), 3, len(self._columns)))
            jacobian[:, :, : len(self.links)] = _at_arm(motion.twist_jacobian(self.links), arm)
            candidates = self._columns[len(self.links) :] - len(self.robot.parameters)
            jacobian[:, :, len(self.links) :] = by_fixture[:, :, candidates]
            if self.noise.moves:
                by_basis = _at_arm(motion.twist_basis_jacobian(), arm)
                white = self._whitener(sigmas, by_basis)
            yield self._block(error, jacobian, white, self._touched[rows])

    def errors(self, values: FloatArray) -> dict[str, FloatArray]:
        full = self.full_values(values)
        found = [
            np.linalg.norm(
                self._read_error(self._motion(full, self.data.motors[self._read[rows]]), rows),
                axis=1,
            )
            for rows in slices(len(self._read))
        ]
        for rows in slices(len(self._touched)):
            motion = self._motion(full, self.data.motors[self._touched[rows]])
            found.append(np.linalg.norm(self._touch_rows(motion, full, rows)[0], axis=1))
        return {"position": np.concatenate(found)}

    def calibrated(self, values: FloatArray) -> Machine:
        """The robot, its tool turned as the fixture says."""
        robot = super().calibrated(values)
        if self._fixture is None or self._tool is None:
            return robot
        own = self.full_values(values)[len(self.robot.parameters) :]
        return robot.with_tool_turned(self._fixture.rotation(own) @ self._tool)

    def extras(self, values: FloatArray) -> dict[str, Any]:
        if self._fixture is None:
            return {}
        own = self.full_values(values)[len(self.robot.parameters) :]
        return {**self._fixture.extras(own), "tool_turned_by_fixture": self._tool is not None}

    def error_rows(self, name: str) -> IntArray:
        return np.concatenate([self._read, self._touched])

    def _read_error(self, motion: Tip, rows: slice) -> FloatArray:
        assert self.data.positions is not None
        return motion.position - self.data.positions[self._read[rows], 0]

    def _touch_rows(
        self, motion: Tip, full: FloatArray, rows: slice
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        assert self.data.fixture is not None and self._fixture is not None
        own = full[len(self.robot.parameters) :]
        return touch_rows(
            motion.rotation,
            motion.position,
            self.data.fixture[self._touched[rows]],
            own,
            self._fixture.rotation(own),
        )


def _check_whole(data: Dataset) -> None:
    """Refuse points of which only some coordinates are given."""
    kinds = {"fixture_": data.fixture}
    kinds[""] = None if data.positions is None else data.positions[:, 0]
    for kind, points in kinds.items():
        if points is None:
            continue
        missing = ~np.isfinite(points)
        partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
        if len(partly):
            line = partly[0] + 1 if data.lines is None else data.lines[partly[0]]
            blank = [f"{kind}{'xyz'[axis]}_mm" for axis in np.flatnonzero(missing[partly[0]])]
            raise InputError(
                f"line {line}: {', '.join(blank)} is blank, but not the rest of the point",
                where=data.name,
                remedy="Give all three coordinates, or none",
            )


def simulated_tool_turn() -> FloatArray:
    """How the tool is turned in the simulated fixture, (3, 3)."""
    return rotations.exp(TURN[None])[0].T


def mounted(robot: Machine, places: FloatArray) -> FloatArray:
    """Where targets of the simulated fixture are in the hand, (n, 3)."""
    return places @ simulated_tool_turn() + PLACE * robot.reach()


def _at_arm(twists: FloatArray, arm: FloatArray) -> FloatArray:
    """The motion of a point at the end of an arm from the tip, (n, 3, k)."""
    return twists[:, :3] - skews(arm) @ twists[:, 3:]


@dataclass(frozen=True)
class TouchGoal:
    """Points of the hand (n, 3) at given places (n, 3)."""

    points: FloatArray
    places: FloatArray
    components: int = 3
    lengths: int = 3

    def _arm(self, motion: Tip) -> FloatArray:
        return np.einsum("nij,nj->ni", motion.rotation, self.points)

    def error(self, motion: Tip) -> FloatArray:
        return motion.position + self._arm(motion) - self.places

    def derivative(self, motion: Tip) -> FloatArray:
        return _at_arm(motion.twist_basis_jacobian(), self._arm(motion))

    def take(self, rows: BoolArray) -> TouchGoal:
        return TouchGoal(self.points[rows], self.places[rows])


@dataclass(frozen=True)
class PointSensor(Method):
    """Single-point sensor with an orientation fixture."""

    name: ClassVar[str] = "point-sensor"
    title: ClassVar[str] = "single-point sensor with an orientation fixture"
    of_world: ClassVar[bool] = True
    options: ClassVar[frozenset[str]] = frozenset({"tool_turn"})
    #: Orientation of the tool in the fixture, (3, 3), where it is known.
    tool_turn: FloatArray | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        return ("fixture",)

    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> PointSensorProblem:
        return PointSensorProblem(robot, data, noise, gains=gains, tool=self.tool_turn)

    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 4
    ) -> Dataset:
        """Sensor readings, and ``per_set`` touches of each of the four targets of a square."""
        motors = robot.random_motors(points, rng)
        positions = robot.motion(robot.values, motors).position
        side = SIDE * robot.reach()
        square = side * np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
        touching, places = self._touches(robot, square, per_set, rng)
        none = np.full((len(touching), 3), np.nan)
        return Dataset(
            np.concatenate([motors, touching]),
            positions=np.concatenate([positions, none])[:, None],
            fixture=np.concatenate([np.full_like(positions, np.nan), places]),
        )

    def points_for(self, robot: Machine) -> int:
        return len(robot.parameters)

    def _touches(
        self, robot: Machine, targets: FloatArray, repeats: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Configurations in which each target touches one pointer, and the targets' places."""
        centre = mounted(robot, targets).mean(axis=0)
        most = 0
        for attempt in range(ATTEMPTS):
            if attempt >= HOPELESS and not most:
                break
            motion = robot.motion(robot.values, robot.random_motors(1, rng))
            pointer = motion.position[0] + motion.rotation[0] @ centre
            wanted = np.repeat(np.arange(len(targets)), 6 * repeats)
            goal = TouchGoal(mounted(robot, targets[wanted]), np.tile(pointer, (len(wanted), 1)))
            start = robot.random_motors(len(wanted), rng)
            motors, solved = satisfy(robot, goal, start)
            usable = np.flatnonzero(solved & within_limits(robot, motors))
            chosen = [usable[wanted[usable] == t][:repeats] for t in range(len(targets))]
            most = max(most, min(map(len, chosen)))
            if most == repeats:
                rows = np.concatenate(chosen)
                return motors[rows], targets[wanted[rows]]
        raise UnreachableError(
            f"robot '{robot.name}' cannot bring the four targets of a fixture to one pointer "
            f"{repeats} times each: its hand cannot turn enough, or too many touches per target "
            "were asked for"
        )
