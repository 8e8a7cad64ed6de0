"""Corrected targets, for people and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from theodolite.arrays import FloatArray, IntArray
from theodolite.compensation.compensate import Compensation

#: So many targets that are not reached are named.
NAMED = 10


def _sizes(values: FloatArray) -> dict[str, float]:
    return {
        "mean": float(np.mean(values)),
        "rms": float(np.sqrt(np.mean(values**2))),
        "max": float(np.max(values)),
    }


def compensation_data(made: Compensation, lines: IntArray) -> dict[str, Any]:
    """What ``compensate --json`` prints."""
    good = made.found.good
    some = good if good.any() else np.ones(len(good), dtype=bool)
    return {
        "targets": len(good),
        "reached": int(good.sum()),
        "outcomes": made.counts(),
        "before_mm": _sizes(1e3 * made.before[some]),
        "before_mrad": _sizes(1e3 * made.before_turn[some]),
        "left_mm": _sizes(1e3 * made.found.distance[some]),
        "correction_mm": _sizes(1e3 * made.shift[some]),
        "correction_mrad": _sizes(1e3 * made.turn[some]),
        "not_reached": [
            {
                "line": int(lines[row]),
                "outcome": made.found.outcome[row].value,
                "left_mm": 1e3 * float(made.found.distance[row]),
                "left_mrad": 1e3 * float(made.found.angle[row]),
                "joint": made.found.nearest[row],
            }
            for row in np.flatnonzero(~good).tolist()
        ],
    }


def show_compensation(console: Console, made: Compensation, lines: IntArray) -> None:
    """How many are reached, what is gained, and which are not."""
    content = compensation_data(made, lines)
    console.print(f"{content['reached']} of {content['targets']} targets are reached")
    table = Table(title="Targets that are reached", title_justify="left")
    table.add_column("")
    for heading in ("mean", "rms", "max"):
        table.add_column(heading, justify="right")
    for title, key in (
        ("error without correction (mm)", "before_mm"),
        ("error without correction (mrad)", "before_mrad"),
        ("error with correction (mm)", "left_mm"),
        ("correction (mm)", "correction_mm"),
        ("correction (mrad)", "correction_mrad"),
    ):
        table.add_row(title, *(f"{content[key][name]:.4g}" for name in ("mean", "rms", "max")))
    if content["reached"]:
        console.print(table)
    for one in content["not_reached"][:NAMED]:
        where = f" ({one['joint']})" if "limit" in one["outcome"] else ""
        console.print(
            f"[yellow]line {one['line']}: {escape(one['outcome'])}{where}, "
            f"{one['left_mm']:.3g} mm and {one['left_mrad']:.3g} mrad left[/yellow]"
        )
    more = len(content["not_reached"]) - NAMED
    if more > 0:
        console.print(f"[yellow]and {more} more[/yellow]")
