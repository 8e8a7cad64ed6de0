"""What acts inside a mechanism besides its motors: shafts, springs and known torques.

None of it has any part in the geometry; dynamics turns each into columns or known torques.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray


@dataclass(frozen=True)
class Shaft:
    """Something that turns with several joints, each times a factor, and rubs or has a rotor."""

    name: str
    #: Joints, measured or passive, with their factors.
    turns: tuple[tuple[str, float], ...]
    #: Names of what its motion costs: viscous, coulomb, rotor ...
    friction: tuple[str, ...]


@dataclass(frozen=True)
class Spring:
    """A spring between the origins of two bodies."""

    name: str
    ends: tuple[str, str]
    #: m, and N/m; each is identified where it is not given.
    free_length: float | None = None
    stiffness: float | None = None

    @property
    def known(self) -> bool:
        return self.free_length is not None and self.stiffness is not None


@dataclass(frozen=True)
class TorqueCurve:
    """A known torque about a joint or shaft, by where that is: of a cable, of a weight."""

    #: Joint or shaft.
    on: str
    #: Coefficients of 1, q, q^2 ..., N m and rad; or points (q, torque) with lines between them.
    polynomial: tuple[float, ...] = ()
    points: tuple[tuple[float, float], ...] = ()

    def torque(self, q: FloatArray) -> FloatArray:
        """What the motors have to give for it, N m, (n,)."""
        if self.points:
            at, values = np.array(self.points).T
            return np.interp(q, at, values)
        return np.polynomial.polynomial.polyval(q, np.array(self.polynomial))
