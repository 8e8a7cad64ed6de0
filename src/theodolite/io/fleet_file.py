"""Fleets: which robots there are, in TOML (``[[robot]]``) or as a table, one row each.

Every robot has a name, a nominal robot, data and a method. A day of production and options may
follow, which mean what those of ``identify`` mean. Files are named relative to the fleet file;
``[all]`` holds what all robots share.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from io import StringIO
from pathlib import Path
from typing import Any

from theodolite.errors import InputError, shown
from theodolite.io.reading import is_file, read_text
from theodolite.io.toml import parse_toml

KEYS = (
    *("name", "nominal", "data", "method", "made", "gains", "terms", "hold_out", "noise_mm"),
    *("noise_mrad", "plane", "line", "radius_mm", "between", "ignore_limits"),
)
#: Of them, those that a method takes as words.
WORDS = ("plane", "line", "between")
#: Names become names of files.
_NAME = re.compile(r"[\w][\w .+-]{0,99}")
MOST = 100_000


@dataclass(frozen=True)
class Entry:
    """One robot of a fleet, as its file says."""

    name: str
    nominal: str
    data: tuple[Path, ...]
    method: str
    made: date | None = None
    #: None: by cross-validation.
    gains: bool | None = False
    terms: str = "none"
    hold_out: float = 0.2
    #: None: estimated.
    noise_mm: float | None = None
    noise_mrad: float | None = None
    #: Options of the method, as the command line has them.
    of_method: Mapping[str, Any] = field(default_factory=dict)
    ignore_limits: bool = False


def read_fleet(path: Path) -> list[Entry]:
    """The robots of a fleet."""
    text = read_text(path, foreign=path.suffix.lower() != ".toml")
    rows = _from_toml(text, path) if path.suffix.lower() == ".toml" else _from_csv(text, path)
    if not rows:
        raise InputError("lists no robots", where=str(path), allowed="[[robot]], or a table")
    if len(rows) > MOST:
        raise InputError(f"lists {len(rows)} robots", where=str(path), allowed=f"up to {MOST}")
    entries = [_entry(row, path, number) for number, row in enumerate(rows, start=1)]
    # Files are named by robots, and not every disk tells capitals apart.
    names = Counter(entry.name.casefold() for entry in entries)
    twice = next((entry.name for entry in entries if names[entry.name.casefold()] > 1), None)
    if twice is not None:
        raise InputError(f"two robots are called '{twice}', capitals aside", where=str(path))
    return entries


def _from_toml(text: str, path: Path) -> list[dict[str, Any]]:
    content = parse_toml(text, str(path), kind="fleet", remedy="Give one [[robot]] for each")
    robots, common = content.get("robot", []), content.get("all", {})
    unknown = sorted(set(content) - {"robot", "all"})
    if unknown:
        raise InputError(f"has the key {shown(unknown[0])}", where=str(path), allowed="robot, all")
    if not isinstance(robots, list) or not isinstance(common, dict):
        raise InputError("is not a fleet", where=str(path), allowed="[[robot]] and [all]")
    return [{**common, **row} if isinstance(row, dict) else {"": row} for row in robots]


def _from_csv(text: str, path: Path) -> list[dict[str, Any]]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return []
    separator = max(";\t,", key=lines[0].count)
    table = list(csv.reader(StringIO("\n".join(lines)), delimiter=separator))
    heads = [cell.strip().lower() for cell in table[0]]
    rows: list[dict[str, Any]] = []
    for cells in table[1:]:
        if len(cells) != len(heads):
            raise InputError(
                f"row {len(rows) + 1} has {len(cells)} cells, the header {len(heads)}",
                where=str(path),
            )
        pairs = zip(heads, (cell.strip() for cell in cells), strict=True)
        rows.append({head: cell for head, cell in pairs if cell})
    return rows


def _entry(row: Mapping[str, Any], path: Path, number: int) -> Entry:
    where = f"{path}, robot {number}"
    unknown = sorted(set(row) - set(KEYS))
    if unknown:
        raise InputError(f"has the key {shown(unknown[0])}", where=where, allowed=list(KEYS))
    missing = [key for key in KEYS[:4] if not row.get(key)]
    if missing:
        raise InputError(f"says nothing of '{missing[0]}'", where=where, allowed=list(KEYS))
    name = str(row["name"])
    if _NAME.fullmatch(name) is None:
        raise InputError(
            f"is called {shown(name)}", where=where, allowed="letters, digits, space and . + - _"
        )
    data = row["data"]
    files = data if isinstance(data, list) else str(data).split("|")
    nominal = str(row["nominal"])
    beside = path.parent / nominal
    return Entry(
        name,
        str(beside) if is_file(beside) else nominal,
        tuple(path.parent / str(file).strip() for file in files),
        str(row["method"]),
        _day(row.get("made"), where),
        _yes_no(row.get("gains", False), "gains", where),
        str(row.get("terms", "none")),
        _number(row.get("hold_out", 0.2), "hold_out", where),
        _number(row["noise_mm"], "noise_mm", where) if "noise_mm" in row else None,
        _number(row["noise_mrad"], "noise_mrad", where) if "noise_mrad" in row else None,
        {
            **{key: str(row[key]) for key in WORDS if key in row},
            **{k: _number(row[k], k, where) for k in ("radius_mm",) if k in row},
        },
        bool(_yes_no(row.get("ignore_limits", False), "ignore_limits", where)),
    )


def _number(value: Any, key: str, where: str) -> float:
    try:
        found = float(str(value))
    except ValueError:
        found = math.nan
    if isinstance(value, bool) or not 0.0 <= found < math.inf:
        raise InputError(f"{key} is {shown(value)}", where=where, allowed="a number, 0 or more")
    return found


def _day(value: Any, where: str) -> date | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise InputError(
            f"was made on {shown(value)}", where=where, allowed="a day such as 2026-03-31"
        ) from error


def _yes_no(value: Any, key: str, where: str) -> bool | None:
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if str(value).lower() == "auto":
        return None
    if str(value).lower() not in known:
        raise InputError(f"{key} is {shown(value)}", where=where, allowed="true, false, auto")
    return known[str(value).lower()]
