"""Mappings of columns as TOML, to keep for the next file of the same kind."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from theodolite.errors import InputError, shown
from theodolite.io.mapping import Mapping, parse_mapping, parse_term
from theodolite.io.naming import column_name
from theodolite.io.reading import WRITTEN_BY_HAND, read_text
from theodolite.io.toml import TomlReader, parse_toml, toml_key, toml_string
from theodolite.io.writing import write_text

FORMAT = "theodolite mapping 1"
#: More lines above a table are no header.
MOST_SKIPPED = 10**6


#: A mapping, its file, what one types behind --map, or columns by this program's names.
MappingLike: TypeAlias = Mapping | Path | str | dict[str, str]


def to_mapping(given: MappingLike | None) -> Mapping | None:
    """The mapping that somebody gave in one of these ways."""
    if given is None or isinstance(given, Mapping):
        return given
    if isinstance(given, dict):
        return Mapping({column_name(str(name)): parse_term(str(of)) for name, of in given.items()})
    if isinstance(given, str) and "=" in given:
        return parse_mapping(given)
    if isinstance(given, str | Path):
        return read_mapping(Path(given))
    raise InputError(
        f"mapping is {shown(given)}", allowed='a file, "q2_deg=-J2,x_mm=X" or {"q2_deg": "-J2"}'
    )


def read_mapping(path: Path) -> Mapping:
    """A mapping from its file."""
    remedy = "Compare with a mapping that 'theodolite check' has saved"
    content = parse_toml(
        read_text(path, limit=WRITTEN_BY_HAND), str(path), kind="mapping", remedy=remedy
    )
    reader = TomlReader(content, str(path))
    reader.check_keys(content, ["format", "skip", "columns"], "")
    reader.check_format(FORMAT)
    skip = content.get("skip", 0)
    if type(skip) is not int or not 0 <= skip <= MOST_SKIPPED:
        raise reader.error("skip is not a number of lines", allowed=f"0 to {MOST_SKIPPED}")
    columns = content.get("columns")
    if not isinstance(columns, dict) or not columns:
        raise reader.error("has no [columns]", remedy='Add lines such as q1_deg = "J1"')
    terms = {}
    for name, text in columns.items():
        if not isinstance(text, str):
            raise reader.error(f"columns, {name} is not a string", allowed='"J1", "-J3+90"')
        terms[column_name(name)] = parse_term(text)
    return Mapping(terms, skip)


def write_mapping(mapping: Mapping, path: Path, *, force: bool = False) -> None:
    """Write a mapping so that it reads back the same."""
    lines = [f"format = {toml_string(FORMAT)}"]
    if mapping.skip:
        lines.append(f"skip = {mapping.skip}")
    lines += ["", "[columns]"]
    lines += [
        f"{toml_key(name)} = {toml_string(str(term))}" for name, term in mapping.terms.items()
    ]
    write_text(path, "\n".join(lines) + "\n", force=force)
