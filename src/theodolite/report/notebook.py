"""Robots, data and results as a notebook and a Python prompt show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from io import StringIO
from typing import Any

import numpy as np
from rich.console import Console

from theodolite.calibration.data import Dataset
from theodolite.calibration.result import Errors, Result
from theodolite.estimation.identifiability import Identifiability
from theodolite.io.units import shown_in
from theodolite.model.machine import Machine
from theodolite.report.text import READABLE, show_identifiability, show_result

#: Width of printed summaries, as wide as the lines of code that people compare them with.
WIDTH = 100


def summary_text(subject: Result | Identifiability) -> str:
    """What the command line prints, without colours."""
    stream = StringIO()
    console = Console(file=stream, width=WIDTH, no_color=True, highlight=False)
    if isinstance(subject, Result):
        show_result(console, subject)
    else:
        show_identifiability(console, subject, "Identifiability", [])
    return stream.getvalue()


def robot_data(robot: Machine) -> dict[str, Any]:
    """A robot as plain data, SI. A robot file holds more: `robot.save`."""
    return {
        "name": robot.name,
        "source": robot.source,
        "joints": [
            {"name": name, "kind": kind.name.lower(), "lower": float(low), "upper": float(high)}
            for name, kind, low, high in zip(
                robot.joint_names, robot.joint_types, robot.lower, robot.upper, strict=True
            )
        ],
        "targets": list(robot.target_names),
        "parameters": [
            {
                "name": parameter.name,
                "value": parameter.value,
                "unit": parameter.unit.value,
                "group": parameter.group.value,
                "priority": robot.priority(parameter),
                "tolerance": parameter.tolerance,
            }
            for parameter in robot.parameters
        ],
    }


def data_columns(data: Dataset) -> dict[str, Any]:
    """Measurements with one column per number, SI: ``motors_1``, ``positions_1_3`` ..."""
    columns: dict[str, Any] = {}
    for name in ("motors", *data.holds):
        array = data.columns[name] if name in data.columns else getattr(data, name)
        for place in np.ndindex(array.shape[1:]):
            label = "_".join([name, *(str(index + 1) for index in place)])
            columns[label] = array[(slice(None), *place)]
    return columns


def html(subject: Machine | Dataset | Identifiability | Result) -> str:
    """A heading and a table."""
    if isinstance(subject, Result):
        return _result_html(subject)
    heading, *more = (escape(line) for line in repr(subject).splitlines())
    if isinstance(subject, Identifiability):
        rows = [tuple(role.values()) for role in subject.roles()]
        body = _table(("parameter", "", "regrouped into", "unit"), rows)
    elif isinstance(subject, Dataset):
        body = "".join(f"<p>{line}</p>" for line in more)
    else:
        body = _table(
            ("parameter", "value", "unit"),
            ((p.name, *_readable(p.unit, p.value)) for p in subject.parameters),
        )
    return f"<b>{heading}</b>{body}"


def _result_html(result: Result) -> str:
    rows = []
    for estimate in result.estimates:
        if estimate.stderr is None or estimate.interval is None:
            continue
        nominal, unit = _readable(estimate.unit, estimate.nominal)
        identified, _ = _readable(estimate.unit, estimate.identified)
        factor = READABLE[estimate.unit][1]
        rows.append(
            (estimate.symbol, nominal, identified, f"{estimate.interval * factor:.2g}", unit)
        )
    parts = [
        f"<b>{escape(result.status.value)}</b> {escape(repr(result).splitlines()[0])}",
        _errors_html("all measurements", result.before, result.after),
    ]
    if result.held_out is not None:
        held = result.held_out
        parts.append(_errors_html(f"{held.groups} held out", held.nominal, held.calibrated))
    parts += [f"<p>{escape(sentence)}</p>" for sentence in (*result.doubts(), *result.notes())]
    parts.append(_table(("parameter", "nominal", "identified", "95 % ±", "unit"), rows))
    return "".join(parts)


def _errors_html(title: str, before: Errors, after: Errors) -> str:
    rows = []
    for quantity in after:
        unit, factor = shown_in(quantity)
        pair = (f"{factor * errors[quantity].rms:.4g}" for errors in (before, after))
        rows.append((f"{quantity} rms ({unit})", *pair))
    return _table((title, "nominal", "calibrated"), rows)


def _readable(unit: Any, value: float) -> tuple[str, str]:
    name, factor, digits = READABLE[unit]
    return f"{value * factor:.{digits}f}", name


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in headings)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
