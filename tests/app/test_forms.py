"""Forms from verbs: every option is there, and a form says what a command line says."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from theodolite.app.forms import Kind, arguments, as_typed, fields, named_files, parts_of, summary
from theodolite.app.frame import DYNAMICS, USES
from theodolite.app.pages.method import OWN
from theodolite.cli.main import application
from theodolite.errors import InputError

VERBS = (
    "identify",
    "identifiable",
    "generate",
    "design",
    *USES,
    *(f"dynamics {v}" for v in DYNAMICS),
)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_verb_is_a_field(verb):
    shown = CliRunner().invoke(application(), [*verb.split(), "--help"]).output
    told = {word.rstrip(",") for word in shown.split() if word.startswith("--")}
    known = {option for field in fields(verb) for option in (field.option, field.off) if option}
    told -= {"--json", "--force", "--help", "--way", "--whole"}
    # The help of some options names other options, or those of another verb.
    assert known - {""} <= told | {field.off for field in fields(verb)}
    own = {word for line in shown.splitlines() for word in line.split()[:3] if line[:4] == "  --"}
    missing = {word.rstrip(",") for word in own if word.startswith("--")} - known
    assert missing <= {"--json", "--force", "--help", "--way", "--whole"}
    assert summary(verb)[-1] in ".?"
    for field in fields(verb):
        assert field.label
        assert field.help or field.name == "format_", field.name


def test_what_fields_take():
    known = {field.name: field for field in fields("identify")}
    assert known["robot"].kind is Kind.ROBOT
    assert known["data"].kind is Kind.FILE
    assert known["data"].several
    assert known["out"].kind is Kind.OUTPUT
    assert known["gains"].kind is Kind.SWITCH
    assert (known["gains"].option, known["gains"].off) == ("--gains", "--no-gains")
    assert known["noise_mm"].kind is Kind.NUMBER
    assert known["noise_mm"].label == "Noise (mm)"
    assert known["noise_joint_deg"].label == "Noise joint (deg)"
    assert known["seed"].kind is Kind.WHOLE
    assert known["loss"].choices == ("squared", "huber", "cauchy")
    assert "puma560" in known["robot"].choices
    assert set(OWN) <= {f.name for verb in VERBS[:4] for f in fields(verb)}


def test_a_form_says_what_one_would_type():
    values = {
        "robot": "puma560",
        "data": ["a b.csv", "-c.csv"],
        "method": "position",
        "gains": False,
        "seed": 3.0,
        "noise_mm": 0.05,
        "loss": "squared",
        "ignore_limits": True,
        "hold_out": 0.2,
    }
    command = arguments("identify", values)
    assert command == [
        *("identify", "--method=position", "--no-gains", "--noise-mm=0.05", "--ignore-limits"),
        *("--seed=3", "--", "puma560", "a b.csv", "-c.csv"),
    ]
    assert as_typed(command).startswith("theodolite identify --method=position")
    assert "'a b.csv'" in as_typed(command)
    assert arguments("identify", {"robot": "x", "gains": True})[1] == "--gains"
    assert arguments("identify", {"robot": "x", "gains": None}) == ["identify", "--", "x"]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"robot": ""},
        {"robot": "x", "seed": 1.5},
        {"robot": "x", "ignore": "a\0b"},
        {"robot": "x", "ignore": "a\nb"},
    ],
)
def test_what_cannot_be_typed_is_refused(values):
    with pytest.raises(InputError):
        arguments("identify", values)


def test_files_that_a_form_names():
    read, written = named_files(
        "identify", {"robot": "r.toml", "data": ["d.csv"], "out": "o.toml", "residuals": "e.csv"}
    )
    assert (read, written) == (["r.toml", "d.csv"], ["o.toml", "e.csv"])
    assert named_files("new", {"source": "a.urdf", "file": "b.toml"}) == (["a.urdf"], ["b.toml"])
    parts = parts_of({"sources": ["position:../x.csv", "plane:b.csv"], "lens": ["/etc/x"], "n": 3})
    assert {"../x.csv", "b.csv", "/etc/x", "position"} <= set(parts)
