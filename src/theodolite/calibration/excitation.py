"""Is a recording exciting enough? What random configurations would show and it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.data import Dataset
from theodolite.estimation.identifiability import Identifiability
from theodolite.model.machine import Machine

#: A recording whose condition number is this many times that of random configurations is poor.
POOR = 10.0
#: A joint that uses less than this part of its range starves what depends on it.
SMALL_RANGE = 0.1
#: Part of its range in which a joint that stands still may be read.
STILL = 1e-6


@dataclass(frozen=True)
class Excitation:
    """A recording compared with random configurations."""

    condition_number: float
    random_condition_number: float
    #: Identifiable from random configurations but not from the recording.
    starved: tuple[str, ...]
    #: Joints that hardly move, with the part of their range that they use.
    still: dict[str, float]
    #: The parameters that the recording determines worst, relative to random ones.
    weakest: tuple[str, ...]

    @property
    def sufficient(self) -> bool:
        """The same parameters as random configurations, at a comparable condition number."""
        return not self.starved and self.condition_number <= POOR * self.random_condition_number

    @property
    def shortcomings(self) -> tuple[str, ...]:
        """What is missing, in words."""
        found = [
            f"{joint} uses only {100 * part:.1f} % of its range"
            for joint, part in self.still.items()
        ]
        if self.starved:
            names = " ".join(self.starved)
            found.append(f"random configurations would also determine {names}")
        return tuple(found)

    @property
    def verdict(self) -> str:
        """In a sentence, whether the recording is good enough."""
        does = "excites" if self.sufficient else "does not excite"
        return f"The recording {does} the parameters sufficiently."


def range_used(robot: Machine, data: Dataset) -> FloatArray:
    """The part of its range that each joint uses, (joints,)."""
    span = np.ptp(robot.readings(data.motors), axis=0)
    return np.asarray(span / (robot.upper - robot.lower))


def still_joints(robot: Machine, data: Dataset) -> tuple[str, ...]:
    """Joints that never moved, but for the noise of their readings."""
    used = range_used(robot, data)
    return tuple(name for name, part in zip(robot.joint_names, used, strict=True) if part < STILL)


def excitation(
    robot: Machine, data: Dataset, recorded: Identifiability, random: Identifiability
) -> Excitation:
    """Compare what a recording determines with what random configurations would."""
    used = range_used(robot, data)
    found = set(recorded.identifiable)
    return Excitation(
        recorded.condition_number,
        random.condition_number,
        tuple(name for name in random.identifiable if name not in found),
        {f"q{joint + 1}": float(part) for joint, part in enumerate(used) if part < SMALL_RANGE},
        _weakest(recorded),
    )


def _weakest(known: Identifiability, count: int = 3) -> tuple[str, ...]:
    """The parameters that weigh most in the direction of the smallest singular value."""
    if not known.rank:
        return ()
    weights = np.abs(known.weakest_direction)
    order = np.argsort(-weights)[:count]
    return tuple(known.identifiable[index] for index in order)
