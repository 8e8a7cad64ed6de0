"""From tolerances of parts to errors of the tool, before anything is built or measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.noise import Noise
from theodolite.calibration.position import Position
from theodolite.design.designing import accuracy_table
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.parameters import Group
from theodolite.model.robot import Robot

#: Configurations that stand for the workspace, and robots that are drawn; fewer where loops have to
#: be closed.
CONFIGURATIONS, ROBOTS = 200, 400
WITH_LOOPS = 60, 40
#: A calibration that is usual: positions, and the noise of each coordinate, m.
MEASUREMENTS, NOISE = 50, 5e-5


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Errors of the tip that tolerances allow, metres."""

    #: Parameters with what each contributes alone, rms over the workspace, the largest first.
    names: tuple[str, ...]
    contributions: FloatArray
    #: Root mean square of all together, linearly, and of drawn robots; and 95 % of these.
    linear: float
    drawn: float
    drawn_95: float
    #: Where: tips (n, 3) and the expected error there, linearly, (n,).
    places: FloatArray
    errors: FloatArray
    #: Expected error after a calibration by so many random positions with so much noise, m.
    calibrated: float
    measurements: int
    noise: float

    @property
    def shares(self) -> FloatArray:
        """What part of the squared error each contributes."""
        squares = self.contributions**2
        return squares / max(float(squares.sum()), np.finfo(float).tiny)


def sensitivity(
    robot: Machine,
    *,
    base: bool = False,
    rng: np.random.Generator | None = None,
    robots: int | None = None,
    measurements: int = MEASUREMENTS,
    noise: float = NOISE,
) -> Sensitivity:
    """What each tolerance does to the tip; with ``base``, those of base and tool as well.

    And what a calibration by ``measurements`` of the tip's position with ``noise`` would leave.
    """
    rng = rng or np.random.default_rng(0)
    usual = (CONFIGURATIONS, ROBOTS) if isinstance(robot, Robot) else WITH_LOOPS
    robots = usual[1] if robots is None else robots
    motors = robot.random_motors(usual[0], rng)
    motors = motors[robot.can_close(motors)]
    counted = [
        number
        for number, parameter in enumerate(robot.parameters)
        if np.isfinite(parameter.tolerance)
        and not parameter.term
        and (base or (parameter.group is Group.ARM and not parameter.places))
    ]
    if not counted:
        raise InputError(f"'{robot.name}' has no parameters with tolerances")
    columns = np.array(counted, dtype=np.intp)
    tolerances = np.array([robot.parameters[number].tolerance for number in counted])
    motion = robot.motion(robot.values, motors)
    moved = motion.position_jacobian(columns) * tolerances
    alone = np.sqrt(np.mean(np.sum(moved**2, axis=1), axis=0))
    there = np.sqrt(np.sum(moved**2, axis=(1, 2)))
    order = np.argsort(-alone, kind="stable")
    drawn = _drawn(robot, motors, motion.position, columns, tolerances, rng, robots)
    return Sensitivity(
        tuple(robot.parameters[counted[place]].name for place in order),
        alone[order],
        float(np.sqrt(np.mean(there**2))),
        float(np.sqrt(np.mean(drawn**2))),
        float(np.quantile(drawn, 0.95)),
        np.asarray(motion.position),
        there,
        _after_calibration(robot, measurements, noise, rng),
        measurements,
        noise,
    )


def _after_calibration(
    robot: Machine, measurements: int, noise: float, rng: np.random.Generator
) -> float:
    table = accuracy_table(
        robot,
        Position(),
        noise=Noise(position=noise, known=True),
        counts=[measurements],
        factors=[1.0],
        rng=rng,
    )
    return float(table[0, 0])


def _drawn(
    robot: Machine,
    motors: FloatArray,
    nominal: FloatArray,
    columns: IntArray,
    tolerances: FloatArray,
    rng: np.random.Generator,
    robots: int,
) -> FloatArray:
    """Errors of robots whose parameters are drawn from their tolerances, without linearising."""
    found = []
    for _ in range(robots):
        values = np.array(robot.values)
        values[columns] += tolerances * rng.standard_normal(len(tolerances))
        settled, closed = robot.settled(motors, values)
        tips = robot.motion(values, settled[closed]).position
        found.append(np.linalg.norm(tips - nominal[closed], axis=1))
    return np.concatenate(found)
