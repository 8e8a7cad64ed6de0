"""Options of pictures, and what several verbs do with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.options import one_of, wrote

if TYPE_CHECKING:
    from rich.console import Console

    from theodolite.calibration.data import Dataset
    from theodolite.calibration.result import Result
    from theodolite.calibration.scene import KnownLens
    from theodolite.vision.pictures import Seen

ImagesOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR",
        help="Pictures of a target, one per row of DATA, sorted by name or named in a column "
        "'picture'. Once for each of several cameras.",
    ),
]
BoardOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="B",
        help="charuco:8x6:30:22, chessboard:9x6:25, circles:7x5:20 or tags:4x3:40:10; mm. Once "
        "for each of several boards.",
    ),
]
LensImagesOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Pictures of a board to calibrate the lens with.")
]
LensBoardOption = Annotated[
    str | None, typer.Option(metavar="B", help="The board in them. Default: that of the robot.")
]
LensOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="F",
        help="The lens: a file (.toml, .yaml), or fx,fy,cx,cy,k1,k2,p1,p2,k3 in px. Once for each "
        "of several cameras.",
    ),
]
LensModelOption = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="brown, rational, thin-prism or fisheye.",
        autocompletion=one_of("brown", "rational", "thin-prism", "fisheye"),
    ),
]
KeepLensOption = Annotated[bool, typer.Option("--keep-lens", help="Keep the given lens fixed.")]
MountOption = Annotated[
    str | None,
    typer.Option(
        help="Where the camera is: ground, or hand with the target on the ground.",
        autocompletion=one_of("ground", "hand"),
    ),
]
BoardToleranceOption = Annotated[
    float,
    typer.Option(
        "--board-tolerance-percent",
        min=0.0,
        max=50.0,
        help="Tolerance of the board's size, percent; if above 0, the size is identified too.",
    ),
]
NoisePixelOption = Annotated[
    float | None,
    typer.Option("--noise-px", min=0.0, help="Known noise of each pixel coordinate, px."),
]


def lenses_from(texts: Sequence[str] | None) -> tuple[KnownLens, ...] | None:
    """Lenses from files or numbers; None where none was given."""
    if not texts:
        return None
    return tuple(known for text in texts for known in _lenses(text))


def _lenses(text: str) -> tuple[KnownLens, ...]:
    import numpy as np

    from theodolite.calibration.lens import Lens
    from theodolite.calibration.scene import KnownLens
    from theodolite.errors import InputError
    from theodolite.io.camera_file import read_camera

    if not _is_numbers(text):
        return read_camera(Path(text)).lenses
    values = [float(item) for item in text.replace(",", " ").split()]
    if not 4 <= len(values) <= 9:
        raise InputError(
            f"--lens: {text!r}",
            allowed="a file, or 4 to 9 numbers: fx,fy,cx,cy,k1,k2,p1,p2,k3",
        )
    return (KnownLens(Lens.of(np.pad(values, (0, 9 - len(values))))),)


def _sizes_of(texts: Sequence[str] | None) -> list[tuple[int, int] | None]:
    """The size of the pictures that each lens was calibrated with, where its file says so."""
    from theodolite.io.camera_file import read_camera

    found: list[tuple[int, int] | None] = []
    for text in texts or ():
        if _is_numbers(text):
            found.append(None)
            continue
        file = read_camera(Path(text))
        # A file of several cameras holds the size of the first one's pictures.
        found += [file.size, *[None] * (len(file.lenses) - 1)]
    return found


def _is_numbers(text: str) -> bool:
    try:
        return bool([float(item) for item in text.replace(",", " ").split()])
    except ValueError:
        return False


def boards_from(texts: Sequence[str] | None) -> list[Any]:
    from theodolite.errors import InputError
    from theodolite.vision.board import Board

    if not texts:
        raise InputError("--images needs --board", allowed="charuco:8x6:30:22, chessboard:9x6:25")
    return [Board.parse(text) for text in texts]


def reading(what: str) -> tuple[Any, Callable[[int, int], None]]:
    """A bar on a terminal, nothing elsewhere; and what moves it."""
    from contextlib import nullcontext

    from rich.console import Console
    from rich.progress import Progress

    if not Console(stderr=True).is_terminal:
        return nullcontext(), lambda done, total: None
    # A handle of its own: what decoders of pictures say goes nowhere meanwhile.
    screen = Console(file=os.fdopen(os.dup(2), "w", encoding="utf-8"))
    bar = Progress(console=screen, transient=True)
    tasks: list[Any] = []

    def moved(done: int, total: int) -> None:
        if not tasks or done == 1:
            tasks.append(bar.add_task(what, total=total))
        bar.update(tasks[-1], completed=done)

    return bar, moved


def seen_in(
    recorded: Dataset,
    images: Sequence[Path],
    board: Sequence[str] | None,
    *,
    pixels: bool,
    lens: Sequence[str] | None = None,
    lens_images: Path | None = None,
    lens_board: str | None = None,
    lens_model: str = "brown",
    keep_lens: bool = False,
    board_tolerance: float = 0.0,
    mount: str | None = None,
) -> Seen:
    """What the pictures show; what is left out is said on standard error."""
    from theodolite.vision.board import Board
    from theodolite.vision.pictures import read_pictures

    boards = boards_from(board)
    bar, moved = reading("reading the pictures")
    with bar:
        seen = read_pictures(
            recorded,
            list(images),
            boards,
            pixels=pixels,
            lens=lenses_from(lens),
            lens_folder=lens_images,
            lens_board=None if lens_board is None else Board.parse(lens_board),
            lens_model=lens_model,
            keep_lens=keep_lens,
            board_tolerance=board_tolerance,
            mount=mount or "ground",
            sizes=_sizes_of(lens),
            progress=moved,
        )
    say_left_out(seen.rejected)
    for note in seen.notes:
        typer.echo(f"note: {note}", err=True)
    return seen


def say_left_out(rejected: Sequence[Any]) -> None:
    from theodolite.errors import printable

    for picture in rejected:
        text = f"warning: {picture.name} is left out: {picture.reason}"
        typer.echo(printable(text), err=True)


def draw(screen: Console, seen: Seen, result: Result, folder: Path) -> None:
    """Each picture with what was found and by how much the robot misses it."""
    from theodolite.vision.drawing import draw_pictures

    predicted = seen.camera.with_extras(result.extras).predicted(result.robot, seen.data)
    left_out = {one.name: one.error for one in result.left_out}
    written = draw_pictures(seen, predicted, left_out, folder)
    wrote(screen, folder, f"{len(written) // 2} pictures and index.html")


def camera_known(lens: Sequence[str] | None, mount: str | None) -> dict[str, Any] | None:
    """What a camera file beside a calibrated robot says of the scene; None without one."""
    from theodolite.errors import InputError
    from theodolite.io.camera_file import read_camera

    if not lens or _is_numbers(lens[0]):
        return None
    found = read_camera(Path(lens[0])).found
    if found is None:
        return None
    if mount is not None and mount != found["mount"]:
        raise InputError(f"--mount {mount}, but the file says {found['mount']}", where=lens[0])
    return dict(found)


def files_of(lens: Sequence[str] | None) -> list[Path]:
    """The lenses that are files, which must not be overwritten."""
    return [Path(text) for text in lens or () if not _is_numbers(text)]
