"""Two robots beside each other: which parameters differ, and how far apart their tips are.

A parameter differs significantly where its change is beyond what the standard errors of both
calibrations explain, at 5 % for all parameters together [Holm 1979]. Over the workspace the tips
are compared as they stand, and with the base of one moved to fit the other: a tracker that was set
up anew is no change of the robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.placement import solve_placement
from theodolite.calibration.result import Estimate, Result
from theodolite.compensation.controller import controlled
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.parameters import Unit

#: Chance that any parameter is called changed where none is.
FALSE_ALARMS = 0.05
#: Configurations at which tips are compared.
CONFIGURATIONS = 500
#: Changes below this part of a parameter's tolerance are rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Compared:
    """What is compared: a robot, and what a calibration knows of it, if there is one."""

    name: str
    robot: Machine
    result: Result | None = None


@dataclass(frozen=True)
class Difference:
    """One parameter of two robots."""

    name: str
    unit: Unit
    first: float
    second: float
    #: Standard error of the change; None where neither is known from a calibration.
    stderr: float | None = None
    #: Chance of such a change where there is none; None without standard errors.
    chance: float | None = None
    significant: bool = False

    @property
    def change(self) -> float:
        return self.second - self.first


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two robots."""

    first: Compared
    second: Compared
    parameters: tuple[Difference, ...]
    #: Parameters that stand for others in one calibration and not in the other.
    not_comparable: tuple[str, ...]
    #: At random configurations: distances of the tips as they stand and with the base fitted, the
    #: tip of the first, and joints, (n, ...).
    distances: FloatArray
    distances_placed: FloatArray
    places: FloatArray
    readings: FloatArray

    @property
    def changed(self) -> list[Difference]:
        """Parameters that differ: significantly, or at all where nothing is known of errors."""
        return [
            one
            for one in self.parameters
            if (one.significant if one.chance is not None else one.change != 0.0)
        ]

    @property
    def worst(self) -> int:
        """The configuration at which the tips are farthest apart."""
        return int(np.argmax(self.distances))


def compare_robots(
    first: Compared, second: Compared, rng: np.random.Generator | None = None
) -> Comparison:
    """Parameters and tips of two robots of one kind."""
    rng = rng or np.random.default_rng(0)
    one, other = first.robot, second.robot
    if one.joint_types != other.joint_types:
        raise InputError(
            f"'{second.name}' has different joints from '{first.name}'",
            remedy="Compare robots of one kind",
        )
    # Measured points are no tools: robots that have some are compared at their flanges.
    one, other = (controlled(robot, first.robot, None, world=True).robot for robot in (one, other))
    motors = one.random_motors(CONFIGURATIONS, rng)
    motors = motors[one.can_close(motors) & other.can_close(motors)]
    here, there = one.poses(motors)[1], other.poses(motors)[1]
    shared, skipped = _parameters(first, second)
    return Comparison(
        first,
        second,
        _judged(shared),
        skipped,
        np.linalg.norm(there - here, axis=1),
        _with_base_fitted(other, motors, here),
        here,
        one.readings(motors),
    )


def _with_base_fitted(robot: Machine, motors: FloatArray, wanted: FloatArray) -> FloatArray:
    """Distances of a robot's tips from wanted ones, once its base is moved as well as it can be."""
    rotations, positions = robot.poses(motors)
    placement = solve_placement(
        rotations, positions, wanted[:, None], find_targets=False, find_scale=False
    )
    gap: FloatArray = np.linalg.norm(placement.apply(rotations, positions) - wanted, axis=1)
    return gap


def _parameters(first: Compared, second: Compared) -> tuple[list[Difference], tuple[str, ...]]:
    """Parameters of both with the standard errors of their changes, and those to be skipped."""
    mine, theirs = (_estimates(one.result) for one in (first, second))
    units = {p.name: p for p in first.robot.parameters}
    values = {p.name: p.value for p in second.robot.parameters}
    found, skipped = [], []
    for name, parameter in units.items():
        if name not in values:
            continue
        estimates = [one[name] for one in (mine, theirs) if name in one]
        if len(estimates) == 2 and set(estimates[0].stands_for) != set(estimates[1].stands_for):
            skipped.append(name)
            continue
        errors = [one.stderr for one in estimates if one.stderr is not None]
        value = values[name]
        if abs(value - parameter.value) <= ROUNDING * min(parameter.tolerance, 1.0):
            value = parameter.value
        stderr = float(np.sqrt(np.sum(np.square(errors)))) if errors else None
        found.append(Difference(name, parameter.unit, parameter.value, value, stderr))
    return found, tuple(skipped)


def _estimates(result: Result | None) -> dict[str, Estimate]:
    return {} if result is None else {one.name: one for one in result.estimates}


def _judged(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Chances of the changes, and which of them are significant together [Holm 1979]."""
    from scipy.special import erfc

    chances = {
        number: float(erfc(abs(one.change) / one.stderr / np.sqrt(2.0)))
        for number, one in enumerate(found)
        if one.stderr
    }
    significant = set()
    for rank, number in enumerate(sorted(chances, key=lambda n: chances[n])):
        if chances[number] > FALSE_ALARMS / (len(chances) - rank):
            break
        significant.add(number)
    return tuple(
        Difference(
            one.name,
            one.unit,
            one.first,
            one.second,
            one.stderr,
            chances.get(number),
            number in significant,
        )
        for number, one in enumerate(found)
    )
