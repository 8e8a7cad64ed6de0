"""Pictures of results. Matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from theodolite.arrays import FloatArray
from theodolite.errors import InputError


def _figure(width: float, height: float) -> tuple[Any, Any]:
    try:
        import matplotlib
    except ImportError as error:
        raise InputError("plots need matplotlib", remedy="Install theodolite[plots]") from error
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    # The same drawing gives the same file.
    matplotlib.rcParams["svg.hashsalt"] = "theodolite"
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


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
