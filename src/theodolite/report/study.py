"""What a study shows, for people and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from theodolite.model.parameters import Unit
from theodolite.report.terminal_table import Table
from theodolite.studies.monte_carlo import Outcome

#: Half-width of what chance alone makes of a proportion, in its standard deviations.
CHANCE = 1.96


def study_data(found: Outcome, units: Mapping[str, Unit]) -> dict[str, Any]:
    """What ``study --json`` prints."""
    return {
        "runs": found.runs,
        "statuses": found.statuses,
        "reasons": found.reasons,
        "good": found.good,
        "coverage": found.coverage,
        "before_mm": _spread(found.before),
        "after_mm": _spread(found.after),
        "parameters": [
            {
                "name": name,
                "unit": units[name].value,
                "coverage": float(found.inside[place]),
                "runs": int(found.counted[place]),
                "rms_error": float(found.errors[place]),
                "stated_error": float(found.stated[place]),
            }
            for place, name in enumerate(found.names)
        ],
    }


def _spread(distances: Any) -> dict[str, float] | None:
    """Mean, median and 95 % of distances, mm."""
    if not len(distances):
        return None
    median, most = np.quantile(distances, [0.5, 0.95])
    return {
        "mean": 1e3 * float(np.mean(distances)),
        "median": 1e3 * float(median),
        "p95": 1e3 * float(most),
    }


def show_study(console: Console, found: Outcome, units: Mapping[str, Unit], folder: Path) -> None:
    """Whether intervals hold, and what a calibration is worth."""
    content = study_data(found, units)
    each = ", ".join(f"{count} {name}" for name, count in found.statuses.items())
    console.print(f"{found.runs} calibrations, {found.good} without doubts: {each}")
    if found.reasons:
        why, count = next(iter(found.reasons.items()))
        console.print(f"no result, {count} times: {why}", markup=False, highlight=False)
    for words, key in (("before", "before_mm"), ("after", "after_mm")):
        if (spread := content[key]) is not None:
            console.print(
                f"error of the tool {words}: {spread['mean']:.4g} mm in the mean, below "
                f"{spread['p95']:.4g} mm in 95 % of the runs"
            )
    if found.counted.any():
        scatter = CHANCE * np.sqrt(0.95 * 0.05 / max(float(found.counted.max()), 1.0))
        console.print(
            f"95 % intervals hold the truth in {found.coverage:.1%}; expect "
            f"{0.95 - scatter:.1%} to {min(0.95 + scatter, 1.0):.1%} for one parameter from "
            "sampling alone"
        )
        table = Table(title="Parameters", title_justify="left")
        table.add_column("name")
        for heading in ("holds", "runs", "rms error", "as stated", "unit"):
            table.add_column(heading, justify="right")
        for one in content["parameters"]:
            # Thousandths of metres and radians; gains are numbers.
            small = units[one["name"]] in (Unit.METRE, Unit.RADIAN)
            factor, mark = (1e3, "m") if small else (1.0, "")
            table.add_row(
                one["name"],
                f"{one['coverage']:.1%}",
                str(one["runs"]),
                f"{factor * one['rms_error']:.3g}",
                f"{factor * one['stated_error']:.3g}",
                f"{mark}{one['unit']}",
            )
        console.print(table)
    elif len(found.after):
        console.print(
            "No parameter was counted: in each run other base parameters were identified than at "
            "the nominal robot"
        )
    console.print(f"rows: {folder}")
