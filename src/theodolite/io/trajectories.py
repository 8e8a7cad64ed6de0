"""Trajectories as CSV: ``t_s q1_rad ... qd1_rad_s ... qdd1_rad_s2 ...``, one row per sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.io.writing import write_text
from theodolite.model.conventions import Joint


def write_trajectory(
    path: Path | str,
    times: FloatArray,
    state: State,
    joints: Sequence[Joint],
    *,
    force: bool = False,
) -> None:
    """Write positions, velocities and accelerations of the motors, in SI units."""
    motors = range(1, len(joints) + 1)
    units = ["rad" if joint is Joint.REVOLUTE else "m" for joint in joints]
    header = ["t_s"]
    for kind, suffix in (("q", ""), ("qd", "_s"), ("qdd", "_s2")):
        header += [
            f"{kind}{motor}_{unit}{suffix}" for motor, unit in zip(motors, units, strict=True)
        ]
    table = np.concatenate([times[:, None], state.q, state.qd, state.qdd], axis=1)
    lines = [",".join(header), *(",".join(map(repr, row)) for row in table.tolist())]
    write_text(Path(path), "\n".join(lines) + "\n", force=force)
