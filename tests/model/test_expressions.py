"""The grammar of basis functions: what it computes, and what it refuses."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.errors import InputError
from theodolite.model.expressions import LONGEST, parse

Q = {"q1": np.array([0.3, -1.2]), "q2": np.array([2.0, 0.5]), "time_s": np.array([0.0, 60.0])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sin(2*q2)*cos(q1)", lambda q1, q2, t: math.sin(2 * q2) * math.cos(q1)),
        ("-q1**2 + 3", lambda q1, q2, t: -(q1**2) + 3),
        ("1 - exp(-time_s/120)", lambda q1, q2, t: 1 - math.exp(-t / 120)),
        ("abs(q1)/(1 + sqrt(q2))", lambda q1, q2, t: abs(q1) / (1 + math.sqrt(q2))),
        ("sign(q1)*tanh(q2) - +pi", lambda q1, q2, t: math.copysign(math.tanh(q2), q1) - math.pi),
        ("log(q2) + tan(q1)", lambda q1, q2, t: math.log(q2) + math.tan(q1)),
    ],
)  # fmt: skip
def test_an_expression_is_what_it_says(text: str, expected) -> None:
    found = parse(text)(Q)
    rows = zip(*(Q[name] for name in ("q1", "q2", "time_s")), strict=True)
    np.testing.assert_allclose(found, [expected(*row) for row in rows], rtol=1e-15)


def test_an_expression_knows_what_it_needs() -> None:
    found = parse("time_s*moment(z2, x4) + moment(z2, y3)*sin(q5)")
    assert found.names == {"time_s", "q5"}
    assert found.moments == {("z2", "x4"), ("z2", "y3")}


@pytest.mark.parametrize(
    "text",
    [
        "", "sin(", "sin q1", "q1 q2", "foo(q1)", "sin(q1, q2)", "q1.real", "q1[0]", "lambda: 1",
        "__import__('os')", "'text'", "True", "1j", "q1 if q2 else 3", "q1 < q2", "[q1]",
        "moment(z2)", "moment(2, 3)", "moment(q1, z2)", "moment(z2, x4, x5)", "q1 := 2", "1e400",
        "sin(x=q1)", "q1 @ q2", "not q1", "~q1", "q1 // 2", "q1 % 2", "f'{q1}'", "(yield)",
        "(" * 150 + "q1" + ")" * 150, "q1+" * LONGEST + "q1", "\x00",
    ],
)  # fmt: skip
def test_what_is_not_in_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="basis"):
        parse(text)


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        found = parse(text)
        assert found.text == text.strip()
        assert all(name.isidentifier() for name in found.names)
