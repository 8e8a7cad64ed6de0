"""Values of dynamic parameters by name, with everything needed to use them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import STRIBECK_SPEED, Drives
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError


@dataclass(frozen=True)
class DynamicParameters:
    """Identified parameters, or those of a robot description."""

    values: Mapping[str, float]
    drives: Drives
    #: The robot they belong to, and a hash of its frames.
    robot: str
    frames: str
    stribeck_speed: float = STRIBECK_SPEED
    #: Gravity of the recording in the world, m/s2, and cut-off of the fit, Hz, if there was one.
    gravity: tuple[float, float, float] | None = None
    cutoff: float | None = None
    #: Are they parameters of whole bodies, or base parameters with zeros for the others?
    standard: bool = False
    #: Where they come from, for messages.
    source: str = "parameters"
    #: Speeds over which the friction of each motor reverses, rad/s or m/s; none: at once.
    transition_speeds: tuple[float, ...] = ()
    #: The base parameters, and their covariance, if it is known.
    base: tuple[str, ...] = ()
    covariance: FloatArray | None = field(default=None, compare=False, repr=False)
    #: What the fit left of the torques of each motor, N m or N; none where it is not known.
    deviations: tuple[float, ...] = ()
    #: Distances over which the friction of each motor reverses wherever it stops, rad or m.
    presliding_distances: tuple[float, ...] = ()

    def check_frames(self, dynamics: Tree) -> None:
        """Refuse parameters of another robot, or of the same robot in other frames."""
        if self.frames != dynamics.frames:
            raise InputError(
                f"belongs to '{self.robot}', whose frames are not those of '{dynamics.name}'",
                where=self.source,
                remedy="Use the robot file that it was made with",
            )
        dynamics.check_drives(self.drives)
        known = self.base if self.covariance is not None else ()
        if not set(known) <= set(dynamics.names(self.drives)) or (
            self.deviations and len(self.deviations) != dynamics.motors
        ):
            raise InputError("its covariance belongs to other parameters", where=self.source)
        missing = [name for name in dynamics.names(self.drives) if name not in self.values]
        if missing:
            raise InputError(f"lacks {', '.join(missing[:5])}", where=self.source)

    def vector(self, names: Sequence[str]) -> FloatArray:
        """Values in the order of some names; zero for those it does not have."""
        return np.array([self.values.get(name, 0.0) for name in names])
