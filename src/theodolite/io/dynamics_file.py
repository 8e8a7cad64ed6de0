"""Identified dynamics as JSON: parameters by name, with the frames and drives they are of."""

from __future__ import annotations

from dataclasses import dataclass
from json import JSONDecodeError, dumps, loads
from math import isfinite
from pathlib import Path
from typing import Any

from theodolite.dynamics.drives import Drive
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.io.writing import read_text, write_text

FORMAT = "theodolite dynamics 1"


@dataclass(frozen=True)
class DynamicsFile:
    """What such a file says."""

    path: str
    robot: str
    #: Of the links: parameters mean the same only in the same frames.
    frames: str
    values: dict[str, float]
    drives: tuple[Drive, ...]
    stribeck_speed: float
    #: m/s2 in the world, and the cut-off of the fit, Hz.
    gravity: tuple[float, float, float]
    cutoff: float

    def check(self, dynamics: Tree, robot: str) -> None:
        """Refuse parameters of another robot, or of the same in other frames."""
        if self.frames != dynamics.frames:
            raise InputError(
                f"was identified for '{self.robot}', whose frames are not those of '{robot}'",
                where=self.path,
                remedy="Give the robot file that it was identified with",
            )
        missing = [name for name in dynamics.names(self.drives) if name not in self.values]
        if missing:
            raise InputError(f"lacks {', '.join(missing[:5])}", where=self.path)


def write_dynamics(path: Path, content: dict[str, Any], *, force: bool = False) -> None:
    """Write what ``dynamics identify`` found."""
    write_text(path, dumps({"format": FORMAT, **content}, indent=2) + "\n", force=force)


def read_dynamics(path: Path) -> DynamicsFile:
    """Read it again."""
    try:
        content = loads(read_text(path))
        if content["format"] != FORMAT:
            raise ValueError(content["format"])
        x, y, z = content["gravity"]
        found = DynamicsFile(
            str(path),
            str(content["robot"]),
            str(content["frames"]),
            {str(entry["name"]): float(entry["value"]) for entry in content["parameters"]},
            tuple(Drive(symbol) for symbol in content["drives"]),
            float(content["stribeck_speed"]),
            (float(x), float(y), float(z)),
            float(content["cutoff_hz"]),
        )
    except (JSONDecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "is not what 'theodolite dynamics identify --out' writes", where=str(path)
        ) from error
    wrong = [name for name, value in found.values.items() if not isfinite(value)]
    if wrong:
        raise InputError(f"{wrong[0]} is no finite number", where=str(path))
    return found
