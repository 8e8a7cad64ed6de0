"""Units at the edges; inside everything is SI."""

from __future__ import annotations

import numpy as np

from theodolite.model.conventions import Joint

LENGTHS = {"m": 1.0, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
ANGLES = {"rad": 1.0, "deg": np.pi / 180, "mrad": 1e-3}


def joint_units(joint: Joint) -> dict[str, float]:
    """The units a joint variable may have."""
    return ANGLES if joint is Joint.REVOLUTE else LENGTHS


def to_si(value: float, factor: float) -> float:
    """Exact for SI units, so that what was written in them reads back to the last bit."""
    return value if factor == 1.0 else value * factor


#: How each quantity is shown: unit and factor from SI.
SHOWN = {
    "position": ("mm", 1e3),
    "orientation": ("mrad", 1e3),
    "joint angle": ("mrad", 1e3),
    "joint stroke": ("mm", 1e3),
    "pixel": ("px", 1.0),
}
