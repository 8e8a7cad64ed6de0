"""Pictures instead of measured poses: what a folder of them says about a robot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from theodolite.calibration.camera import Camera
from theodolite.calibration.data import Dataset
from theodolite.calibration.lens import BROWN, FISHEYE, MODELS, Lens
from theodolite.calibration.scene import KnownLens
from theodolite.errors import LONGEST, InputError
from theodolite.vision.board import MARKED, Board
from theodolite.vision.data import Sight, pixel_data, pose_data
from theodolite.vision.detection import FEWEST, KINDS, Detection, Rejected, detect_all
from theodolite.vision.poses import CalibratedLens, calibrate_lens, seen_pose, straightened

#: A recording of which more than this part of the pictures is useless is refused.
REFUSED = 0.5
#: Marks further than this from where their picture's pose puts them are strays: in pixels, and in
#: typical distances. At most this part of a picture's marks is left out.
STRAY_PIXELS, STRAY, MOST_STRAY = 1.0, 8.0, 0.3
#: Called with the number of pictures done and of all.
Progress = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class Seen:
    """What pictures show: data for a calibration, the camera, and pictures that show nothing."""

    data: Dataset
    camera: Camera
    rejected: tuple[Rejected, ...]
    #: What is worth saying: marks that were left out.
    notes: tuple[str, ...] = ()
    #: The file of each sight, for drawing.
    sights: tuple[tuple[Path, Sight], ...] = ()
    boards: tuple[Board, ...] = ()
    #: The lens that pictures of its own showed.
    calibrated: CalibratedLens | None = None


@dataclass(frozen=True, eq=False)
class _Shown:
    """Marks in the pictures of all cameras."""

    sights: list[Sight] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


def read_pictures(
    joints: Dataset,
    folder: Path | str | Sequence[Path | str],
    board: Board | str | Sequence[Board | str],
    *,
    pixels: bool,
    lens: Lens | KnownLens | Sequence[Lens | KnownLens] | None = None,
    lens_folder: Path | None = None,
    lens_board: Board | None = None,
    lens_model: str = BROWN,
    keep_lens: bool = False,
    board_tolerance: float = 0.0,
    mount: str = "ground",
    sizes: Sequence[tuple[int, int] | None] = (),
    progress: Progress | None = None,
) -> Seen:
    """Pixels of a target's points, or poses with covariances, one picture per row of joints.

    Several folders are those of several cameras; several boards may be in each picture. Without a
    lens it is calibrated: from the pictures of a folder of its own, or from these. ``sizes`` are
    those of the pictures, in pixels, that each given lens was calibrated with, where known.
    """
    folders = [Path(folder)] if isinstance(folder, str | Path) else [Path(one) for one in folder]
    several = [board] if isinstance(board, str | Board) else list(board)
    boards = [Board.parse(one) if isinstance(one, str) else one for one in several]
    if not folders or not boards:
        raise InputError("no pictures or no board were given", allowed="one of each or more")
    _check_several(folders, boards)
    for one in boards:
        one.check_pose()
    given = _lenses(lens, len(folders))
    if given and lens_folder is not None:
        raise InputError("a lens and pictures for it were given", allowed="one of them")
    if len(folders) > 1 and lens_folder is not None:
        raise InputError(
            "pictures for the lens are of one camera only",
            remedy="Calibrate each lens by itself and give the lenses",
        )
    if not pixels and (len(folders) > 1 or len(boards) > 1):
        raise InputError(
            "several cameras or boards need the method 'camera'", remedy="Use that method"
        )
    bent = lens_model == FISHEYE or any(one.lens.model == FISHEYE for one in given)
    shown = _look(joints, folders, boards, bent=bent, progress=progress)
    for number, size in enumerate(sizes):
        if size is not None:
            _check_size(shown, size, "the pictures that the lens was calibrated with", number)
    calibrated = None
    if lens_folder is not None and not given:
        calibrated, failed = lens_from_pictures(
            lens_folder, lens_board or boards[0], model=lens_model
        )
        shown.rejected.extend(failed)
        _check_size(shown, calibrated[1], "the pictures for the lens")
        given = (calibrated[0].known,)
    if not given:
        given = tuple(
            KnownLens(
                calibrate_lens(
                    [s.marks.marks(boards[s.board]) for s in shown.sights if s.camera == number],
                    size=next(s.marks.size for s in shown.sights if s.camera == number),
                    model=lens_model,
                ).lens
            )
            for number in range(len(folders))
        )
    sights, paths, notes = _without_strays(shown, boards, given)
    camera = Camera(
        given,
        mount=mount,
        size=sights[0].marks.size,
        target=boards[0].points,
        keep_lens=keep_lens,
        board_tolerance=board_tolerance,
    )
    if pixels:
        names = _names(joints, folders)
        data = pixel_data(joints, sights, boards, names)
    else:
        kept = joints.take(np.array([sight.row for sight in sights]))
        data = pose_data(kept, [s.marks for s in sights], boards[0], given[0].lens, mount=mount)
    return Seen(
        data,
        camera,
        tuple(shown.rejected),
        tuple(notes),
        tuple(zip(paths, sights, strict=True)),
        tuple(boards),
        None if calibrated is None else calibrated[0],
    )


def _check_several(folders: Sequence[Path], boards: Sequence[Board]) -> None:
    """Refuse one camera or one board given twice: its marks would count twice."""
    if len({folder.absolute() for folder in folders}) < len(folders):
        raise InputError("a folder of pictures was given twice", allowed="one for each camera")
    for number, one in enumerate(boards):
        for other in boards[:number]:
            mine, theirs = ({*range(b.first, b.first + b.markers)} for b in (one, other))
            alike = one.dictionary == other.dictionary and bool(mine & theirs)
            if one == other or (alike and one.kind in MARKED and other.kind in MARKED):
                raise InputError(
                    f"the boards {one} and {other} share markers",
                    remedy="Give each board markers of its own: first=ID",
                )


def lens_from_pictures(
    folder: Path | str, board: Board | str, *, model: str = BROWN, progress: Progress | None = None
) -> tuple[tuple[CalibratedLens, tuple[int, int], list[Detection]], list[Rejected]]:
    """The lens that a folder of pictures shows, their size, marks, and pictures left out."""
    board = Board.parse(board) if isinstance(board, str) else board
    if model not in MODELS:
        raise InputError(f"there is no lens model '{model}'", allowed=list(MODELS))
    found, rejected = detect_all(
        pictures_in(Path(folder)), [board], bent=model == FISHEYE, progress=progress
    )
    seen = [one for (one,) in found if one is not None]
    sizes = {detection.size: detection.name for detection in seen}
    if len(sizes) > 1:
        (first, one), (second, other) = list(sizes.items())[:2]
        raise _different(one, first, other, second)
    if not seen:
        raise InputError(
            f"no picture shows the board, the first because {rejected[0].reason}",
            where=str(folder),
            remedy="Check the board's kind and size",
        )
    marks = [detection.marks(board) for detection in seen]
    size = seen[0].size
    return (calibrate_lens(marks, size=size, model=model), size, seen), rejected


def pictures_in(folder: Path) -> list[Path]:
    """The pictures of a folder, by name, numbers in their order: img_2 before img_10."""
    try:
        if not folder.is_dir():
            raise InputError(
                "is not a folder of pictures", where=str(folder), allowed="a folder that exists"
            )
        found = [
            path
            for path in folder.iterdir()
            if path.suffix.lower() in KINDS and not path.name.startswith(".")
        ]
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", where=str(folder)[:LONGEST]
        ) from error
    if not found:
        raise InputError("has no pictures", where=str(folder), allowed=KINDS)
    return sorted(found, key=_natural)


def _natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    parts = re.split(r"([0-9]+)", path.name.lower())
    return [
        (int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in parts
    ], path.name


def _lenses(
    lens: Lens | KnownLens | Sequence[Lens | KnownLens] | None, cameras: int
) -> tuple[KnownLens, ...]:
    if lens is None:
        return ()
    several = (lens,) if isinstance(lens, Lens | KnownLens) else tuple(lens)
    known = tuple(one if isinstance(one, KnownLens) else KnownLens(one) for one in several)
    if len(known) not in (1, cameras):
        raise InputError(
            f"{len(known)} lenses, and folders of pictures: {cameras}", allowed="one for each"
        )
    return known * cameras if len(known) == 1 else known


def _look(
    joints: Dataset,
    folders: Sequence[Path],
    boards: Sequence[Board],
    *,
    bent: bool,
    progress: Progress | None,
) -> _Shown:
    """Marks of all boards in the pictures of all cameras."""
    shown = _Shown()
    for camera, folder in enumerate(folders):
        paths = _matched(joints, folder)
        found, failed = detect_all(paths, boards, bent=bent, progress=progress)
        usual = _usual_size(found)
        odd = [_size(marks) not in (None, usual) for marks in found]
        failed = [
            *failed,
            *(
                Rejected(path.name, f"it has {_pixels(_size(marks))}, the others {_pixels(usual)}")
                for path, marks, other in zip(paths, found, odd, strict=True)
                if other
            ),
        ]
        if len(failed) > REFUSED * len(paths):
            raise InputError(
                f"{len(failed)} of {len(paths)} pictures cannot be used, the first because "
                f"{failed[0].reason}",
                where=str(folder),
                remedy="Check the board's kind and size, and the pictures",
            )
        shown.rejected.extend(failed)
        for row, (path, marks) in enumerate(zip(paths, found, strict=True)):
            for number, one in enumerate(marks):
                if one is None or odd[row]:
                    continue
                shown.sights.append(Sight(row, camera, number, one))
                shown.paths.append(path)
    return shown


def _size(marks: Sequence[Detection | None]) -> tuple[int, int] | None:
    """The size of a picture in which something was found."""
    return next((one.size for one in marks if one is not None), None)


def _usual_size(found: Sequence[Sequence[Detection | None]]) -> tuple[int, int] | None:
    """The size of most pictures: one that was turned or cut is not of the same camera."""
    sizes = Counter(size for marks in found if (size := _size(marks)) is not None)
    return sizes.most_common(1)[0][0] if sizes else None


def _pixels(size: tuple[int, int] | None) -> str:
    return "no size" if size is None else f"{size[0]} x {size[1]} pixels"


def _matched(joints: Dataset, folder: Path) -> list[Path]:
    """The picture of each row of joints: by name where there is a column of names."""
    paths = pictures_in(folder)
    if joints.pictures and joints.sets is not None:
        known = {path.name: path for path in paths} | {path.stem: path for path in paths}
        names = [joints.picture(row) for row in range(len(joints))]
        # A missing one is left out like one that cannot be read.
        return [known.get(name) or known.get(Path(name).name) or folder / name for name in names]
    if len(paths) != len(joints):
        raise InputError(
            f"{len(paths)} pictures for {len(joints)} rows of joints",
            where=str(folder),
            remedy="There must be one picture for each row, in the order of their names; or name "
            "the file of each row in a column 'picture'",
        )
    return paths


def _names(joints: Dataset, folders: Sequence[Path]) -> list[str]:
    """What the pictures of each row are called."""
    several = len(folders) > 1
    columns = [
        [
            f"{folder.name}/{path.name}" if several else path.name
            for path in _matched(joints, folder)
        ]
        for folder in folders
    ]
    return [" and ".join(dict.fromkeys(names)) for names in zip(*columns, strict=True)]


def _without_strays(
    shown: _Shown, boards: Sequence[Board], lenses: Sequence[KnownLens]
) -> tuple[list[Sight], list[Path], list[str]]:
    """Marks that fit their picture's own pose and lie in the field that the lens is known for."""
    sights, paths = [], []
    stray = beyond = 0
    for path, sight in zip(shown.paths, shown.sights, strict=True):
        lens = lenses[sight.camera].lens
        marks = sight.marks
        flat = straightened(marks.pixels, lens)
        inside = lens.covers(np.column_stack([flat, np.ones(len(flat))]))
        beyond += int((~inside).sum())
        marks = marks.take(inside)
        if len(marks.ids) >= FEWEST:
            board = boards[sight.board]
            errors = seen_pose(*marks.marks(board), lens).errors
            far = errors > max(STRAY_PIXELS, STRAY * float(np.median(errors)))
            if 0 < far.sum() <= MOST_STRAY * len(errors):
                stray += int(far.sum())
                marks = marks.take(~far)
        if len(marks.ids) >= min(FEWEST, len(boards[sight.board].points)):
            sights.append(sight._replace(marks=marks))
            paths.append(path)
        else:
            shown.rejected.append(Rejected(path.name, "too few marks in the field of the lens"))
    notes = []
    if stray:
        notes.append(f"{stray} marks are left out: they do not fit the others of their picture")
    if beyond:
        notes.append(
            f"{beyond} marks are left out: they are outside the field in which the lens was "
            "calibrated"
        )
    if not sights:
        raise InputError(
            "all marks are outside the field in which the lens was calibrated",
            remedy="Calibrate the lens with pictures that show the board in all corners",
        )
    return sights, paths, notes


def _check_size(shown: _Shown, size: tuple[int, int], what: str, camera: int = 0) -> None:
    for sight in shown.sights:
        if sight.camera == camera and sight.marks.size != size:
            raise _different(what, size, sight.marks.name, sight.marks.size)


def _different(one: str, first: tuple[int, int], other: str, second: tuple[int, int]) -> InputError:
    return InputError(
        f"{other} has {second[0]} x {second[1]} pixels, {one} {first[0]} x {first[1]}",
        remedy="All pictures must come from one camera with one setting",
    )
