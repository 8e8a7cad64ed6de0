"""Saved results: a whole ``Result`` in JSON, for reports and comparisons later on.

Robots are kept as the text of their robot files. Numbers are never rounded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.calibration.result import Result
from theodolite.edges import file_path
from theodolite.errors import InputError, shown
from theodolite.io.plain import from_plain, to_plain
from theodolite.io.reading import read_text
from theodolite.io.robot_file import format_robot, parse_robot
from theodolite.io.writing import write_text
from theodolite.matrices import is_covariance
from theodolite.model.mechanism import Mechanism
from theodolite.model.robot import Robot

#: What the file says it is. The number grows when an old reader would misread a new file.
KIND, FORMAT = "theodolite result", 1
#: Robots keep the text of their own files.
_TEXTS = dict.fromkeys((Robot, Mechanism), (format_robot, parse_robot))


def write_result(result: Result, path: Path | str, *, force: bool = False) -> None:
    """Keep a result."""
    content = {"kind": KIND, "format": FORMAT, **to_plain(result, _TEXTS)}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(file_path(path), text + "\n", force=force)


def read_result(path: Path | str) -> Result:
    """A result that was kept."""
    path = file_path(path)
    content = json_object(path)
    if content.get("kind") != KIND:
        raise InputError(
            "is not a saved result",
            where=str(path),
            remedy="Save the result when you identify",
        )
    if content.get("format") != FORMAT:
        later = isinstance(content.get("format"), int)
        raise InputError(
            f"its format is {shown(content.get('format'))}",
            where=str(path),
            allowed=str(FORMAT),
            remedy="Read it with a newer version of theodolite" if later else None,
        )
    try:
        result: Result = from_plain(Result, content, _TEXTS, "")
        _check(result)
    except InputError as error:
        raise InputError(str(error), where=str(path)) from error
    return result


def _check(result: Result) -> None:
    """Refuse arrays that do not fit together: somebody changed the file."""
    known, spread, out = result.identifiability, result.statistics, result.outliers
    unknowns, free, rows = len(known.parameters), len(result.order), result.seen_rows
    wanted: list[tuple[str, Any, tuple[int | None, ...]]] = [
        ("statistics.covariance", spread.covariance, (free, free)),
        ("identifiability.R", known.R, (None, unknowns)),
        ("identifiability.singular_values", known.singular_values, (None,)),
        ("outliers.sizes", out.sizes, (len(out.rows),) if out.rows.ndim else (None,)),
        ("outliers.chances", out.chances, out.sizes.shape),
    ]
    for name in ("base", "regrouped", "no_effect", "hidden"):
        wanted.append((f"identifiability.{name}", getattr(known, name), (None,)))
    wanted.append(("outliers.rows", out.rows, (None,)))
    for name, sizes in result.residuals.items():
        where = result.residual_rows.get(name)
        wanted.append((f"residuals.{name}", sizes, (None,)))
        wanted.append((f"residual_rows.{name}", where, sizes.shape))
    for name, moved in result.displacements.items():
        there = (len(result.residuals.get(name, ())), 3)
        wanted.append((f"displacements.{name}.vectors", moved.vectors, there))
        wanted.append((f"displacements.{name}.targets", moved.targets, there[:1]))
    for name, array in (("lines", result.lines), ("file", result.file)):
        if array is not None:
            wanted.append((name, array, (rows,)))
    if result.visits is not None:
        wanted.append(("visits.readings", result.visits.readings, (rows, result.robot.joints)))
        wanted.append(("visits.places", result.visits.places, (rows, 3)))
        if result.visits.times is not None:
            wanted.append(("visits.times", result.visits.times, (rows,)))
    if result.checks is not None:
        wanted.append(("checks.quantiles", result.checks.quantiles, (None,)))
    for name, array, shape in wanted:
        found = np.shape(array)
        pairs = zip(found, shape, strict=False)
        if len(found) != len(shape) or any(w not in (None, f) for f, w in pairs):
            raise InputError(f"{name} has the shape {found}")
    if not is_covariance(spread.covariance) or not np.isfinite(known.R).all():
        raise InputError("statistics.covariance, or identifiability.R, holds no possible numbers")
    for name, indices, limit in (
        *((n, getattr(known, n), unknowns) for n in ("base", "regrouped", "no_effect", "hidden")),
        ("outliers.rows", out.rows, rows),
        *((f"residual_rows.{n}", array, rows) for n, array in result.residual_rows.items()),
    ):
        if len(indices) and not (indices.min() >= 0 and indices.max() < limit):
            raise InputError(f"{name} names a row or parameter that is not there")


def check_result_path(path: Path | None) -> None:
    """Refuse, before any work is done, a name that no verb would take for a saved result."""
    if path is not None and not is_result(path):
        raise InputError("is not a name for a saved result", where=str(path), allowed=".json")


def is_result(path: Path) -> bool:
    """Is a file, by its name, a saved result?"""
    return path.suffix.lower() == ".json"


def json_object(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(
            "is not a saved result, which is JSON",
            where=str(path),
            remedy="Save the result when you identify",
        ) from error
    if not isinstance(content, dict):
        raise InputError("holds no JSON object", where=str(path))
    return content
