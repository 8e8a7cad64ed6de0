"""Charts as pictures. Matplotlib is imported only when one is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from theodolite.report.page import Axes, Bars, Chart, Cloud, Drawn, Histogram, Map, Style
from theodolite.report.plots import new_figure, plain_text

#: Drawings of more points than this are kept as pixels, which are smaller then.
MANY = 3000
#: Pixels per inch of those.
RESOLUTION = 130
#: Inches across a page.
WIDTH = 8.0


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG or PNG."""

    content: bytes
    kind: str


def draw(block: Drawn) -> Picture:
    """A chart as a picture."""
    # Names of poses and files may hold any character.
    with plain_text():
        return _drawn(block)


def _drawn(block: Drawn) -> Picture:
    match block:
        case Chart():
            figure, points = _chart(block)
        case Bars():
            figure, points = _bars(block), 0
        case Histogram():
            figure, points = _histogram(block), 0
        case Cloud():
            figure, points = _cloud(block), len(block.values)
        case Map():
            figure, points = _map(block), len(block.names) ** 2
    stream = BytesIO()
    kind = "png" if points > MANY else "svg"
    figure.savefig(
        stream,
        format=kind,
        dpi=RESOLUTION,
        metadata={"Date": None} if kind == "svg" else {"Software": None},
    )
    return Picture(stream.getvalue(), kind)


def _chart(chart: Chart) -> tuple[Any, int]:
    """All pairs of axes, and how many points they hold."""
    rows = -(-len(chart.axes) // chart.across)
    height = 3.0 if rows == 1 else 1.9 * rows + 0.4
    figure, first = new_figure(WIDTH if chart.across > 1 or rows > 1 else 6.5, height)
    figure.delaxes(first)
    grid = figure.subplots(rows, chart.across, squeeze=False, sharey=chart.across > 1).ravel()
    for axes, content in zip(grid, chart.axes, strict=False):
        _axes(axes, content)
    for axes in grid[len(chart.axes) :]:
        figure.delaxes(axes)
    if any(series.name for series in chart.axes[0].series) and chart.across == 1:
        grid[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize="small")
    for place, axes in enumerate(grid[: len(chart.axes)]):
        if place % chart.across:
            axes.set_ylabel("")
    return figure, sum(len(series.x) for axes in chart.axes for series in axes.series)


def _axes(axes: Any, content: Axes) -> None:
    # The last of several curves is drawn thinnest, so that it hides none.
    for place, series in enumerate(content.series):
        colour = f"C{place % 10}"
        if series.style is Style.POINTS:
            axes.plot(series.x, series.y, ".", color="C0", markersize=3, alpha=0.5)
        elif series.style is Style.GUIDE:
            axes.plot(series.x, series.y, color="0.6", linewidth=1.0)
        else:
            width = max(0.7, 1.4 - 0.25 * place)
            axes.plot(series.x, series.y, color=colour, linewidth=width, label=series.name)
    if content.logarithmic:
        axes.set_yscale("log")
    axes.set_xlabel(content.x_label)
    axes.set_ylabel(content.y_label)


def _bars(block: Bars) -> Any:
    figure, axes = new_figure(6.5, 2.4)
    colours = ["0.65" if place in block.pale else "C0" for place in range(len(block.names))]
    drawn = axes.bar(block.names, block.values, color=colours, width=0.6)
    axes.bar_label(drawn, fmt="%.3g", fontsize="small")
    axes.margins(y=0.15)
    axes.set_ylabel(block.label)
    return figure


def _histogram(block: Histogram) -> Any:
    figure, axes = new_figure(6.5, 2.6)
    axes.stairs(block.counts, block.edges, fill=True, color="C0")
    axes.set_xlabel(block.label)
    axes.set_ylabel("measurements")
    return figure


def _cloud(block: Cloud) -> Any:
    figure, flat = new_figure(6.5, 4.6)
    figure.delaxes(flat)
    axes = figure.add_subplot(projection="3d")
    places = 1e3 * np.array(block.places)
    shown = axes.scatter(*places.T, c=block.values, cmap="viridis", s=14)
    for name in "xyz":
        getattr(axes, f"set_{name}label")(f"{name} (mm)")
    figure.colorbar(shown, ax=axes, label=block.label, shrink=0.75, pad=0.12)
    return figure


def _map(block: Map) -> Any:
    side = min(WIDTH, 2.0 + 0.17 * len(block.names))
    figure, axes = new_figure(side, side)
    shown = axes.imshow(np.array(block.values), cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    places = range(len(block.names))
    axes.set_xticks(places, block.names, rotation=90, fontsize=6)
    axes.set_yticks(places, block.names, fontsize=6)
    figure.colorbar(shown, ax=axes, shrink=0.75)
    return figure
