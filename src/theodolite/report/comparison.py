"""Robots beside each other, for people, for JSON and as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from theodolite.assessment.comparison import Compared, Comparison, Difference
from theodolite.model.conventions import Joint
from theodolite.report import charts
from theodolite.report.calibration_page import origin
from theodolite.report.page import Page, Table, Text, section
from theodolite.report.terminal_table import Table as Shown
from theodolite.report.text import READABLE

#: Parameters that are listed.
MOST = 40


def comparison_data(found: Comparison) -> dict[str, Any]:
    """What ``compare --json`` prints of two robots."""
    worst = found.worst
    return {
        "first": found.first.name,
        "second": found.second.name,
        "distance_mm": _sizes(found.distances),
        "distance_base_fitted_mm": _sizes(found.distances_placed),
        "worst": {
            "joints": found.readings[worst].tolist(),
            "position_m": found.places[worst].tolist(),
        },
        "changed": [one.name for one in found.changed],
        "not_comparable": list(found.not_comparable),
        "parameters": [
            {
                "name": one.name,
                "unit": one.unit.value,
                "first": one.first,
                "second": one.second,
                "change": one.change,
                "stderr": one.stderr,
                "chance": one.chance,
                "significant": one.significant if one.chance is not None else None,
            }
            for one in found.parameters
        ],
    }


def _sizes(values: np.ndarray) -> dict[str, float]:
    return {"mean": 1e3 * float(values.mean()), "max": 1e3 * float(values.max())}


def _sentences(found: Comparison) -> list[str]:
    judged = any(one.chance is not None for one in found.parameters)
    count = len(found.changed)
    how = " significantly" if judged else ""
    said = [
        f"{count} parameter{'' if count == 1 else 's'} differ{'s' if count == 1 else ''}{how}.",
        f"The tips are {1e3 * found.distances.mean():.3g} mm apart on average and "
        f"{1e3 * found.distances.max():.3g} mm at worst; with the base fitted, "
        f"{1e3 * found.distances_placed.mean():.3g} and "
        f"{1e3 * found.distances_placed.max():.3g} mm.",
        f"They are farthest apart at {_joints(found)}.",
    ]
    if not judged:
        said.append(
            "Neither file states its uncertainty: compare saved results to see which "
            "differences are significant."
        )
    if found.not_comparable:
        said.append(
            f"Not compared, since they stand for different parameters: "
            f"{', '.join(found.not_comparable)}."
        )
    return said


def _joints(found: Comparison) -> str:
    parts = []
    robot = found.first.robot
    for name, kind, value in zip(
        robot.joint_names, robot.joint_types, found.readings[found.worst], strict=True
    ):
        turns = kind is Joint.REVOLUTE
        shown = f"{np.degrees(value):.1f} deg" if turns else f"{1e3 * value:.1f} mm"
        parts.append(f"{name} {shown}")
    return ", ".join(parts)


def _row(one: Difference) -> tuple[str, ...]:
    unit, factor, digits = READABLE[one.unit]
    return (
        one.name,
        f"{factor * one.first:.{digits}f}",
        f"{factor * one.second:.{digits}f}",
        f"{factor * one.change:+.{digits}f}",
        "" if one.stderr is None else f"{factor * one.stderr:.2g}",
        "" if one.chance is None else f"{one.chance:.2g}",
        unit,
    )


HEADINGS = ("parameter", "first", "second", "change", "standard error", "chance", "unit")


def _sorted(found: Comparison) -> list[Difference]:
    changed = found.changed
    return sorted(
        changed, key=lambda one: (one.chance if one.chance is not None else 1.0, one.name)
    )[:MOST]


def show_comparison(console: Console, found: Comparison) -> None:
    """What differs, and how far apart the tips are."""
    title = f"{escape(found.first.name)} and {escape(found.second.name)}"
    changed = _sorted(found)
    if changed:
        table = Shown(title=title, title_justify="left")
        for place, heading in enumerate(HEADINGS):
            table.add_column(heading, justify="left" if place in (0, 6) else "right")
        for one in changed:
            table.add_row(*(escape(cell) for cell in _row(one)))
        console.print(table)
    for sentence in _sentences(found):
        console.print(sentence, markup=False)


def trend_rows(robots: Sequence[Compared], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Values of some parameters over several robots."""
    rows = []
    for name in names:
        cells = [name]
        unit = ""
        for one in robots:
            values = {p.name: p for p in one.robot.parameters}
            if name not in values:
                cells.append("-")
                continue
            unit, factor, digits = READABLE[values[name].unit]
            cells.append(f"{factor * values[name].value:.{digits}f}")
        rows.append((*cells, unit))
    return rows


def trend_names(pairs: Sequence[Comparison]) -> list[str]:
    """Parameters that changed from any robot to the next."""
    return list(dict.fromkeys(one.name for found in pairs for one in _sorted(found)))[:MOST]


def show_trend(console: Console, robots: Sequence[Compared], pairs: Sequence[Comparison]) -> None:
    """Several robots in their order, one column each."""
    rows = trend_rows(robots, trend_names(pairs))
    if not rows:
        return
    table = Shown(title="Over all of them", title_justify="left")
    for place, heading in enumerate(("parameter", *(one.name for one in robots), "unit")):
        table.add_column(escape(heading), justify="left" if place == 0 else "right")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)


def comparison_page(
    robots: Sequence[Compared], pairs: Sequence[Comparison], provenance: Mapping[str, Any]
) -> Page:
    """The differences, a map of them over the workspace, and a trend over several robots."""
    sections = []
    for found in pairs:
        title = f"{found.first.name} and {found.second.name}"
        rows = tuple(_row(one) for one in _sorted(found))
        table = Table(HEADINGS, rows, words=(0, 6)) if rows else None
        picture = charts.over_space(
            found.places,
            1e3 * found.distances,
            "distance of the tips (mm)",
            "How far apart the tips are over the workspace.",
        )
        sections.append(section(title, Text(tuple(_sentences(found))), table, picture))
    if len(robots) > 2:
        headings = ("parameter", *(one.name for one in robots), "unit")
        trend = trend_rows(robots, trend_names(pairs))
        sections.append(section("Over all of them", Table(headings, tuple(trend))))
    sections.append(section("Origin", *origin(provenance)))
    same = all(not found.changed for found in pairs)
    return Page(
        f"Comparison of {' and '.join(one.name for one in robots[:3])}",
        same,
        tuple(_sentences(pairs[-1])[:2]),
        tuple(sections),
    )
