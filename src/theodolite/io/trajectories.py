"""Trajectories as CSV: ``t_s q1_rad ... qd1_rad_s ... qdd1_rad_s2 ...``, one row per sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.io.writing import write_text


def write_trajectory(
    path: Path,
    times: FloatArray,
    state: State,
    revolute: Sequence[bool],
    *,
    force: bool = False,
) -> None:
    """Positions, velocities and accelerations of the motors, in SI units."""
    motors = range(1, len(revolute) + 1)
    units = ["rad" if turns else "m" for turns in revolute]
    header = ["t_s"]
    for kind, suffix in (("q", ""), ("qd", "_s"), ("qdd", "_s2")):
        header += [
            f"{kind}{motor}_{unit}{suffix}" for motor, unit in zip(motors, units, strict=True)
        ]
    table = np.concatenate([times[:, None], state.q, state.qd, state.qdd], axis=1)
    lines = [",".join(header), *(",".join(map(repr, row)) for row in table.tolist())]
    write_text(path, "\n".join(lines) + "\n", force=force)
