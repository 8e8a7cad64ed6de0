"""Units at the edges; inside everything is SI."""

from __future__ import annotations

import numpy as np

from theodolite.calibration.quantities import quantity
from theodolite.model.conventions import Joint

#: No length, angle, gain, time or torque is larger, in any unit; its powers are still finite.
LARGEST_NUMBER = 1e12
#: No part of a robot is larger than this, wherever its world begins, and no joint turns further.
LARGEST_LENGTH, LARGEST_ANGLE = 1e5, 1e4
LENGTHS = {"m": 1.0, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
ANGLES = {"rad": 1.0, "deg": np.pi / 180, "mrad": 1e-3}
#: Units of recordings, as they stand in the names of columns.
OTHERS = (
    *("s", "ms", "us", "Nm", "mNm", "N", "A", "mA", "px"),
    *(f"{unit}_s{power}" for unit in (*ANGLES, *LENGTHS) for power in ("", "2")),
)
#: How people write these units, in small letters and without blanks.
_SPELLINGS = {
    **{"°": "deg", "degree": "deg", "degrees": "deg"},
    **{"radian": "rad", "radians": "rad"},
    **{"millimeter": "mm", "millimetre": "mm", "millimeters": "mm", "millimetres": "mm"},
    **{"meter": "m", "metre": "m", "meters": "m", "metres": "m"},
    **{"µm": "um", "μm": "um", "micron": "um", "microns": "um", "inch": "in", "inches": "in"},
    **{"sec": "s", "second": "s", "seconds": "s", "n*m": "Nm", "n·m": "Nm", "n.m": "Nm"},
    **{"pixel": "px", "pixels": "px"},
}
#: Capitals do not matter in these; nm would be nanometres, and no torque.
_EXACT = {unit: unit for unit in (*LENGTHS, *ANGLES, *OTHERS) if unit.islower()}


def spelled(text: str) -> str | None:
    """The unit that somebody wrote as ``[°]``, ``deg/s`` or ``Millimetres``; None if it is none."""
    text = "".join(text.split()).strip("[](){}")
    if text in LENGTHS or text in ANGLES or text in OTHERS:
        return text
    small = text.lower().replace("²", "2").replace("^", "")
    unit, slash, time = small.partition("/")
    if slash:
        unit = _SPELLINGS.get(unit, unit)
        return _EXACT.get(f"{unit}_{time}")
    return _SPELLINGS.get(small) or _EXACT.get(small)


def joint_units(joint: Joint) -> dict[str, float]:
    """The units a joint variable may have."""
    return ANGLES if joint is Joint.REVOLUTE else LENGTHS


def to_si(value: float, factor: float) -> float:
    """Exact for SI units, so that what was written in them reads back to the last bit."""
    return value if factor == 1.0 else value * factor


#: How each quantity is shown: unit and factor from SI.
_SHOWN = {
    "position": ("mm", 1e3),
    "orientation": ("mrad", 1e3),
    "joint angle": ("mrad", 1e3),
    "joint stroke": ("mm", 1e3),
    "pixel": ("px", 1.0),
}


def shown_in(name: str) -> tuple[str, float]:
    """Unit and factor from SI of an error, by its name."""
    return _SHOWN[quantity(name)]
