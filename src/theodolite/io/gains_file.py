"""Identified drive gains as JSON, with their covariance."""

from __future__ import annotations

from json import JSONDecodeError, dumps, loads
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drive_gains import DriveGains
from theodolite.errors import InputError
from theodolite.io.reading import read_text
from theodolite.io.writing import write_text
from theodolite.matrices import is_covariance

FORMAT = "theodolite drive gains 1"


def write_gains(path: Path | str, gains: DriveGains, robot: str, *, force: bool = False) -> None:
    """Write gains, N m/A, and their covariance; NaN, of a gain that is not known, as null."""
    spread = gains.covariance
    content = {
        "format": FORMAT,
        "robot": robot,
        "gains_Nm_A": gains.gains.tolist(),
        "covariance": None if spread is None or not np.isfinite(spread).all() else spread.tolist(),
    }
    write_text(Path(path), dumps(content, indent=1) + "\n", force=force)


def read_gains(path: Path | str) -> tuple[FloatArray, FloatArray | None]:
    """Gains, N m/A, and their covariance where it is known."""
    path = Path(path)
    try:
        content = loads(read_text(path))
        if content["format"] != FORMAT:
            raise ValueError(content["format"])
        gains = np.array(content["gains_Nm_A"], dtype=np.float64)
        covariance = content["covariance"]
        spread = None
        if covariance is not None:
            spread = np.array(covariance, dtype=np.float64).reshape(len(gains), len(gains))
        if gains.ndim != 1 or not np.isfinite(gains).all():
            raise ValueError("gains")
        if spread is not None and not is_covariance(spread):
            raise ValueError("covariance")
    except (JSONDecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "is not a file of drive gains",
            where=str(path),
            remedy="Give numbers, or a file that identifying gains wrote",
        ) from error
    return gains, spread
