"""Pictures through the command line: 80 rendered ones of the H4, bad ones among them."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

import theodolite as th
from tests.vision.rendering import Renderer
from tests.vision.test_vision import LENS, SIZE, fresh_error, some_pose
from theodolite.io.tables import write_measurements
from theodolite.reproduce import renaud
from theodolite.vision.board import Board

BOARD = "charuco:8x6:30:22"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 pictures of the H4's target, 8 for the lens, and the joints."""
    return rendered(tmp_path_factory.mktemp("pictures"), renaud.grid()[:80:2])


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve of them."""
    return rendered(tmp_path_factory.mktemp("few"), renaud.grid()[20:68:4])


def rendered(folder: Path, coordinates: np.ndarray) -> Path:
    board = Board.parse(BOARD)
    renderer = Renderer(board, LENS, SIZE)
    rng = np.random.default_rng(0)
    true = renaud.truth()
    motors = np.column_stack([renaud.joints_at(true, coordinates), coordinates])
    (folder / "robot").mkdir()
    for number, (turn, shift) in enumerate(zip(*true.poses(motors), strict=True)):
        cv2.imwrite(str(folder / "robot" / f"{number:03}.png"), renderer.picture(turn, shift, rng))
    (folder / "lens").mkdir()
    for number in range(8):
        picture = renderer.picture(*some_pose(board, rng), rng)
        cv2.imwrite(str(folder / "lens" / f"{number:03}.png"), picture)
    write_measurements(th.Dataset(motors), true, folder / "joints.csv")
    return folder


def identified(theodolite, pictures: Path, method: str, *options: object) -> tuple[int, dict, str]:
    code, out, errors = theodolite(
        "identify", "h4", pictures / "joints.csv", "-m", method, "--images", pictures / "robot",
        "--lens-images", pictures / "lens", "--board", BOARD, "--out", f"{method}.toml", "--json",
        *options,
    )  # fmt: skip
    return code, json.loads(out) if out else {}, errors


@pytest.mark.study
def test_the_h4_is_identified_from_pictures(theodolite, pictures: Path) -> None:
    """0.3 mm rms on fresh poses, by bundle adjustment and by poses first."""
    true = renaud.truth()
    coordinates = renaud.grid(0.09, -0.44, 0.04)
    fresh = np.column_stack([renaud.joints_at(true, coordinates), coordinates])
    # Choosing gains by cross-validation takes ten more fits of all pixels.
    for method, options in (("camera", ["--no-gains"]), ("implicit", [])):
        code, result, errors = identified(theodolite, pictures, method, *options)
        assert code == 0, (errors, result.get("doubts"))
        assert result["status"] == "converged"
        robot = th.read_robot(f"{method}.toml")
        assert fresh_error(robot, true, fresh) < 0.3
        # A few pictures show only a corner of the board.
        assert errors.count("is left out") <= 6


def test_bad_pictures_are_named_and_left_out(theodolite, few: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    rows = (few / "joints.csv").read_text().splitlines()
    for number in range(12):
        source = few / "robot" / f"{number:03}.png"
        picture = cv2.imread(str(source), cv2.IMREAD_GRAYSCALE)
        if number == 3:
            picture = cv2.GaussianBlur(picture, (0, 0), 7.0)
        if number == 5:
            picture = np.full_like(picture, 200)
        if number == 7:
            picture = cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE)
        cv2.imwrite(str(bad / f"{number:03}.png"), picture)
    (tmp_path / "few.csv").write_text("\n".join(rows) + "\n")
    arguments = ("identify", "h4", tmp_path / "few.csv", "-m", "camera", "--images", bad)
    arguments = (*arguments, "--no-gains", "--terms", "none", "--hold-out", 0)
    _, out, errors = theodolite(*arguments, "--board", BOARD, "--json")
    assert "003.png is left out: " in errors
    assert "005.png is left out: " in errors
    assert "007.png is left out: it has " in errors
    assert 225 < json.loads(out)["rows"] <= 9 * 35
    code, _, errors = theodolite(*arguments, "--board", "charuco:8x6:30:22:DICT_4X4_50")
    assert code == 2
    assert "12 of 12 pictures cannot be used" in errors
    code, _, errors = theodolite(*arguments)
    assert code == 2
    assert "--images needs --board" in errors
    (bad / "000.png").unlink()
    code, _, errors = theodolite(*arguments, "--board", BOARD)
    assert code == 2
    assert "11 pictures for 12 rows of joints" in errors
    (bad / "000.png").write_text("not a picture")
    _, _, errors = theodolite(*arguments, "--board", BOARD)
    assert "000.png is left out: not a picture that can be read" in errors


def test_corners_as_a_table(theodolite) -> None:
    code, _, errors = theodolite(
        "generate", "ur10e", "-m", "camera", "--mount", "hand", "--points", 40, "--noise-px", 0.1,
        "--error-mm", 1, "--error-mrad", 2, "--out", "d.csv",
    )  # fmt: skip
    assert code == 0, errors
    code, out, _ = theodolite(
        "identify", "ur10e", "d.csv", "-m", "camera", "--mount", "hand", "--json"
    )
    assert code == 0
    assert json.loads(out)["held_out"]["calibrated"]["pixel"]["rms_px"] < 0.2
    code, out, _ = theodolite("identifiable", "ur10e", "-m", "camera", "--mount", "hand", "--json")
    assert code == 0
    code, _, errors = theodolite("identify", "ur10e", "d.csv", "-m", "camera", "--mount", "roof")
    assert code == 2
    assert "cannot be mounted on 'roof'" in errors
