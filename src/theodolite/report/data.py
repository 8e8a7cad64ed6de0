"""Results as plain data, for JSON. Stored values are never rounded."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from theodolite.calibration.completeness import Completeness
from theodolite.calibration.coupling import Coupling
from theodolite.calibration.excitation import Excitation
from theodolite.calibration.quantities import quantity, source_of
from theodolite.calibration.result import Errors, HeldOut, Result
from theodolite.calibration.weights import Share
from theodolite.estimation.identifiability import Identifiability
from theodolite.io.priorities import to_matrix
from theodolite.io.units import shown_in
from theodolite.model.machine import Machine
from theodolite.model.robot import Robot


def identifiability_data(
    known: Identifiability, robot: Machine | None, fixed: list[str]
) -> dict[str, Any]:
    """What ``identifiable --json`` prints."""
    return {
        "rank": known.rank,
        "candidates": len(known.parameters),
        "identifiable": known.identifiable,
        "regrouped": known.regrouping(),
        "relations": known.sentences(),
        "no_effect": known.names(known.no_effect),
        "fixed": fixed,
        "condition_number": known.condition_number,
        "gap": finite(known.gap),
        "observability": known.observability(),
        "singular_values": known.singular_values.tolist(),
        "matrix": known.relations.tolist(),
        "priorities": to_matrix(robot, known.identifiable) if isinstance(robot, Robot) else None,
    }


def coupling_data(lost: Coupling) -> dict[str, Any]:
    """Why parameters are lost, for ``identifiable --json`` on mechanisms."""
    return {
        "kinematic": list(lost.kinematic),
        "external": list(lost.external),
        "coupled": list(lost.coupled),
        "relations": list(lost.relations),
    }


def excitation_data(excited: Excitation) -> dict[str, Any]:
    """Whether a recording excites the parameters, for ``identifiable --data --json``."""
    return {
        "sufficient": excited.sufficient,
        "condition_number": excited.condition_number,
        "random_condition_number": excited.random_condition_number,
        "starved": list(excited.starved),
        "hardly_moved": excited.still,
        "weakest": list(excited.weakest),
        "sentences": [*excited.shortcomings, excited.verdict],
    }


def completeness_data(report: Completeness) -> dict[str, Any]:
    """What a model can express, for ``identifiable --model --json``."""
    return {
        "measured": report.measured.value,
        "complete": report.complete,
        "only_on_paper": report.only_on_paper,
        "minimal": report.minimal,
        "exist": report.exist,
        "expressed": report.expressed,
        "formula": report.formula,
        "missing": list(report.missing),
        "essential": list(report.essential),
        "redundant": list(report.redundant),
        "combinations": list(report.combinations),
        "suggested": {form: list(names) for form, names in report.suggested.items()},
    }


def errors_data(errors: Errors) -> dict[str, Any]:
    """Errors by quantity, with the unit in each name."""
    shown: dict[str, Any] = {}
    for name, error in errors.items():
        unit, factor = shown_in(name)
        shown[name] = {
            f"mean_{unit}": error.mean * factor,
            f"rms_{unit}": error.rms * factor,
            f"max_{unit}": error.maximum * factor,
            "count": error.count,
        }
    return shown


def held_out_data(held_out: HeldOut | None) -> dict[str, Any] | None:
    if held_out is None:
        return None
    return {
        "groups": held_out.groups,
        "nominal": errors_data(held_out.nominal),
        "calibrated": errors_data(held_out.calibrated),
        "better": held_out.better,
    }


def result_data(result: Result) -> dict[str, Any]:
    """What ``identify --json`` prints."""
    known = result.identifiability
    return {
        "status": result.status.name.lower(),
        "message": result.status.value,
        "doubts": result.doubts(),
        "notes": result.notes(),
        "outliers": [
            {"file": name, "line": int(line), "sigma": float(size), "chance": float(chance)}
            for name, line, size, chance in zip(
                result.outlier_files,
                result.outlier_lines,
                result.outliers.sizes,
                result.outliers.chances,
                strict=True,
            )
        ],
        "pictures": [
            {"name": name, "marks": marks, "rms_px": error, "left_out": False}
            for name, (marks, error) in result.by_picture.items()
        ]
        + [
            {"name": one.name, "marks": None, "rms_px": one.error, "left_out": True}
            for one in result.left_out
        ],
        "links_fixed": None if result.links_fixed is None else asdict(result.links_fixed),
        "other_starts": None if result.other_starts is None else asdict(result.other_starts),
        "choices": choices_data(result),
        "moves": [
            {"line": one.line, "size_mm": 1e3 * one.size, "target_slipped": one.slipped}
            for one in result.moves
        ],
        "decay": None if result.decay is None else asdict(result.decay),
        "sources": [_share_data(result, share) for share in result.shares],
        "shortcomings": None if result.shortcomings is None else asdict(result.shortcomings),
        "method": result.method,
        "iterations": result.iterations,
        "rows": result.rows,
        "rms": rms_data(result.after),
        "before": errors_data(result.before),
        "after": errors_data(result.after),
        "held_out": held_out_data(result.held_out),
        "rank": result.rank,
        "identifiable": known.identifiable,
        "regrouped": known.regrouping(),
        "no_effect": known.names(known.no_effect),
        "weak": [estimate.name for estimate in result.estimates if estimate.weak],
        "condition_number": known.condition_number,
        "degrees_of_freedom": result.statistics.degrees_of_freedom,
        "sigma": finite(result.statistics.sigma),
        "parameters": [
            {
                "name": estimate.name,
                "nominal": estimate.nominal,
                "identified": estimate.identified,
                "stderr": estimate.stderr,
                "interval95": None if estimate.interval is None else finite(estimate.interval),
                "unit": estimate.unit.value,
                "tolerance": finite(estimate.tolerance),
                "stands_for": dict(estimate.stands_for),
            }
            for estimate in result.estimates
        ],
        "covariance": result.statistics.covariance.tolist(),
        "correlations": [
            {"parameters": [one, other], "correlation": value}
            for one, other, value in result.strongest_correlations()
        ],
        "trace": [
            {
                "iteration": step.number,
                "cost": step.cost,
                "step": step.step,
                "damping": step.damping,
            }
            for step in result.trace
        ],
        "found": dict(result.extras),
        "provenance": dict(result.provenance),
    }


def rms_data(errors: Errors) -> dict[str, float]:
    """Root mean squares by unit, of all errors in that unit."""
    squares: dict[str, list[float]] = {}
    counts: dict[str, list[int]] = {}
    for name, error in errors.items():
        unit, factor = shown_in(name)
        squares.setdefault(unit, []).append(error.count * (factor * error.rms) ** 2)
        counts.setdefault(unit, []).append(error.count)
    return {
        unit: (sum(parts) / max(sum(counts[unit]), 1)) ** 0.5 for unit, parts in squares.items()
    }


def noise_shown(result: Result, share: Share) -> list[tuple[str, float]]:
    """The noise of a source in the units that it measures in."""
    sizes = {
        "position": share.noise.position,
        "joint stroke": share.noise.position,
        "pixel": share.noise.pixel,
    }
    found = []
    for name in result.after:
        if source_of(name) == share.name:
            unit, factor = shown_in(name)
            found.append((unit, factor * sizes.get(quantity(name), share.noise.orientation)))
    return found


def _share_data(result: Result, share: Share) -> dict[str, Any]:
    """One of several sources, for ``identify --json``."""
    return {
        "name": share.name,
        "method": share.method,
        "rows": share.rows,
        "noise": dict(noise_shown(result, share)),
        "noise_known": share.noise.known,
        "degrees_of_freedom": share.degrees_of_freedom,
        "information": dict(zip(result.order, share.information.tolist(), strict=True)),
        "worse_together": share.worse_together,
        "chance": share.chance,
    }


def choices_data(result: Result) -> dict[str, Any]:
    """Choices between models: what was tried, and its held-out error with its scatter."""
    if result.choice is None:
        return {}
    return {
        "model": {
            "chosen": result.choice.chosen,
            "tried": [
                {"model": tried.name, "relative_error": tried.error, "scatter": tried.scatter}
                for tried in result.choice.tried
            ],
        }
    }


def finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if abs(value) < float("inf") else None
