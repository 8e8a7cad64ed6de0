"""Mappings: what is written is read, and what cannot be read is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.errors import InputError
from theodolite.io.mapping import Mapping, Term, parse_mapping, parse_term, place_of
from theodolite.io.mapping_file import read_mapping, write_mapping
from theodolite.io.naming import column_name, name_list

NUMBERS = st.floats(1e-9, 1e9, allow_nan=False)
TERMS = st.builds(
    Term,
    st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="'\""),
            min_size=1, max_size=12),
    st.builds(lambda size, sign: size * sign, NUMBERS | st.just(1.0), st.sampled_from([1.0, -1.0])),
    st.builds(lambda size, sign: size * sign, NUMBERS, st.sampled_from([1.0, 0.0, -1.0])),
)  # fmt: skip


@given(TERMS)
def test_terms_survive_as_text(term: Term) -> None:
    again = parse_term(str(term))
    assert again == term


@given(st.dictionaries(st.sampled_from(["q1_deg", "x_mm", "p1_x_mm", "set", "q_mm"]), TERMS,
                       min_size=1), st.integers(0, 9))  # fmt: skip
def test_mappings_survive_a_file(tmp_path_factory, terms: dict[str, Term], skip: int) -> None:
    mapping = Mapping(terms, skip)
    path = tmp_path_factory.mktemp("mapping") / "m.toml"
    write_mapping(mapping, path)
    assert read_mapping(path) == mapping
    assert parse_mapping(str(mapping)).terms == terms


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("J1", Term("J1")),
        ("-J1", Term("J1", -1.0)),
        ("+J1", Term("J1")),
        ("-J3+90", Term("J3", -1.0, 90.0)),
        ("J3-90", Term("J3", 1.0, -90.0)),
        ("1000*X", Term("X", 1000.0)),
        ("X*1e3", Term("X", 1e3)),
        ("-0.5 * X (m) + .25", Term("X (m)", -0.5, 0.25)),
        ("#7", Term("#7")),
        ("-'J-1'-1", Term("J-1", -1.0, -1.0)),
        ('"Joint 1, deg"', Term("Joint 1, deg")),
    ],
)
def test_terms(text: str, term: Term) -> None:
    assert parse_term(text) == term


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no column"),
        ("q1_deg", "cannot read 'q1_deg'"),
        ("q1_deg=", "cannot read"),
        ("=J1", "cannot read"),
        ("q1_deg=J1,q1_deg=J2", "given twice"),
        ("q1_deg='J1", "quotation mark is not closed"),
        ("q1_deg=2*J1*3", "cannot read"),
        ("q1_deg=0*J1", "the factor in '0\\*J1' is 0"),
        ("q1_deg=1e300*J1", "numbers below"),
        ("q1_deg=J1+1" + "0" * 400, "cannot read|numbers below"),
        ("q1_deg=" + " " * 200 + "x" * 100_000, "cannot read"),
        (",".join(f"q{n}_deg=J" for n in range(20_000)), "too many"),
    ],
)
def test_what_is_no_mapping_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        parse_mapping(text)
    assert len(str(error.value)) <= 420


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "format"),
        ("format = 'theodolite mapping 1'", r"has no \[columns\]"),
        ("format = 'theodolite mapping 1'\n[columns]\nq1_deg = 3", "is not a string"),
        ("format = 'theodolite mapping 1'\nskip = -1\n[columns]\nq1_deg = 'a'", "skip"),
        ("format = 'theodolite mapping 1'\nspeed = 1", "unknown key 'speed'"),
        ("[[[", "not a valid mapping file"),
    ],
)
def test_bad_mapping_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_mapping(tmp_path / "m.toml")


def test_columns_are_found_by_name_number_and_stem() -> None:
    names = ["Nr", "J1 [deg]", "X (mm)", "x", "Temp", "Temp"]
    assert place_of("#2", names, "f") == 1
    assert place_of("J1 [deg]", names, "f") == 1
    assert place_of("J1", names, "f") == 1
    assert place_of("J1_deg", names, "f") == 1
    assert place_of("x", names, "f") == 3
    assert place_of("X", names, "f") == 2
    assert place_of("nr", names, "f") == 0
    for wrong, message in (
        ("#9", "no column #9"),
        ("Y", "no column 'Y'; allowed: Nr"),
        ("Temp", "2 columns 'Temp'. Name it by its number, as in #5"),
    ):
        with pytest.raises(InputError, match=message):
            place_of(wrong, names, "f")


@pytest.mark.parametrize(
    ("written", "unit", "name"),
    [
        ("x_mm", "", "x_mm"),
        ("x [mm]", "", "x_mm"),
        ("x (Millimetres)", "", "x_mm"),
        ("x", "deg", "x_deg"),
        ("x/mm", "", "x_mm"),
        ("qd1 [deg/s]", "", "qd1_deg_s"),
        ("qdd1 [rad/s^2]", "", "qdd1_rad_s2"),
        ("J1", "", "J1"),
        ("speed (nm)", "", "speed (nm)"),
        ("counts [ticks]", "", "counts [ticks]"),
    ],
)
def test_names_of_columns(written: str, unit: str, name: str) -> None:
    assert column_name(written, unit) == name


def test_lists_of_names() -> None:
    assert name_list("a, b,,c") == ["a", "b", "c"]
    assert name_list(None) == []
    assert name_list("q1_rad,...,q4_rad,t") == ["q1_rad", "q2_rad", "q3_rad", "q4_rad", "t"]
    for text in ("q1,...,q999999999999", "q1,...,q" + "9" * 5000, "...", "q1,...,p4", "q1,..."):
        with pytest.raises(InputError) as error:
            name_list(text)
        assert len(str(error.value)) < 200
