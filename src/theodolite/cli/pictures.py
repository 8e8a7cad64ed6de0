"""Options of pictures: ``--images``, ``--board``, ``--lens-images``, ``--lens``, ``--mount``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from theodolite.calibration.lens import Lens

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
    str | None,
    typer.Option(help="Where the camera is: ground, or hand with the target on the ground."),
]


def lens_from(text: str) -> Lens:
    """A lens from its numbers."""
    from theodolite.calibration.lens import Lens
    from theodolite.errors import InputError

    try:
        values = [float(item) for item in text.replace(",", " ").split()]
    except ValueError:
        values = []
    finite = all(abs(value) < 1e9 for value in values)
    if not 4 <= len(values) <= 9 or not finite or min(values[:2]) <= 0:
        raise InputError(f"--lens: {text!r}", allowed="4 to 9 numbers: fx,fy,cx,cy,k1,k2,p1,p2,k3")
    return Lens(*values)
