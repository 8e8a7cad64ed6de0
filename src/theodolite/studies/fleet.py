"""Many robots, each with its own data: one result each, and what they have in common.

A robot that cannot be calibrated stops no other. Where a robot has few measurements, mean and
spread of its make are a better prior than the tolerances of a drawing: the mean robot of the fleet,
with its spread as tolerances, is a nominal robot like any other, and is calibrated like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

import numpy as np

from theodolite.calibration.calibrate import identify
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method, Start
from theodolite.calibration.noise import Noise
from theodolite.calibration.result import Result
from theodolite.errors import InputError, TheodoliteError
from theodolite.estimation.loss import Loss
from theodolite.estimation.reduction import reduce
from theodolite.model.machine import Machine
from theodolite.model.parameters import placing
from theodolite.model.robot import Robot
from theodolite.studies.population import Information, Population, information, population

#: Fewer robots have nothing in common that could be told from chance.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class Member:
    """One robot to be calibrated."""

    name: str
    robot: Machine
    data: Dataset
    method: Method
    made: date | None = None
    gains: bool | None = False
    terms: tuple[str, ...] | None = ()
    hold_out: float = 0.2
    noise: Noise | None = None


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What became of it."""

    name: str
    result: Result | None
    #: Why there is no result.
    message: str = ""
    made: date | None = None
    #: What its data say of the parameters of its make, where this can be said.
    says: Information | None = None


def calibrate_member(member: Member) -> Calibrated:
    """One calibration; what goes wrong is a message."""
    try:
        result = identify(
            member.robot,
            member.data,
            member.method,
            noise=member.noise,
            gains=member.gains,
            terms=member.terms,
            hold_out=member.hold_out,
        )
        says = _information(member, result)
    except TheodoliteError as error:
        return Calibrated(member.name, None, str(error), member.made)
    except (np.linalg.LinAlgError, ArithmeticError, ValueError) as error:
        # A defect of ours on one robot's data must not cost the others theirs.
        message = f"a bug in Theodolite: {type(error).__name__}: {error}"
        return Calibrated(member.name, None, message, member.made)
    return Calibrated(member.name, result, "", member.made, says)


def _information(member: Member, result: Result) -> Information | None:
    """The linear model of one robot's data; None for mechanisms and for robots with terms.

    Where base, tool and sensor stand is each robot's own affair, and is eliminated.
    """
    robot = member.robot
    if not isinstance(robot, Robot) or not isinstance(result.robot, Robot) or robot.terms:
        return None
    names = {parameter.name for parameter in robot.parameters}
    placed, _, method = member.method.start(robot, member.data, Start.AUTO)
    known = {p.name: p.value for p in result.robot.parameters}
    gains = any(one.name.startswith("K") for one in result.estimates)
    noise = method.noise_for(placed, member.noise)
    problem = method.problem(placed, member.data, noise=noise, gains=gains)
    own = placing(problem.parameters)
    common = {p.name for place, p in enumerate(problem.parameters) if place not in own}
    # What the sensor adds is not in the robot, and its values are not kept there.
    unknown = [p.name for p in problem.parameters if p.name not in known]
    if result.robot.terms or not common <= names or unknown:
        return None
    values = np.array([known[p.name] for p in problem.parameters])
    reduction = reduce(problem, values, Loss())
    degrees = max(reduction.rows - result.identifiability.rank, 1)
    sigma = max(float(np.sqrt(reduction.squares / degrees)), np.finfo(float).tiny)
    nominal = np.array([p.value for p in problem.parameters])
    target = reduction.R @ (values - nominal) - reduction.z
    return information(problem.parameters, reduction.R / sigma, target / sigma)


@dataclass(frozen=True, eq=False)
class Make:
    """Robots of one nominal and what they have in common."""

    nominal: Robot
    members: tuple[str, ...]
    made: tuple[date | None, ...]
    found: Population

    @property
    def alike(self) -> tuple[str, ...]:
        """Robots that are like the others: for them the make is a prior."""
        odd = {robot for robot, _, _ in self.found.outliers()}
        return tuple(name for number, name in enumerate(self.members) if number not in odd)

    @property
    def robot(self) -> Robot:
        """The mean robot of the make, with the spread over its robots as tolerances."""
        found = self.found
        mean = dict(zip(found.names, found.mean.tolist(), strict=True))
        spread = dict(zip(found.names, found.spread.tolist(), strict=True))
        robot = self.nominal.with_values(
            {p.name: p.value + mean[p.name] for p in self.nominal.parameters if p.name in mean}
        )
        named = replace(robot, name=f"{self.nominal.name}-mean")
        return named.with_tolerances({**self.nominal.tolerances, **spread})


def makes(members: Sequence[Member], outcomes: Sequence[Calibrated]) -> Iterator[Make]:
    """The makes of a fleet: robots of the same nominal whose data say something of the same."""
    pairs = [
        (member, outcome)
        for member, outcome in zip(members, outcomes, strict=True)
        if outcome.says is not None
    ]

    def make(pair: tuple[Member, Calibrated]) -> tuple[str, ...]:
        says = pair[1].says
        assert says is not None
        return (pair[0].robot.name, *says.names, *map(repr, pair[0].robot.values.tolist()))

    for _, group in groupby(sorted(pairs, key=make), key=make):
        some = list(group)
        if len(some) < FEWEST:
            continue
        nominal = some[0][0].robot
        assert isinstance(nominal, Robot)
        says = [outcome.says for _, outcome in some if outcome.says is not None]
        known = {parameter.name: parameter.tolerance for parameter in nominal.parameters}
        tolerances = np.array([known[name] for name in says[0].names])
        yield Make(
            nominal,
            tuple(member.name for member, _ in some),
            tuple(member.made for member, _ in some),
            population(says, tolerances),
        )


def with_make(member: Member, make: Make) -> Member:
    """The same robot, known to be of a make: base and tool stay as its own file says."""
    if member.name not in make.alike:
        raise InputError(f"'{member.name}' is not like the robots of this make")
    return replace(member, robot=make.robot)
