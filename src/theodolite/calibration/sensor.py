"""What the methods share that measure the tool from outside, from one or several stations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from theodolite.arrays import FloatArray
from theodolite.calibration.conditions import with_inputs
from theodolite.calibration.data import Dataset
from theodolite.calibration.geometric import GeometricProblem
from theodolite.calibration.method import Method, Start, Started
from theodolite.calibration.noise import Noise
from theodolite.calibration.open_loops import LoopProblem
from theodolite.calibration.placement import placed_start
from theodolite.calibration.stations import Station, Stations, known_stations
from theodolite.model.machine import Machine


class SensorProblem(GeometricProblem):
    """A problem with the sensor's stations as unknowns, where there are several."""

    def __init__(
        self,
        robot: Machine,
        data: Dataset,
        noise: Noise,
        *,
        gains: bool = False,
        stations: Mapping[int, Station] | None = None,
    ) -> None:
        self._stations = Stations.of(robot, with_inputs(data, robot), stations)
        super().__init__(robot, data, noise, gains=gains, extra=self._stations.parameters)

    @property
    def has_stations(self) -> bool:
        """Are there several sessions, with stations to be identified?"""
        return bool(self._stations)

    def constrained(self) -> LoopProblem | None:
        return None if self._stations else LoopProblem.of(self, self.links)

    def extras(self, values: FloatArray) -> dict[str, Any]:
        return self._stations.described(self._own(self.full_values(values)))

    def _own(self, full: FloatArray) -> FloatArray:
        """What belongs to the stations."""
        return full[len(self.robot.parameters) :]


@dataclass(frozen=True, eq=False)
class SensorMethod(Method):
    """A method of a sensor; where it stood in each session may be known."""

    places: ClassVar[bool] = True
    rows_alone: ClassVar[bool] = True

    stations: Mapping[int, Station] | None = None

    def start(self, robot: Machine, data: Dataset, start: Start) -> Started:
        return placed_start(robot, data, self, start)

    def with_extras(self, extras: Mapping[str, Any]) -> Self:
        return type(self)(known_stations(extras))
