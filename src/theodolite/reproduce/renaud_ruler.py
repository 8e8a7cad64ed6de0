"""Checks of a parallel robot that need no sensor: a straight ruler and a drawn square.

[Renaud2006, 5.1.3]: the platform is led along a ruler and the joints are read; or it is sent to the
corners of a square, with one set of parameters or another, and draws it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.parallel import inverse_joints
from theodolite.model.mechanism import Mechanism


@dataclass(frozen=True)
class Linearity:
    """How straight some points are that should lie on a line."""

    #: Standard deviation of the distances from the best line, metres.
    deviation: float
    maximum: float
    #: Unit vector along the line.
    direction: FloatArray


def linearity(points: FloatArray) -> Linearity:
    """Deviation of points (n, 3) from their best straight line."""
    centred = points - points.mean(axis=0)
    direction = np.linalg.svd(centred, full_matrices=False)[2][0]
    off = centred - np.outer(centred @ direction, direction)
    distances = np.linalg.norm(off, axis=1)
    return Linearity(
        float(np.sqrt(np.mean(distances**2))), float(distances.max()), np.asarray(direction)
    )


def forward_coordinates(robot: Mechanism, joints: FloatArray, guess: FloatArray) -> FloatArray:
    """The platform's coordinates at given joints, on the branch of a guess."""
    return robot.close(robot.values, joints, guess)[0]


def ruler(robot: Mechanism, joints: FloatArray, guess: FloatArray) -> Linearity:
    """How straight a robot believes a line to be along which it was led by hand."""
    return linearity(forward_coordinates(robot, joints, guess)[:, :3])


def drawn(true: Mechanism, believed: Mechanism, commanded: FloatArray) -> FloatArray:
    """Where a robot goes that is commanded by the inverse model of another, (n, coordinates)."""
    guess = np.tile(believed.home[0], (len(commanded), 1))
    joints = inverse_joints(believed, believed.values, commanded, guess)
    return forward_coordinates(true, joints, commanded)


def square(centre: FloatArray, side: float) -> FloatArray:
    """Commanded coordinates of a square's corners about given ones, (4, coordinates)."""
    corners = np.tile(centre, (4, 1))
    corners[:, :2] += side / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return corners


def drawing_error(reached: FloatArray, wanted: FloatArray) -> float:
    """Largest distance of drawn points from wanted ones, the pen having been set on the first."""
    apart = (reached - reached[0] - wanted + wanted[0])[:, :3]
    return float(np.linalg.norm(apart, axis=1).max())
