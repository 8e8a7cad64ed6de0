"""Plots of results. Matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import State
from theodolite.dynamics.excitation.limits import Limits
from theodolite.dynamics.prediction import Prediction
from theodolite.errors import InputError, MissingExtraError

#: Formats that plots can be written in.
KINDS = (".png", ".svg", ".pdf")


def _figure(width: float, height: float) -> tuple[Any, Any]:
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("drawing a plot", "plots") from error
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    # The same drawing gives the same file.
    matplotlib.rcParams["svg.hashsalt"] = "theodolite"
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def check_plot(path: Path) -> None:
    """Refuse, before any work is done, a plot that cannot be drawn."""
    if path.suffix not in KINDS:
        raise InputError(
            f"plots cannot be written as '{path.suffix}'", where=str(path), allowed=KINDS
        )
    _figure(1.0, 1.0)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def drawn_squares(path: Path, squares: Mapping[str, FloatArray]) -> None:
    """Corners in the plane, millimetres, one closed line for each name."""
    import numpy as np

    figure, axes = _figure(5.0, 5.0)
    styles = ("k--", "C3-o", "C0-o")
    for (name, corners), style in zip(squares.items(), styles, strict=False):
        closed = 1e3 * np.concatenate([corners, corners[:1]])
        axes.plot(closed[:, 0], closed[:, 1], style, label=name, markersize=4)
    axes.set_aspect("equal")
    axes.set_xlabel("x (mm)")
    axes.set_ylabel("y (mm)")
    axes.legend(loc="center")
    _save(figure, path)


def compared_bars(
    path: Path, labels: Sequence[str], series: Mapping[str, Sequence[float]], unit: str
) -> None:
    """Groups of bars, one group for each label."""
    import numpy as np

    figure, axes = _figure(5.5, 3.2)
    places = np.arange(len(labels))
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        axes.bar(places + (number - (len(series) - 1) / 2) * width, values, width, label=name)
    axes.set_xticks(places, labels)
    axes.set_ylabel(unit)
    axes.legend()
    _save(figure, path)


def torque_curves(path: Path, prediction: Prediction, title: str) -> None:
    """Measured and predicted torques over time with their difference, one row for each joint."""
    motors = prediction.measured.shape[1]
    figure, grid = _grid(motors, 9.0, 1.5 * motors + 0.6)
    for motor, axes in enumerate(grid):
        measured, predicted = prediction.measured[:, motor], prediction.predicted[:, motor]
        axes.plot(prediction.times, measured, "0.45", linewidth=1.2, label="measured")
        axes.plot(prediction.times, predicted, "C0", linewidth=0.9, label="predicted")
        axes.plot(prediction.times, predicted - measured, "C3", linewidth=0.7, label="difference")
        axes.axhline(0.0, color="0.8", linewidth=0.5, zorder=0)
        axes.set_ylabel(f"joint {motor + 1}\n(N m)")
        axes.text(
            0.995, 0.04, f"{100 * prediction.joint_errors[motor]:.1f} %", ha="right",
            transform=axes.transAxes,
        )  # fmt: skip
    figure.suptitle(title)
    grid[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize="small")
    grid[-1].set_xlabel("time (s)")
    _save(figure, path)


def trajectory_curves(
    path: Path, times: FloatArray, state: State, limits: Limits, title: str
) -> None:
    """Positions, velocities and accelerations as parts of their limits."""
    figure, grid = _grid(3, 8.0, 6.0)
    parts = (
        ("position", (state.q - limits.middle) / limits.half),
        ("velocity", state.qd / limits.velocity),
        ("acceleration", state.qdd / limits.acceleration),
    )
    for axes, (name, values) in zip(grid, parts, strict=True):
        for motor, series in enumerate(values.T):
            axes.plot(times, 100 * series, linewidth=1.0, label=f"joint {motor + 1}")
        for side in (-100, 100):
            axes.axhline(side, color="0.3", linestyle="--", linewidth=0.8)
        axes.set_ylabel(f"{name}\n(% of its limit)")
    figure.suptitle(title)
    columns = min(7, state.q.shape[1])
    grid[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, fontsize="small")
    grid[-1].set_xlabel("time (s)")
    _save(figure, path)


def _grid(rows: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Axes one above the other, with the same times."""
    figure, first = _figure(width, height)
    figure.delaxes(first)
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    return figure, list(axes)
