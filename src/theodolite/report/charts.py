"""Charts of reports as data, from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.report.page import Axes, Bars, Chart, Cloud, Histogram, Map, Series, Style

#: Bins of a running mean over an axis.
BINS = 12
#: More points than this are thinned evenly: nobody sees them apart, and the file stays small.
MOST = 3000
#: More names than this on a map cannot be read.
MOST_NAMES = 80


def histogram(values: FloatArray, label: str, caption: str) -> Histogram:
    """How values are spread."""
    bins = "auto" if np.ptp(values) > 0 else 1
    counts, edges = np.histogram(values, bins=bins)
    return Histogram(numbers(edges), tuple(int(count) for count in counts), label, caption)


def before_and_after(
    names: Sequence[str], values: Sequence[float], label: str, caption: str
) -> Bars:
    """Bars in pairs: the first of each is of the nominal robot."""
    return Bars(tuple(names), numbers(values), label, caption, pale=tuple(range(0, len(names), 2)))


def over_axes(
    columns: Mapping[str, FloatArray], values: FloatArray, label: str, caption: str
) -> Chart:
    """Values over each of several quantities, with the mean of neighbours."""
    axes = []
    for name, places in columns.items():
        points = Series(*thinned(places, values), Style.POINTS)
        mean = Series(*_running(places, values), Style.LINE, "running mean")
        axes.append(Axes(name, label, (points, mean)))
    return Chart(tuple(axes), caption, across=min(len(axes), 3))


def _running(places: FloatArray, values: FloatArray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Means of values over neighbouring places, as many in each bin."""
    order = np.argsort(places, kind="stable")
    parts = [part for part in np.array_split(order, min(BINS, len(order))) if len(part)]
    return (
        numbers([places[part].mean() for part in parts]),
        numbers([values[part].mean() for part in parts]),
    )


def over_space(places: FloatArray, values: FloatArray, label: str, caption: str) -> Cloud:
    """Values at places in space, metres."""
    some = _some(len(values))
    return Cloud(
        tuple(numbers(place) for place in places[some]), numbers(values[some]), label, caption
    )


def normal_plot(levels: FloatArray, quantiles: FloatArray, caption: str) -> Chart:
    """Quantiles of residuals over those of a normal distribution."""
    from scipy.special import ndtri

    expected = numbers(ndtri(levels))
    return Chart(
        (
            Axes(
                "normal distribution (standard deviations)",
                "residuals (standard deviations)",
                (
                    Series(expected, expected, Style.GUIDE),
                    Series(expected, numbers(quantiles), Style.POINTS),
                ),
            ),
        ),
        caption,
    )


def trace(costs: Sequence[float], caption: str) -> Chart:
    """The sum of squares over the iterations."""
    values = numbers(np.maximum(costs, np.finfo(float).tiny))
    series = Series(numbers(range(len(costs))), values, Style.LINE)
    return Chart((Axes("iteration", "sum of squares", (series,), logarithmic=True),), caption)


def curves(
    times: FloatArray, rows: Sequence[tuple[str, Mapping[str, FloatArray]]], caption: str
) -> Chart:
    """Named curves over time, one pair of axes for each row."""
    axes = tuple(
        Axes(
            "time (s)" if number == len(rows) else "",
            label,
            tuple(
                Series(*thinned(times, values), Style.LINE, name) for name, values in named.items()
            ),
        )
        for number, (label, named) in enumerate(rows, start=1)
    )
    return Chart(axes, caption)


def correlation_map(names: Sequence[str], values: FloatArray, caption: str) -> Map | None:
    """Correlations between all pairs; nothing where there are too few or too many."""
    if not 2 <= len(names) <= MOST_NAMES:
        return None
    return Map(tuple(names), tuple(numbers(np.round(row, 4)) for row in values), caption)


def thinned(x: FloatArray, y: FloatArray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two columns, at most `MOST` rows of them."""
    some = _some(len(x))
    return numbers(x[some]), numbers(y[some])


def _some(count: int) -> slice:
    return slice(None, None, max(1, -(-count // MOST)))


def numbers(values: Sequence[float] | FloatArray | range) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
