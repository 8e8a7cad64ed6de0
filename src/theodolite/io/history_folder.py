"""A robot's results in one folder, one file each, named by the day and by what is in it.

Equal results have equal names, and names are never given twice: writers at the same time lose
nothing, and a result that is added again changes nothing.
"""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

from theodolite.errors import InputError
from theodolite.io.reading import is_folder, read_bytes
from theodolite.io.result_file import read_result
from theodolite.io.writing import make_folder, writing
from theodolite.studies.history import Moment, check_same_robot


def add_result(folder: Path, path: Path) -> Path:
    """Keep a saved result in a history; where it is kept."""
    content = read_bytes(path)
    added = _moment(path)
    when = added.when
    if is_folder(folder):
        for before in read_history(folder):
            check_same_robot(before, added)
    make_folder(folder)
    kept = folder / f"{when.isoformat()}-{hashlib.sha256(content).hexdigest()[:16]}.json"
    if not kept.exists():
        # Two writers of one name write the same.
        with writing(kept, force=True) as part:
            part.write_bytes(content)
    return kept


def read_history(folder: Path) -> list[Moment]:
    """All results of a folder: its JSON files."""
    if not is_folder(folder):
        raise InputError("is not a folder", where=str(folder), remedy="Add a saved result to it")
    return [_moment(path) for path in sorted(folder.glob("*.json"))]


def _moment(path: Path) -> Moment:
    result = read_result(path)
    day = _day(path, result.provenance.get("date"))
    return Moment(path.stem, day, result, str(result.provenance.get("time", "")))


def _day(path: Path, said: object) -> date:
    try:
        return date.fromisoformat(str(said))
    except ValueError as error:
        raise InputError(
            "does not say when it was found", where=str(path), allowed="a date in its provenance"
        ) from error
