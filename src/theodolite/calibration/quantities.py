"""What errors are called: by their quantity, or by source and quantity: "tracker.csv: position"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray

#: Errors below this, in parts of the reach, are rounding, or squares of the errors of parameters
#: that have no other effect. No sensor sees them, nor angles below the second, in radians.
EXACT, EXACT_ANGLE = 1e-7, 1e-6
#: Of the size of a picture in pixels: what is small of it is rounding.
PICTURE = 1e3
_SEPARATOR = ": "


@dataclass(frozen=True, eq=False)
class Displacements:
    """What position errors are of, and which way they point."""

    #: Of each error the target; "" is the tool itself.
    targets: tuple[str, ...]
    #: From where the robot says it is to where it was measured, (n, 3), metres.
    vectors: FloatArray


def of_source(source: str, name: str) -> str:
    """What a quantity, or an unknown, of one of several sources is called."""
    return f"{source}{_SEPARATOR}{name}"


def quantity(name: str) -> str:
    """The quantity alone: position, orientation, pixel ..."""
    return name.rpartition(_SEPARATOR)[2]


def source_of(name: str) -> str:
    """The source alone; empty where there is only one."""
    return name.rpartition(_SEPARATOR)[0]


def all_of(errors: Mapping[str, FloatArray], wanted: str) -> FloatArray:
    """The errors of one quantity from all sources."""
    found = [values for name, values in errors.items() if quantity(name) == wanted]
    return np.concatenate([np.empty(0), *found])


def are_exact(largest: Mapping[str, float], reach: float) -> bool:
    """Are errors of these sizes rounding, or too small for any sensor?"""
    length = EXACT * (reach or 1.0)
    limits = {"position": length, "joint stroke": length, "pixel": EXACT * PICTURE}
    return all(size < limits.get(quantity(name), EXACT_ANGLE) for name, size in largest.items())
