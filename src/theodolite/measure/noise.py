"""What is known about the noise: the only place where weights come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noise:
    """Standard deviations. Their ratio sets the weights.

    ``position / orientation`` is the normalising length of [Everett1988, eq. 28].
    """

    #: Of each measured coordinate, metres. For link and plane methods: of the contact.
    position: float = 1e-4
    #: Of each component of a measured rotation, radians.
    orientation: float = 1e-4
    #: Of each motor reading, radians (metres for prismatic joints).
    joint: float = 0.0
    #: Are these known, or only their ratio? If not, the residuals set the scale.
    known: bool = False
