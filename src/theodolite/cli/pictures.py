"""Pictures instead of measured poses: ``--images``, ``--board``, ``--lens-images``, ``--mount``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from theodolite.calibration.camera import Camera
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.lens import Lens
    from theodolite.vision.board import Board
    from theodolite.vision.detection import Detection

ImagesOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Pictures of a target, one per row of DATA, sorted by name."),
]
BoardOption = Annotated[
    str | None,
    typer.Option(metavar="B", help="charuco:8x6:30:22, chessboard:9x6:25 or circles:7x5:20; mm."),
]
LensImagesOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Pictures of the same board to calibrate the lens with."),
]
LensOption = Annotated[
    str | None,
    typer.Option(metavar="fx,fy,cx,cy,...", help="The lens, in px; then k1,k2,p1,p2,k3."),
]
MountOption = Annotated[
    str, typer.Option(help="Where the camera is: ground, or hand with the target on the ground.")
]
#: A recording of which more than this part of the pictures is useless is refused.
REFUSED = 0.5


def parse_lens(text: str | None) -> Lens | None:
    """A lens from its numbers."""
    from theodolite.calibration.lens import Lens
    from theodolite.errors import InputError

    if text is None:
        return None
    try:
        values = [float(item) for item in text.replace(",", " ").split()]
    except ValueError:
        values = []
    finite = all(abs(value) < 1e9 for value in values)
    if not 4 <= len(values) <= 9 or not finite or min(values[:2]) <= 0:
        raise InputError(f"--lens: {text!r}", allowed="4 to 9 numbers: fx,fy,cx,cy,k1,k2,p1,p2,k3")
    return Lens(*values)


def camera_from(lens: str | None, mount: str) -> Camera:
    """The camera method with a given lens, or the one that is simulated."""
    from theodolite.calibration.camera import DEFAULT_LENS, Camera

    return Camera(parse_lens(lens) or DEFAULT_LENS, mount=mount)


def from_pictures(
    joints: Dataset,
    folder: Path,
    board: str | None,
    *,
    lens_images: Path | None,
    lens: str | None,
    mount: str,
    pixels: bool,
    warn: Any,
) -> tuple[Dataset, Camera]:
    """What pictures show: pixels of a target's points, or poses with covariances."""
    import numpy as np

    from theodolite.calibration.camera import Camera
    from theodolite.errors import InputError
    from theodolite.vision.board import Board
    from theodolite.vision.data import pixel_data, pose_data
    from theodolite.vision.detection import detect_all
    from theodolite.vision.poses import calibrate_lens

    if board is None:
        raise InputError("--images needs --board", allowed="charuco:8x6:30:22, chessboard:9x6:25")
    target = Board.parse(board)
    paths = _pictures(folder)
    if len(paths) != len(joints):
        raise InputError(
            f"{len(paths)} pictures for {len(joints)} rows of joints",
            where=str(folder),
            remedy="There must be one picture for each row, in the order of their names",
        )
    seen, rejected = detect_all(paths, target)
    for picture in rejected:
        warn(f"{picture.name} is left out: {picture.reason}")
    if len(rejected) > REFUSED * len(paths):
        raise InputError(
            f"{len(rejected)} of {len(paths)} pictures cannot be used",
            where=str(folder),
            remedy="Check --board and the pictures",
        )
    good = [(row, detection) for row, detection in enumerate(seen) if detection is not None]
    given = parse_lens(lens)
    prior = None
    own = _lens_pictures(lens_images, target, warn)
    _check_sizes([*own, *(detection for _, detection in good)])
    if given is None:
        if pixels and own:
            # What is known of the lens beforehand; the pictures of the robot count only once.
            calibrated = calibrate_lens(own, target)
            prior = calibrated.covariance
        else:
            calibrated = calibrate_lens([*own, *(detection for _, detection in good)], target)
        given = calibrated.lens
    camera = Camera(given, mount=mount, size=good[0][1].size, target=target.points, prior=prior)
    kept = joints.take(np.array([row for row, _ in good]))
    marks = [detection for _, detection in good]
    if pixels:
        return pixel_data(kept, marks, target), camera
    return pose_data(kept, marks, target, given, mount=mount), camera


def _check_sizes(seen: list[Detection]) -> None:
    from theodolite.errors import InputError

    for detection in seen:
        if detection.size != seen[0].size:
            wide, high = seen[0].size
            raise InputError(
                f"{detection.name} has {detection.size[0]} x {detection.size[1]} pixels, "
                f"{seen[0].name} {wide} x {high}",
                remedy="All pictures must come from one camera with one setting",
            )


def _pictures(folder: Path) -> list[Path]:
    from theodolite.errors import InputError

    if not folder.is_dir():
        raise InputError("is not a folder of pictures", where=str(folder))
    kinds = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff"}
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in kinds)
    if not found:
        raise InputError("has no pictures", where=str(folder), allowed=", ".join(sorted(kinds)))
    return found


def _lens_pictures(folder: Path | None, board: Board, warn: Any) -> list[Detection]:
    from theodolite.vision.detection import detect_all

    if folder is None:
        return []
    seen, rejected = detect_all(_pictures(folder), board)
    for picture in rejected:
        warn(f"{picture.name} is left out: {picture.reason}")
    return [detection for detection in seen if detection is not None]
