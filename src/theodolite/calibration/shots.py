"""Where the tip was when pictures were taken: found for many pictures at once, used by a few.

Pictures that show equally many marks make one block of equations. There may be one such picture or
a hundred; the motion of the robot, whose loops may have to be closed, does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from theodolite.arrays import FloatArray, IntArray
from theodolite.model.machine import Tip


@dataclass(frozen=True, eq=False)
class Shots:
    """The tip in some configurations, and its derivatives by some of the robot's parameters."""

    motion: Tip
    links: IntArray

    @cached_property
    def by_links(self) -> FloatArray:
        """Twists of the tip by parameters, (n, 6, p)."""
        return self.motion.twist_jacobian(self.links)

    @cached_property
    def by_basis(self) -> FloatArray:
        """Twists of the tip by what drives the chain, (n, 6, b)."""
        return self.motion.twist_basis_jacobian()


@dataclass(frozen=True, eq=False)
class Shot:
    """Some of these configurations."""

    among: Shots
    part: slice

    @property
    def rotation(self) -> FloatArray:
        return self.among.motion.rotation[self.part]

    @property
    def position(self) -> FloatArray:
        return self.among.motion.position[self.part]

    @property
    def by_links(self) -> FloatArray:
        return self.among.by_links[self.part]

    @property
    def by_basis(self) -> FloatArray:
        return self.among.by_basis[self.part]
