"""Input that is readable but wrong, and results that look better than they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theodolite as th


def generated(theodolite, method: str, *options: object, out: str = "d.csv") -> list[str]:
    code, _, errors = theodolite(
        "generate", "puma560", "-m", method, "--error-mm", 1, "--error-mrad", 2, "--out", out,
        *options,
    )  # fmt: skip
    assert code == 0, errors
    return Path(out).read_text().splitlines()


def test_a_wrong_plane_is_not_fitted_by_a_collapsed_robot(theodolite) -> None:
    generated(theodolite, "plane-known", "--points", 120)
    code, out, errors = theodolite(
        "identify", "puma560", "d.csv", "-m", "plane-known", "--plane", "0,0,1,0.3"
    )
    assert code == 2
    assert "the residuals of these configurations are" in errors
    code, out, _ = theodolite(
        "identify", "puma560", "d.csv", "-m", "plane-known", "--plane", "0,0,1,0.3", "--json",
        "--start", "nominal", "--no-gains",
    )  # fmt: skip
    assert code == 1
    assert any(
        "by more than any real robot could be off" in doubt for doubt in json.loads(out)["doubts"]
    )


def test_labels_too_long_to_tell_apart_are_refused(theodolite) -> None:
    lines = generated(theodolite, "position-link", "--points", 5, "--per-set", 2)
    far = [lines[0], *(f"170000000000000000{line}" for line in lines[1:])]
    Path("far.csv").write_text("\n".join(far))
    code, _, errors = theodolite("identify", "puma560", "far.csv", "-m", "position-link")
    assert code == 2
    assert "line 2, column 'set'" in errors


def test_equal_labels_in_two_files_are_two_sets(theodolite) -> None:
    generated(theodolite, "position-link", "--points", 25, "--save-true", "t.toml", out="one.csv")
    code, _, _ = theodolite(
        "generate", "t.toml", "-m", "position-link", "--points", 25, "--seed", 3, "--out", "two.csv"
    )
    assert code == 0
    code, out, _ = theodolite(
        "identify", "puma560", "one.csv", "two.csv", "-m", "position-link", "--no-gains", "--json"
    )
    assert code == 0
    assert json.loads(out)["rms"]["mm"] < 1e-9


def test_two_files_of_positions_are_one_recording(theodolite) -> None:
    for seed in (1, 1):
        generated(theodolite, "position", "--seed", seed, "--force", out="one.csv")
    lines = Path("one.csv").read_text().splitlines()
    Path("two.csv").write_text("\n".join([lines[0], *lines[26:]]))
    Path("one.csv").write_text("\n".join(lines[:26]))
    code, out, _ = theodolite(
        "identify", "puma560", "one.csv", "two.csv", "-m", "position", "--json"
    )
    assert code == 0
    assert json.loads(out)["held_out"]["groups"] == 10


def test_one_configuration_repeated_is_not_a_calibration(theodolite) -> None:
    lines = generated(theodolite, "position", "--noise-mm", 0.05)
    Path("same.csv").write_text("\n".join([lines[0], *[lines[1]] * 100]))
    code, out, _ = theodolite("identify", "puma560", "same.csv", "-m", "position", "--json")
    assert code == 1
    assert "too alike" in json.loads(out)["doubts"][0]


def test_as_many_equations_as_parameters_are_doubted(theodolite) -> None:
    lines = generated(theodolite, "position")
    Path("nine.csv").write_text("\n".join(lines[:10]))
    code, out, _ = theodolite(
        "identify", "puma560", "nine.csv", "-m", "position", "--no-gains", "--json"
    )
    assert code == 1
    spare = "There are no spare equations (0 degrees of freedom)"
    assert any(spare in doubt for doubt in json.loads(out)["doubts"])


def test_exact_nominal_data_are_fine(theodolite) -> None:
    assert theodolite("generate", "puma560", "-m", "position", "--out", "d.csv")[0] == 0
    for loss in ("squared", "huber", "cauchy"):
        code, out, _ = theodolite(
            "identify", "puma560", "d.csv", "-m", "position", "--loss", loss, "--json"
        )
        assert code == 0
        assert json.loads(out)["rank"] == 27


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        (["--error-gain", 0.01], []),
        (["--noise-joint-deg", 0.5], ["--noise-mm", 0.05, "--noise-joint-deg", 0.5]),
    ],
)
def test_generated_files_are_accepted(theodolite, options: list, stated: list) -> None:
    generated(theodolite, "position", "--points", 300, "--noise-mm", 0.05, *options)
    code, _, errors = theodolite("identify", "puma560", "d.csv", "-m", "position", *stated)
    assert code == 0, errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generate", "scara", "-m", "position", "--out", "a", "--save-true", "a"], "same file"),
        (["generate", "scara", "-m", "position", "--out", "a", "--noise-mm", "inf"], "is inf"),
        (["generate", "scara", "-m", "position", "--out", "a", "--error-mm", "inf"], "of inf"),
        (["generate", "scara", "-m", "plane", "--out", "a", "--plane", "1e-320,0,0"], "not a"),
        (["generate", "scara", "-m", "position", "--out", "a", "--points", "9" * 22], "points"),
        (["check", "x" * 300], "cannot be accessed"),
        (["validate", "puma560", "d.csv", "--nominal", "scara"], "has different joints"),
        (["identifiable", "puma560", "-m", "position-link", "--priorities", "zero"], "priority 0"),
        (["demo", "--out", "d.csv"], "cannot be created as a folder"),
    ],
)  # fmt: skip
def test_odd_options_are_refused(theodolite, arguments: list[str], message: str) -> None:
    generated(theodolite, "position")
    Path("zero").write_text("0 0 0 0 0 0\n" * 8)
    before = sorted(path.name for path in Path.cwd().iterdir())
    code, out, errors = theodolite(*arguments)
    assert (code, out) == (2, "")
    assert message in errors
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


def test_names_are_shown_as_they_are(theodolite) -> None:
    text = th.robots.text("scara").replace('name = "scara"', 'name = "[/bold]x"')
    Path("run[a].toml").write_text(text)
    code, out, _ = theodolite("check", "run[a].toml")
    assert code == 0
    assert "[/bold]x" in out
    code, out, _ = theodolite("new", "scara", "cal[a].toml")
    assert code == 0
    assert "wrote cal[a].toml" in out


def test_an_invalid_robot_is_never_written(theodolite) -> None:
    Path("dh.csv").write_text("theta_deg,d_mm,a_mm,alpha_deg,qmin_deg,qmax_deg\n0,1,2,3,9,-9\n")
    code, _, errors = theodolite("new", "dh.csv", "r.toml")
    assert code == 2
    assert "Qmin is not below Qmax" in errors
    assert not Path("r.toml").exists()


def test_an_incomplete_table_is_announced(theodolite) -> None:
    Path("dh.csv").write_text("theta_deg,d_mm,a_mm,alpha_deg\n0,100,0,90\n0,0,300,0\n0,0,200,0\n")
    code, out, _ = theodolite("new", "dh.csv", "r.toml")
    assert code == 0
    assert "Not complete: a rotation about y between joints 2 and 3" in out


def test_the_demo_overwrites_nothing(theodolite) -> None:
    Path("calibrated.toml").write_text("mine")
    code, _, errors = theodolite("demo", "--points", 40, "--out", ".")
    assert code == 2
    assert "exists already" in errors
    assert Path("calibrated.toml").read_text() == "mine"


def test_what_json_cannot_say_is_null(theodolite) -> None:
    lines = generated(theodolite, "position")
    Path("nine.csv").write_text("\n".join(lines[:10]))
    _, out, _ = theodolite(
        "identify", "puma560", "nine.csv", "-m", "position", "--no-gains", "--json"
    )
    assert json.loads(out)["parameters"][0]["interval95"] is None


def test_outliers_of_several_files_are_named_with_their_file(theodolite) -> None:
    for name, seed in (("one.csv", 1), ("two.csv", 2)):
        code, _, errors = theodolite(
            "generate", "puma560", "-m", "position", "--points", 30, "--noise-mm", 0.05,
            "--seed", seed, "--out", name,
        )  # fmt: skip
        assert code == 0, errors
    lines = Path("two.csv").read_text().splitlines()
    *cells, z = lines[6].split(",")
    lines[6] = ",".join([*cells, repr(float(z) + 4.0)])
    Path("two.csv").write_text("\n".join(lines) + "\n")
    code, out, _ = theodolite(
        "identify", "puma560", "one.csv", "two.csv", "-m", "position", "--no-gains", "--json",
        "--residuals", "r.csv",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 1
    assert [(outlier["file"], outlier["line"]) for outlier in found["outliers"]] == [("two.csv", 7)]
    assert any(doubt.startswith("Line 7 of two.csv (") for doubt in found["doubts"])
    rows = [line.split(",") for line in Path("r.csv").read_text().splitlines()]
    moved = ["dx_mm", "dy_mm", "dz_mm"]
    assert rows[0] == ["file", "line", "position_mm", *moved, "suspicious"]
    for row in rows[1:]:
        size, *way = map(float, row[2:6])
        assert size == pytest.approx(np.linalg.norm(way), rel=1e-6)
    assert [row[:2] for row in rows if row[-1] == "1"] == [["two.csv", "7"]]


def test_validate_writes_the_error_of_every_target(theodolite, tmp_path) -> None:
    places = {"near": (0.0, 0.0, 0.1), "far": (0.05, 0.0, 0.2)}
    robot = th.robots.puma560().with_targets(th.Target(*place) for place in places.items())
    data = th.simulate(robot, "position", points=6, rng=1, noise=th.Noise(position=1e-4))
    positions = np.array(data.positions)
    positions[2, 1] = np.nan
    data = replace(data, positions=positions)
    robot.save("robot.toml")
    th.write_measurements(data, robot, "data.csv")
    code, _, errors = theodolite(
        "validate", "robot.toml", "data.csv", "-m", "position", "--residuals", "r.csv"
    )
    assert code == 0, errors
    head, *rows = [line.split(",") for line in Path("r.csv").read_text().splitlines()]
    assert head == ["line", "target", "position_mm", "dx_mm", "dy_mm", "dz_mm"]
    assert [row[1] for row in rows] == ["near"] * 6 + ["far"] * 5
    assert [row[0] for row in rows if row[1] == "far"] == ["2", "3", "5", "6", "7"]
    tips = robot.motion(robot.values, data.motors, 0).position
    found = np.array([[float(cell) for cell in row[3:]] for row in rows[:6]])
    np.testing.assert_allclose(found, 1e3 * (positions[:, 0] - tips), atol=1e-6)
    code, _, errors = theodolite(
        "validate", "robot.toml", "data.csv", "-m", "position", "--residuals", "r.csv"
    )
    assert code == 2
    assert "exists already" in errors


def test_an_outlier_does_not_make_the_nominal_robot_accurate(theodolite) -> None:
    """One row off by 50 mm: the nominal robot's own errors drown in it, which proves nothing."""
    code, _, errors = theodolite(
        "generate", "puma560", "-m", "position", "--points", 60, "--error-mm", 0.5,
        "--error-mrad", 1, "--noise-mm", 0.05, "--out", "clean.csv",
    )  # fmt: skip
    assert code == 0, errors
    lines = Path("clean.csv").read_text().splitlines()
    names = lines[0].split(",")
    cells = lines[20].split(",")
    cells[names.index("x_mm")] = str(float(cells[names.index("x_mm")]) + 50.0)
    lines[20] = ",".join(cells)
    Path("off.csv").write_text("\n".join(lines) + "\n")
    code, out, errors = theodolite("identify", "puma560", "off.csv", "-m", "position", "--json")
    found = json.loads(out)
    assert code == 1
    assert not any("show no error of the nominal robot" in note for note in found["notes"])


def test_markup_in_a_name_is_a_name(theodolite) -> None:
    theodolite("new", "puma560", "mine.toml")
    text = Path("mine.toml").read_text().replace("puma560", "[bold]x[/bold] [/x]", 1)
    Path("mine.toml").write_text(text)
    code, _, errors = theodolite(
        "generate", "mine.toml", "-m", "position", "--points", 40, "--out", "d.csv"
    )
    assert code == 0, errors
    code, _, errors = theodolite("identify", "mine.toml", "d.csv", "-m", "position")
    assert code in (0, 1), errors
    assert "bug" not in errors


def test_noise_beyond_all_sensors_and_names_of_other_formats_are_refused(theodolite) -> None:
    for option in ("--noise-mm", "--error-mm", "--noise-joint-deg", "--noise-px"):
        code, _, errors = theodolite(
            "generate", "puma560", "-m", "position", option, "1e308", "--out", "d.csv"
        )
        assert code == 2, errors
        assert not Path("d.csv").exists()
    code, _, errors = theodolite("plan", "puma560", "-m", "position", "--noise-mm", "1e-160")
    assert code == 2 and "would give infinite weights" in errors
    for name in ("d.xlsx", "d.npz", "d.toml"):
        code, _, errors = theodolite("generate", "puma560", "-m", "position", "--out", name)
        assert code == 2 and "measurements are written as text" in errors
        assert not Path(name).exists()
