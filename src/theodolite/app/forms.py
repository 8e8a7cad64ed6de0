"""Forms made from verbs: each option of the command line is a field, with its own words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from theodolite.cli.help import GROUPS
from theodolite.cli.main import application
from theodolite.errors import InputError

#: Units that end the name of an option.
UNITS = {
    "mm": "mm", "mrad": "mrad", "deg": "deg", "px": "px", "m": "m", "s": "s", "hz": "Hz",
    "kg": "kg", "nm": "N m", "percent": "%",
}  # fmt: skip
#: Options of the command line itself, which a form does not ask for.
NOT_ASKED = frozenset({"json", "force", "help", "install_completion", "show_completion"})
#: Options that name a file or a folder to write.
WRITTEN = frozenset(
    {"out", "residuals", "report", "save_result", "save_true", "save_mapping", "plot", "plots"}
    | {"urdf_out", "drawings", "details", "file"}
)
#: Options whose type is text, but which name files.
READ = frozenset({"files", "source"})
#: Options that name a robot.
ROBOTS = frozenset({"robot", "robots", "true", "nominal"})


class Kind(Enum):
    """What a field takes."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole number"
    SWITCH = "yes or no"
    #: A file of the workspace.
    FILE = "file"
    ROBOT = "robot"
    #: A file to write.
    OUTPUT = "file to write"


@dataclass(frozen=True)
class Field:
    """One option or argument of a verb."""

    name: str
    #: ``--noise-mm``; empty for an argument.
    option: str
    #: ``--no-gains``, where no differs from not saying.
    off: str
    kind: Kind
    #: May it be given several times?
    several: bool
    required: bool
    default: Any
    help: str
    group: str
    choices: tuple[str, ...]

    @property
    def label(self) -> str:
        """``noise joint (deg)`` for ``noise_joint_deg``."""
        words = self.name.strip("_").split("_")
        unit = UNITS.get(words[-1]) if len(words) > 1 else None
        text = " ".join(words[:-1] if unit else words)
        text = text[:1].upper() + text[1:]
        return f"{text} ({unit})" if unit else text


@cache
def fields(verb: str) -> tuple[Field, ...]:
    """All fields of a verb such as ``identify`` or ``dynamics identify``."""
    function = _function(verb)
    kinds = get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        info = next((one for one in get_args(kinds[name])[1:] if hasattr(one, "help")), None)
        if name not in NOT_ASKED and info is not None and not info.hidden:
            found.append(_field(name, get_args(kinds[name])[0], info, parameter.default))
    return tuple(found)


def summary(verb: str) -> str:
    """What a verb does, in its own words."""
    return (inspect.getdoc(_function(verb)) or "").split("\n")[0]


@cache
def _function(verb: str) -> Any:
    """The function behind a verb."""
    app = application()
    *groups, last = verb.split()
    for word in groups:
        app = next(g.typer_instance for g in app.registered_groups if g.name == word)  # type: ignore[assignment]
    return next(c.callback for c in app.registered_commands if c.name == last)


def _field(name: str, kind: Any, info: Any, default: Any) -> Field:
    argument = type(info).__name__ == "ArgumentInfo"
    option, off = (
        ("", "") if argument else _spelling(name, [info.default, *(info.param_decls or ())])
    )
    several = any(get_origin(one) is list for one in (kind, *get_args(kind)))
    required = default is inspect.Parameter.empty
    if isinstance(default, Path):
        default = str(default)
    return Field(
        name=name,
        option=option,
        off=off,
        kind=_kind(name, kind, several=several),
        several=several,
        required=required,
        default=None if required else default,
        help=re.sub(r"\s+", " ", info.help or ""),
        group=next((group for group, names in GROUPS.items() if name in names), ""),
        choices=tuple(info.autocompletion()) if info.autocompletion is not None else (),
    )


def _spelling(name: str, given: Iterable[Any]) -> tuple[str, str]:
    """``--gains`` and ``--no-gains``; the second is empty where there is none."""
    # In an annotation, Typer keeps the first spelling where a default would stand.
    texts = [text for text in given if isinstance(text, str) and text.startswith("--")]
    text = texts[0] if texts else "--" + name.strip("_").replace("_", "-")
    option, _, off = text.partition("/")
    return option, off


def _kind(name: str, kind: Any, *, several: bool) -> Kind:
    """What a field takes, by the type of the parameter."""
    inner = [kind, *get_args(kind), *(part for one in get_args(kind) for part in get_args(one))]
    found = Kind.TEXT
    if bool in inner:
        found = Kind.SWITCH
    elif name in WRITTEN:
        found = Kind.OUTPUT
    elif name in ROBOTS and not several:
        found = Kind.ROBOT
    elif name in ROBOTS | READ or Path in inner:
        found = Kind.FILE
    elif int in inner:
        found = Kind.WHOLE
    elif float in inner:
        found = Kind.NUMBER
    return found


def arguments(verb: str, values: Mapping[str, Any]) -> list[str]:
    """The command line that says the same as a form; what equals its default is left out."""
    options: list[str] = []
    positional: list[str] = []
    for field in fields(verb):
        value = values.get(field.name)
        if value is None or value in ("", []):
            if field.required:
                raise InputError(f"'{field.label}' is empty", allowed=field.help or None)
            continue
        if field.kind is Kind.SWITCH:
            if bool(value) != bool(field.default) or (field.default is None):
                options.append(field.option if value else field.off)
            continue
        texts = [_text(field, one) for one in (value if isinstance(value, list) else [value])]
        if not field.option:
            positional += texts
        elif value != field.default:
            options += [f"{field.option}={text}" for text in texts]
    # After two dashes nothing is taken for an option, whatever a file is called.
    return [*verb.split(), *filter(None, options), *(["--", *positional] if positional else [])]


def _text(field: Field, value: Any) -> str:
    if field.kind is Kind.WHOLE and isinstance(value, float):
        if value != int(value):
            raise InputError(f"'{field.label}' is {value:g}", allowed="a whole number")
        value = int(value)
    text = f"{value:.12g}" if isinstance(value, float) else str(value)
    if "\0" in text or "\n" in text:
        raise InputError(f"'{field.label}' holds characters that no option can", allowed="text")
    return text


def named_files(verb: str, values: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The files that a form names: those to be read, and those to be written."""
    read: list[str] = []
    written: list[str] = []
    for field in fields(verb):
        value = values.get(field.name)
        texts = [str(one) for one in (value if isinstance(value, list) else [value]) if one]
        if field.kind is Kind.OUTPUT:
            written += texts
        elif field.kind in (Kind.FILE, Kind.ROBOT):
            read += texts
    return read, written


def parts_of(values: Mapping[str, Any]) -> list[str]:
    """Whatever a form holds, in the parts that may be names of files: lenses, gains, sources."""
    texts: list[str] = []
    for value in values.values():
        several = value if isinstance(value, list | tuple) else [value]
        texts += [str(one) for one in several if isinstance(one, str)]
    return [part.strip() for text in texts for part in (text, *re.split(r"[,;=@:]", text))]


def as_typed(command: Iterable[str]) -> str:
    """A command line as one would type it."""
    from shlex import quote

    return " ".join(["theodolite", *(quote(part) for part in command)])
