"""Trajectories as CSV: ``t_s q1_rad ... qd1_rad_s ... qdd1_rad_s2 ...``, one row per sample.

Torques along them stand in further columns: ``tau1_Nm ...``, which makes a file a recording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.dynamics.recording import Recording
from theodolite.io.writing import write_text
from theodolite.model.conventions import Joint

#: What follows the unit of positions; all else are torques.
_RATES = {"q": "", "qd": "_s", "qdd": "_s2"}


def write_trajectory(
    path: Path | str,
    times: FloatArray,
    state: State,
    joints: Sequence[Joint],
    *,
    torques: Mapping[str, FloatArray] | None = None,
    force: bool = False,
) -> None:
    """Write positions, velocities and accelerations of the motors, in SI units.

    ``torques`` (n, motors) are named by what comes before the joint's number: ``tau``.
    """
    positions = state.q[:, : len(joints)]
    _write(
        Path(path),
        times,
        {"q": positions, "qd": state.qd, "qdd": state.qdd} | dict(torques or {}),
        joints,
        force=force,
    )


def write_recording(
    path: Path | str, recording: Recording, joints: Sequence[Joint], *, force: bool = False
) -> None:
    """Write positions and torques as `read_recording` reads them."""
    columns = {"q": recording.q, "tau": recording.torques}
    _write(Path(path), recording.times, columns, joints, force=force)


def _write(
    path: Path,
    times: FloatArray,
    columns: Mapping[str, FloatArray],
    joints: Sequence[Joint],
    *,
    force: bool,
) -> None:
    """Columns (n, motors) by what comes before the joint's number in their names."""
    header = ["t_s"]
    for kind in columns:
        header += [f"{kind}{motor}_{_unit(kind, joint)}" for motor, joint in enumerate(joints, 1)]
    table = np.concatenate([times[:, None], *columns.values()], axis=1)
    lines = [",".join(header), *(",".join(map(repr, row)) for row in table.tolist())]
    write_text(path, "\n".join(lines) + "\n", force=force)


def _unit(kind: str, joint: Joint) -> str:
    turns = joint is Joint.REVOLUTE
    if kind in _RATES:
        return ("rad" if turns else "m") + _RATES[kind]
    return "Nm" if turns else "N"
