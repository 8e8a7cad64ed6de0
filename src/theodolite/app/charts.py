"""Charts of reports for ECharts."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from theodolite.report.page import Axes, Bars, Chart, Cloud, Drawn, Histogram, Map, Style

#: Readable on light and on dark ground.
INK = "#888888"
PALE = "#b0b0b0"
COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#17becf"]
#: More points than this are drawn without care for looks.
MANY = 2000


def show_chart(block: Drawn) -> ui.echart:
    """A chart, with what it shows in words below."""
    match block:
        case Chart():
            options, height = chart_options(block), _height(block)
        case Bars():
            options, height = bar_options(block), 220
        case Histogram():
            options, height = histogram_options(block), 220
        case Cloud():
            options, height = cloud_options(block), 380
        case Map():
            options, height = map_options(block), 140 + 12 * len(block.names)
    with ui.element("figure").classes("w-full q-ma-none"):
        shown = ui.echart({**_common(), **options}).classes("w-full").style(f"height: {height}px")
        shown.props["role"] = "img"
        shown.props["aria-label"] = block.caption
        with ui.element("figcaption"):
            ui.label(block.caption).classes("text-caption")
    return shown


def _common() -> dict[str, Any]:
    return {
        "textStyle": {"color": INK},
        "animation": False,
        "color": COLOURS,
        "tooltip": {"trigger": "item", "confine": True},
    }


def _axis(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "nameLocation": "middle",
        "nameGap": 26,
        "nameTextStyle": {"color": INK},
        "axisLabel": {"color": INK, "hideOverlap": True, **_short_labels(more)},
        "splitLine": {"lineStyle": {"color": INK, "opacity": 0.2}},
        "scale": True,
        **more,
    }


def _short_labels(axis: dict[str, Any]) -> dict[str, str]:
    """Four digits, whatever the size of the numbers; names as they are."""
    if axis.get("type") == "category":
        return {}
    return {":formatter": "v => Number(Number(v).toPrecision(4)).toString()"}


def _height(chart: Chart) -> int:
    return 60 + 190 * -(-len(chart.axes) // chart.across)


def chart_options(chart: Chart) -> dict[str, Any]:
    """Several pairs of axes in a grid, which zoom together."""
    rows = -(-len(chart.axes) // chart.across)
    grids, xs, ys, series = [], [], [], []
    for place, axes in enumerate(chart.axes):
        row, column = divmod(place, chart.across)
        width, height = 100 / chart.across, 100 / rows
        grids.append(
            {
                "left": f"{column * width + 7 / chart.across + 1:.1f}%",
                "top": f"{row * height + 11 / rows:.1f}%",
                "width": f"{width - 8 / chart.across - 2:.1f}%",
                "height": f"{height - 34 / rows:.1f}%",
            }
        )
        xs.append(_axis(axes.x_label, type="value", gridIndex=place))
        kind = "log" if axes.logarithmic else "value"
        ys.append(_axis(axes.y_label, type=kind, gridIndex=place, nameGap=44))
        series += _series(axes, place)
    names = sorted({one["name"] for one in series if one["name"]})
    return {
        "grid": grids,
        "xAxis": xs,
        "yAxis": ys,
        "series": series,
        "legend": {"show": bool(names), "data": names, "top": 0, "textStyle": {"color": INK}},
        # The wheel alone scrolls the page.
        "dataZoom": [
            {
                "type": "inside",
                "xAxisIndex": list(range(len(xs))),
                "zoomOnMouseWheel": "ctrl",
                "moveOnMouseWheel": False,
            }
        ],
        "toolbox": {"feature": {"restore": {"title": "whole"}}, "right": 0, "top": 0},
    }


def _series(axes: Axes, place: int) -> list[dict[str, Any]]:
    found = []
    for number, series in enumerate(axes.series):
        points = series.style is Style.POINTS
        one: dict[str, Any] = {
            "type": "scatter" if points else "line",
            "name": series.name,
            "data": list(map(list, zip(series.x, series.y, strict=True))),
            "xAxisIndex": place,
            "yAxisIndex": place,
            "symbolSize": 4,
            "showSymbol": False,
            "color": COLOURS[0 if points else number % len(COLOURS)],
            "lineStyle": {"width": 1.3},
        }
        if len(series.x) > MANY:
            one |= {"large": True, "sampling": "lttb"}
        if series.style is Style.GUIDE:
            one |= {"color": PALE, "silent": True}
        found.append(one)
    return found


def bar_options(block: Bars) -> dict[str, Any]:
    """A bar for each name."""
    data = [
        {"value": value, "itemStyle": {"color": PALE if place in block.pale else COLOURS[0]}}
        for place, value in enumerate(block.values)
    ]
    label = {"show": True, "position": "top", "color": INK, ":formatter": _SHORT}
    return {
        "grid": {"left": 70, "right": 20, "top": 25, "bottom": 45},
        "xAxis": _axis("", type="category", data=list(block.names)),
        "yAxis": _axis(block.label, type="value", nameGap=50, scale=False),
        "series": [{"type": "bar", "data": data, "barMaxWidth": 60, "label": label}],
    }


#: Three digits.
_SHORT = "p => Number(Number(p.value).toPrecision(3)).toString()"


def histogram_options(block: Histogram) -> dict[str, Any]:
    """Counts between edges."""
    middles = [
        f"{(low + high) / 2:.4g}"
        for low, high in zip(block.edges[:-1], block.edges[1:], strict=True)
    ]
    return {
        "grid": {"left": 70, "right": 20, "top": 15, "bottom": 45},
        "xAxis": _axis(block.label, type="category", data=middles),
        "yAxis": _axis("measurements", type="value", nameGap=50, scale=False),
        "series": [{"type": "bar", "data": list(block.counts), "barCategoryGap": "1%"}],
    }


def cloud_options(block: Cloud) -> dict[str, Any]:
    """Two views of places in space, coloured by their values."""
    top = [[1e3 * x, 1e3 * y, v] for (x, y, _), v in zip(block.places, block.values, strict=True)]
    side = [[1e3 * x, 1e3 * z, v] for (x, _, z), v in zip(block.places, block.values, strict=True)]
    return {
        "grid": [
            {"left": "7%", "width": "34%", "top": 30, "bottom": 50},
            {"left": "50%", "width": "34%", "top": 30, "bottom": 50},
        ],
        "xAxis": [
            _axis("x (mm)", type="value", gridIndex=0),
            _axis("x (mm)", type="value", gridIndex=1),
        ],
        "yAxis": [
            _axis("y (mm)", type="value", gridIndex=0, nameGap=40),
            _axis("z (mm)", type="value", gridIndex=1, nameGap=40),
        ],
        "visualMap": {
            "min": min(block.values),
            "max": max(block.values),
            "dimension": 2,
            "right": 5,
            "top": "middle",
            "precision": 3,
            "text": [block.label, ""],
            "textStyle": {"color": INK},
            "inRange": {"color": ["#440154", "#31688e", "#35b779", "#fde725"]},
        },
        "series": [
            {"type": "scatter", "data": data, "symbolSize": 6, "xAxisIndex": n, "yAxisIndex": n}
            for n, data in enumerate((top, side))
        ],
    }


def map_options(block: Map) -> dict[str, Any]:
    """A square of colours."""
    data = [
        [column, row, value]
        for row, values in enumerate(block.values)
        for column, value in enumerate(values)
    ]
    small = {"color": INK, "fontSize": 9, "interval": 0}
    return {
        "grid": {"left": 90, "right": 80, "top": 10, "bottom": 70},
        "xAxis": _axis(
            "", type="category", data=list(block.names), axisLabel={**small, "rotate": 90}
        ),
        "yAxis": _axis("", type="category", data=list(block.names), axisLabel=small, inverse=True),
        "visualMap": {
            "min": -1,
            "max": 1,
            "right": 5,
            "top": "middle",
            "textStyle": {"color": INK},
            "inRange": {"color": ["#2166ac", "#f7f7f7", "#b2182b"]},
        },
        "series": [{"type": "heatmap", "data": data}],
    }
