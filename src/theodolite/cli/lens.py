"""``theodolite lens``: calibrate a camera's lens from pictures of a board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from theodolite.cli.options import ForceOption, JsonOption, console, print_json, wrote
from theodolite.cli.pictures import LensModelOption, reading, say_left_out

NAME = "lens"


def command(
    pictures: Annotated[Path, typer.Argument(metavar="DIR", help="Pictures of the board.")],
    board: Annotated[
        str, typer.Option(metavar="B", help="charuco:8x6:30:22, chessboard:9x6:25, ...; mm.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="F", help="The lens to write: .toml, or .yaml for ROS."),
    ] = None,
    lens_model: LensModelOption = "brown",
    opencv: Annotated[
        bool, typer.Option("--opencv", help="Write YAML as OpenCV does, not as ROS does.")
    ] = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Calibrate a lens: focal lengths, principal point and distortion, with intervals."""
    from theodolite.errors import InputError
    from theodolite.io.camera_file import YAML, CameraFile, opencv_yaml, ros_yaml, write_camera
    from theodolite.io.writing import check_writable, write_text
    from theodolite.report.lens import lens_data, show_lens
    from theodolite.vision.board import Board
    from theodolite.vision.pictures import lens_from_pictures

    if out is not None:
        check_writable(out, force=force)
        if out.suffix.lower() not in (".toml", *YAML):
            raise InputError(
                f"cannot be written as '{out.suffix}'", where=str(out), allowed=(".toml", *YAML)
            )
    if opencv and (out is None or out.suffix.lower() not in YAML):
        raise InputError("--opencv needs --out F.yaml")
    target = Board.parse(board)
    bar, moved = reading("reading the pictures")
    with bar:
        (found, size, seen), rejected = lens_from_pictures(
            pictures, target, model=lens_model, progress=moved
        )
    say_left_out(rejected)
    camera = CameraFile(
        (found.known,), size, note=f"{len(seen)} pictures of {target}, {found.rms:.3g} px rms."
    )
    if out is not None and out.suffix.lower() in YAML:
        # Both are made before anything is written: ROS does not know every model.
        text = opencv_yaml(camera) if opencv else ros_yaml(camera)
        write_text(out, text, force=force)
    elif out is not None:
        write_camera(camera, out, force=force)
    content: dict[str, Any] = lens_data(found, seen, rejected)
    screen = console(json=json)
    show_lens(screen, content)
    if out is not None:
        wrote(screen, out)
    if json:
        print_json(content)
    if content["doubts"]:
        raise typer.Exit(1)
