"""Figures of ISO 9283 as tables on a terminal, as data for JSON, and as a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from theodolite.assessment.iso9283.evaluation import Evaluation
from theodolite.assessment.iso9283.figures import Figure
from theodolite.assessment.iso9283.plan import Plan
from theodolite.report import charts
from theodolite.report.calibration_page import origin
from theodolite.report.data import finite
from theodolite.report.page import Bars, Block, Page, Table, Text, section
from theodolite.report.terminal_table import Table as Shown

#: How each unit is shown, and the factor from SI.
_UNITS = {
    "m": ("mm", 1e3),
    "rad": ("mrad", 1e3),
    "s": ("s", 1.0),
    "m/s": ("mm/s", 1e3),
    "1": ("%", 1e2),
}
FITTED = (
    "The sensor's frame was fitted to the attained poses: accuracy is that within this fit, and "
    "smaller than against a frame that is known."
)


def iso_data(found: Evaluation, before: Evaluation | None = None) -> dict[str, Any]:
    """What ``iso9283 evaluate --json`` prints; SI."""
    earlier = _by_key(before)
    return {
        "frame_fitted": found.fitted,
        "short_of_cycles": found.short,
        "doubts": found.doubts,
        "figures": [
            {
                "test": test.value,
                "where": one.where,
                "symbol": one.symbol,
                "name": one.name,
                "value": finite(one.value),
                "interval95": [finite(one.low), finite(one.high)],
                "unit": one.unit,
                "cycles": one.cycles,
                "required": one.required,
                "before": None
                if (key := (test.value, one.where, one.symbol)) not in earlier
                else finite(earlier[key].value),
            }
            for test, figures in found.figures.items()
            for one in figures
        ],
    }


def _by_key(found: Evaluation | None) -> dict[tuple[str, str, str], Figure]:
    if found is None:
        return {}
    return {
        (test.value, one.where, one.symbol): one
        for test, figures in found.figures.items()
        for one in figures
    }


def _rows(
    found: Evaluation, before: Evaluation | None
) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """For each test, its rows of cells."""
    earlier = _by_key(before)
    for test, figures in found.figures.items():
        rows = []
        for one in figures:
            unit, factor = _UNITS[one.unit]
            known = one.low == one.low
            between = f"{_shown(factor * one.low)} .. {_shown(factor * one.high)}" if known else ""
            cells = [one.where, one.symbol, one.name]
            if before is not None:
                old = earlier.get((test.value, one.where, one.symbol))
                cells.append("" if old is None else _shown(factor * old.value))
            cells += [_shown(factor * one.value), between, unit, str(one.cycles)]
            rows.append(tuple(cells))
        yield test.value, rows


def _shown(value: float) -> str:
    """Four digits behind the point: a tenth of a micrometre."""
    return f"{round(value, 4) + 0.0:.4f}" if value == value else "-"


def _headings(before: Evaluation | None) -> tuple[str, ...]:
    values = ("before", "after") if before is not None else ("value",)
    return ("of", "symbol", "", *values, "95 % interval", "unit", "cycles")


def show_evaluation(console: Console, found: Evaluation, before: Evaluation | None = None) -> None:
    """All figures, test by test."""
    for title, rows in _rows(found, before):
        table = Shown(title=title, title_justify="left")
        for place, heading in enumerate(_headings(before)):
            table.add_column(heading, justify="left" if place < 3 else "right")
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        console.print(table)
    if found.fitted:
        console.print(FITTED)
    for sentence in (*found.short, *found.doubts):
        console.print(f"[yellow]{escape(sentence)}[/yellow]")


def iso_page(
    title: str,
    found: Evaluation,
    before: Evaluation | None,
    provenance: Mapping[str, Any],
    about: str = "",
) -> Page:
    """The certificate; ``about`` says what was tested, with what."""
    verdict = [_headline(found, before)]
    verdict += [FITTED] if found.fitted else []
    verdict += [*found.short, *found.doubts]
    sections = [section("What was tested", Text((about,)))] if about else []
    for name, rows in _rows(found, before):
        words = (0, 1, 2)
        table = Table(_headings(before), tuple(rows), words=words)
        sections.append(section(f"Test: {name}", table, _chart(name, found)))
    notes = Text(
        (
            "Figures are those of ISO 9283:1998. Intervals hold the true figure in 95 % of such "
            "tests; the standard itself asks for none.",
        )
    )
    return Page(
        title,
        found.good,
        tuple(verdict),
        (*sections, section("Notes", notes), section("Origin", *origin(provenance))),
    )


def _headline(found: Evaluation, before: Evaluation | None) -> str:
    worst = _worst(found)
    if not worst:
        return "ISO 9283: figures by test are below."
    now = ", ".join(f"{symbol} {1e3 * value:.3g} mm" for symbol, value in worst.items())
    if before is None:
        return f"Largest over the poses: {now}."
    then = ", ".join(f"{symbol} {1e3 * value:.3g} mm" for symbol, value in _worst(before).items())
    return f"Largest over the poses: {now}; before: {then}."


def _worst(found: Evaluation) -> dict[str, float]:
    largest: dict[str, float] = {}
    for figures in found.figures.values():
        for one in figures:
            if one.symbol in ("AP_p", "RP_l"):
                largest[one.symbol] = max(largest.get(one.symbol, 0.0), one.value)
    return largest


def _chart(name: str, found: Evaluation) -> Block | None:
    figures = [
        one
        for test, several in found.figures.items()
        if test.value == name
        for one in several
        if one.symbol in ("AP_p", "RP_l")
    ]
    if not figures:
        return None
    return Bars(
        tuple(f"{one.symbol}\n{one.where}" for one in figures),
        charts.numbers([1e3 * one.value for one in figures]),
        "mm",
        "Pose accuracy and repeatability of each pose.",
        pale=tuple(place for place, one in enumerate(figures) if one.symbol == "RP_l"),
    )


def show_plan(console: Console, plan: Plan) -> None:
    """The cube and its poses."""
    x, y, z = 1e3 * plan.centre
    console.print(f"cube of {1e3 * plan.edge:.0f} mm about ({x:.1f}, {y:.1f}, {z:.1f}) mm")
    for number, name in enumerate(plan.names[:5]):
        x, y, z = 1e3 * plan.positions[number]
        console.print(f"{name}: ({x:.2f}, {y:.2f}, {z:.2f}) mm")
    console.print(f"{len(plan.rows)} rows to be run")


def plan_data(plan: Plan) -> dict[str, Any]:
    """What ``iso9283 plan --json`` prints; SI."""
    return {
        "centre_m": plan.centre.tolist(),
        "edge_m": plan.edge,
        "rotation": None if plan.rotation is None else plan.rotation.tolist(),
        "poses": {
            name: {"position_m": plan.positions[n].tolist(), "joints": plan.motors[n].tolist()}
            for n, name in enumerate(plan.names[:5])
        },
        "rows": len(plan.rows),
    }
