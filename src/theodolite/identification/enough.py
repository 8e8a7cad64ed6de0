"""Are there enough equations for the unknowns?"""

from __future__ import annotations

import numpy as np

from theodolite.identification.identify import identifiable
from theodolite.identification.loss import Loss
from theodolite.identification.reduction import reduce
from theodolite.measure.dataset import Dataset
from theodolite.measure.method import Method
from theodolite.measure.noise import Noise
from theodolite.model.robot import Robot


def equations(method: Method, robot: Robot, data: Dataset) -> int:
    """How many rows the data give."""
    problem = method.problem(robot, data, noise=Noise())
    values = np.array([parameter.value for parameter in problem.parameters])
    return reduce(problem, values, Loss()).rows


def unknowns(method: Method, robot: Robot, data: Dataset, *, gains: bool) -> int:
    """How many parameters the method determines of this robot, given any data it wants."""
    return identifiable(robot, method, gains=gains).rank
