"""Tables as people have them: separators, decimal commas, encodings, units, blanks, words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.errors import InputError
from theodolite.io.mapping import Mapping, parse_mapping
from theodolite.io.number_table import read_table

NAMES = ("q1_deg", "q2_deg", "q3_mm", "q4_deg", "x_mm", "y_mm", "z_mm")
ROWS = [(1.5, -2.25, 3.0, 4.0, 5.125, -6.0, 7e-3), (2.0, 3.5, 4.0, -5.5, 6.0, 7.0, 8.75)] * 2
HEADER = ",".join(NAMES)


def text_of(separator: str, *, comma: bool = False) -> str:
    """The same table with other separators."""
    rows = [separator.join(NAMES), *(separator.join(map(repr, row)) for row in ROWS)]
    text = "\n".join(rows)
    return text.replace(".", ",") if comma else text


def numbers(path: Path, content: str | bytes, **options) -> th.Dataset:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return th.read_measurements([path], th.robots.scara(), **options)


def assert_same(data: th.Dataset) -> None:
    scale = np.array([np.pi / 180, np.pi / 180, 1e-3, np.pi / 180])
    np.testing.assert_allclose(data.motors, np.array(ROWS)[:, :4] * scale, rtol=1e-15)
    np.testing.assert_allclose(data.positions[:, 0], 1e-3 * np.array(ROWS)[:, 4:], rtol=1e-15)


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "   ", " , ", "; "])
def test_separators(separator: str, tmp_path: Path) -> None:
    assert_same(numbers(tmp_path / "d.csv", text_of(separator)))


@pytest.mark.parametrize("separator", [";", "\t", " ", " ; "])
def test_decimal_commas(separator: str, tmp_path: Path) -> None:
    assert_same(numbers(tmp_path / "d.csv", text_of(separator, comma=True)))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_encodings(encoding: str, tmp_path: Path) -> None:
    assert_same(numbers(tmp_path / "d.csv", text_of(",").encode(encoding)))
    assert_same(numbers(tmp_path / "d.csv", text_of(",").replace("\n", "\r\n").encode(encoding)))


def test_degree_signs_of_windows_programs(tmp_path: Path) -> None:
    text = text_of(";", comma=True).replace("q1_deg", "q1 [°]")
    assert_same(numbers(tmp_path / "d.csv", text.encode("cp1252")))


@pytest.mark.parametrize(
    "text",
    [
        "# made by a tracker\n" + text_of(","),
        "% made by a tracker\n\n" + text_of(" "),
        "Tracker report\nStation 3, operator M.\n\n" + text_of(","),
        "sep=;\n" + text_of(";"),
        "# " + text_of(" "),
        "#" + text_of(","),
        "Report;of;Monday;;;;\n" + text_of(";"),
        text_of(",").replace("\n2", "\n# a remark\n2", 1),
        "\n".join(line + "," for line in text_of(",").splitlines()),
        "\n".join(line + ";" for line in text_of(";", comma=True).splitlines()),
        text_of(",") + "\n,,,,,,\n\n",
        text_of(",").replace("-", "\u2212"),
        text_of(",").replace("1.5", '"1.5"'),
        text_of(",").replace("7e-3", "7.0D-03").replace("0.007", "7.0D-03"),
    ],
)
def test_what_stands_around_the_numbers(text: str, tmp_path: Path) -> None:
    assert_same(numbers(tmp_path / "d.csv", text))


@pytest.mark.parametrize(
    "head",
    [
        "q1,q2,q3,q4,x,y,z\ndeg,deg,mm,deg,mm,mm,mm",
        "Q1,Q2,Q3,Q4,X,Y,Z\n[°],[°],[mm],[°],[mm],[mm],[mm]",
        "q1 [deg],q2 [deg],q3 (mm),q4 [°],X [mm],Y (mm),z/mm",
        "Q1_deg,q2_deg,q3_mm,q4_deg,X_mm,Y_mm,Z_mm",
        "q1 (degrees),q2 (Degrees),q3 (millimetres),q4 (deg),x (MM),y (mm),z (mm)",
    ],
)
def test_units_in_brackets_and_below(head: str, tmp_path: Path) -> None:
    body = text_of(",").partition("\n")[2]
    assert_same(numbers(tmp_path / "d.csv", f"{head}\n{body}"))


def test_units_between_blanks(tmp_path: Path) -> None:
    head = "q1 [deg] q2 [deg] q3 (mm) q4 [deg] X [mm] Y [mm] Z [mm]"
    assert_same(numbers(tmp_path / "d.txt", f"{head}\n" + text_of(" ").partition("\n")[2]))


def test_columns_in_any_order_names_and_dates_are_left_out(tmp_path: Path) -> None:
    lines = [line.split(",") for line in text_of(",").splitlines()]
    head, body = lines[0][::-1], [line[::-1] for line in lines[1:]]
    rows = [["point", *head, "measured at"]]
    rows += [[f"P{n}", *line, f"2024-03-0{n + 1} 12:30"] for n, line in enumerate(body)]
    assert_same(numbers(tmp_path / "d.csv", "\n".join(map(",".join, rows))))


def test_names_of_sets_are_words(tmp_path: Path) -> None:
    labels = ["left", "right", "left", "right"]
    rows = [f"set,{HEADER}"]
    rows += [f"{label},{','.join(map(repr, row))}" for label, row in zip(labels, ROWS, strict=True)]
    data = numbers(tmp_path / "d.csv", "\n".join(rows), needs=["sets"])
    assert data.sets.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("blank", ["", "nan", "NaN", "-", "n/a"])
def test_rows_in_which_nothing_was_seen_are_left_out(blank: str, tmp_path: Path) -> None:
    head = "q1_deg,q2_deg,q3_mm,q4_deg,a_x_mm,a_y_mm,a_z_mm,b_x_mm,b_y_mm,b_z_mm"
    rows = ["1,2,3,4,5,6,7,8,9,10", f"1,2,3,5,5,6,7,{blank},{blank},{blank}", "1,2,3,6,5,6,7,8,9,1"]
    notes: list[str] = []
    data = numbers(tmp_path / "d.csv", "\n".join([head, *rows]), note=notes.append)
    assert data.lines.tolist() == [2, 3, 4]
    assert data.positions is not None
    assert np.isnan(data.positions).any(axis=2).tolist() == [
        [False, False],
        [False, True],
        [False, False],
    ]
    assert not notes
    text = "\n".join([head, f"1,2,3,5{f',{blank}' * 6}", *rows])
    first = numbers(tmp_path / "d.csv", text, note=notes.append)
    assert first.lines.tolist() == [3, 4, 5]
    assert len(notes) == 1
    assert "1 of 4 rows are left out" in notes[0]
    assert "line 2" in notes[0]
    nothing = "\n".join([head, f"1,2,3,4{f',{blank}' * 6}"])
    with pytest.raises(InputError, match="no row in which anything was seen"):
        numbers(tmp_path / "d.csv", nothing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a" * 10**6, "has no rows of numbers"),
        ("\x1b[31m,\x1b[0m\n1,2", r"unknown column '\\x1b\[31m'"),
        (HEADER.replace("q2", "q99999") + "\n1,2,3,4,5,6,7", "robot 'scara' has 4 joints"),
        (HEADER.replace("q2", "q" + "9" * 5000) + "\n1,2,3,4,5,6,7", "unknown column|has 4 joints"),
        (HEADER + "\n1,2,3,4,5,6," + "9" * 5000, "line 2, column 'z_mm': inf"),
        (HEADER + "\n1,2,3,4,5,6,7_0", "'7_0' is not a number"),
        (HEADER + "\n1,2,3,4,5,6,0x10", "'0x10' is not a number"),
        (HEADER + "\n1,2,3,4,5,6," + "x" * 10**5, "is not a number"),
        (HEADER + "\n1,2,3,4,5,6," + "1" * 10**5 + "x", "is not a number"),
        (HEADER + "\n" + "1," * 10**5, "has 100001 cells, the header 7"),
        (HEADER + '\n"' + "1" * 200_000 + '",2,3,4,5,6,7', "line 2"),
    ],
)
def test_nasty_cells_get_one_short_message(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as error:
        numbers(tmp_path / "d.csv", text)
    assert len(str(error.value)) <= 420
    assert str(error.value).isprintable()


def test_a_mapping_gives_signs_factors_and_offsets(tmp_path: Path) -> None:
    rows = ["Nr;J1;J2;Z3;J 4;X (m);Y (m);Z (m);Temp"]
    for number, (a, b, c, d, x, y, z) in enumerate(ROWS):
        cells = (number, a, -b, c / 1e3, 90 - d, x / 1e3, y / 1e3, z / 1e3, 21.5)
        rows.append(";".join(map(repr, cells)))
    text = "q1_deg=J1,q2_deg=-J2,q3_mm=1000*Z3,q4_deg=-'J 4'+90,x_mm=X (m)*1000,y_mm=1e3*Y,z_m=#8"
    data = numbers(tmp_path / "d.csv", "\n".join(rows), mapping=parse_mapping(text))
    np.testing.assert_allclose(data.motors, readable(tmp_path).motors, atol=1e-12)
    np.testing.assert_allclose(data.positions, readable(tmp_path).positions, atol=1e-12)


def readable(tmp_path: Path) -> th.Dataset:
    return numbers(tmp_path / "readable.csv", text_of(","))


def test_a_mapping_by_numbers_needs_no_header(tmp_path: Path) -> None:
    mapping = parse_mapping(",".join(f"{name}=#{n}" for n, name in enumerate(NAMES, 1)))
    assert_same(numbers(tmp_path / "d.csv", text_of(",").partition("\n")[2], mapping=mapping))


def test_first_lines_can_be_skipped(tmp_path: Path) -> None:
    text = "1,2,3,4,5,6,7\n9,9,9,9,9,9,9\n" + text_of(",")
    mapping = Mapping(parse_mapping(",".join(f"{n}={n}" for n in NAMES)).terms, skip=2)
    assert_same(numbers(tmp_path / "d.csv", text, mapping=mapping))


def test_recordings_need_every_number(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("t_s;q1_rad\n0,0;1,5\n0,1;\n")
    with pytest.raises(InputError, match="line 3, column 'q1_rad': blank"):
        read_table(path)
    path.write_text("t_s;q1_rad\n0,0;1,5\n0,1;2,5\n")
    np.testing.assert_array_equal(read_table(path).values, [[0, 1.5], [0.1, 2.5]])
