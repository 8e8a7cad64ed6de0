"""A parameter: a number that describes the machine and may be identified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import inf

import numpy as np

from theodolite.arrays import IntArray

#: Angles closer than this to a multiple of 90 degrees count as being one (radians).
RIGHT_ANGLE_TOLERANCE = 1e-6
#: Lengths shorter than this count as zero (metres).
ZERO_LENGTH = 1e-9
#: Default tolerances: how far off a robot may be before anyone has measured it, as standard
#: deviations. A few times what a workshop holds, so that data which determine a parameter at all
#: outweigh them, and not so wide that noise moves what data hardly see. Lengths are parts of the
#: reach; angles are in radians.
LINK_LENGTH, LINK_ANGLE, LINK_GAIN = 0.003, 0.005, 0.005
#: Zeros of joints, base and tool are set by hand.
PLACED_LENGTH, PLACED_ANGLE = 0.02, 0.02
#: What bends, slips or warms up moves a good deal less.
TERM_LENGTH, TERM_ANGLE = 2e-4, 2e-4


class Group(Enum):
    """Which part of the set-up a parameter belongs to."""

    BASE = "base"
    ARM = "arm"
    TOOL = "tool"
    SENSOR = "sensor"


class Unit(Enum):
    """Physical units, SI."""

    METRE = "m"
    RADIAN = "rad"
    ONE = "1"
    PER_METRE = "1/m"
    PIXEL = "px"
    MASS = "kg"
    MOMENT = "kg m"
    INERTIA = "kg m2"
    TORQUE = "N m"
    VISCOUS = "N m s/rad"
    QUADRATIC = "N m s2/rad2"
    WARMTH = "N m s/(rad K)"
    STIFFNESS = "N m/rad"
    SQUARE = "N m/rad2"
    CUBE = "N m/rad3"
    GAIN = "N m/A"
    FORCE = "N"
    SPRING = "N/m"


@dataclass(frozen=True)
class Parameter:
    """Name, place and value of one parameter.

    ``column`` and ``frame`` give its place in the priority matrix, and break ties between
    equal priorities as in GECARO: all alpha, all d, all theta, all r, all beta, all K.
    """

    name: str
    value: float
    unit: Unit
    group: Group
    frame: int
    column: int
    #: Does it shift the zero of a joint?
    offset: bool = False
    #: Standard deviation of its error before any measurement, in its own unit.
    tolerance: float = inf
    #: Which default that is, where nobody stated it: those of one kind are right or wrong together.
    guess: str = ""
    #: Is it the coefficient of a further error term?
    term: bool = False
    #: Does it turn or shift the whole arm about its first axis, or the tool about its last?
    places: bool = False

    @property
    def gain(self) -> bool:
        """Is it a transmission gain?"""
        arm = self.group is Group.ARM
        return arm and self.column == GAIN_COLUMN and self.unit is Unit.ONE

    @property
    def external(self) -> bool:
        """Does it say where base, tool or sensor stand? A joint's zero does not."""
        return self.group is not Group.ARM and not self.offset

    @property
    def by_hand(self) -> bool:
        """Is it set by hand, as base, tool and the zeros of joints are?"""
        return self.offset or self.group in (Group.BASE, Group.TOOL)

    def with_tolerance(self, stated: Mapping[str, float], reach: float) -> Parameter:
        """The same with the tolerance that is stated for it, or the default one."""
        if self.name in stated:
            return replace(self, tolerance=stated[self.name], guess="")
        tolerance = self.default_tolerance(reach)
        # Further terms are small by what they are, whatever the robot.
        guessed = tolerance < inf and not self.term
        kind = f"{'placed' if self.by_hand else 'link'} {self.unit.value}"
        return replace(self, tolerance=tolerance, guess=kind if guessed else "")

    def default_tolerance(self, reach: float) -> float:
        """How far off it may be on a robot of this reach; no limit for other units."""
        if self.term:
            return TERM_ANGLE if self.unit is Unit.RADIAN else TERM_LENGTH * (reach or 1.0)
        placed = PLACED_LENGTH, PLACED_ANGLE
        length, angle = placed if self.by_hand else (LINK_LENGTH, LINK_ANGLE)
        tolerances = {
            Unit.METRE: length * (reach or 1.0),
            Unit.RADIAN: angle,
            Unit.ONE: LINK_GAIN * (abs(self.value) or 1.0),
        }
        return tolerances.get(self.unit, inf)

    def default_priority(self) -> int:
        """GECARO's default rules [Khalil1996, section 6a]; base and tool win over lengths."""
        if self.offset or self.gain:
            return 6
        by_group = {Group.SENSOR: 3, Group.BASE: 2, Group.TOOL: 2}
        if self.term or self.group in by_group:
            return by_group.get(self.group, 1)
        if self.unit is Unit.METRE and abs(self.value) > ZERO_LENGTH:
            return 5
        if self.unit is Unit.RADIAN:
            remainder = abs(np.remainder(self.value + np.pi / 4, np.pi / 2) - np.pi / 4)
            if remainder > RIGHT_ANGLE_TOLERANCE:
                return 4
        return 1


def placing(parameters: Sequence[Parameter]) -> IntArray:
    """Which parameters say where base, tool and sensor stand, (k,).

    A table of axes has four parameters of its base; the other two turn and shift the arm about its
    first axis.
    """
    return np.flatnonzero([parameter.external or parameter.places for parameter in parameters])


#: The columns of GECARO's priority matrix.
COLUMNS = ("alpha", "d", "theta", "r", "beta", "K")
GAIN_COLUMN = COLUMNS.index("K")
#: Further terms come after all of them.
TERM_COLUMN = len(COLUMNS)
