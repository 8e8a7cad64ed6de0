"""Messages are short, on one line, show what a terminal would obey, and name no options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import theodolite
from theodolite.errors import LONGEST, InputError, bounded, listed, printable, shown


def test_long_parts_are_cut_and_the_remedy_stays() -> None:
    error = InputError(
        "x" * 10_000,
        where="folder/" * 1000 + "data.csv",
        allowed=[f"q{number}_deg" for number in range(100_000)],
        remedy="Look again",
    )
    text = str(error)
    assert len(text) <= LONGEST + 20
    assert "data.csv: xxx" in text
    assert text.endswith("more. Look again")
    assert "... 9999" in text


def test_short_messages_are_whole() -> None:
    error = InputError("is odd", where="f", allowed=("a", "b"), remedy="Do it")
    assert str(error) == "f: is odd; allowed: a, b. Do it"
    assert str(error.at("g")) == "g: is odd; allowed: a, b. Do it"


def test_terminals_are_not_commanded() -> None:
    error = InputError(
        "column '\x1b[31mred\x07' \u202e is unknown", where="a\nb.csv", allowed=["\x9b1m"]
    )
    text = str(error)
    assert text.isprintable()
    assert r"\x1b[31mred\x07" in text
    assert text.startswith("a b.csv: ")
    assert r"\x9b1m" in text


def test_anything_can_be_shown() -> None:
    for value in (16**5000, "\ud800" * 1000, [[]] * 1000, float("nan"), None):
        assert len(shown(value)) <= 40
        assert printable(shown(value)).isprintable()


def test_nested_lists_can_be_shown() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested) == "a list too large to show"


def test_lists_say_how_many_more() -> None:
    assert listed(["a", "b"], 100) == "a, b"
    many = [f"n{number}" for number in range(1000)]
    assert listed(many, 40) == "n0, n1, n2, n3, n4, n5, ... 994 more"
    assert bounded("abc" * 100, 30).startswith("abcabc")
    assert len(bounded("abc" * 100, 30)) == 30


def test_the_core_names_no_options() -> None:
    """A Python user reads the same messages, and has no options.

    Of all packages but ``cli/``, which only the command line runs, and ``app/``, which shows it.
    Docstrings are no messages.
    """
    source = Path(theodolite.__file__).parent
    named = [
        f"{path.relative_to(source)}:{line}: {text}"
        for path in sorted(source.rglob("*.py"))
        if not any(path.is_relative_to(source / edge) for edge in ("app", "cli"))
        for line, text in _texts(path)
        if re.search(r"(?<![\w-])--[a-z]", text)
    ]
    assert not named, "\n".join(named)


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every text in a module that is no docstring, with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, described) and ast.get_docstring(node) is not None
    }
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if text and node not in docstrings:
            yield node.lineno, node.value
