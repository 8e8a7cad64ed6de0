"""Boards: what is printed is what is found; lenses of every model; what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np
import pytest

import theodolite as th
from tests.random_robots import central_differences
from tests.vision.rendering import Renderer
from theodolite.calibration.lens import MODELS, Lens, projected
from theodolite.errors import InputError
from theodolite.io.camera_file import CameraFile, opencv_yaml, read_camera, ros_yaml, write_camera
from theodolite.model.rotations import exp
from theodolite.vision.board import Board
from theodolite.vision.detection import Detection, Rejected, detect, detect_all
from theodolite.vision.pictures import pictures_in
from theodolite.vision.poses import calibrate_lens, check_determined, seen_pose
from theodolite.vision.printing import POINT, board_pdf, board_shapes, board_svg

BOARDS = (
    "charuco:8x6:30:22",
    "charuco:8x6:30:22:legacy",
    "charuco:5x7:30:22:DICT_6X6_250:first=40",
    "chessboard:9x6:22",
    "circles:4x11:40",
    "circles-grid:7x5:30",
    "tags:4x3:40:12",
    "tags:1x1:80:10:first=7",
)


def rasterised(pdf: bytes, dots_per_mm: float) -> np.ndarray:
    """The page of a PDF as pixels: filled rectangles and circles of four curves, nothing else."""
    text = pdf.decode("latin-1")
    width, height = map(float, re.search(r"MediaBox \[0 0 (\S+) (\S+)\]", text).groups())
    scale = dots_per_mm / POINT
    picture = np.full((round(height * scale), round(width * scale)), 255, dtype=np.uint8)

    def pixels(x: float, y: float) -> tuple[int, int]:
        return round(x * scale), round((height - y) * scale)

    stream = text[text.index("stream\n") + 7 : text.index("endstream")]
    for line in stream.splitlines():
        *numbers, operator = line.split(" ")
        if line.endswith(" re f"):
            x, y, w, h = map(float, line.split()[:4])
            (left, bottom), (right, top) = pixels(x, y), pixels(x + w, y + h)
            picture[top:bottom, left:right] = 0
        elif operator == "m":
            start = np.array(list(map(float, numbers)))
            ends = [start]
        elif operator == "c":
            ends.append(np.array(list(map(float, numbers[4:]))))
        elif line == "f":
            centre = np.mean(ends[1:], axis=0)
            radius = np.linalg.norm(start - centre)
            cv2.circle(picture, pixels(*centre), round(radius * scale), 0, -1)
    return picture


@pytest.mark.parametrize("text", BOARDS)
def test_what_is_printed_is_found_where_it_should_be(text: str) -> None:
    """The PDF as a scanner would see it: marks at true distances, in their order."""
    board = Board.parse(text)
    assert str(board) == text
    dots = 8.0
    found = detect(rasterised(board_pdf(board), dots), board, "page")
    assert isinstance(found, Detection), found
    assert len(found.ids) == len(board.points)
    order = np.argsort(found.ids)
    places = found.pixels[order] / dots
    wanted = 1e3 * board.points[:, :2]
    if board.ambiguous and places[0].sum() > places[-1].sum():
        places = places[::-1]
    apart = places - wanted
    # The same marks, shifted to where the board is on its page.
    np.testing.assert_allclose(apart - apart.mean(axis=0), 0.0, atol=0.12)


def test_the_ruler_is_as_long_as_it_says() -> None:
    board = Board.parse("charuco:8x6:30:22")
    pdf = board_pdf(board).decode("latin-1")
    length = float(re.search(r"this ruler is (\d+) mm", pdf)[1])
    lines = [list(map(float, line.split()[:4])) for line in pdf.splitlines() if " re f" in line]
    longest = max(width for _, _, width, height in lines if height < 1.0)
    assert longest / 72 * 25.4 == pytest.approx(length, abs=1e-3)
    svg = board_svg(board)
    assert f"{length:.0f} mm" in svg
    assert svg.count("<rect") == len(board_shapes(board).rectangles) + 2 + int(length / 10) + 1


def test_boards_that_do_not_fit_their_page_are_refused() -> None:
    with pytest.raises(InputError, match="a page larger than a4"):
        board_pdf(Board.parse("charuco:12x9:40:30"), "a4")
    with pytest.raises(InputError, match="no page 'a9'"):
        board_pdf(Board.parse("charuco:12x9:40:30"), "a9")


@pytest.mark.parametrize(
    "text", ["tags:4x3:40:12", "circles-grid:7x5:30", "charuco:8x6:30:22:legacy"]
)
def test_boards_of_further_kinds_are_found_in_pictures(text: str) -> None:
    board = Board.parse(text)
    lens = th.Lens(1100.0, 1105.0, 515.0, 380.0, -0.12, 0.06, 1e-3, -8e-4, 0.01)
    renderer = Renderer(board, lens, (1024, 768))
    rng = np.random.default_rng(2)
    for _ in range(3):
        turn = exp(rng.uniform([-0.4, -0.4, -0.2], [0.4, 0.4, 0.2])[None])[0]
        shift = np.array([0.0, 0.0, 0.55]) - turn @ board.points.mean(axis=0)
        picture = renderer.picture(turn, shift, rng, blur=0.6, uneven=0.3)
        found = detect(picture, board, "x")
        assert isinstance(found, Detection), found
        there = lens.project(board.points[found.ids] @ turn.T + shift)
        if board.ambiguous and np.abs(found.pixels - there).max() > 50:
            there = there[::-1]
        # Circles and tags are a little off; OpenCV says so too.
        assert np.sqrt(np.mean((found.pixels - there) ** 2)) < 0.4


def test_a_board_that_is_hidden_in_part_is_used_for_what_is_seen() -> None:
    board = Board.parse("charuco:8x6:30:22")
    lens = th.Lens(1100.0, 1105.0, 515.0, 380.0)
    turn, shift = np.eye(3), np.array([-0.12, -0.09, 0.45])
    whole, part = (
        detect(Renderer(board, lens, (1024, 768)).picture(turn, shift, hidden=hidden), board, "x")
        for hidden in (0.0, 0.5)
    )
    assert len(whole.ids) == 35
    assert 8 <= len(part.ids) < 35
    pose = seen_pose(*part.marks(board), lens)
    assert np.linalg.norm(pose.position - shift) < 5e-4


def lens_marks(lens: Lens, count: int = 25, noise: float = 0.05, wide: float = 0.18):
    """Pictures of a board all over the field."""
    rng = np.random.default_rng(1)
    board = Board.parse("charuco:12x9:20:15")
    marks = []
    for _ in range(count):
        turn = exp(rng.uniform(-0.5, 0.5, (1, 3)))[0]
        centre = rng.uniform([-wide, -0.8 * wide, 0.25], [wide, 0.8 * wide, 0.35])
        points = board.points @ turn.T + centre - turn @ board.points.mean(axis=0)
        pixels = lens.project(points) + noise * rng.standard_normal((len(points), 2))
        marks.append((board.points, pixels))
    return marks


SOME = {
    "brown": (-0.2, 0.08, 1e-3, -8e-4, -0.01),
    "rational": (0.4, -0.1, 1e-3, -8e-4, 0.02, 0.6, 0.05, 0.01),
    "thin-prism": (0.4, -0.1, 1e-3, -8e-4, 0.02, 0.6, 0.05, 0.01, 2e-3, -1e-3, -2e-3, 1e-3),
    "fisheye": (-0.02, 0.01, -0.005, 0.001),
}


@pytest.mark.parametrize("model", MODELS)
def test_projection_is_opencvs_and_its_derivatives_exact(model: str) -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform([-0.6, -0.5, 0.8], [0.6, 0.5, 1.5], (20, 3))
    lens = Lens.of(np.array([1100.0, 1105.0, 515.0, 380.0, *SOME[model]]), model)
    pixels, by_points, by_lens = projected(points, lens.values, model)
    nothing = np.zeros(3)
    if model == "fisheye":
        theirs = cv2.fisheye.projectPoints(
            points[:, None], nothing, nothing, lens.matrix, lens.distortion
        )[0]
    else:
        theirs = cv2.projectPoints(points, nothing, nothing, lens.matrix, lens.distortion)[0]
    np.testing.assert_allclose(pixels, theirs.reshape(-1, 2), atol=1e-9)
    numerical = central_differences(lambda x: projected(points, x, model)[0].ravel(), lens.values)
    np.testing.assert_allclose(by_lens.reshape(len(numerical), -1), numerical, atol=2e-4)
    for row, point in enumerate(points):
        slope = central_differences(lambda x: projected(x[None], lens.values, model)[0][0], point)
        np.testing.assert_allclose(by_points[row], slope, atol=1e-4)


def test_on_its_axis_a_fisheye_is_a_pinhole() -> None:
    values = np.array([500.0, 500.0, 320.0, 240.0, 0.1, 0.1, 0.1, 0.1])
    pixels, by_points, by_lens = projected(np.array([[0.0, 0.0, 2.0]]), values, "fisheye")
    np.testing.assert_allclose(pixels, [[320.0, 240.0]])
    np.testing.assert_allclose(by_points[0], [[250.0, 0, 0], [0, 250.0, 0]])
    assert np.isfinite(by_lens).all()


@pytest.mark.parametrize("model", MODELS)
def test_lenses_of_every_model_are_calibrated(model: str) -> None:
    """The lens is found to what its marks allow: where they are, predicted pixels are right."""
    lens = Lens.of(np.array([700.0, 702.0, 515.0, 380.0, *SOME[model]]), model)
    found = calibrate_lens(lens_marks(lens), size=(1030, 760), model=model)
    assert 0.045 < found.rms < 0.055
    rng = np.random.default_rng(5)
    points = rng.uniform([-0.25, -0.2, 0.35], [0.25, 0.2, 0.45], (200, 3))
    inside = found.lens.covers(points)
    assert inside.mean() > 0.5
    # A turned camera with another centre sees the same: what is left of that is fitted away.
    apart = found.lens.project(points[inside]) - lens.project(points[inside])
    matrix = np.column_stack([points[inside][:, :2] / points[inside][:, 2:], np.ones(inside.sum())])
    left = apart - matrix @ np.linalg.lstsq(matrix, apart, rcond=None)[0]
    assert np.sqrt(np.mean(left**2)) < 0.1


@pytest.mark.parametrize("model", MODELS)
def test_a_camera_file_keeps_every_digit(model: str, tmp_path: Path) -> None:
    lens = Lens.of(np.array([700.0, 702.0, 515.0, 380.0, *SOME[model]]), model)
    found = calibrate_lens(lens_marks(lens), size=(1030, 760), model=model)
    camera = CameraFile((found.known,), (1030, 760))
    write_camera(camera, tmp_path / "lens.toml")
    again = read_camera(tmp_path / "lens.toml")
    assert again.lenses[0].lens.values.tolist() == found.lens.values.tolist()
    assert again.lenses[0].lens.field == pytest.approx(found.lens.field, rel=1e-15)
    np.testing.assert_array_equal(again.lenses[0].covariance, found.covariance)
    (tmp_path / "cv.yaml").write_text(opencv_yaml(camera))
    assert read_camera(tmp_path / "cv.yaml").lenses[0].lens.values.tolist() == (
        found.lens.values.tolist()
    )
    if model == "thin-prism":
        with pytest.raises(InputError, match="ROS has no lens model"):
            ros_yaml(camera)
        return
    (tmp_path / "ros.yaml").write_text(ros_yaml(camera))
    lens = read_camera(tmp_path / "ros.yaml").lenses[0].lens
    assert lens.model == model
    assert lens.values.tolist() == found.lens.values.tolist()


def test_files_of_others_are_read(tmp_path: Path) -> None:
    """As OpenCV's sample writes them, lists over several lines, and as YAML block lists."""
    cv = '%YAML:1.0\n---\ncalibration_time: "Tue"\nimage_width: 640\nimage_height: 480\n'
    cv += "camera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    cv += "   data: [ 5.35e+02, 0., 3.42e+02, 0.,\n       5.36e+02, 2.35e+02, 0., 0., 1. ]\n"
    cv += "distortion_coefficients: !!opencv-matrix\n   rows: 5\n   cols: 1\n   dt: d\n"
    cv += "   data: [ -2.6e-01, -4.6e-02, 1.8e-03,\n       -3.1e-04, 2.5e-01 ]\n"
    (tmp_path / "cv.yml").write_text(cv)
    lens = read_camera(tmp_path / "cv.yml").lenses[0].lens
    assert (lens.fx, lens.fy, lens.cx, lens.cy) == (535.0, 536.0, 342.0, 235.0)
    assert (lens.k1, lens.k2, lens.p1, lens.p2, lens.k3) == (-0.26, -0.046, 0.0018, -3.1e-4, 0.25)
    block = "K:\n- 500.0\n- 0.0\n- 320.0\n- 0.0\n- 501.0\n- 240.0\n- 0.0\n- 0.0\n- 1.0\n"
    block += "D:\n- 0.1\n- 0.0\n- 0.0\n- 0.0\n- 0.0\n"
    (tmp_path / "k.yaml").write_text(block)
    assert read_camera(tmp_path / "k.yaml").lenses[0].lens.fy == 501.0
    # As `ros2 topic echo` prints a CameraInfo.
    info = "height: 480\nwidth: 640\ndistortion_model: plumb_bob\n"
    info += "d:\n- 0.1\n- 0.0\n- 0.0\n- 0.0\n- 0.0\n"
    info += "k:\n- 500.0\n- 0.0\n- 320.0\n- 0.0\n- 501.0\n- 240.0\n- 0.0\n- 0.0\n- 1.0\n"
    (tmp_path / "info.yaml").write_text(info)
    read = read_camera(tmp_path / "info.yaml")
    assert read.lenses[0].lens.fy == 501.0 and read.size == (640, 480)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "x = 1", "the format is None"),
        ("a.toml", 'format = "theodolite camera 1"', "'lens' is missing"),
        ("a.toml", 'format = "theodolite camera 1"\n[lens]\nfx = 1.0', "a lens is not complete"),
        ("a.toml", 'format = "theodolite camera 1"\nlens = 3', "a lens is not complete"),
        (
            "a.toml",
            'format = "theodolite camera 1"\n[lens]\nmodel = "brown"\nfx = 900.0\nfy = 900.0\n'
            "cx = 0.0\ncy = 0.0\n"
            "k1 = 0.0\nk2 = 0.0\np1 = 0.0\np2 = 0.0\nk3 = 0.0\ncovariance = [[1.0]]",
            "the covariance of the lens is not one",
        ),
        ("a.yaml", "camera_matrix: 3", "is not a lens of OpenCV or ROS"),
        ("a.yaml", "K: [1, 2]\nD: [0, 0, 0, 0, 0]", "is not a lens of OpenCV or ROS"),
    ],
)
def test_files_that_are_no_cameras_are_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_camera(tmp_path / name)


def test_the_field_of_a_lens_is_not_left() -> None:
    """Marks far outside the field that its pictures covered are not believed."""
    lens = th.Lens(700.0, 700.0, 500.0, 400.0, field=0.2)
    points = np.array([[0.0, 0, 1], [0.2, 0, 1], [0.3, 0, 1]])
    assert lens.covers(points).tolist() == [True, True, False]
    assert th.Lens(700.0, 700.0, 500.0, 400.0).covers(points).all()


def test_pictures_are_in_natural_order_and_hidden_ones_are_no_pictures(tmp_path: Path) -> None:
    for name in ("img_10.png", "img_2.png", "._img_2.png", "IMG_1.PNG", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    assert [path.name for path in pictures_in(tmp_path)] == ["IMG_1.PNG", "img_2.png", "img_10.png"]


def test_chessboards_that_look_the_same_upside_down_still_show_the_lens() -> None:
    board = Board.parse("chessboard:8x6:25")
    assert board.ambiguous
    with pytest.raises(InputError, match="looks the same upside down"):
        board.check_pose()
    picture = rasterised(board_pdf(board), 4.0)
    found = detect(picture, board, "x")
    assert isinstance(found, Detection)
    assert isinstance(detect(picture, Board.parse("chessboard:9x7:25"), "x"), Rejected)


def test_marks_that_show_nothing_are_refused() -> None:
    """On one line, and at random: no pose, no lens, and no traceback."""
    lens = th.Lens(900.0, 900.0, 400.0, 300.0)
    line = np.column_stack([np.arange(6) * 0.03, np.zeros((6, 2))])
    with pytest.raises(InputError):
        seen_pose(line, np.column_stack([np.full(6, 200.0), np.full(6, 100.0)]), lens)
    rng = np.random.default_rng(0)
    board = Board.parse("charuco:8x6:30:22")
    marks = [(board.points, rng.uniform(0, 800, (35, 2))) for _ in range(6)]
    with pytest.raises(InputError, match="do not determine a lens"):
        check_determined(calibrate_lens(marks))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: th.Lens("a", 1, 2, 3),
        lambda: th.Lens(-900.0, 900.0, 400.0, 300.0),
        lambda: th.Lens(float("nan"), 900.0, 400.0, 300.0),
        lambda: th.Lens.of(np.array([1.0, 2.0, 3.0])),
        lambda: th.KnownLens(th.Lens(900.0, 900.0, 400.0, 300.0), -np.eye(9)),
        lambda: th.KnownLens(th.Lens(900.0, 900.0, 400.0, 300.0), np.eye(3)),
        lambda: th.KnownLens("x"),
        lambda: th.Camera("x"),
        lambda: th.Camera(3),
        lambda: th.Camera(board_tolerance="x"),
        lambda: th.Board.parse(None),
        lambda: th.lens_from_pictures("nowhere", "charuco:8x6:30:22"),
    ],
)
def test_python_users_get_our_own_errors(wrong) -> None:
    with pytest.raises(InputError):
        wrong()


def test_decoders_say_nothing_on_the_terminal(tmp_path: Path, capfd) -> None:
    """libpng and libjpeg write by themselves; we say what is wrong, with the name."""
    picture = rasterised(board_pdf(Board.parse("charuco:8x6:30:22")), 4.0)
    content = bytearray(cv2.imencode(".png", picture)[1].tobytes())
    content[400:900] = bytes(500)
    (tmp_path / "bad.png").write_bytes(bytes(content))
    found, rejected = detect_all([tmp_path / "bad.png"], [Board.parse("charuco:8x6:30:22")])
    assert found == [(None,)]
    assert rejected[0].name == "bad.png"
    assert capfd.readouterr().err == ""
