"""Inertial parameters of a body: ten numbers in a frame, and what they mean [Gautier1991, eq. 3].

    XX XY XZ YY YZ ZZ   inertia about the frame's origin, kg m2
    MX MY MZ            mass times centre of mass, kg m
    M                   mass, kg

The pseudo-inertia, 4 x 4, holds the same numbers as moments of the mass: the integral of
``x x'`` with ``x = (position, 1)``. It is positive definite for every body of any extent, and moves
with the frame as ``T P T'``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theodolite.arrays import FloatArray

#: Names of a body's inertial parameters, in order.
INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
#: Places of the six inertias in the 3 x 3 matrix.
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def pseudo_inertia(body: Any) -> list[list[Any]]:
    """The 4 x 4 matrix of moments, of ten numbers or of ten unknowns."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = body
    return [
        [(yy + zz - xx) / 2, -xy, -xz, mx],
        [-xy, (xx + zz - yy) / 2, -yz, my],
        [-xz, -yz, (xx + yy - zz) / 2, mz],
        [mx, my, mz, m],
    ]


def from_moments(P: FloatArray) -> FloatArray:
    """The ten parameters of a pseudo-inertia."""
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([*(J[place] for place in PLACES), *P[:3, 3], P[3, 3]])


def moving(rotation: FloatArray, position: FloatArray) -> FloatArray:
    """How the ten parameters change, (10, 10): into the frame in which theirs stands so."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, position
    return np.column_stack(
        [from_moments(T @ np.array(pseudo_inertia(unit)) @ T.T) for unit in np.eye(10)]
    )


def solid(mass: float, centre: FloatArray, inertia: FloatArray) -> FloatArray:
    """The ten parameters from mass, centre of mass and inertia (3, 3) about that centre."""
    J = inertia + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return np.array([*(J[place] for place in PLACES), *(mass * centre), mass])


def taken_apart(body: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Mass, centre of mass, and inertia (3, 3) about that centre."""
    mass = float(body[9])
    centre = body[6:9] / mass
    J = np.empty((3, 3))
    for value, (i, j) in zip(body[:6], PLACES, strict=True):
        J[i, j] = J[j, i] = value
    return mass, centre, J - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
