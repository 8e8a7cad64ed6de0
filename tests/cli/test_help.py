"""What ``--help`` says: every option in its group, with a word for what it takes."""

from __future__ import annotations

import re

import pytest

from theodolite.cli import help as help_

VERBS = (
    *("robots", "new", "check", "identifiable", "generate", "identify", "validate", "reproduce"),
    *("demo", "dynamics identifiable", "dynamics excite", "dynamics identify"),
    *("dynamics validate", "dynamics payload", "dynamics gains"),
)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("width", [40, 100])
def test_help_names_no_types_and_no_limits(theodolite, monkeypatch, verb: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = theodolite(*verb.split(), "-h")
    assert code == 0
    assert not re.search(r"range|RANGE|<\w+>|x>=|<=x|\{", out)
    assert max(map(len, out.splitlines())) <= max(width, 80)
    assert "--help" in out


def test_options_are_in_groups(theodolite) -> None:
    _, out, _ = theodolite("identify", "-h")
    sections = re.split(r"^(\S.*):$", out, flags=re.M)
    titles = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert list(titles) == [
        *("Arguments", "Options", "The method", "The model", "Noise", "Pictures"),
        *("Reading files", "Output"),
    ]
    assert "--terms TERMS" in titles["The model"]
    assert "--noise-mm X" in titles["Noise"]
    assert "--hold-out X" in titles["Options"]
    assert "--out F" in titles["Output"]


def test_limits_are_left_out_of_help_alone() -> None:
    for shown, plain in {
        "Noise, mm.  [default: 0.0; x>=0.0]": "Noise, mm.  [default: 0.0]",
        "Points.  [default: 50; 1<=x<=10000000]": "Points.  [default: 50]",
        "Noise, mm.  [x>=0.0]": "Noise, mm.",
        "a x + b y, in 1/m": "a x + b y, in 1/m",
    }.items():
        assert help_._without_limits(shown) == plain
