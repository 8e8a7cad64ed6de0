"""A camera on the hand of a robot, through the command line: pictures as people have them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

import theodolite as th
from tests.vision.rendering import Renderer
from tests.vision.scenes import looking, tip_error
from theodolite.io.camera_file import read_camera
from theodolite.model.poses import Poses
from theodolite.vision.board import Board

BOARD = "charuco:7x5:40:30"
LENS = th.Lens(900.0, 902.0, 402.0, 298.0, -0.1, 0.05, 1e-3, -5e-4, 0.0)
SIZE = (800, 600)
COUNT = 40


class Shots:
    """A folder with pictures, the joints, and the robot that was seen."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(3)
        self.board = Board.parse(BOARD)
        self.folder, self.pictures = folder, folder / "pictures"
        arm = th.perturb(th.robots.load("puma560"), th.ParameterErrors(1e-3, 2e-3), rng)
        camera = th.Camera(LENS, mount="hand", size=SIZE, target=self.board.points)
        while True:
            self.true = looking(arm, "hand", rng)
            try:
                data = camera.observe(self.true, COUNT, rng)
                break
            except th.TheodoliteError:
                continue
        first = np.unique(data.sets, return_index=True)[1]
        self.joints = th.Dataset(data.motors[first])
        renderer = Renderer(self.board, LENS, SIZE)
        motion = self.true.motion(self.true.values, self.joints.motors)
        seen = Poses(motion.rotation, motion.position).inverse
        self.pictures.mkdir()
        for number, (turn, shift) in enumerate(zip(seen.rotation, seen.position, strict=True)):
            # Natural order: img_2 before img_10. Light falls from one side, and some are soft.
            picture = renderer.picture(
                turn, shift, rng, blur=0.5 * (number % 2), uneven=0.4 * (number % 3 == 0)
            )
            cv2.imwrite(str(self.pictures / f"img_{number + 1}.png"), picture)
        th.write_measurements(self.joints, self.true, folder / "joints.csv")


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Shots:
    return Shots(tmp_path_factory.mktemp("shots"))


def copied(shots: Shots, tmp_path: Path) -> Path:
    target = tmp_path / "pictures"
    shutil.copytree(shots.pictures, target)
    return target


def identified(theodolite, shots: Shots, pictures: Path, *options: object):
    code, out, errors = theodolite(
        "identify", "puma560", shots.folder / "joints.csv", "-m", "camera", "--mount", "hand",
        "--images", pictures, "--board", BOARD, "--no-gains", "--terms", "none", "--json", *options,
    )  # fmt: skip
    return code, json.loads(out) if out else {}, errors


def test_from_pictures_to_a_robot_and_back(theodolite, shots: Shots) -> None:
    """Nobody says where camera and board are, nor what the lens is."""
    code, result, errors = identified(
        theodolite, shots, shots.pictures, "--out", "cal.toml", "--draw", "drawn"
    )
    assert code == 0, (errors, result["doubts"])
    assert result["located"]
    robot = th.read_robot("cal.toml")
    assert tip_error(robot, shots.true) < 1.5e-3
    assert len(result["pictures"]) == COUNT
    assert result["pictures"][0]["name"] == "img_1.png"
    assert result["pictures"][1]["name"] == "img_2.png"
    camera = read_camera("cal.camera.toml")
    assert abs(camera.lenses[0].lens.fx - LENS.fx) < 2.0
    assert camera.lenses[0].covariance is not None
    assert camera.found["mount"] == "hand"
    page = Path("drawn/index.html").read_text()
    assert page.count("<figure") == COUNT
    assert len(list(Path("drawn").glob("*.jpg"))) == 2 * COUNT
    code, out, errors = theodolite(
        "validate", "cal.toml", shots.folder / "joints.csv", "--images", shots.pictures, "--board",
        BOARD, "--lens", "cal.camera.toml", "--nominal", "puma560", "--json",
    )  # fmt: skip
    assert code == 0, errors
    judged = json.loads(out)
    assert judged["better"]
    assert judged["pixel"]["rms_px"] == pytest.approx(result["after"]["pixel"]["rms_px"], rel=1e-6)


def test_pictures_as_people_have_them(theodolite, shots: Shots, tmp_path: Path) -> None:
    """Hidden files, cut ones, other depths and turned ones; each is used or named."""
    pictures = copied(shots, tmp_path)
    (pictures / "._img_1.png").write_bytes(b"not a picture")
    (pictures / "img_4.png").write_bytes((pictures / "img_4.png").read_bytes()[:3000])
    grey = cv2.imread(str(pictures / "img_5.png"), cv2.IMREAD_GRAYSCALE)
    # 12 bits in 16.
    cv2.imwrite(str(pictures / "img_5.png"), grey.astype(np.uint16) << 4)
    turned = cv2.imread(str(pictures / "img_6.png"), cv2.IMREAD_GRAYSCALE)
    (pictures / "img_6.png").unlink()
    (pictures / "img_6.jpg").write_bytes(_with_orientation(turned))
    cv2.imwrite(str(pictures / "img_7.png"), np.full_like(grey, 90))
    code, result, errors = identified(theodolite, shots, pictures)
    assert code == 0, (errors, result["doubts"])
    assert "img_4.png is left out: the file is cut short or damaged" in errors
    assert "img_7.png is left out: too blurred or dark" in errors
    named = {one["name"]: one for one in result["pictures"]}
    assert len(named) == COUNT - 2
    assert named["img_5.png"]["rms_px"] < 0.3
    assert named["img_6.jpg"]["rms_px"] < 0.5


def _with_orientation(picture: np.ndarray) -> bytes:
    """A JPEG whose header says that the camera was held upright."""
    content = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 98])[1].tobytes()
    tags = b"II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"
    body = b"Exif\x00\x00" + tags + b"\x00\x00\x00\x00"
    head = b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    return content[:2] + head + content[2:]


def test_a_column_names_the_pictures(theodolite, shots: Shots, tmp_path: Path) -> None:
    """In another order than their names, and one of them missing."""
    pictures = copied(shots, tmp_path)
    header, *rows = (shots.folder / "joints.csv").read_text().splitlines()
    named = [f"{row},img_{number}.png" for number, row in enumerate(rows, 1)]
    lines = [f"{header},picture", *reversed(named)]
    (tmp_path / "named.csv").write_text("\n".join(lines) + "\n")
    (pictures / "img_9.png").unlink()
    code, out, errors = theodolite(
        "identify", "puma560", tmp_path / "named.csv", "-m", "camera", "--mount", "hand",
        "--images", pictures, "--board", BOARD, "--no-gains", "--terms", "none", "--json",
    )  # fmt: skip
    assert code == 0, errors
    assert "img_9.png is left out: there is no such file" in errors
    assert json.loads(out)["after"]["pixel"]["rms_px"] < 0.3


def test_wrong_pictures_are_named(theodolite, shots: Shots, tmp_path: Path) -> None:
    """Two exchanged; the result is as good as without them."""
    pictures = copied(shots, tmp_path)
    (pictures / "img_11.png").rename(pictures / "kept.png")
    (pictures / "img_20.png").rename(pictures / "img_11.png")
    (pictures / "kept.png").rename(pictures / "img_20.png")
    code, result, errors = identified(theodolite, shots, pictures, "--out", "cal.toml")
    assert code == 0, (errors, result["doubts"])
    assert {one["name"] for one in result["pictures"] if one["left_out"]} == {
        "img_11.png",
        "img_20.png",
    }
    assert any("img_11.png" in note and "left out" in note for note in result["notes"])
    assert tip_error(th.read_robot("cal.toml"), shots.true) < 1.5e-3


def test_a_lens_of_its_own(theodolite, shots: Shots) -> None:
    """The pictures of the robot calibrate the lens as well; it is then kept as it is."""
    code, out, errors = theodolite("lens", shots.pictures, "--board", BOARD, "--out", "l.toml",
                                   "--json")  # fmt: skip
    content = json.loads(out)
    assert code == (1 if content["doubts"] else 0), errors
    values = {one["name"]: one for one in content["parameters"]}
    for name in ("fx", "fy", "cx", "cy"):
        # Blur and light shift marks by some hundredths of a pixel.
        off = abs(values[name]["value"] - getattr(LENS, name))
        assert off < 2 * values[name]["interval95"] + 0.5
    code, result, errors = identified(
        theodolite, shots, shots.pictures, "--lens", "l.toml", "--keep-lens"
    )
    assert code == 0, (errors, result["doubts"])
    assert result["found"]["lens"]["fx"] == values["fx"]["value"]
    for name, options in (("ros.yaml", ()), ("cv.yaml", ("--opencv",))):
        code, _, errors = theodolite("lens", shots.pictures, "--board", BOARD, "--out", name,
                                     *options)  # fmt: skip
        assert code in (0, 1), errors
        # OpenCV's threads add up in another order each time.
        right = pytest.approx(values["fx"]["value"], rel=1e-9)
        assert read_camera(name).lenses[0].lens.fx == right
        assert read_camera(name).size == SIZE
    stored = cv2.FileStorage("cv.yaml", cv2.FILE_STORAGE_READ)
    matrix = stored.getNode("camera_matrix").mat()
    assert matrix[0, 0] == pytest.approx(values["fx"]["value"], rel=1e-9)


def test_hand_eye_alone(theodolite, shots: Shots) -> None:
    code, result, errors = identified(theodolite, shots, shots.pictures, "--only", "hand-eye")
    assert code == 0, (errors, result["doubts"])
    assert result["links_fixed"]["whole"] < 0.5 * result["links_fixed"]["alone"]
    assert any("With the links identified as well" in note for note in result["notes"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--lens", "nowhere.toml"), "nowhere.toml"),
        (("--lens", "1,2"), "4 to 9 numbers"),
        (("--keep-lens",), "a lens that is to be kept must be given"),
        (("--lens-model", "wide"), "there is no lens model 'wide'"),
        (("--noise-px", "0"), "noise 0 would give infinite weights"),
        (("--only", "lens"), "has no parameter 'lens'"),
        (("--board", "chessboard:8x6:30"), "looks the same upside down"),
        (("--board", "charuco:7x5:40:30:first=90"), "the board needs 107"),
    ],
)
def test_wrong_options_are_refused(theodolite, shots: Shots, options, message: str) -> None:
    code, _, errors = identified(theodolite, shots, shots.pictures, *options)
    assert code == 2
    assert message in errors


def test_validate_names_wrong_pictures_and_a_camera_that_is_elsewhere(
    theodolite, shots: Shots, tmp_path: Path
) -> None:
    """The camera file beside the robot is found by itself."""
    code, _, errors = identified(theodolite, shots, shots.pictures, "--out", "cal.toml")
    assert code == 0, errors
    arguments = ("validate", "cal.toml", shots.folder / "joints.csv", "--board", BOARD, "--json")
    code, out, _ = theodolite(*arguments, "--images", shots.pictures)
    assert code == 0
    assert json.loads(out)["pixel"]["rms_px"] < 0.3
    pictures = copied(shots, tmp_path)
    (pictures / "img_11.png").rename(pictures / "kept.png")
    (pictures / "img_20.png").rename(pictures / "img_11.png")
    (pictures / "kept.png").rename(pictures / "img_20.png")
    code, out, _ = theodolite(*arguments, "--images", pictures)
    assert code == 1
    (doubt,) = json.loads(out)["doubts"]
    assert "img_11.png" in doubt and "img_20.png" in doubt
    Path("cal.camera.toml").unlink()
    code, out, _ = theodolite(*arguments, "--images", shots.pictures, "--mount", "ground")
    assert code == 1
    assert "mounted the other way" in json.loads(out)["doubts"][0]


def test_outputs_never_replace_what_is_read(theodolite, shots: Shots) -> None:
    theodolite("lens", shots.pictures, "--board", BOARD, "--out", "l.toml")
    before = Path("l.toml").read_text()
    code, _, errors = identified(
        theodolite, shots, shots.pictures, "--lens", "l.toml", "--out", "l.toml", "--force"
    )
    assert code == 2
    assert "already an input" in errors
    assert Path("l.toml").read_text() == before
    code, _, errors = identified(
        theodolite, shots, shots.pictures, "--draw", shots.pictures, "--force"
    )
    assert code == 2
    assert "is a folder to read from" in errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--draw", "/proc/nowhere"), "is not a folder that can be written to"),
        (("--noise-px", "1e-300"), "1e-06 px or more"),
        (("--lens", "9e8,9e8,0,0"), "lens parameters are out of range"),
        (("--board", BOARD), "share markers"),
        (("--lens", "900,900,400,300", "--lens-images", "nowhere"), "one of them"),
        (("--only", "hand-eye", "--gains"), "identifies no gains"),
    ],
)
def test_what_reviews_broke_is_refused(theodolite, shots: Shots, options, message: str) -> None:
    code, _, errors = identified(theodolite, shots, shots.pictures, *options)
    assert code == 2
    assert message in errors
