"""Corrected targets, for people and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from theodolite.arrays import FloatArray, IntArray
from theodolite.compensation.compensate import Compensation
from theodolite.compensation.inverse import Reach
from theodolite.compensation.programs import Corrected
from theodolite.io.programs.text import ProgramText
from theodolite.report.terminal_table import Table

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
        "before_mrad": _sizes(1e3 * made.before_turn[some]) if made.oriented else None,
        "left_mm": _sizes(1e3 * made.found.distance[some]),
        "correction_mm": _sizes(1e3 * made.shift[some]),
        "correction_mrad": _sizes(1e3 * made.turn[some]) if made.oriented else None,
        "expected_mm": None if made.expected is None else _sizes(1e3 * made.expected[some]),
        "jumps": None if made.jumps is None else [int(lines[row]) for row in made.jumps],
        "not_reached": [
            {
                "line": int(lines[row]),
                "outcome": made.found.outcome[row].value,
                "left_mm": 1e3 * float(made.found.distance[row]),
                "left_mrad": 1e3 * float(made.found.angle[row]) if made.oriented else None,
                "joint": made.found.nearest[row],
            }
            for row in np.flatnonzero(~good).tolist()
        ],
        "near_singular": [int(lines[row]) for row in _singular(made)],
        "per_target": [
            {
                "line": int(lines[row]),
                "outcome": made.found.outcome[row].value,
                "before_mm": 1e3 * float(made.before[row]),
                "left_mm": 1e3 * float(made.found.distance[row]),
                "left_mrad": 1e3 * float(made.found.angle[row]) if made.oriented else None,
                "correction_mm": 1e3 * float(made.shift[row]),
                "correction_mrad": 1e3 * float(made.turn[row]) if made.oriented else None,
                "expected_mm": None if made.expected is None else 1e3 * float(made.expected[row]),
                "nearest_limit": made.found.nearest[row],
                "limit_margin": float(made.found.margin[row]),
            }
            for row in range(len(good))
        ],
        # What only programs have.
        "off_branch": [],
        "doubts": made.doubts,
        "left_alone": [],
        "refused": [],
    }


def _singular(made: Compensation) -> list[int]:
    """Rows that are reached, but near a singularity."""
    return [row for row, one in enumerate(made.found.outcome) if one is Reach.SINGULAR]


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
        ("expected from the calibration's uncertainty (mm)", "expected_mm"),
        ("correction (mm)", "correction_mm"),
        ("correction (mrad)", "correction_mrad"),
    ):
        if content[key] is not None:
            table.add_row(title, *(f"{content[key][name]:.4g}" for name in ("mean", "rms", "max")))
    if content["reached"]:
        console.print(table)
    for one in content["not_reached"][:NAMED]:
        where = f" ({one['joint']})" if "limit" in one["outcome"] else ""
        turn = f" and {one['left_mrad']:.3g} mrad" if made.oriented else ""
        console.print(
            f"[yellow]line {one['line']}: {escape(one['outcome'])}{where}, "
            f"{one['left_mm']:.3g} mm{turn} left[/yellow]"
        )
    more = len(content["not_reached"]) - NAMED
    if more > 0:
        console.print(f"[yellow]and {more} more[/yellow]")
    for doubt in made.doubts:
        console.print(f"[yellow]{escape(doubt)}[/yellow]")
    if content["near_singular"]:
        lines_named = _listed(content["near_singular"])
        console.print(
            f"[yellow]near a singularity, where joints move fast: line {lines_named}[/yellow]"
        )
    if content["jumps"]:
        named = _listed(content["jumps"])
        console.print(f"[yellow]the joints jump to line {named}: no motion leads there[/yellow]")


def _listed(numbers: Sequence[int]) -> str:
    more = len(numbers) - NAMED
    named = ", ".join(map(str, numbers[:NAMED]))
    return f"{named} and {more} more" if more > 0 else named


def program_data(
    program: ProgramText, made: Corrected, doubts: Sequence[str] = ()
) -> dict[str, Any]:
    """What ``compensate --json`` prints of a program."""
    joined, lines = made.joined([spot.line for spot in program.spots])
    return {
        **compensation_data(joined, lines),
        "off_branch": [program.spots[number].line for number in made.off_branch],
        "doubts": [*joined.doubts, *doubts],
        "left_alone": [{"line": one.line, "what": one.what} for one in program.left_alone],
        "refused": [{"line": one.line, "what": one.what} for one in program.refused],
    }


def show_program(
    console: Console, program: ProgramText, made: Corrected, doubts: Sequence[str] = ()
) -> None:
    """What became of the targets of a program, and what was not corrected."""
    show_compensation(console, *made.joined([spot.line for spot in program.spots]))
    for doubt in doubts:
        console.print(f"[yellow]{escape(doubt)}[/yellow]")
    for one in program.left_alone:
        console.print(f"line {one.line}: left alone, {one.what}", markup=False)
    for one in program.refused:
        console.print(f"[yellow]line {one.line}: not corrected, {escape(one.what)}[/yellow]")
