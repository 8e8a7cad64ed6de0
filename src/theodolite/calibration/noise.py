"""What is known about the noise: the only place where weights come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError, shown
from theodolite.model.conventions import Joint

#: Noise of an ordinary sensor: parts of the reach, radians. Only ratios count; residuals set the
#: scale.
GUESS = 1e-4
#: Noise that is stated beyond these, in metres, radians or pixels, is a slip of the pen. What the
#: residuals of exact data show may be less.
SMALLEST, LARGEST = 1e-15, 1e9


@dataclass(frozen=True)
class Noise:
    """Standard deviations. Their ratio sets the weights.

    ``position / orientation`` is the normalising length of [Everett1988, eq. 28].
    """

    #: Of each measured coordinate, metres. For link and plane methods: of the contact.
    position: float = 1e-4
    #: Of each component of a measured rotation, radians.
    orientation: float = 1e-4
    #: Of the motor reading of each revolute joint, radians.
    joint: float = 0.0
    #: Of the motor reading of each prismatic joint, metres.
    slide: float = 0.0
    #: Of each pixel coordinate.
    pixel: float = 0.1
    #: Are these known, or only their ratio? If not, the residuals set the scale.
    known: bool = False

    @staticmethod
    def guess(reach: float) -> Noise:
        """Where nothing is known: equal as a fraction of the reach and in radians."""
        return Noise(position=GUESS * (reach or 1.0), orientation=GUESS)

    def __post_init__(self) -> None:
        for name in ("position", "orientation", "joint", "slide", "pixel"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number):
                raise InputError(f"{name} noise is {shown(value)}", allowed="a number, SI")
            if not 0.0 <= value <= LARGEST:
                raise InputError(
                    f"{name} noise is {value:g}",
                    allowed=f"0 to {LARGEST:g}, in metres, radians or pixels",
                )

    def __repr__(self) -> str:
        parts = [f"position={self.position:g} m", f"orientation={self.orientation:g} rad"]
        parts += [f"joint={self.joint:g} rad"] if self.joint else []
        parts += [f"slide={self.slide:g} m"] if self.slide else []
        parts += [f"pixel={self.pixel:g} px"]
        return f"Noise: {', '.join(parts)}; {'known' if self.known else 'only the ratio counts'}"

    def scaled(self, factor: float) -> Noise:
        """The same, so many times as large."""
        names = ("position", "orientation", "joint", "slide", "pixel")
        return replace(self, **{name: factor * getattr(self, name) for name in names})

    @property
    def moves(self) -> bool:
        """Are the joints noisy at all?"""
        return self.joint > 0.0 or self.slide > 0.0

    def motors(self, kinds: Sequence[Joint]) -> FloatArray:
        """Standard deviation of each motor reading, by the kind of joint it drives."""
        return np.array([self.joint if kind is Joint.REVOLUTE else self.slide for kind in kinds])
