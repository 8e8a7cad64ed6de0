"""The verbs as a user meets them: exit codes, one JSON object, nothing half-written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import theodolite as th
from theodolite.reproduce.gecaro import EXPECTED


def simulated(theodolite, name: str = "data.csv", *options: object) -> None:
    code, _, errors = theodolite(
        "generate", "puma560", "--method", "position", "--points", 60, "--error-mm", 3,
        "--error-mrad", 6, "--noise-mm", 0.05, "--save-true", f"{name}.toml", "--out", name,
        *options,
    )  # fmt: skip
    assert code == 0, errors


def test_a_whole_calibration(theodolite, tmp_path: Path) -> None:
    assert theodolite("new", "puma560", "mine.toml")[0] == 0
    assert (tmp_path / "mine.toml").read_text() == th.robots.text("puma560")
    simulated(theodolite)
    code, out, _ = theodolite("check", "mine.toml", "data.csv", "--json")
    assert code == 0
    assert json.loads(out)["files"][1]["method"] == "position"
    code, out, _ = theodolite(
        "identify", "mine.toml", "data.csv", "--method", "position", "--out", "c.toml", "--json"
    )
    assert code == 0
    result = json.loads(out)
    assert result["status"] == "converged"
    assert result["rank"] == 27
    assert set(result["rms"]) == {"mm"}
    assert result["held_out"]["better"]
    assert {"name", "nominal", "identified", "stderr", "unit"} <= set(result["parameters"][0])
    assert set(result["provenance"]["files"]) == {"mine.toml", "data.csv"}
    code, out, _ = theodolite("generate", "mine.toml", "-m", "position", "--true", "data.csv.toml",
                              "--out", "fresh.csv", "--seed", 9)  # fmt: skip
    assert code == 0
    code, out, _ = theodolite("validate", "c.toml", "fresh.csv", "--nominal", "mine.toml", "--json")
    assert code == 0
    verdict = json.loads(out)
    assert verdict["better"]
    assert verdict["position"]["mean_mm"] < 0.1 < verdict["nominal"]["position"]["mean_mm"]


def test_the_same_seed_gives_the_same_file(theodolite, tmp_path: Path) -> None:
    simulated(theodolite, "one.csv")
    simulated(theodolite, "two.csv")
    simulated(theodolite, "three.csv", "--seed", 5)
    one, two, three = ((tmp_path / f"{n}.csv").read_text() for n in ("one", "two", "three"))
    assert one == two != three


@pytest.mark.parametrize("robot", EXPECTED)
@pytest.mark.parametrize("method", ["frame", "position-link", "plane"])
def test_identifiable_prints_the_published_counts(theodolite, robot: str, method: str) -> None:
    for option, expected in zip(([], ["--gains"]), EXPECTED[robot][method], strict=True):
        code, out, _ = theodolite("identifiable", robot, "--method", method, "--json", *option)
        assert code == 0
        found = json.loads(out)
        assert found["rank"] == expected == len(found["identifiable"])
        keys = "rank identifiable regrouped no_effect fixed condition_number gap priorities"
        assert set(keys.split()) <= set(found)


def test_priorities_go_in_and_come_out(theodolite, tmp_path: Path) -> None:
    code, _, _ = theodolite("identifiable", "puma560", "-m", "frame", "--out", "new.txt")
    assert code == 0
    code, out, _ = theodolite(
        "identifiable", "puma560", "-m", "frame", "--priorities", "new.txt", "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert found["rank"] == 30
    assert found["regrouped"] == {}
    assert "r2" in found["fixed"]
    (tmp_path / "short.txt").write_text("1 1 1 1 1 1\n")
    code, _, errors = theodolite(
        "identifiable", "puma560", "-m", "frame", "--priorities", "short.txt"
    )
    assert code == 2
    assert "short.txt: the priority matrix has 1 rows; allowed: 8 rows of 6" in errors


def test_a_recording_is_judged(theodolite) -> None:
    simulated(theodolite)
    code, out, _ = theodolite(
        "identifiable", "puma560", "-m", "position", "--data", "data.csv", "--json"
    )
    assert code == 0
    assert json.loads(out)["excitation"]["sufficient"]


@pytest.mark.parametrize("method", ["position-link", "frame-link", "plane-known", "plane", "frame"])
def test_every_method_runs_from_the_command_line(theodolite, method: str) -> None:
    points = 150 if method.startswith("plane") else 40
    assert theodolite(
        "generate", "puma560", "-m", method, "--points", points, "--per-set", 2, "--error-mm", 1,
        "--error-mrad", 2, "--out", "d.csv",
    )[0] == 0  # fmt: skip
    code, out, errors = theodolite(
        "identify", "puma560", "d.csv", "-m", method, "--no-gains", "--out", "c.toml", "--json"
    )
    assert code == 0, errors
    assert json.loads(out)["rms"]["mm"] < 1e-9


def test_all_verbs_print_for_people_too(theodolite) -> None:
    simulated(theodolite)
    for arguments, words in (
        (["robots"], "everett7"),
        (["check", "puma560", "data.csv"], "60 configurations of puma560"),
        (["identifiable", "puma560", "-m", "position"], "27 of 31 parameters"),
        (
            ["identifiable", "puma560", "-m", "position", "--data", "data.csv"],
            "The recording excites the parameters sufficiently.",
        ),
        (["identify", "puma560", "data.csv", "-m", "position"], "The identification converged."),
        (["validate", "data.csv.toml", "data.csv"], "position rms (mm)"),
        (["reproduce", "gecaro"], "24 of 24 agree"),
        (["demo", "--points", "40"], "times as accurate"),
    ):
        code, out, errors = theodolite(*arguments)
        assert code == 0, errors
        assert words in out


def test_an_unexciting_recording_exits_with_one(theodolite, tmp_path: Path) -> None:
    simulated(theodolite)
    lines = (tmp_path / "data.csv").read_text().splitlines()
    frozen = [lines[0], *(line.replace(line.split(",")[4], "5.0", 1) for line in lines[1:])]
    (tmp_path / "still.csv").write_text("\n".join(frozen))
    code, out, _ = theodolite(
        "identifiable", "puma560", "-m", "position", "--data", "still.csv", "--json"
    )
    assert code == 1
    assert json.loads(out)["excitation"]["hardly_moved"] == {"q5": 0.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["identify", "puma561", "data.csv", "-m", "position"], "neither a file nor a built-in"),
        (["identify", "absent.toml", "data.csv", "-m", "position"], "no such file"),
        (["identify", "puma560", "absent.csv", "-m", "position"], "absent.csv: there is no such"),
        (["identify", "puma560", "data.csv", "-m", "telepathy"], "no method 'telepathy'; allowed"),
        (["identify", "puma560", "data.csv", "-m", "frame"], "data.csv: has no rotations"),
        (["identify", "puma560", "data.csv", "-m", "position-link"], "data.csv: has no sets"),
        (["identify", "puma560", "data.csv", "-m", "plane-known"], "data.csv: has no planes"),
        (["identify", "panda", "data.csv", "-m", "position"], "column q7_deg is missing"),
        (["identify", "scara", "data.csv", "-m", "position"], "robot 'scara' has 4 joints"),
        (["identify", "rx90", "data.csv", "-m", "position"], "outside its limits"),
        (["identify", "ur10e", "data.csv", "-m", "position"], "may be from another robot"),
        (["identify", "puma560", "few.csv", "-m", "position"], "too few rows: 4 give 12 equations"),
        (["identify", "puma560", "data.csv", "-m", "position", "--out", "data.csv"], "exists"),
        (["identify", "puma560", "data.csv", "-m", "position", "--loss", "lazy"], "--loss lazy"),
        (["identify", "puma560", "data.csv", "-m", "position", "--start", "now"], "--start now"),
        (["identify", "puma560", "data.csv", "-m", "position", "--noise-mm", "0"], "noise 0"),
        (["identify", "puma560", "data.csv", "-m", "plane", "--plane", "1,2"], "not a plane"),
        (["generate", "puma560", "-m", "position", "--out", "data.csv"], "exists already"),
        (["generate", "puma560", "-m", "position", "--out", "no/where.csv"], "does not exist"),
        (["new", "hal9000", "x.toml"], "neither a built-in robot nor"),
        (["new", "puma560", "data.csv"], "exists already"),
        (["check", "data.csv"], "Name the robot first"),
        (["reproduce", "orwell"], "no reproduction of 'orwell'"),
        (["identify", "puma560"], "Missing"),
        (["identify", "puma560", "data.csv", "-m", "position", "--nosuch"], "No such option"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message_and_exit_code_two(
    theodolite, tmp_path: Path, arguments: list[str], message: str
) -> None:
    simulated(theodolite)
    lines = (tmp_path / "data.csv").read_text().splitlines()
    (tmp_path / "few.csv").write_text("\n".join(lines[:5]))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, errors = theodolite(*arguments)
    assert code == 2
    assert message in errors
    assert out == ""
    assert "Traceback" not in errors
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_force_overwrites(theodolite) -> None:
    simulated(theodolite)
    assert theodolite("new", "scara", "data.csv.toml", "--force")[0] == 0


def test_help_and_version(theodolite) -> None:
    code, out, _ = theodolite("--version")
    assert (code, out.strip()) == (0, f"theodolite {th.__version__}")
    code, out, _ = theodolite("identify", "--help")
    assert code == 0
    assert "--method" in out


def test_importing_is_light() -> None:
    """`import theodolite` brings in nothing that NumPy does not."""
    code = "import sys, theodolite; print(*{m.split('.')[0] for m in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"scipy", "typer", "rich", "lxml"} & set(loaded)


def test_a_known_base_is_no_unknown(theodolite) -> None:
    """4R + 2P + 6 less the four errors before the first joint of an arm whose base is known."""
    for model in (["--model", "pose"], []):
        code, out, _ = theodolite(
            "identifiable", "puma560", "-m", "frame", "--no-base", *model, "--json"
        )
        found = json.loads(out)
        assert (code, found["rank"]) == (0, 4 * 6 + 6 - 4)
    code, out, _ = theodolite("identifiable", "puma560", "-m", "frame", "--no-base", *model)
    assert not any(name in out.split("regrouped")[0] for name in ("theta0", "r0 ", "alpha1 "))
    _, out, _ = theodolite("identifiable", "puma560", "-m", "frame", "--no-base", "--model", "pose")
    assert "= 30 of which poses determine 26 where the base is known" in " ".join(out.split())
    code, _, errors = theodolite("identifiable", "fourbar", "-m", "frame", "--no-base")
    assert code == 2 and "mechanism with loops" in errors


def test_terms_have_no_place_in_a_priority_matrix(theodolite) -> None:
    """A robot with many terms in one row has its matrix, and reads it back."""
    terms = [f'{{ row = 2, on = "theta", basis = "sin({k}*q2)" }}' for k in range(1, 9)]
    text = th.robots.text("irb120") + f"terms = [{', '.join(terms)}]\n"
    Path("bent.toml").write_text(text)
    code, out, errors = theodolite(
        "identifiable", "bent.toml", "-m", "frame", "--json", "--out", "matrix.txt"
    )
    assert code == 0, errors
    found = json.loads(out)
    assert set(found["identifiable"]) - {p.name for p in th.robots.irb120().parameters}
    assert all(len(row) == 6 for row in found["priorities"])
    code, out, errors = theodolite(
        "identifiable", "bent.toml", "-m", "frame", "--json", "--priorities", "matrix.txt"
    )
    assert code == 0, errors
    assert json.loads(out)["priorities"] == found["priorities"]
