"""Frozen dataclasses as plain data for JSON, and back by their type annotations.

What a file lacks takes the default of its field, and what a file has beyond the fields is ignored:
a later version may add fields with defaults and still read what an earlier one wrote.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from theodolite.errors import InputError, shown

#: JSON has no infinity and no not-a-number; these words stand for them.
_WORDS = {"infinity": float("inf"), "-infinity": float("-inf"), "nan": float("nan")}

#: Classes with a text of their own: how to write them, and how to read them.
Texts = Mapping[type, tuple[Callable[[Any], str], Callable[[str, str], Any]]]


def to_plain(value: Any, texts: Texts) -> Any:
    """Lists, dictionaries, numbers and text that hold the same."""
    plain = value
    if type(value) in texts:
        plain = texts[type(value)][0](value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        plain = {
            field.name: to_plain(getattr(value, field.name), texts)
            for field in dataclasses.fields(value)
        }
    elif isinstance(value, Enum):
        plain = value.name
    elif isinstance(value, np.ndarray | np.generic):
        plain = to_plain(value.tolist(), texts)
    elif isinstance(value, Mapping):
        plain = {str(key): to_plain(item, texts) for key, item in value.items()}
    elif isinstance(value, float):
        plain = value if abs(value) < float("inf") else _word(value)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        plain = [to_plain(item, texts) for item in value]
    elif not isinstance(value, str | bool | int | None):
        plain = str(value)
    return plain


def _word(value: float) -> str:
    if value != value:
        return "nan"
    return "infinity" if value > 0 else "-infinity"


def from_plain(kind: Any, plain: Any, texts: Texts, where: str) -> Any:
    """A value of a type; ``where`` names its place in errors."""
    origin, given = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _from_union(given, plain, texts, where)
    if kind in texts:
        return texts[kind][1](_text(plain, where), where)
    if origin is np.ndarray:
        return _array(given, plain, where)
    if origin is not None:
        return _from_items(origin, given, plain, texts, where)
    if dataclasses.is_dataclass(kind):
        return _from_fields(kind, plain, texts, where)
    return plain if kind is Any else _scalar(kind, plain, where)


def _from_items(origin: Any, given: tuple[Any, ...], plain: Any, texts: Texts, where: str) -> Any:
    """A tuple or a mapping."""
    if origin is not tuple:
        if not isinstance(plain, dict):
            raise InputError(f"{where} is {shown(plain)}", allowed="a table")
        return {
            key: from_plain(given[1], item, texts, f"{where}.{key}") for key, item in plain.items()
        }
    if not isinstance(plain, list):
        raise InputError(f"{where} is {shown(plain)}", allowed="a list")
    each = [given[0]] * len(plain) if given[-1:] == (Ellipsis,) else list(given)
    if len(each) != len(plain):
        raise InputError(f"{where} has {len(plain)} entries", allowed=str(len(each)))
    return tuple(
        from_plain(one, item, texts, f"{where}[{place}]")
        for place, (one, item) in enumerate(zip(each, plain, strict=True))
    )


def _from_union(given: tuple[Any, ...], plain: Any, texts: Texts, where: str) -> Any:
    if plain is None and type(None) in given:
        return None
    kinds = [kind for kind in given if kind is not type(None)]
    return from_plain(kinds[0], plain, texts, where)


def _from_fields(kind: Any, plain: Any, texts: Texts, where: str) -> Any:
    if not isinstance(plain, dict):
        raise InputError(f"{where} is {shown(plain)}", allowed="a table")
    hints = typing.get_type_hints(kind)
    values = {}
    for field in dataclasses.fields(kind):
        if field.name in plain:
            place = f"{where}.{field.name}" if where else field.name
            values[field.name] = from_plain(hints[field.name], plain[field.name], texts, place)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise InputError(f"{where or 'the file'} has no '{field.name}'")
    return kind(**values)


def _array(given: tuple[Any, ...], plain: Any, where: str) -> Any:
    whole = "int" in str(given[-1]) if given else False
    try:
        array = np.array(_numbers(plain), dtype=np.intp if whole else np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where} is {shown(plain)}", allowed="numbers") from error
    array.flags.writeable = False
    return array


def _numbers(plain: Any) -> Any:
    """Nested lists with numbers in place of words."""
    if isinstance(plain, list):
        return [_numbers(item) for item in plain]
    return _WORDS.get(plain, plain) if isinstance(plain, str) else plain


def _scalar(kind: Any, plain: Any, where: str) -> Any:
    """A number, text, or a member of an enumeration by its name."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        if plain not in kind.__members__:
            raise InputError(f"{where} is {shown(plain)}", allowed=list(kind.__members__))
        return kind[plain]
    if kind is float and isinstance(plain, str) and plain in _WORDS:
        return _WORDS[plain]
    wrong = isinstance(plain, bool) is not (kind is bool)
    if kind is float and isinstance(plain, int) and not wrong:
        return float(plain)
    if wrong or not isinstance(plain, kind):
        names = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
        raise InputError(f"{where} is {shown(plain)}", allowed=names.get(kind, str(kind)))
    return plain


def _text(plain: Any, where: str) -> str:
    if not isinstance(plain, str):
        raise InputError(f"{where} is {shown(plain)}", allowed="text")
    return plain
