"""Identified dynamics as JSON: parameters by name, with the drives they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from json import JSONDecodeError, dumps, loads
from pathlib import Path
from typing import Any

from theodolite.errors import InputError
from theodolite.io.writing import read_text, write_text
from theodolite.model.drives import Drive

FORMAT = "theodolite dynamics 1"


@dataclass(frozen=True)
class DynamicsFile:
    """What such a file says."""

    robot: str
    values: dict[str, float]
    drives: tuple[Drive, ...]
    consistent: bool
    stribeck_speed: float
    #: m/s2 in the world, and the cut-off of the fit, Hz.
    gravity: tuple[float, float, float]
    cutoff: float


def write_dynamics(path: Path, content: dict[str, Any], *, force: bool = False) -> None:
    """Write what ``dynamics identify`` found."""
    write_text(path, dumps({"format": FORMAT, **content}, indent=2) + "\n", force=force)


def read_dynamics(path: Path) -> DynamicsFile:
    """Read it again."""
    try:
        content = loads(read_text(path))
        x, y, z = content["gravity"]
        return DynamicsFile(
            str(content["robot"]),
            {entry["name"]: float(entry["value"]) for entry in content["parameters"]},
            tuple(Drive(symbol) for symbol in content["drives"]),
            bool(content["consistent"]),
            float(content["stribeck_speed"]),
            (float(x), float(y), float(z)),
            float(content["cutoff_hz"]),
        )
    except (JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            "is not what 'theodolite dynamics identify --out' writes", where=str(path)
        ) from error
