"""TOML files: checked reading with clear errors, and writing that loses no digit."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from theodolite.arrays import FloatArray
from theodolite.errors import InputError, printable, shown
from theodolite.io.units import (
    ANGLES,
    LARGEST_ANGLE,
    LARGEST_LENGTH,
    LARGEST_NUMBER,
    LENGTHS,
    to_si,
)
from theodolite.model.parameters import Parameter, Unit

FORMAT = "theodolite robot 1"
#: No arm has more frames, no mechanism more bodies; what is computed grows with their cube.
MOST_FRAMES, MOST_BODIES = 50, 200
#: So that priorities fit into any integer.
HIGHEST_PRIORITY = 10**9
#: White space that people use in texts.
_LINES = str.maketrans("\t\n\r", "   ")


def parse_toml(
    text: str,
    where: str,
    *,
    kind: str = "robot",
    remedy: str = "Compare with a file made by 'theodolite new'",
) -> dict[str, Any]:
    """The content of a file of some kind; ``where`` names it in errors."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"is not a valid {kind} file: {error}", where=where, remedy=remedy) from (
            error
        )


class TomlReader:
    """A file's content on its way to becoming an object."""

    def __init__(self, content: dict[str, Any], where: str) -> None:
        self.content, self.where = content, where

    def check_format(self, wanted: str) -> None:
        if self.content.get("format") != wanted:
            given = shown(self.content.get("format"))
            raise self.error(f"the format is {given}", allowed=repr(wanted))

    def unit(self, quantity: str, factors: Mapping[str, float]) -> float:
        units = self.content.get("units")
        if not isinstance(units, dict) or quantity not in units:
            raise self.error(
                f"does not say its unit of {quantity}",
                remedy='Add: units = { length = "mm", angle = "deg" }',
            )
        if not isinstance(units[quantity], str) or units[quantity] not in factors:
            raise self.error(f"the unit of {quantity} is {shown(units[quantity])}", allowed=factors)
        return factors[units[quantity]]

    def words(self, key: str, default: str) -> str:
        """A text for people; characters that a terminal would obey are refused."""
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} is {shown(value)}, not a string")
        if not value.translate(_LINES).isprintable():
            raise self.error(f"{key} has characters that cannot be shown: {shown(value)}")
        return value

    def number(self, value: Any, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{place} is {shown(value)}, not a number")
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not abs(number) < LARGEST_NUMBER:
            raise self.error(f"{place} is {number}", allowed=f"numbers below {LARGEST_NUMBER:g}")
        return number

    def read_units(self) -> None:
        self.length = self.unit("length", LENGTHS)
        self.angle = self.unit("angle", ANGLES)

    def quantity(self, value: Any, place: str, *, turns: bool) -> float:
        """An angle or a length in SI."""
        number = to_si(self.number(value, place), self.angle if turns else self.length)
        if abs(number) > (LARGEST_ANGLE if turns else LARGEST_LENGTH):
            allowed = f"angles below {LARGEST_ANGLE:g} rad, lengths below {LARGEST_LENGTH:g} m"
            raise self.error(f"{place} is {shown(value)}", allowed=allowed)
        return number

    def priorities(self, names: Sequence[str]) -> dict[str, int]:
        """Priorities by parameter name."""
        given = self.content.get("priorities", {})
        if not isinstance(given, dict):
            raise self.error("priorities is neither a table nor a matrix")
        self.check_keys(given, names, "priorities")
        for name, value in given.items():
            if type(value) is not int or not 0 <= value <= HIGHEST_PRIORITY:
                raise self.error(
                    f"the priority of {name} is {shown(value)}",
                    allowed="whole numbers up to 10^9; 0 means never identify",
                )
        return dict(given)

    def tolerances(self, parameters: Sequence[Parameter]) -> dict[str, float]:
        """Standard deviations by parameter name, in the file's units."""
        given = self.content.get("tolerances", {})
        if not isinstance(given, dict):
            raise self.error("tolerances is not a table")
        units = {parameter.name: parameter.unit for parameter in parameters}
        self.check_keys(given, list(units), "tolerances")
        found = {}
        for name, value in given.items():
            place = f"tolerances, {name}"
            if units[name] is Unit.ONE:
                amount = self.number(value, place)
            else:
                amount = self.quantity(value, place, turns=units[name] is Unit.RADIAN)
            if not amount > 0.0:
                raise self.error(f"{place} is {shown(value)}", allowed="positive numbers")
            found[name] = amount
        return found

    def check_keys(self, entry: Mapping[str, Any], allowed: Sequence[str], place: str) -> None:
        for key in entry:
            if key not in allowed:
                prefix = f"{place}: " if place else ""
                raise self.error(f"{prefix}unknown key '{key}'", allowed=allowed)

    @contextmanager
    def naming(self, place: str) -> Iterator[None]:
        """Errors inside are about this place of the file."""
        try:
            yield
        except InputError as error:
            raise error.at(f"{self.where}: {place}") from error

    def error(self, what: str, **details: Any) -> InputError:
        return InputError(what, where=self.where, **details)


def toml_float(value: float) -> str:
    return repr(float(value))


def toml_vector(values: Sequence[float] | FloatArray) -> str:
    return f"[{', '.join(toml_float(value) for value in values)}]"


def toml_rows(matrix: FloatArray) -> str:
    return f"[{', '.join(toml_vector(row) for row in matrix)}]"


def toml_string(text: str) -> str:
    import json

    # What no file can hold, as in names of files that are not UTF-8.
    text = text.encode("utf-8", errors="replace").decode("utf-8")
    # JSON's escapes are a subset of those of TOML's basic strings, except for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_words(text: str) -> str:
    """A text for people, without what ``TomlReader.words`` refuses, as in odd names of files."""
    return toml_string("".join(c if c in "\t\n\r" else printable(c) for c in text))


def toml_key(name: str) -> str:
    return name if name.replace("_", "").isalnum() and name.isascii() else toml_string(name)


def format_tolerances(tolerances: Mapping[str, float]) -> list[str]:
    """The table of tolerances, SI; nothing where all are the default ones."""
    if not tolerances:
        return []
    return [
        "",
        "[tolerances]",
        *(f"{toml_key(name)} = {toml_float(value)}" for name, value in tolerances.items()),
    ]
