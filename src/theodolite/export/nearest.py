"""The nearest robot that a file can carry, and what is lost by it.

Files for controllers and simulators know rigid links and joints that move by what is read. Gains,
further error terms and, in Denavit and Hartenberg's tables, axes that are nearly parallel have no
place there. The parameters that do are then fitted to the robot over its workspace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray, frozen
from theodolite.calibration.base_and_tool import moved_robot
from theodolite.calibration.calibrate import identify
from theodolite.calibration.data import Dataset
from theodolite.calibration.frame import Frame
from theodolite.calibration.method import Start
from theodolite.calibration.noise import Noise
from theodolite.calibration.simulation import simulate
from theodolite.estimation.solver import Change
from theodolite.model.conventions import Convention
from theodolite.model.conversion import convert, straightened
from theodolite.model.poses import Poses
from theodolite.model.robot import Robot

#: Configurations at which the robots are fitted, and as many others at which they are compared.
CONFIGURATIONS = 300
#: Differences below this part of the reach are rounding.
NOTHING = 1e-9


@dataclass(frozen=True)
class Loss:
    """How far a robot that a file can carry is from the one that was to be written, metres."""

    mean: float
    worst: float
    #: What the file has no place for, in words.
    missing: tuple[str, ...]
    #: A length below which nothing is lost, metres.
    nothing: float

    @property
    def none(self) -> bool:
        return self.worst <= self.nothing


def carried(
    robot: Robot, *, gains: bool = False, convention: Convention | None = None
) -> tuple[Robot, Loss]:
    """The nearest robot without error terms, and, unless the file has them, gains.

    With a ``convention``, as a table of it. Its tip is that of the tool: targets are left out.
    """
    missing = []
    if robot.terms:
        missing.append(f"{len(robot.terms)} error terms beyond geometry")
    if not gains and (robot.transmission.gains != 1.0).any():
        missing.append("transmission gains")
    robot = robot.with_targets(())
    plain = robot.without_terms()
    if not gains:
        plain = _without_gains(plain)
    if convention is not None:
        straight = plain
        if convention in (Convention.DH, Convention.HAYATI):
            straight = straightened(plain, hayati=convention is Convention.HAYATI)
        if straight is not plain:
            after = " behind a slide" if convention is Convention.HAYATI else ""
            missing.append(f"axes that are nearly parallel but not quite{after}")
        plain = convert(straight, convention)
    if missing:
        plain = _fitted(plain, robot)
    mean, worst = difference(plain, robot)
    nothing = NOTHING * (robot.reach() or 1.0)
    return plain, Loss(mean, worst, tuple(missing), nothing)


def _without_gains(robot: Robot) -> Robot:
    """Joints that move by what is read; limits stay where they are."""
    ones = frozen(np.ones(robot.joints))
    return replace(robot, transmission=replace(robot.transmission, gains=ones))


def _fitted(plain: Robot, robot: Robot) -> Robot:
    """The robot of a structure that is nearest to another over the workspace."""
    seen = _seen(robot, np.random.default_rng(0))
    length = plain.reach() or 1.0
    found = identify(
        replace(plain, priorities={}),
        replace(seen, columns={}),
        Frame(),
        noise=Noise(position=1e-4 * length, orientation=1e-4, known=True),
        gains=False,
        terms=(),
        start=Start.NOMINAL,
        change=Change.ALL,
        hold_out=0.0,
    )
    assert isinstance(found.robot, Robot)
    nowhere = Poses.one(np.eye(3), np.zeros(3))
    # Base and tool as poses of their own, without errors beside them.
    return replace(moved_robot(found.robot, nowhere, nowhere), priorities={})


def _seen(robot: Robot, rng: np.random.Generator) -> Dataset:
    return simulate(robot, Frame(), points=CONFIGURATIONS, rng=rng)


def difference(one: Robot, other: Robot) -> tuple[float, float]:
    """Mean and largest distance between the tips of two robots with the same motors."""
    seen = _seen(other, np.random.default_rng(1))
    assert seen.positions is not None
    motion = one.motion(one.values, seen.motors[:, : one.joints])
    apart: FloatArray = np.linalg.norm(motion.position - seen.positions[:, 0], axis=1)
    return float(apart.mean()), float(apart.max())
