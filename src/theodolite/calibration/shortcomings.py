"""What a model that is not complete leaves in the residuals.

A table in Denavit and Hartenberg's convention cannot tilt one of two parallel axes. If the real
robot's axes are tilted, its calibration still converges and leaves the rest to the
residuals. So a model that lacks something is compared with the same robot in rows of six errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theodolite.calibration.analytic import Measured
from theodolite.calibration.completeness import missing_errors
from theodolite.calibration.method import CalibrationProblem
from theodolite.calibration.quantities import quantity
from theodolite.estimation.solver import Solution
from theodolite.model.conventions import Convention
from theodolite.model.conversion import convert
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot

#: Chance that noise alone makes a complete model look clearly better.
CHANCE = 1e-3


@dataclass(frozen=True)
class Shortcomings:
    """What a model cannot express, and what that costs."""

    #: In words, one sentence per missing parameter.
    missing: tuple[str, ...]
    #: What a complete model would leave, as a part of the residuals' root mean square.
    left: float
    #: Do the data show that it is needed?
    needed: bool


def shortcomings(
    problem: CalibrationProblem,
    solution: Solution,
    pose: Callable[[Machine], CalibrationProblem],
    fit: Callable[[CalibrationProblem], Solution],
) -> Shortcomings | None:
    """What the robot's model lacks; None where it is complete, or is not a serial robot's.

    ``pose`` poses the same data to another robot, ``fit`` fits it.
    """
    from scipy.special import fdtrc

    robot = problem.robot
    if not isinstance(robot, Robot):
        return None
    only_positions = {quantity(name) for name in problem.errors(solution.values)} == {"position"}
    missing = missing_errors(robot, Measured.POSITION if only_positions else Measured.POSE)
    if not missing:
        return None
    if robot.terms:
        # What a table lacks is a matter of geometry.
        problem = pose(robot.without_terms())
        solution = fit(problem)
    calibrated = problem.calibrated(solution.values)
    assert isinstance(calibrated, Robot)
    complete = fit(pose(convert(calibrated, Convention.POSE)))
    # Where axes have come off being parallel, both ranks are those of a complete model.
    gained = max(complete.identifiability.rank - solution.identifiability.rank, len(missing))
    degrees = complete.reduction.rows - complete.identifiability.rank
    before, after = solution.reduction.cost, complete.reduction.cost
    if degrees < 1 or not 0.0 < after < before:
        return Shortcomings(missing, 1.0, needed=False)
    ratio = (before - after) / gained / (after / degrees)
    needed = bool(fdtrc(gained, degrees, ratio) < CHANCE)
    return Shortcomings(missing, float(np.sqrt(after / before)), needed)
