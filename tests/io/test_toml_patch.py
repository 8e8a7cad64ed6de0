"""One number of a robot file is changed, and nothing else."""

from __future__ import annotations

import difflib
import tomllib

import pytest

from theodolite import robots
from theodolite.errors import InputError
from theodolite.io.toml_patch import set_in_row, set_in_vector


@pytest.mark.parametrize("name", robots.SERIAL)
def test_one_value_changes_and_every_other_character_stays(name):
    text = robots.text(name)
    before = tomllib.loads(text)
    rows = before["frames"]
    if "convention" in before and before["convention"] not in ("kk", "dh", "hayati"):
        pytest.skip("not a table")
    for number in range(len(rows)):
        after = set_in_row(text, number, "theta", "-12.5")
        content = tomllib.loads(after)
        assert content["frames"][number]["theta"] == -12.5
        content["frames"][number].pop("theta")
        expected = tomllib.loads(text)
        expected["frames"][number].pop("theta", None)
        assert content == expected
        changed = [
            line for line in difflib.ndiff(text.splitlines(), after.splitlines()) if line[0] in "+-"
        ]
        assert len(changed) == 2
    after = set_in_vector(text, "Qmax", 1, "33")
    assert tomllib.loads(after)["Qmax"][1] == 33
    assert len(after) - len(text) == len("33") - len(str(before["Qmax"][1]))


def test_odd_but_valid_files():
    text = """frames = [ # [ { , } ]
  {sigma=0,name="a ] } , theta = 3"}, {}, # theta = 9
  { sigma = 0, theta = 1.5 , d = 2 } ]
Qmin = [
  -1, # , 7
  -2,
]
"""
    assert "{ sigma = 0, theta = 7 , d = 2 }" in set_in_row(text, 2, "theta", "7")
    assert "{ theta = 7 }" in set_in_row(text, 1, "theta", "7")
    assert "-2.5,\n]" in set_in_vector(text, "Qmin", 1, "-2.5")
    assert tomllib.loads(set_in_row(text, 2, "d", ".5"))["frames"][2]["d"] == 0.5
    assert tomllib.loads(set_in_row(text, 2, "d", "5."))["frames"][2]["d"] == 5.0


@pytest.mark.parametrize(
    "value", ["", "x", "1,2", "1 }", "nan", "0x10", "1_000", '"1"', "1\n"[:1] + "#"]
)
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(InputError):
        set_in_row(robots.text("puma560"), 1, "d", value)


def test_what_is_not_there_is_refused():
    text = robots.text("puma560")
    with pytest.raises(InputError, match="no entry 99"):
        set_in_row(text, 98, "d", "1")
    with pytest.raises(InputError, match="no list 'Offset'"):
        set_in_vector(text, "Offset", 0, "1")
    with pytest.raises(InputError):
        set_in_row("frames = [ [1, 2] ]", 0, "d", "1")
    # A name inside a text is no key.
    odd = 'frames = [ { note = "d = 4", r = 1 } ]'
    with pytest.raises(InputError):
        set_in_row(odd, 0, "d", "1")
