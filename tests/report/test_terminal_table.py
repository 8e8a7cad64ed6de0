"""Tables on terminals of any width: no number is cut."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from theodolite.report.terminal_table import Table

ROWS = [
    ("theta1", "30.00000", "30.12345", "+0.12345", "deg"),
    ("d3*", "431.8000", "433.1234", "+1.3234", "mm"),
]


def shown(width: int) -> str:
    table = Table(title="Parameters", title_justify="left")
    table.add_column("name")
    for heading in ("nominal value", "identified", "change"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    for row in ROWS:
        table.add_row(*row)
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [24, 40, 50, 60, 80, 200])
def test_every_name_and_number_is_whole(width: int) -> None:
    text = shown(width)
    assert max(map(len, text.splitlines())) <= width
    words = set(re.findall(r"[^\s│┃]+", text))
    for row in ROWS:
        assert words.issuperset(row)
    assert words.issuperset({"Parameters", "nominal", "value", "identified", "change", "unit"})


def test_a_table_is_a_list_only_where_it_must_be() -> None:
    """Names 6, numbers 8, headings by words 7, 10 and 8, units 4; three more each, and one."""
    least = 6 + 8 + 10 + 8 + 4 + 5 * 3 + 1
    assert "┃" in shown(least)
    assert "┃" not in shown(least - 1)
