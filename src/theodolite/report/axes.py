"""Axes that were fitted to circles and lines, as a table and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from theodolite.calibration.circle_points import Axis
from theodolite.model.conventions import Joint
from theodolite.report.terminal_table import Table


def show_axes(console: Console, axes: Sequence[Axis]) -> None:
    """How well each axis is known."""
    if not axes:
        return
    table = Table(title="Axes, with standard deviations", title_justify="left")
    for heading in ("joint", "positions", "radius", "rms", "direction +-", "place +-"):
        table.add_column(heading, justify="right")
    for number, axis in enumerate(axes, start=1):
        table.add_row(
            str(number),
            str(axis.count),
            f"{1e3 * axis.radius:.1f} mm" if axis.joint is Joint.REVOLUTE else "slides",
            f"{1e3 * axis.rms:.4g} mm",
            f"{1e3 * axis.direction_error:.3g} mrad",
            f"{1e3 * axis.point_error:.3g} mm",
        )
    console.print(table)


def axes_data(axes: Sequence[Axis]) -> list[dict[str, Any]]:
    """The axes for ``new --circles --json``."""
    return [
        {
            "turns": axis.joint is Joint.REVOLUTE,
            "direction": axis.direction.tolist(),
            "point_m": axis.point.tolist(),
            "direction_error_rad": axis.direction_error,
            "point_error_m": axis.point_error,
            "radius_m": axis.radius,
            "rms_m": axis.rms,
            "positions": axis.count,
        }
        for axis in axes
    ]
