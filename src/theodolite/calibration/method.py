"""A method: GECARO's three functions for one way of seeing a robot, and what else it knows.

A method says what columns it needs, where it starts, what it checks, and what it estimates besides
the robot. No other code branches on its name. A new one is a class like these and a line in the
catalogue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.analytic import Measured
from theodolite.calibration.data import Dataset
from theodolite.calibration.noise import SMALLEST, Noise
from theodolite.calibration.quantities import Displacements, all_of
from theodolite.calibration.weights import Share
from theodolite.errors import InputError
from theodolite.estimation.problem import ConstrainedProblem, Problem
from theodolite.estimation.solver import Solution
from theodolite.estimation.statistics import Statistics
from theodolite.model.machine import Machine

#: A nominal robot further from what its measurements should share is another one: of its reach.
ANOTHER_ROBOT = 0.1


class Gauge(Enum):
    """What a method can never determine about the robot, whatever the data."""

    NONE = "nothing"
    LENGTHS = "its lengths"
    PLACE = "where the robot stands"
    SIMILARITY = "where the robot stands and how large it is"
    SIMILARITY_AND_TOOL = "where the robot stands, how large it is and where its tool is"


class Start(Enum):
    """Where a calibration starts."""

    #: From the nominal robot, its base and targets fitted first if they are elsewhere.
    AUTO = "auto"
    #: From the nominal robot as it is, whatever the data say.
    NOMINAL = "nominal"
    #: Fit base and targets first.
    LOCATE = "locate"


class Started(NamedTuple):
    """Where a calibration starts."""

    robot: Machine
    #: Had its base and targets to be placed?
    moved: bool
    #: The method, with what the data say of its own unknowns.
    method: Method


class LeftOut(NamedTuple):
    """A picture that does not fit the others."""

    name: str
    #: Root mean square error of its coordinates, px, and that of all others.
    error: float
    usual: float


class Screened(NamedTuple):
    """Data without what is plainly wrong, and the noise of the rest."""

    data: Dataset
    noise: Noise
    left_out: tuple[LeftOut, ...] = ()


class CalibrationProblem(Problem, Protocol):
    """A problem that can hand back the robot it has calibrated."""

    @property
    def robot(self) -> Machine: ...

    @property
    def data(self) -> Dataset: ...

    @property
    def noise(self) -> Noise:
        """What its weights come from."""
        ...

    def with_noise(self, noise: Noise) -> CalibrationProblem:
        """The same problem with other weights."""
        ...

    def constrained(self) -> ConstrainedProblem | None:
        """With passive joints as unknowns of their own; None where there are none."""
        ...

    def calibrated(self, values: FloatArray) -> Machine: ...

    def error_rows(self, name: str) -> IntArray:
        """The row of the data from which each of the ``errors`` of that name comes."""
        ...

    def displacements(self, name: str, values: FloatArray) -> Displacements | None:
        """Which way the ``errors`` of that name point; None where they are no displacements."""
        ...

    def noise_seen(self, solution: Solution) -> Noise | None:
        """Noise that the residuals show to be nearer the truth; None where they show none."""
        ...

    def shares(self, solution: Solution, statistics: Statistics) -> tuple[Share, ...]:
        """What each of several sources contributes."""
        ...

    def extras(self, values: FloatArray) -> dict[str, Any]:
        """What was identified besides the robot, in words and SI."""
        ...


#: What the noise of each kind is of.
_MEASURED = {"position": "coordinate", "orientation": "rotation component", "pixel": "pixel"}


class Method(ABC):
    """One way of seeing a robot."""

    name: ClassVar[str]
    title: ClassVar[str]
    gauge: ClassVar[Gauge] = Gauge.NONE
    #: Options of its own, by the names that its class takes.
    options: ClassVar[frozenset[str]] = frozenset()

    #: What it shows of the tool directly; None where that depends on more than the tool.
    shows: ClassVar[Measured | None] = None
    #: Do its measurements say where the robot stands?
    places: ClassVar[bool] = False
    #: Are they of the world, too, although something else says where the robot stands?
    of_world: ClassVar[bool] = False
    #: Columns that only this method knows, with their units: ``("length_m",)``.
    columns: ClassVar[tuple[str, ...]] = ()
    #: Does a sensor read something, so that simulated noise is in the readings, not in a contact?
    reads: ClassVar[bool] = False
    #: The kinds of noise that set its weights.
    noises: ClassVar[tuple[str, ...]] = ("position",)
    #: Does each row stand for itself, so that data may be cut anywhere?
    rows_alone: ClassVar[bool] = False

    @property
    def spreads(self) -> bool:
        """Does an unknown of its own act like many links together, so that all must change?"""
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """Fields of the data without which the method can do nothing."""
        return ()

    @abstractmethod
    def problem(
        self, robot: Machine, data: Dataset, *, noise: Noise, gains: bool = False
    ) -> CalibrationProblem:
        """The least-squares problem that the data pose about the robot."""

    @abstractmethod
    def observe(
        self, robot: Machine, points: int, rng: np.random.Generator, *, per_set: int = 4
    ) -> Dataset:
        """Exact measurements of the given robot at random configurations within its limits.

        ``points`` counts measurements; for link methods, sets of ``per_set`` configurations.
        """

    def observe_at(self, robot: Machine, motors: FloatArray) -> Dataset | None:
        """The same at given configurations.

        None: what positions and orientations do not say has to be found for each measurement.
        """
        return None

    def with_reading_noise(self, exact: Dataset, noise: Noise, rng: np.random.Generator) -> Dataset:
        """Readings in the method's own columns, with noise."""
        return exact

    @abstractmethod
    def points_for(self, robot: Machine) -> int:
        """How many random points show everything that can be identified."""

    def check(self, robot: Machine, data: Dataset) -> None:
        """Refuse data that cannot be from this robot. Further checks are the method's own."""
        error = rms_error(self, robot, data)
        if error > ANOTHER_ROBOT * robot.reach() > 0.0:
            raise InputError(
                f"with the nominal '{robot.name}' the residuals of these configurations are "
                f"{1e3 * error:.0f} mm rms",
                where=data.name,
                remedy="Check the sets or the plane, and that the file is from this robot; or "
                "start from nominal regardless",
            )

    def start(self, robot: Machine, data: Dataset, start: Start) -> Started:
        """The robot to start from, whether it had to be placed, and what the method learnt."""
        if start is Start.LOCATE:
            raise InputError(
                "only measured positions can locate a robot",
                where=data.name,
                allowed="the methods position and frame",
            )
        if start is Start.AUTO:
            self.check(robot, data)
        return Started(robot, False, self)

    def start_beside(self, robot: Machine, data: Dataset, start: Start) -> Started:
        """The same where another source says where the robot stands."""
        return self.start(robot, data, start)

    def screened(self, robot: Machine, data: Dataset, noise: Noise) -> Screened:
        """The data without whole pictures that are wrong; single rows are judged after the fit."""
        return Screened(data, noise)

    def noise_for(self, robot: Machine, given: Noise | None) -> Noise:
        """The noise that a calibration starts with, as it is given or guessed."""
        if given is None:
            return Noise.guess(robot.reach())
        for kind in self.noises:
            value = getattr(given, kind)
            if value < SMALLEST:
                raise InputError(
                    f"{kind} noise {value:g} would give infinite weights",
                    allowed=f"{SMALLEST:g} or more, in metres, radians or pixels",
                )
        return given

    def known_noise(
        self, stated: Mapping[str, float | None], *, joint: float = 0.0, slide: float = 0.0
    ) -> Noise | None:
        """Noise that is stated by kind; None where nothing is, and it is to be estimated."""
        told = {kind: value for kind, value in stated.items() if value is not None}
        if "pixel" in told and "pixel" not in self.noises:
            raise InputError(
                f"the method '{self.name}' sees no pixels", remedy="Leave out the noise of pixels"
            )
        if not told and not (joint or slide):
            return None
        for kind in self.noises:
            if kind not in told:
                others = [*told, *(["joint"] if joint or slide else [])]
                raise InputError(
                    f"{' and '.join(others)} noise was given without {kind} noise",
                    remedy=f"Give the noise of each {_MEASURED[kind]} as well, or none at all",
                )
        return Noise(**told, joint=joint, slide=slide, known=True)

    def with_extras(self, extras: Mapping[str, Any]) -> Method:
        """The method once it knows what was identified besides the robot."""
        return self


def rms_error(method: Method, robot: Machine, data: Dataset) -> float:
    """Root mean square of the robot's position errors on data; 0 where there are none.

    Only of configurations in which the nominal robot can be: its loops may not close in all.
    """
    possible = robot.can_close(data.motors)
    if not possible.all():
        data = data.take(np.flatnonzero(possible))
    if not len(data):
        return 0.0
    problem = method.problem(robot, data, noise=Noise.guess(robot.reach()))
    errors = problem.errors(np.array([p.value for p in problem.parameters]))
    distances = all_of(errors, "position")
    return float(np.sqrt(np.mean(distances**2))) if len(distances) else 0.0
