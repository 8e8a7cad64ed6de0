"""Sphinx extension: the reference of verbs, from the command line itself and from the JSON schemas.

In ``reference/verbs.md`` the line ``<!-- verbs -->`` becomes one section per verb: what it does,
its arguments and options, and the keys of its JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx

from theodolite.cli.main import application

PAGE = "reference/verbs"
MARK = "<!-- verbs -->"
SCHEMAS = Path(__file__).parents[1] / "reference" / "schemas"
#: Options that several verbs share, under their own headings after the verb's own options.
GROUPS = {
    "Noise": ("--noise-",),
    "Cameras": ("--images", "--board", "--lens", "--lens-images", "--mount"),
    "Reading files": ("--columns", "--ignore", "--ignore-limits", "--map", "--mapping"),
    "Everywhere": ("--seed", "--force", "--json"),
}
OWN = "Options"


def verbs() -> dict[str, Any]:
    """Every verb by its full name: ``identify``, ``dynamics identify``."""
    return dict(_leaves(typer.main.get_command(application()), ()))


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield " ".join(path), command
        return
    for name, inner in command.commands.items():
        yield from _leaves(inner, (*path, name))


def schema_file(verb: str) -> Path:
    """The schema of what a verb prints with ``--json``."""
    return SCHEMAS / f"{verb.replace(' ', '-')}.json"


def has_json(command: Any) -> bool:
    return any("--json" in parameter.opts for parameter in command.params)


def reference() -> str:
    """All verbs as Markdown."""
    return "\n".join(line for name, command in verbs().items() for line in _section(name, command))


def _section(name: str, command: Any) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join(
        p.metavar if p.required or p.metavar.startswith("[") else f"[{p.metavar}]"
        for p in arguments
    )
    yield from (f"## {name}", "", *command.help.splitlines(), "")
    yield from ("```text", f"theodolite {name} {usage} [OPTIONS]".replace("  ", " "), "```", "")
    if arguments:
        rows = ((p.metavar, p.help) for p in arguments)
        yield from _table(("argument", "what"), rows)
    for title, options in _grouped(command).items():
        yield from _table((title.lower(), "what", "default"), map(_option, options))
    if has_json(command):
        path = schema_file(name)
        keys = rows_of(json.loads(path.read_text(encoding="utf-8")))
        yield f"`--json` prints ([schema](schemas/{path.name})):"
        yield ""
        yield from _table(("key", "type", "what"), keys)


def _grouped(command: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {OWN: []} | {title: [] for title in GROUPS}
    for parameter in command.params:
        if parameter.param_type_name == "argument" or parameter.name == "help":
            continue
        found[_group(parameter.opts[0])].append(parameter)
    return {title: options for title, options in found.items() if options}


def _group(option: str) -> str:
    for title, names in GROUPS.items():
        if any(option == name or (name[-1] == "-" and option.startswith(name)) for name in names):
            return title
    return OWN


def _option(parameter: Any) -> tuple[str, str, str]:
    names = "/".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    value = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
    if parameter.required:
        default = "required"
    elif parameter.is_flag:
        default = "" if parameter.default is None else _flag(parameter)
    elif parameter.default in (None, ""):
        default = ""
    else:
        default = f"`{parameter.default}`"
    return names + value, parameter.help or "", default


def _flag(parameter: Any) -> str:
    """The name of a switch that holds by default; nothing for those that are off."""
    names = parameter.opts if parameter.default else parameter.secondary_opts
    return f"`{names[0]}`" if names else ""


def rows_of(schema: Any, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Every key of a schema, those of inner objects after a point: ``held_out.groups``."""
    if prefix == "" and "properties" not in schema:
        # Keys that depend on what was asked for.
        inner = schema["additionalProperties"]
        yield "`PAPER`", _kind(inner), schema["description"]
        yield from rows_of(inner, "PAPER.")
        return
    for one in (schema, *schema.get("anyOf", ())):
        one = resolved(one)
        if one.get("type") == "array" or "items" in one:
            yield from rows_of(resolved(one["items"]), prefix)
            continue
        for key, given in one.get("properties", {}).items():
            inner = resolved(given)
            needed = key in one.get("required", ())
            kind = _kind(inner) + ("" if needed else ", may be absent")
            yield f"`{prefix}{key}`", kind, given.get("description") or inner["description"]
            if key not in ("before", "after", "nominal", "calibrated"):
                # Those are explained once, under the errors of `validate`.
                yield from rows_of(inner, f"{prefix}{key}.")


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema, or the one in `common.json` that it refers to."""
    if "$ref" not in schema:
        return schema
    found = _common()["$defs"][schema["$ref"].rpartition("/")[2]]
    return resolved(found)


@cache
def _common() -> dict[str, Any]:
    return json.loads((SCHEMAS / "common.json").read_text(encoding="utf-8"))


def _kind(schema: dict[str, Any]) -> str:
    """``list of numbers``, ``number or null``."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(resolved(one)) for one in schema["anyOf"]))
    if "const" in schema:
        return f"`{schema['const']}`"
    kinds = schema.get("type", "object")
    names = [kinds] if isinstance(kinds, str) else kinds
    text = " or ".join(_list(schema) if name == "array" else name for name in names)
    if "enum" in schema:
        text = ", ".join(f"`{value}`" for value in schema["enum"])
    return text


def _list(schema: dict[str, Any]) -> str:
    inner = _kind(resolved(schema["items"]))
    return f"list of {inner}s" if inner.isalpha() else f"list of {inner.replace('list', 'lists')}"


def _table(head: tuple[str, ...], rows: Any) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"
    yield ""


def _cell(text: str) -> str:
    """Text in a table: what would be markup is written out, except in code."""
    code = "`" in text
    return text if code else re.sub(r"([*_<>|\[\]])", r"\\\1", text)


def insert(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the reference where its page has the mark."""
    if name == PAGE:
        source[0] = source[0].replace(MARK, reference())


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", insert)
    return {"parallel_read_safe": True}
