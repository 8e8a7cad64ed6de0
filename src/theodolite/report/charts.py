"""Charts of reports, each a `Picture`. Matplotlib is imported only when one is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.report.page import Picture
from theodolite.report.plots import new_figure

#: Drawings of more points than this are kept as pixels, which are smaller then.
MANY = 3000
#: Pixels per inch of those.
RESOLUTION = 130
#: Bins of a running mean over an axis.
BINS = 12


def picture(figure: Any, caption: str, *, points: int = 0) -> Picture:
    """A figure as SVG, or as PNG where it has very many points."""
    stream = BytesIO()
    kind = "png" if points > MANY else "svg"
    figure.savefig(
        stream,
        format=kind,
        dpi=RESOLUTION,
        metadata={"Date": None} if kind == "svg" else {"Software": None},
    )
    return Picture(stream.getvalue(), kind, caption)


def histogram(values: FloatArray, label: str, caption: str) -> Picture:
    """How values are spread."""
    figure, axes = new_figure(6.5, 2.6)
    axes.hist(values, bins="auto" if np.ptp(values) > 0 else 1, color="C0")
    axes.set_xlabel(label)
    axes.set_ylabel("measurements")
    return picture(figure, caption)


def bars(labels: Sequence[str], values: Sequence[float], label: str, caption: str) -> Picture:
    """One bar for each label; every second one is of a calibrated robot."""
    figure, axes = new_figure(6.5, 2.4)
    colours = ["0.65" if place % 2 == 0 else "C0" for place in range(len(labels))]
    drawn = axes.bar(list(labels), list(values), color=colours, width=0.6)
    axes.bar_label(drawn, fmt="%.3g", fontsize="small")
    axes.margins(y=0.15)
    axes.set_ylabel(label)
    return picture(figure, caption)


def over_axes(
    columns: Mapping[str, FloatArray], values: FloatArray, label: str, caption: str
) -> Picture:
    """Values over each of several quantities, with the mean of neighbours."""
    count = len(columns)
    width = min(count, 3)
    rows = -(-count // width)
    figure, first = new_figure(8.0, 2.1 * rows + 0.3)
    figure.delaxes(first)
    grid = figure.subplots(rows, width, squeeze=False, sharey=True).ravel()
    for axes, (name, places) in zip(grid, columns.items(), strict=False):
        axes.plot(places, values, ".", color="C0", markersize=3, alpha=0.5)
        middles, means = _running(places, values)
        axes.plot(middles, means, "C1-", linewidth=1.4)
        axes.set_xlabel(name)
    for axes in grid[count:]:
        figure.delaxes(axes)
    for axes in grid[::width]:
        axes.set_ylabel(label)
    return picture(figure, caption, points=count * len(values))


def _running(places: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of values over neighbouring places, as many in each bin."""
    order = np.argsort(places, kind="stable")
    parts = [part for part in np.array_split(order, min(BINS, len(order))) if len(part)]
    return (
        np.array([places[part].mean() for part in parts]),
        np.array([values[part].mean() for part in parts]),
    )


def over_space(places: FloatArray, values: FloatArray, label: str, caption: str) -> Picture:
    """Values at places in space, millimetres, as colours."""
    figure, flat = new_figure(6.5, 4.6)
    figure.delaxes(flat)
    axes = figure.add_subplot(projection="3d")
    shown = axes.scatter(*(1e3 * places.T), c=values, cmap="viridis", s=14)
    for name in "xyz":
        getattr(axes, f"set_{name}label")(f"{name} (mm)")
    figure.colorbar(shown, ax=axes, label=label, shrink=0.75, pad=0.12)
    return picture(figure, caption, points=len(values))


def normal_plot(levels: FloatArray, quantiles: FloatArray, caption: str) -> Picture:
    """Quantiles of residuals over those of a normal distribution."""
    from scipy.special import ndtri

    figure, axes = new_figure(4.2, 3.2)
    expected = ndtri(levels)
    axes.plot(expected, expected, color="0.6", linewidth=1.0)
    axes.plot(expected, quantiles, ".", color="C0", markersize=4)
    axes.set_xlabel("normal distribution (standard deviations)")
    axes.set_ylabel("residuals (standard deviations)")
    return picture(figure, caption)


def trace(costs: Sequence[float], caption: str) -> Picture:
    """The sum of squares over the iterations."""
    figure, axes = new_figure(6.5, 2.2)
    axes.semilogy(range(len(costs)), np.maximum(costs, np.finfo(float).tiny), "C0.-")
    axes.set_xlabel("iteration")
    axes.set_ylabel("sum of squares")
    return picture(figure, caption)
