"""A verdict that can fail: what the builders of figures say about right and wrong values."""

from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console

from theodolite.reproduce.figure import (
    Figure,
    Verdict,
    below,
    between,
    near,
    not_comparable,
    show_figures,
    summary,
)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (Figure("count", "34", "32", "32"), Figure("count", "34", "32", "34")),
        (near("n", "-", 0.75, 0.76, within=0.02), near("n", "-", 0.75, 0.78, within=0.02)),
        (near("n", "-", 0.75, 0.74, within=0.02), near("n", "-", 0.75, np.nan, within=0.02)),
        (between("b", "-", (5, 15), 8.0), between("b", "-", (5, 15), 4.9)),
        (between("b", "-", (5, 15), 15.0), between("b", "-", (5, 15), 15.1)),
        (below("e", "-", 1e-12, 1e-15, why="."), below("e", "-", 1e-12, 2e-12, why=".")),
        (below("e", "-", 1e-12, 0.0, why="."), below("e", "-", 1e-12, np.nan, why=".")),
    ],
)
def test_wrong_values_differ(right: Figure, wrong: Figure) -> None:
    assert right.verdict is Verdict.AGREES
    assert wrong.verdict is Verdict.DIFFERS
    assert (right.agrees, wrong.agrees) == (True, False)
    assert (right.data()["agrees"], wrong.data()["agrees"]) == (True, False)


def test_what_cannot_be_compared_neither_agrees_nor_differs() -> None:
    figure = not_comparable("S", "1e4", "5e4", why="the samples are not printed")
    data = figure.data()
    assert (data["verdict"], data["agrees"], data["expected"]) == ("not comparable", None, "-")
    assert figure.agrees
    assert summary([figure]) == "0 of 0 agree with what is expected; 1 is not comparable"


def test_the_table_says_expected_and_gives_each_reason_once() -> None:
    console = Console(width=100, record=True, highlight=False)
    why = "joint 4 is prismatic"
    figures = [
        Figure("4 R + 2 P + 6", "34", "32", "32", why=why),
        Figure("the same again", "34", "32", "33", why=why),
        not_comparable("noise", "0.1", "0.2", why="not printed"),
    ]
    with console.capture() as capture:
        show_figures(console, "A paper", figures)
    text = capture.get()
    headings = next(line for line in text.splitlines() if "paper " in line and "ours" in line)
    assert [word in headings for word in ("expected", "verdict", "recomputed")] == [
        True,
        True,
        False,
    ]
    assert text.count("(1) joint 4 is prismatic") == 1
    assert text.count("agrees (1)") == text.count("differs (1)") == 1
    assert "not comparable (2)" in text
    assert text.rstrip().endswith("1 of 2 agree with what is expected; 1 is not comparable")
