"""Parallel robots through the command line, with rows that do not belong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import theodolite as th
from tests.quick import some_of

NOISE = ("--noise-mm", 0.1, "--noise-mrad", 0.2)


def generated(theodolite, robot: str) -> list[list[str]]:
    code, _, errors = theodolite(
        "generate", robot, "-m", "inverse", "--points", 40, *NOISE, "--error-mm", 1,
        "--error-mrad", 2, "--out", "d.csv", "--force",
    )  # fmt: skip
    assert code == 0, errors
    return [line.split(",") for line in Path("d.csv").read_text().splitlines()]


PARALLEL = ("h4", "delta", "gough", "rrr3")


def written(rows: list[list[str]]) -> None:
    Path("d.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")


@pytest.mark.parametrize(
    ("method", "robot"),
    some_of(
        [
            (m, r)
            for m in ("implicit", "inverse", "frame")
            for r in ("h4", "delta", "gough", "rrr3")
        ],
        [("implicit", "gough"), ("inverse", "delta"), ("frame", "h4"), ("implicit", "rrr3")],
    ),
)
def test_a_parallel_robot_is_calibrated(theodolite, robot: str, method: str) -> None:
    generated(theodolite, robot)
    code, out, errors = theodolite(
        "identify", robot, "d.csv", "-m", method, *NOISE, "--no-gains", "--out", "c.toml", "--json"
    )
    assert code == 0, errors + str(json.loads(out)["doubts"])
    result = json.loads(out)
    assert result["status"] == "converged"
    assert result["held_out"]["better"]
    assert 0.8 < result["sigma"] < 1.2
    code, _, _ = theodolite("validate", "c.toml", "d.csv", "-m", method, "--json")
    assert code == 0


@pytest.mark.parametrize("robot", ["h4", "gough", "rrr3"])
@pytest.mark.parametrize("method", ["implicit", "inverse", "frame"])
def test_rows_that_do_not_belong_are_named(theodolite, robot: str, method: str) -> None:
    rows = generated(theodolite, robot)
    # Two rows exchange their poses.
    first = rows[0].index("x_mm")
    rows[3][first:], rows[6][first:] = rows[6][first:], rows[3][first:]
    written(rows)
    code, _, errors = theodolite("identify", robot, "d.csv", "-m", method, *NOISE)
    assert code == 2
    message = " ".join(errors.split())
    assert "lines 4, 7: joints and pose do not belong together" in message
    # One pose is out of reach.
    rows = generated(theodolite, robot)
    rows[4][first] = repr(float(rows[4][first]) + 900.0)
    written(rows)
    code, _, errors = theodolite("identify", robot, "d.csv", "-m", method, *NOISE)
    assert code == 2
    assert "line 5: joints and pose do not belong together" in " ".join(errors.split())


def test_swapped_legs_are_refused(theodolite) -> None:
    rows = generated(theodolite, "gough")
    rows[0][0], rows[0][1] = rows[0][1], rows[0][0]
    written(rows)
    code, _, errors = theodolite("identify", "gough", "d.csv", "-m", "implicit", *NOISE)
    assert code == 2
    assert "the order of the joints" in " ".join(errors.split())


def test_the_losses_of_rank_are_printed(theodolite) -> None:
    code, out, _ = theodolite("identifiable", "h4_31", "-m", "implicit")
    assert code == 0
    assert "non-identifiable external: tTe_z tTe_rx tTe_ry" in out
    assert "d has the same effect as the external bTc_y" in out
    _, out, _ = theodolite("identifiable", "h4_31", "-m", "implicit", "--json")
    assert set(json.loads(out)["lost"]["coupled"]) == {"psi4", "d"}


@pytest.mark.parametrize(("name", "method"), [("press", "frame"), ("linear-delta", "implicit")])
def test_the_files_in_the_documentation_work(theodolite, name: str, method: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "mechanism-file.md"
    found = re.search(rf"```toml {name}\.toml\n(.*?)```", page.read_text(), re.S)
    assert found
    Path("own.toml").write_text(found.group(1))
    code, _, errors = theodolite(
        "generate", "own.toml", "-m", "frame", "--points", 40, "--error-mm", 0.5, "--out", "d.csv"
    )
    assert code == 0, errors
    code, out, _ = theodolite("identify", "own.toml", "d.csv", "-m", method, "--json")
    assert json.loads(out)["status"] == "converged"
    robot = th.read_robot("own.toml")
    assert np.isfinite(robot.poses(robot.random_motors(3, np.random.default_rng(0)))[1]).all()
