"""A robot over time, for people, for JSON and as a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from theodolite.estimation.statistics import NORMAL_95
from theodolite.model.parameters import Unit
from theodolite.report import terminal_table
from theodolite.report.page import Axes, Chart, Page, Series, Style, Table, section
from theodolite.studies.history import Change, History, Trace, Trend

#: Pictures side by side, and traces that are drawn; those that changed come first.
ACROSS, DRAWN = 2, 12


def history_data(found: History) -> dict[str, Any]:
    """What ``history --json`` prints."""
    return {
        "calibrations": [
            {"name": moment.name, "date": moment.when.isoformat()} for moment in found.moments
        ],
        "changes": [
            {
                "parameter": one.parameter,
                "unit": one.unit.value,
                "between": [one.before.when.isoformat(), one.after.when.isoformat()],
                "change": one.size,
                "stderr": one.stderr,
                "chance": one.chance,
            }
            for one in found.changes
        ],
        "parameters": [
            {
                "name": one.name,
                "unit": one.unit.value,
                "values": one.values.tolist(),
                "half_widths": one.widths.tolist(),
                "per_year": None
                if one.trend is None
                else {
                    "slope": one.trend.slope,
                    "stderr": one.trend.stderr,
                    "chance": one.trend.chance,
                    "drifts": one.trend.drifts,
                },
            }
            for one in found.traces
        ],
        "skipped": list(found.skipped),
    }


def _scale(unit: Unit) -> tuple[float, str]:
    small = unit in (Unit.METRE, Unit.RADIAN)
    return (1e3, f"m{unit.value}") if small else (1.0, unit.value)


def _sentence(change: Change) -> str:
    factor, unit = _scale(change.unit)
    days = f"between {change.before.when.isoformat()} and {change.after.when.isoformat()}"
    return (
        f"{change.parameter} changed by {factor * change.size:+.3g} {unit} "
        f"(+- {NORMAL_95 * factor * change.stderr:.2g}) {days}."
    )


def _drift(trace: Trace, trend: Trend) -> str:
    factor, unit = _scale(trace.unit)
    return (
        f"{trace.name} drifts by {factor * trend.slope:+.3g} {unit} a year "
        f"(+- {NORMAL_95 * factor * trend.stderr:.2g})."
    )


def sentences(found: History) -> list[str]:
    """What happened, in the order of time."""
    if len(found.moments) == 1:
        return ["One calibration so far: nothing to compare it with yet."]
    first, last = found.moments[0].when.isoformat(), found.moments[-1].when.isoformat()
    said = [f"{len(found.moments)} calibrations from {first} to {last}."]
    said += [_sentence(change) for change in found.changes]
    drifts = [
        _drift(one, one.trend) for one in found.traces if one.trend is not None and one.trend.drifts
    ]
    said += drifts
    if not found.changes and not drifts:
        said.append("No parameter changed by more than its uncertainty explains.")
    if found.skipped:
        said.append(
            "Not compared, since they were not identified alike each time: "
            f"{', '.join(found.skipped)}."
        )
    return said


def _row(trace: Trace) -> tuple[str, ...]:
    factor, unit = _scale(trace.unit)
    moved = factor * (trace.values - trace.values[0])
    return (trace.name, unit, *(f"{value:+.3g}" for value in moved[1:]), _per_year(trace))


def _per_year(trace: Trace) -> str:
    if trace.trend is None:
        return ""
    factor, _ = _scale(trace.unit)
    slope, width = factor * trace.trend.slope, NORMAL_95 * factor * trace.trend.stderr
    return f"{slope:+.2g} +- {width:.2g}"


def show_history(console: Console, found: History) -> None:
    """What happened, and every parameter's way."""
    for sentence in sentences(found):
        console.print(escape(sentence))
    if len(found.moments) < 2 or not found.traces:
        return
    table = terminal_table.Table(title="Since the first calibration", title_justify="left")
    table.add_column("parameter")
    for heading in ("last time", "95 %", "a year", "unit"):
        table.add_column(heading, justify="right")
    for trace in found.traces:
        factor, unit = _scale(trace.unit)
        moved = factor * float(trace.values[-1] - trace.values[0])
        width = NORMAL_95 * factor * float(np.hypot(trace.stderr[0], trace.stderr[-1]))
        table.add_row(escape(trace.name), f"{moved:+.3g}", f"{width:.2g}", _per_year(trace), unit)
    console.print(table)


def history_page(title: str, found: History) -> Page:
    """Changes, a table, and pictures."""
    days = (moment.when.isoformat() for moment in found.moments[1:])
    heads = ("parameter", "unit", *days, "a year")
    changed = {change.parameter for change in found.changes}
    changed |= {one.name for one in found.traces if one.trend is not None and one.trend.drifts}
    marked = tuple(place for place, one in enumerate(found.traces) if one.name in changed)
    drawn = sorted(found.traces, key=lambda one: one.name not in changed)[:DRAWN]
    chart = Chart(
        tuple(_axes(trace, found) for trace in drawn),
        "Parameters relative to the first calibration, with 95 % intervals.",
        across=ACROSS,
    )
    return Page(
        title,
        not changed,
        tuple(sentences(found)),
        (
            section(
                "Since the first calibration",
                Table(heads, tuple(map(_row, found.traces)), words=(0, 1), marked=marked),
            ),
            section("Over time", chart),
        ),
    )


def _axes(trace: Trace, found: History) -> Axes:
    factor, unit = _scale(trace.unit)
    start = found.moments[0].when.toordinal()
    days = tuple(float(moment.when.toordinal() - start) for moment in found.moments)
    moved = factor * (trace.values - trace.values[0])
    widths = factor * trace.widths
    edges = [
        Series(days, tuple((moved + sign * widths).tolist()), Style.GUIDE) for sign in (-1.0, 1.0)
    ]
    return Axes(
        "days since the first",
        f"{trace.name}, {unit}",
        (*edges, Series(days, tuple(moved.tolist()), Style.POINTS)),
    )
