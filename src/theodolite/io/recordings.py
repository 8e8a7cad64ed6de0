"""Recordings of a moving robot: CSV with units in the column names, or NumPy archives.

| columns | what |
|---|---|
| ``t_s`` | time |
| ``q1_rad`` ... or ``q1_deg``, ``q1_m``, ``q1_mm`` | joint positions |
| ``qd1_rad_s`` ..., ``qdd1_rad_s2`` ... | velocities and accelerations, if recorded |
| ``tau1_Nm`` ... | torques, or ``i1_A`` ... currents, to be multiplied by drive gains |

An archive (``.npz``) has ``times positions torques`` and perhaps ``velocities accelerations``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.io.tables import read_table
from theodolite.io.units import ANGLES, LENGTHS
from theodolite.measure.recording import Recording
from theodolite.model.machine import Machine

_COLUMN = re.compile(r"(qdd|qd|q|tau|i)(\d+)_(\w+)$")
_RATES = {"rad_s": 1.0, "deg_s": np.pi / 180, "m_s": 1.0, "mm_s": 1e-3}
_CHANGES = {f"{unit}2": factor for unit, factor in _RATES.items()}
_UNITS: dict[str, dict[str, float]] = {
    "q": {**ANGLES, **LENGTHS},
    "qd": _RATES,
    "qdd": _CHANGES,
    "tau": {"Nm": 1.0, "mNm": 1e-3, "N": 1.0},
    "i": {"A": 1.0, "mA": 1e-3},
}
ALLOWED = "t_s, q1_rad ..., qd1_rad_s ..., qdd1_rad_s2 ..., tau1_Nm ... or i1_A ..."


def read_recording(
    path: Path,
    robot: Machine,
    *,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    drive_gains: FloatArray | None = None,
) -> Recording:
    """Times, joints and torques from a file."""
    path = Path(path)
    if path.suffix == ".npz":
        return _archive(path, robot)
    table = read_table(path, columns, ignore)
    found: dict[str, dict[int, FloatArray]] = {kind: {} for kind in _UNITS}
    times: FloatArray | None = None
    for number, name in enumerate(table.columns):
        values = table.values[:, number]
        if name == "t_s":
            times = values
            continue
        match = _COLUMN.match(name)
        if match is None or match.group(3) not in _UNITS[match.group(1)]:
            raise InputError(
                f"unknown column '{name}'", where=str(path), allowed=ALLOWED,
                remedy=f"Add --ignore {name}",
            )  # fmt: skip
        joint = int(match.group(2))
        if not 1 <= joint <= robot.joints:
            raise InputError(
                f"column '{name}': robot '{robot.name}' has {robot.joints} joints",
                where=str(path),
                remedy="The file may be of another robot",
            )
        found[match.group(1)][joint] = values * _UNITS[match.group(1)][match.group(3)]
    if times is None:
        raise InputError("column t_s is missing", where=str(path))
    q = _whole(found["q"], "q", robot, path, "rad")
    if q is None:
        raise InputError("has no joint positions", where=str(path), allowed=ALLOWED)
    torques = _whole(found["tau"], "tau", robot, path, "Nm")
    if torques is None:
        torques = _from_currents(_whole(found["i"], "i", robot, path, "A"), drive_gains, path)
    return Recording(
        times,
        q,
        torques,
        _whole(found["qd"], "qd", robot, path, "rad_s"),
        _whole(found["qdd"], "qdd", robot, path, "rad_s2"),
        str(path),
    )


def _whole(
    columns: dict[int, FloatArray], kind: str, robot: Machine, path: Path, unit: str
) -> FloatArray | None:
    if not columns:
        return None
    missing = [joint for joint in range(1, robot.joints + 1) if joint not in columns]
    if missing:
        raise InputError(
            f"column {kind}{missing[0]}_{unit} is missing",
            where=str(path),
            allowed=f"one for each of the {robot.joints} joints",
        )
    return np.column_stack([columns[joint] for joint in range(1, robot.joints + 1)])


def _from_currents(currents: FloatArray | None, gains: FloatArray | None, path: Path) -> FloatArray:
    if currents is None:
        raise InputError(
            "has neither torques nor currents", where=str(path), allowed="tau1_Nm ... or i1_A ..."
        )
    if gains is None or len(gains) != currents.shape[1]:
        count = 0 if gains is None else len(gains)
        raise InputError(
            f"{currents.shape[1]} currents need as many drive gains, {count} were given",
            where=str(path),
            remedy="Add --drive-gains 14.87,13.26,... in Nm/A",
        )
    return currents * gains


def _archive(path: Path, robot: Machine) -> Recording:
    try:
        content = np.load(path)
        tables = {name: np.asarray(content[name], dtype=np.float64) for name in content.files}
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=str(path)) from error
    for name in ("times", "positions", "torques"):
        if name not in tables:
            raise InputError(f"has no '{name}'", where=str(path), allowed="times positions torques")
    if tables["positions"].shape[1] != robot.joints:
        raise InputError(
            f"has {tables['positions'].shape[1]} joints, robot '{robot.name}' {robot.joints}",
            where=str(path),
        )
    return Recording(
        tables["times"],
        tables["positions"],
        tables["torques"],
        tables.get("velocities"),
        tables.get("accelerations"),
        str(path),
    )
