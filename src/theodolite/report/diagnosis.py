"""What has changed, for people and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from theodolite.assessment.diagnosis import Diagnosis
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.report.terminal_table import Table
from theodolite.report.text import READABLE

#: Causes that are shown.
SHOWN = 6


def diagnosis_data(found: Diagnosis) -> dict[str, Any]:
    """What ``diagnose --json`` prints; SI."""
    return {
        "changed": found.changed,
        "evidence": found.evidence,
        "threshold": found.threshold,
        "false_alarms": found.false_alarms,
        "causes": [
            {
                "name": one.name,
                "evidence": one.evidence,
                "probability": one.probability,
                "changes": [
                    {"name": name, "change": change, "stderr": error}
                    for name, (change, error) in one.changes.items()
                ],
            }
            for one in found.suspects
        ],
        "unseen": list(found.unseen),
        "next": [
            {"joints": readings.tolist(), "apart_mm": 1e3 * float(apart)}
            for readings, apart in zip(found.next_readings, found.next_distances, strict=True)
        ],
    }


def show_diagnosis(console: Console, found: Diagnosis, robot: Machine) -> None:
    """The verdict, the causes in their order, and what to measure next."""
    percent = f"{100 * found.false_alarms:g} % false alarms"
    if not found.changed:
        console.print(
            f"[green]The robot still matches its calibration[/green] (largest evidence of a change "
            f"{found.evidence:.1f}, below {found.threshold:.1f}; {percent})"
        )
    else:
        console.print(
            f"[yellow]The robot has changed[/yellow] (evidence {found.evidence:.1f}, above "
            f"{found.threshold:.1f}; {percent})"
        )
        table = Table(title="What explains it, one cause at a time", title_justify="left")
        for heading in ("cause", "chance", "evidence", "change"):
            table.add_column(heading, justify="left" if heading in ("cause", "change") else "right")
        for one in found.suspects[:SHOWN]:
            words = ", ".join(_change(robot, name, *both) for name, both in one.changes.items())
            table.add_row(
                escape(one.name), f"{100 * one.probability:.1f} %", f"{one.evidence:.1f}", words
            )
        console.print(table)
        _show_next(console, found, robot)
    if found.unseen:
        console.print(f"Not seen by these measurements: {', '.join(found.unseen)}.", markup=False)


def _change(robot: Machine, name: str, change: float, error: float) -> str:
    units = {parameter.name: parameter.unit for parameter in robot.parameters}
    if name not in units:
        return f"{name} {change:+.3g}"
    unit, factor, _ = READABLE[units[name]]
    return f"{name} {factor * change:+.3g} ± {factor * error:.2g} {unit}".rstrip()


def _show_next(console: Console, found: Diagnosis, robot: Machine) -> None:
    if not len(found.next_readings):
        return
    console.print("To tell the first two apart, measure next at:")
    for readings, apart in zip(found.next_readings, found.next_distances, strict=True):
        parts = [
            f"{np.degrees(value):.0f} deg" if kind is Joint.REVOLUTE else f"{1e3 * value:.0f} mm"
            for kind, value in zip(robot.joint_types, readings, strict=True)
        ]
        console.print(f"  {', '.join(parts)}: {1e3 * apart:.3g} mm apart")
