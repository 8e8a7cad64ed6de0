"""The report of a validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from theodolite.calibration.result import Errors
from theodolite.calibration.validate import Validation
from theodolite.io.units import shown_in
from theodolite.model.machine import Machine
from theodolite.report import charts
from theodolite.report.calibration_page import errors_table, origin
from theodolite.report.page import Block, Page, facts, section
from theodolite.report.residual_charts import noise, residuals


def validation_page(
    machine: Machine, method: str, rows: int, verdict: Validation, provenance: Mapping[str, Any]
) -> Page:
    """How well a robot predicts measurements that it has not seen."""
    robot = machine.name
    columns: dict[str, Errors] = {robot: verdict.errors}
    if verdict.nominal is not None:
        columns = {"nominal, base and tool fitted": verdict.nominal, robot: verdict.errors}
    return Page(
        f"Validation of {robot}",
        verdict.good,
        tuple(_sentences(verdict)),
        (
            section(
                "What was validated",
                facts([("Robot", robot), ("Method", method), ("Measurements", f"{rows} rows")]),
            ),
            section("Errors", errors_table(columns), *_bars(columns, verdict)),
            section("What is left", *residuals(verdict, machine)),
            section("Is it noise?", *noise(verdict.checks)),
            section("Origin", *origin(provenance)),
        ),
    )


def _sentences(verdict: Validation) -> Iterator[str]:
    if verdict.doubts:
        yield "The measurements are doubtful."
    elif verdict.better is False:
        yield "The calibrated robot is not better than the nominal one."
    elif verdict.better:
        yield "The calibrated robot is better than the nominal one on these measurements."
    else:
        yield "The robot was compared with measurements."
    for name, errors in verdict.errors.items():
        unit, factor = shown_in(name)
        before = ""
        if verdict.nominal is not None and name in verdict.nominal:
            before = f", against {factor * verdict.nominal[name].rms:.3g} {unit} before"
        yield (
            f"The {name} error is {factor * errors.rms:.3g} {unit} rms and "
            f"{factor * errors.maximum:.3g} {unit} at worst{before}."
        )
    yield from verdict.doubts


def _bars(columns: Mapping[str, Errors], verdict: Validation) -> Iterator[Block]:
    """Before and after, quantity by quantity."""
    for name in verdict.errors if len(columns) > 1 else ():
        unit, factor = shown_in(name)
        yield charts.before_and_after(
            list(columns),
            [factor * errors[name].rms for errors in columns.values()],
            f"{name}, rms ({unit})",
            f"Root mean square of the {name} error.",
        )
