"""Pictures instead of measured poses: what a folder of them says about a robot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from theodolite.calibration.camera import Camera
from theodolite.calibration.data import Dataset
from theodolite.calibration.lens import Lens
from theodolite.errors import InputError
from theodolite.vision.board import Board
from theodolite.vision.data import pixel_data, pose_data
from theodolite.vision.detection import Detection, Rejected, detect_all
from theodolite.vision.poses import calibrate_lens

#: A recording of which more than this part of the pictures is useless is refused.
REFUSED = 0.5
KINDS = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff")


@dataclass(frozen=True, eq=False)
class Seen:
    """What pictures show: data for a calibration, the camera, and pictures that show nothing."""

    data: Dataset
    camera: Camera
    rejected: tuple[Rejected, ...]


def read_pictures(
    joints: Dataset,
    folder: Path,
    board: Board,
    *,
    pixels: bool,
    lens: Lens | None = None,
    lens_folder: Path | None = None,
    mount: str = "ground",
) -> Seen:
    """Pixels of a target's points, or poses with covariances, one picture per row of joints.

    Without a lens it is calibrated: from the pictures of a folder of its own, or from these.
    """
    paths = pictures_in(folder)
    if len(paths) != len(joints):
        raise InputError(
            f"{len(paths)} pictures for {len(joints)} rows of joints",
            where=str(folder),
            remedy="There must be one picture for each row, in the order of their names",
        )
    seen, rejected = detect_all(paths, board)
    if len(rejected) > REFUSED * len(paths):
        raise InputError(
            f"{len(rejected)} of {len(paths)} pictures cannot be used, the first because "
            f"{rejected[0].reason}",
            where=str(folder),
            remedy="Check the board's kind and size, and the pictures",
        )
    rows = [row for row, detection in enumerate(seen) if detection is not None]
    marks = [detection for detection in seen if detection is not None]
    own: list[Detection] = []
    if lens_folder is not None:
        shown, failed = detect_all(pictures_in(lens_folder), board)
        own = [detection for detection in shown if detection is not None]
        rejected = [*rejected, *failed]
    _check_sizes([*own, *marks])
    prior = None
    if lens is None and pixels and own:
        # What is known of the lens beforehand; the pictures of the robot count only once.
        calibrated = calibrate_lens(own, board)
        lens, prior = calibrated.lens, calibrated.covariance
    elif lens is None:
        lens = calibrate_lens([*own, *marks], board).lens
    camera = Camera(lens, mount=mount, size=marks[0].size, target=board.points, prior=prior)
    kept = joints.take(np.array(rows))
    if pixels:
        return Seen(pixel_data(kept, marks, board), camera, tuple(rejected))
    return Seen(pose_data(kept, marks, board, lens, mount=mount), camera, tuple(rejected))


def pictures_in(folder: Path) -> list[Path]:
    """The pictures of a folder, by name."""
    if not folder.is_dir():
        raise InputError("is not a folder of pictures", where=str(folder))
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in KINDS)
    if not found:
        raise InputError("has no pictures", where=str(folder), allowed=KINDS)
    return found


def _check_sizes(seen: list[Detection]) -> None:
    for detection in seen:
        if detection.size != seen[0].size:
            wide, high = seen[0].size
            raise InputError(
                f"{detection.name} has {detection.size[0]} x {detection.size[1]} pixels, "
                f"{seen[0].name} {wide} x {high}",
                remedy="All pictures must come from one camera with one setting",
            )
