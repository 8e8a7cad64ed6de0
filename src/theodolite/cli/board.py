"""``theodolite board``: a calibration board to print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import ForceOption, JsonOption, console, print_json, wrote

NAME = "board"


def command(
    board: Annotated[
        str,
        typer.Argument(
            metavar="B",
            help="charuco:8x6:30:22, chessboard:9x6:25, circles:7x5:20, circles-grid:7x5:20 or "
            "tags:4x3:40:10; mm.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="F", help="The file to write: .pdf or .svg.")
    ],
    page: Annotated[
        str | None, typer.Option(help="a4, a3, a2, a1 or a0. Default: the smallest that fits.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write a board as vector graphics at true scale, with a ruler to check the print by."""
    from theodolite.errors import InputError
    from theodolite.io.writing import check_writable, write_bytes
    from theodolite.vision.board import Board
    from theodolite.vision.printing import board_pdf, board_shapes, board_svg, page_for

    check_writable(out, force=force)
    if out.suffix.lower() not in (".pdf", ".svg"):
        raise InputError(
            f"cannot be written as '{out.suffix}'", where=str(out), allowed=(".pdf", ".svg")
        )
    target = Board.parse(board)
    width, height = page_for(board_shapes(target), page)
    if out.suffix.lower() == ".svg":
        content = board_svg(target, page).encode()
    else:
        content = board_pdf(target, page)
    write_bytes(out, content, force=force)
    screen = console(json=json)
    wrote(screen, out, f"{target} on {width:.0f} x {height:.0f} mm")
    screen.print("Print it at 100 % and measure its ruler: a wrong size makes a wrong robot.")
    if json:
        print_json(
            {
                "board": str(target),
                "marks": len(target.points),
                "page_mm": [width, height],
                "board_mm": [1e3 * length for length in target.size],
                "shows_pose": not target.ambiguous,
                "wrote": str(out),
            }
        )
