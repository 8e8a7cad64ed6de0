"""Measurement files: round trips, and errors with file, line and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from theodolite.calibration.catalogue import METHODS, method_named
from theodolite.errors import InputError


@pytest.mark.parametrize("name", METHODS)
def test_measurements_survive_a_round_trip(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    robot = th.robots.load("h4" if name in ("implicit", "inverse") else "stanford")
    data = method_named(name).observe(robot, 5, rng, per_set=2)
    th.write_measurements(data, robot, tmp_path / "data.csv")
    read = th.read_measurements([tmp_path / "data.csv"], robot, needs=method_named(name).needs)
    for field in ("motors", "positions", "rotations", "sets", "planes"):
        expected = getattr(data, field)
        if expected is None:
            assert getattr(read, field) is None
        else:
            np.testing.assert_allclose(getattr(read, field), expected, atol=1e-14)


HEADER = "q1_deg,q2_deg,q3_mm,q4_deg,x_mm,y_mm,z_mm"
ROWS = ["1,2,3,4,5,6,7", "2,3,4,5,6,7,8"]


def read(tmp_path: Path, text: str, **options):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return th.read_measurements([path], th.robots.scara(), **options)


def test_units_are_those_of_the_names(tmp_path: Path) -> None:
    data = read(tmp_path, "\n".join([HEADER, *ROWS]))
    np.testing.assert_allclose(data.motors[0], [*np.radians([1, 2]), 0.003, np.radians(4)])
    np.testing.assert_allclose(data.positions[1, 0], [0.006, 0.007, 0.008])
    header = HEADER.replace("q1_deg", "q1_mrad").replace("x_mm", "x_um")
    data = read(tmp_path, "\n".join([header, *ROWS]))
    assert data.motors[0, 0] == pytest.approx(1e-3)
    assert data.positions[0, 0, 0] == pytest.approx(5e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("q2_deg,", ""), "line 2 has 7 cells, the header 6"),
        (("q2_deg", "q9_deg"), "column 'q9_deg': robot 'scara' has 4 joints"),
        (("q2_deg", "speed"), "unknown column 'speed'; allowed: q1_deg"),
        (("q2_deg", "q1_deg"), "column 'q1_deg' appears twice"),
        (("q2_deg", "q2"), "column 'q2' does not say its unit; allowed: q2_rad, q2_deg"),
        (("q3_mm", "q3_deg"), "column 'q3_deg' has the unit 'deg'; allowed: q3_m, q3_mm"),
        (("z_mm", "set"), "column z_mm missing"),
        (("4,5,6,7\n", "4,5,6,nan\n"), "line 2, column 'z_mm': blank or not a number"),
        (("4,5,6,7\n", "4,5,6,inf\n"), "line 2, column 'z_mm': inf"),
        (("4,5,6,7\n", "4,5,6,1e308\n"), "line 2, column 'z_mm': 1e+308; allowed: numbers below"),
        (("4,5,6,7\n", "4,5,,7\n"), "line 2, column 'y_mm': blank"),
        (("4,5,6,7\n", ",5,6,7\n"), "line 2, column 'q4_deg': blank"),
        (("2,3,4,5,6,7,8", "2,3,4,x,6,7,8"), "line 3, column 'q4_deg': 'x' is not a number"),
        (("6,7,8", "6"), "line 3 has 5 cells"),
        (
            ("2,3,4,5,6,7,8", "2,3,400,5,6,7,8"),
            "line 3, column 'q3_mm': joint 3 at 400 mm is outside its limits",
        ),
        (("1,2,3,4", "190,2,3,4"), "line 2, column 'q1_deg': joint 1 at 190 deg"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, "\n".join([HEADER, *ROWS]).replace(*change))
    assert message in str(error.value)
    assert "data.csv" in str(error.value)


def test_files_without_header_rows_or_content_are_refused(tmp_path: Path) -> None:
    for text, message in (
        ("", "is empty"),
        ("\n \n", "is empty"),
        (HEADER, "has no rows"),
        ("\n".join(ROWS), "has no header"),
    ):
        with pytest.raises(InputError, match=message):
            read(tmp_path, text)
    with pytest.raises(InputError, match="no such file"):
        th.read_measurements([tmp_path / "absent.csv"], th.robots.scara())
    (tmp_path / "binary.csv").write_bytes(b"q1_deg\x00\x81\xff")
    with pytest.raises(InputError, match="not text"):
        th.read_measurements([tmp_path / "binary.csv"], th.robots.scara())


def test_columns_can_be_named_ignored_and_limits_lifted(tmp_path: Path) -> None:
    columns = HEADER.split(",")
    data = read(tmp_path, "\n".join(ROWS), columns=columns)
    assert len(data) == 2
    text = "\n".join([HEADER + ",time", *(row + ",0" for row in ROWS)])
    assert len(read(tmp_path, text, ignore=["time"])) == 2
    far = "\n".join([HEADER, "190,2,3,4,5,6,7"])
    assert read(tmp_path, far, check_limits=False).motors[0, 0] == pytest.approx(np.radians(190))


def test_several_files_are_several_sets(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(["q1_deg,q2_deg,q3_mm,q4_deg", "1,2,3,4", "2,3,4,5"]))
        paths.append(path)
    data = th.read_measurements(paths, th.robots.scara(), needs=["sets"])
    assert data.sets.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_set_of_one_is_refused(tmp_path: Path) -> None:
    text = "set,q1_deg,q2_deg,q3_mm,q4_deg\n0,1,2,3,4\n0,2,2,3,4\n7,3,2,3,4"
    with pytest.raises(InputError, match="line 4, column 'set': set 7 has only one"):
        read(tmp_path, text, needs=["sets"])


@pytest.mark.parametrize("need", ["positions", "rotations", "sets", "planes"])
def test_what_a_method_needs_is_asked_for(need: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"has no {need}"):
        read(tmp_path, "q1_deg,q2_deg,q3_mm,q4_deg\n1,2,3,4\n1,2,3,5", needs=[need])


def test_quaternions_and_rotation_vectors_mean_the_same(tmp_path: Path) -> None:
    half = np.sqrt(0.5)
    joints = "q1_deg,q2_deg,q3_mm,q4_deg,x_mm,y_mm,z_mm"
    one = read(tmp_path, f"{joints},qw,qx,qy,qz\n1,2,3,4,0,0,0,{half},0,{half},0")
    other = read(tmp_path, f"{joints},rx_deg,ry_deg,rz_deg\n1,2,3,4,0,0,0,0,90,0")
    np.testing.assert_allclose(one.rotations, other.rotations, atol=1e-15)
    with pytest.raises(InputError, match="quaternion has length 2"):
        read(tmp_path, f"{joints},qw,qx,qy,qz\n1,2,3,4,0,0,0,2,0,0,0")


def test_files_with_different_targets_are_not_joined(tmp_path: Path) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    first.write_text(f"{HEADER}\n{ROWS[0]}\n")
    second.write_text(
        "q1_deg,q2_deg,q3_mm,q4_deg,a_x_mm,a_y_mm,a_z_mm,b_x_mm,b_y_mm,b_z_mm\n"
        "1,2,3,4,5,6,7,8,9,10\n"
    )
    with pytest.raises(InputError, match=r"from .*one\.csv: 'a', 'b' instead"):
        th.read_measurements([first, second], th.robots.scara())


def test_words_for_directions_are_refused(tmp_path: Path) -> None:
    """They would otherwise be a column for people, and left out."""
    robot = th.robots.scara()
    lines = ["q1_deg,q2_deg,q3_mm,q4_deg,x_mm,y_mm,z_mm,direction1", "1,2,3,4,5,6,7,up"]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="direction1"):
        th.read_measurements(tmp_path / "d.csv", robot)
