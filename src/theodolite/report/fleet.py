"""Fleets, for people, for JSON and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from theodolite.calibration.result import Result
from theodolite.model.parameters import Unit
from theodolite.report.page import Axes, Chart, Page, Series, Style, Table, Text, section
from theodolite.report.terminal_table import Table as Shown
from theodolite.studies.fleet import Calibrated, Make

#: Lines of a list that are shown on a terminal.
SHOWN = 20


def fleet_data(outcomes: Sequence[Calibrated], makes: Sequence[Make]) -> dict[str, Any]:
    """What ``fleet calibrate --json`` prints."""
    return {
        "robots": [_robot(one) for one in outcomes],
        "calibrated": sum(one.result is not None for one in outcomes),
        "failed": [
            {"name": one.name, "message": one.message} for one in outcomes if one.result is None
        ],
        "makes": [_make(make) for make in makes],
    }


def _robot(one: Calibrated) -> dict[str, Any]:
    said: dict[str, Any] = {"name": one.name, "made": one.made and one.made.isoformat()}
    if one.result is None:
        return {**said, "message": one.message}
    return {
        **said,
        "good": one.result.good,
        "status": one.result.status.name.lower(),
        "before": _errors(one.result, "before"),
        "after": _errors(one.result, "after"),
        "doubts": list(one.result.doubts()),
    }


def _errors(result: Result, which: str) -> dict[str, float]:
    """Root mean squares by quantity, SI."""
    return {name: one.rms for name, one in getattr(result, which).items()}


def _days(make: Make) -> np.ndarray | None:
    if any(day is None for day in make.made):
        return None
    return np.array([float(day.toordinal()) for day in make.made if day is not None])


def _make(make: Make) -> dict[str, Any]:
    found, units = make.found, _units(make)
    days = _days(make)
    trends = [] if days is None else found.trends(days)
    return {
        "nominal": make.nominal.name,
        "robots": list(make.members),
        "parameters": [
            {
                "name": name,
                "unit": units[name].value,
                "mean": float(found.mean[place]),
                "mean_error": float(found.mean_error[place]),
                "spread": float(found.spread[place]),
            }
            for place, name in enumerate(found.names)
        ],
        "common_deviations": [found.names[place] for place in found.common()],
        "outliers": [
            {"name": make.members[robot], "parameter": found.names[place], "deviations": size}
            for robot, place, size in found.outliers()
        ],
        "trends": [
            {"parameter": found.names[place], "per_year": 365.25 * slope} for place, slope in trends
        ],
    }


def _units(make: Make) -> dict[str, Unit]:
    return {parameter.name: parameter.unit for parameter in make.nominal.parameters}


#: Units of errors that are not angles.
_UNITS = {"position": Unit.METRE, "joint stroke": Unit.METRE, "pixel": Unit.PIXEL}


def _small(value: float, unit: Unit) -> str:
    """A number with its unit, thousandths of metres and radians."""
    if unit in (Unit.METRE, Unit.RADIAN):
        return f"{1e3 * value:.3g} m{unit.value}"
    return f"{value:.3g} px" if unit is Unit.PIXEL else f"{value:.3g}"


def sentences(outcomes: Sequence[Calibrated], makes: Sequence[Make]) -> list[str]:
    """What matters most."""
    good = sum(one.result is not None and one.result.good for one in outcomes)
    done = sum(one.result is not None for one in outcomes)
    said = [f"{done} of {len(outcomes)} robots were calibrated, {good} without doubts."]
    for make in makes:
        content, units = _make(make), _units(make)
        mean = dict(zip(make.found.names, make.found.mean.tolist(), strict=True))
        if content["common_deviations"]:
            alike = content["common_deviations"]
            worst = [f"{name} {_small(mean[name], units[name])}" for name in alike[:4]]
            said.append(
                f"{make.nominal.name}: {len(alike)} parameters share the same deviation on all "
                f"robots, so the nominal robot is wrong: {', '.join(worst)}"
                f"{' ...' if len(alike) > 4 else ''}"
            )
        for one in content["outliers"][:SHOWN]:
            said.append(
                f"{one['name']} is not like the others: {one['parameter']} is "
                f"{one['deviations']:.1f} deviations off."
            )
        for one in content["trends"][:SHOWN]:
            change = _small(one["per_year"], units[one["parameter"]])
            said.append(f"{one['parameter']} drifts with the day of production: {change} a year.")
    return said


def _cells(one: Calibrated) -> tuple[str, ...]:
    if one.result is None:
        return one.name, "", "", "failed", one.message
    before, after = (_errors(one.result, which) for which in ("before", "after"))
    quantity = "position" if "position" in after else min(after, default="")
    shown = [
        _small(errors[quantity], _UNITS.get(quantity, Unit.RADIAN)) if quantity in errors else ""
        for errors in (before, after)
    ]
    doubts = one.result.doubts()
    return one.name, *shown, "good" if one.result.good else "doubtful", doubts[0] if doubts else ""


def show_fleet(console: Console, outcomes: Sequence[Calibrated], makes: Sequence[Make]) -> None:
    """Robots that need a look, then what they have in common."""
    for sentence in sentences(outcomes, makes):
        console.print(escape(sentence))
    odd = [one for one in outcomes if one.result is None or not one.result.good]
    if odd:
        table = Shown(title="Robots to look at", title_justify="left")
        for heading in ("name", "before", "after", "", "why"):
            table.add_column(heading)
        for one in odd[:SHOWN]:
            table.add_row(*map(escape, _cells(one)))
        console.print(table)
        if len(odd) > SHOWN:
            console.print(f"and {len(odd) - SHOWN} more")


def fleet_page(title: str, outcomes: Sequence[Calibrated], makes: Sequence[Make]) -> Page:
    """All robots, and each make."""
    marked = [
        place for place, one in enumerate(outcomes) if one.result is None or not one.result.good
    ]
    rows = Table(
        ("robot", "before", "after", "verdict", "why"),
        tuple(map(_cells, outcomes)),
        words=(0, 3, 4),
        marked=tuple(marked),
    )
    return Page(
        title,
        not marked,
        tuple(sentences(outcomes, makes)),
        (section("Robots", rows), *(_make_section(make) for make in makes)),
    )


def _make_section(make: Make) -> Any:
    found, units = make.found, _units(make)
    common = set(found.common())
    table = Table(
        ("parameter", "mean", "its error", "spread"),
        tuple(
            (
                name,
                _small(found.mean[place], units[name]),
                _small(found.mean_error[place], units[name]),
                _small(found.spread[place], units[name]),
            )
            for place, name in enumerate(found.names)
        ),
        marked=tuple(common),
    )
    places = np.arange(len(found.names), dtype=float)
    deviations = (found.robots - found.mean) / np.where(found.spread > 0, found.spread, 1.0)
    cloud = Series(
        tuple(np.tile(places, len(deviations)).tolist()),
        tuple(deviations.ravel().tolist()),
        Style.POINTS,
    )
    chart = Chart(
        (
            Axes(
                "parameter, in the order of the table", "deviation from the mean, spreads", (cloud,)
            ),
        ),
        "Every robot of the make.",
    )
    return section(
        f"Robots like {make.nominal.name}",
        Text(("Relative to nominal. Marked: the same on all robots, at 5 % for all together.",)),
        table,
        chart,
    )
