"""The parts of a mechanism: bodies, joints and closures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from theodolite.model.conventions import Joint

#: The frame that everything stands on.
WORLD = "world"


class ClosureKind(Enum):
    """Which components of the gap between two frames must vanish."""

    FRAME = "frame"
    PLANAR = "planar"
    POINT = "point"
    ROD = "rod"

    @property
    def rows(self) -> tuple[int, ...]:
        """Of shifts x y z and turns x y z; a rod has one row of its own, its length."""
        return {"frame": (0, 1, 2, 3, 4, 5), "planar": (0, 1, 5), "point": (0, 1, 2), "rod": (0,)}[
            self.value
        ]


@dataclass(frozen=True)
class BodyElement:
    """An elementary motion: a number, a joint, named constants, or a sum of them."""

    rotation: bool
    #: 0, 1, 2 for x, y, z.
    axis: int
    joint: str | None = None
    #: How far it moves for each unit of the joint: 1, -1, or the factor of a gear.
    sign: float = 1
    amount: float = 0.0
    #: Is the number a parameter?
    free: bool = False
    #: Named constants in the sum, with their signs.
    constants: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Body:
    """A frame, placed relative to the body it stands on."""

    name: str
    parent: str
    elements: tuple[BodyElement, ...]


@dataclass(frozen=True)
class Closure:
    """Two bodies that are held together; a rod holds their origins at its length."""

    name: str
    kind: ClosureKind
    ends: tuple[str, str]
    #: Length of a rod, as a shift: a number, a constant, a joint that drives it, or a sum.
    length: BodyElement | None = None


@dataclass(frozen=True)
class MechanismJoint:
    """A joint, measured or passive, with its position in the home assembly."""

    name: str
    kind: Joint
    #: Where the home assembly has it: exactly for measured joints, about for passive ones.
    home: float | None = None
    #: Limits of a measured joint; of a passive one, where random configurations shall stay.
    lower: float = -np.inf
    upper: float = np.inf
    gain: float = 1.0
    #: Names of the friction of a passive joint: viscous, coulomb ...
    friction: tuple[str, ...] = ()
