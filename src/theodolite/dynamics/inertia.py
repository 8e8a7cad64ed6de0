"""Inertial parameters of a body: ten numbers in a frame, and what they mean [Gautier1991, eq. 3].

    XX XY XZ YY YZ ZZ   inertia about the frame's origin, kg m2
    MX MY MZ            mass times centre of mass, kg m
    M                   mass, kg

The pseudo-inertia, 4 x 4, holds the same numbers as moments of the mass: the integral of
``x x'`` with ``x = (position, 1)``. It is positive definite for every body of any extent, and moves
with the frame as ``T P T'``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError

#: Names of a body's inertial parameters, in order.
INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
#: Places of the six inertias in the 3 x 3 matrix.
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
#: A flat body has one moment equal to the sum of the others; rounding may exceed it by this part.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A physically possible body: mass, kg; centre of mass, m; inertia about that centre, kg m2."""

    mass: float
    centre: FloatArray
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self) -> None:
        if not 0 < self.mass < np.inf:
            raise InputError(f"a body of {self.mass:g} kg", allowed="a mass above 0 kg")
        smallest, middle, largest = np.linalg.eigvalsh(self.inertia)
        rounding = ROUNDING * abs(largest)
        if smallest < -rounding or largest > smallest + middle + rounding:
            raise InputError(
                "this inertia is not physically possible",
                allowed="principal moments that are positive, none larger than the sum of the "
                "other two",
            )

    @property
    def parameters(self) -> FloatArray:
        """The ten parameters about the frame's origin."""
        return inertial_parameters(self.mass, self.centre, self.inertia)


def pseudo_inertia(parameters: Any) -> list[list[Any]]:
    """The 4 x 4 matrix of moments, of ten numbers or of ten unknowns."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = parameters
    return [
        [(yy + zz - xx) / 2, -xy, -xz, mx],
        [-xy, (xx + zz - yy) / 2, -yz, my],
        [-xz, -yz, (xx + yy - zz) / 2, mz],
        [mx, my, mz, m],
    ]


def from_pseudo_inertia(P: FloatArray) -> FloatArray:
    """The ten parameters of a pseudo-inertia."""
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([*(J[place] for place in PLACES), *P[:3, 3], P[3, 3]])


def is_body(parameters: FloatArray) -> bool:
    """Could a body have these ten parameters?"""
    return bool(np.linalg.eigvalsh(np.array(pseudo_inertia(parameters)))[0] > 0)


def change_of_frame(rotation: FloatArray, position: FloatArray) -> FloatArray:
    """The matrix (10, 10) that takes parameters to the frame in which their own has this pose."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, position
    return np.column_stack(
        [from_pseudo_inertia(T @ np.array(pseudo_inertia(unit)) @ T.T) for unit in np.eye(10)]
    )


def inertial_parameters(mass: float, centre: FloatArray, inertia: FloatArray) -> FloatArray:
    """The ten parameters from mass, centre of mass and inertia (3, 3) about that centre."""
    J = inertia + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return np.array([*(J[place] for place in PLACES), *(mass * centre), mass])


def mass_properties(parameters: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Mass, centre of mass, and inertia (3, 3) about that centre, of ten parameters."""
    mass = float(parameters[9])
    centre = parameters[6:9] / mass
    J = np.empty((3, 3))
    for value, (i, j) in zip(parameters[:6], PLACES, strict=True):
        J[i, j] = J[j, i] = value
    return mass, centre, J - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
