"""Plots of results. Matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from theodolite.arrays import FloatArray
from theodolite.calibration.result import Result
from theodolite.dynamics.drives import State
from theodolite.dynamics.excitation.limits import Limits
from theodolite.dynamics.prediction import Prediction
from theodolite.errors import InputError, MissingExtraError
from theodolite.io.units import shown_in
from theodolite.io.writing import write_bytes
from theodolite.model.conveniences import configurations
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.report.skeleton import Drawn, Skeleton

#: Formats that plots can be written in.
KINDS = (".png", ".svg", ".pdf")


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("drawing a plot", "plots") from error
    return matplotlib


def plain_text() -> AbstractContextManager[None]:
    """Text is drawn as it stands: a dollar sign in a name is no formula."""
    context: AbstractContextManager[None] = _matplotlib().rc_context({"text.parse_math": False})
    return context


def new_figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes."""
    matplotlib = _matplotlib()
    # Without pyplot, so that no window opens and a notebook keeps its own backend.
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
    new_figure(1.0, 1.0)


def save_figure(figure: Any, path: Path, *, force: bool) -> None:
    """Write the whole picture or none."""
    drawing = BytesIO()
    kind = path.suffix.removeprefix(".")
    figure.savefig(drawing, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_bytes(path, drawing.getvalue(), force=force)


def drawn_squares(path: Path, squares: Mapping[str, FloatArray], *, force: bool = False) -> None:
    """Corners in the plane, millimetres, one closed line for each name."""
    import numpy as np

    figure, axes = new_figure(5.0, 5.0)
    styles = ("k--", "C3-o", "C0-o")
    for (name, corners), style in zip(squares.items(), styles, strict=False):
        closed = 1e3 * np.concatenate([corners, corners[:1]])
        axes.plot(closed[:, 0], closed[:, 1], style, label=name, markersize=4)
    axes.set_aspect("equal")
    axes.set_xlabel("x (mm)")
    axes.set_ylabel("y (mm)")
    axes.legend(loc="center")
    save_figure(figure, path, force=force)


def compared_bars(
    path: Path,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    unit: str,
    *,
    force: bool = False,
) -> None:
    """Groups of bars, one group for each label."""
    import numpy as np

    figure, axes = new_figure(5.5, 3.2)
    places = np.arange(len(labels))
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        axes.bar(places + (number - (len(series) - 1) / 2) * width, values, width, label=name)
    axes.set_xticks(places, labels)
    axes.set_ylabel(unit)
    axes.legend()
    save_figure(figure, path, force=force)


def torque_curves(path: Path, prediction: Prediction, title: str, *, force: bool = False) -> None:
    """Write measured and predicted torques over time."""
    save_figure(torque_figure(prediction, title), path, force=force)


def torque_figure(prediction: Prediction, title: str) -> Any:
    """Measured and predicted torques over time with their difference, one row for each joint."""
    motors = prediction.measured.shape[1]
    figure, grid = _grid(motors, 9.0, 1.5 * motors + 0.6)
    for motor, axes in enumerate(grid):
        measured, predicted = prediction.measured[:, motor], prediction.predicted[:, motor]
        axes.plot(prediction.times, measured, "0.45", linewidth=1.2, label="measured")
        axes.plot(prediction.times, predicted, "C0", linewidth=0.9, label="predicted")
        axes.plot(prediction.times, predicted - measured, "C3", linewidth=0.7, label="difference")
        axes.axhline(0.0, color="0.8", linewidth=0.5, zorder=0)
        unit = "N" if prediction.sliding[motor] else "N m"
        axes.set_ylabel(f"joint {motor + 1}\n({unit})")
        axes.text(
            0.995, 0.04, f"{100 * prediction.joint_errors[motor]:.1f} %", ha="right",
            transform=axes.transAxes,
        )  # fmt: skip
    figure.suptitle(title)
    grid[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize="small")
    grid[-1].set_xlabel("time (s)")
    return figure


def trajectory_curves(
    path: Path,
    times: FloatArray,
    state: State,
    limits: Limits,
    title: str,
    *,
    force: bool = False,
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
    save_figure(figure, path, force=force)


def robot_figure(robot: Machine, q: ArrayLike | None = None) -> Any:
    """A robot as its links, its tool marked; metres."""
    figure, flat = new_figure(5.0, 5.0)
    figure.delaxes(flat)
    axes = figure.add_subplot(projection="3d")
    drawn = robot_drawn(robot, q)
    for link, fixed in zip(drawn.links, drawn.fixed, strict=True):
        axes.plot(*link.T, "-", color="0.6" if fixed else "C0", linewidth=2.0)
    axes.plot(*drawn.joints.T, "C1o", markersize=4, label="joints")
    axes.plot(*drawn.tool, "C3o", label="tool")
    everything = drawn.links.reshape(-1, 3)
    low, high = everything.min(axis=0), everything.max(axis=0)
    # Equal scales: the largest extent, about the middle of each.
    half = max(float((high - low).max()) / 2, 1e-3)
    for name, middle in zip("xyz", (low + high) / 2, strict=True):
        getattr(axes, f"set_{name}lim")(middle - half, middle + half)
        getattr(axes, f"set_{name}label")(f"{name} (m)")
    axes.set_box_aspect((1.0, 1.0, 1.0))
    axes.set_title(robot.name)
    return figure


def robot_drawn(robot: Machine, q: ArrayLike | None = None) -> Drawn:
    """A robot placed at motor variables, or in the middle of its ranges."""
    skeleton = Skeleton(robot)
    if q is None:
        return skeleton.place(skeleton.middle())
    motors = configurations(q, robot)[0][:1]
    if isinstance(robot, Mechanism) and motors.shape[1] == robot.joints:
        return skeleton.place(motors[0])
    return skeleton.place_motors(motors)


def result_figure(result: Result) -> Any:
    """For each quantity: how its errors are spread after the fit, and their size before it."""
    figure, first = new_figure(9.0, 3.0 * len(result.after))
    figure.delaxes(first)
    grid = figure.subplots(len(result.after), 2, squeeze=False)
    for (spread, sizes), (quantity, after) in zip(grid, result.after.items(), strict=True):
        unit, factor = shown_in(quantity)
        spread.hist(factor * result.residuals[quantity], bins="auto", color="C0")
        spread.set_xlabel(f"{quantity} error after the fit ({unit})")
        spread.set_ylabel("measurements")
        bars = {"nominal": result.before[quantity].rms, "calibrated": after.rms}
        if result.held_out is not None:
            bars["nominal,\nheld out"] = result.held_out.nominal[quantity].rms
            bars["calibrated,\nheld out"] = result.held_out.calibrated[quantity].rms
        colours = ["0.6", "C0"] * (len(bars) // 2)
        sizes.bar(list(bars), [factor * value for value in bars.values()], color=colours)
        sizes.set_ylabel(f"{quantity}, rms ({unit})")
    figure.suptitle(f"{result.robot.name}, {result.method}")
    return figure


def _grid(rows: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Axes one above the other, with the same times."""
    figure, first = new_figure(width, height)
    figure.delaxes(first)
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    return figure, list(axes)
