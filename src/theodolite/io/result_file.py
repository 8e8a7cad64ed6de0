"""Saved results: a whole ``Result`` in JSON, for reports and comparisons later on.

Robots are kept as the text of their robot files. Numbers are never rounded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from theodolite.calibration.result import Result
from theodolite.edges import file_path
from theodolite.errors import InputError, shown
from theodolite.io.plain import from_plain, to_plain
from theodolite.io.reading import read_text
from theodolite.io.robot_file import format_robot, parse_robot
from theodolite.io.writing import write_text
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
            remedy="Save one with: theodolite identify ... --save-result FILE",
        )
    if content.get("format") != FORMAT:
        raise InputError(
            f"its format is {shown(content.get('format'))}",
            where=str(path),
            allowed=str(FORMAT),
            remedy="Read it with a newer version of theodolite",
        )
    try:
        result: Result = from_plain(Result, content, _TEXTS, "")
    except InputError as error:
        raise InputError(str(error), where=str(path)) from error
    return result


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
        raise InputError(f"is not JSON: {error}", where=str(path)) from error
    if not isinstance(content, dict):
        raise InputError("holds no JSON object", where=str(path))
    return content
