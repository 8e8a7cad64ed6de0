"""``theodolite reproduce``: published figures beside ours."""

from __future__ import annotations

from typing import Annotated

import typer

from theodolite.cli.options import JsonOption, console, print_json, working

NAME = "reproduce"
PAPERS = ("gecaro",)


def command(
    paper: Annotated[
        str | None, typer.Argument(metavar="[PAPER]", help="gecaro; without it, all.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Recompute published figures and print them beside the papers'."""
    from theodolite.errors import InputError
    from theodolite.reproduce import gecaro

    if paper is not None and paper not in PAPERS:
        raise InputError(f"there is no reproduction of '{paper}'", allowed=PAPERS)
    with working("computing"):
        counts = gecaro.counts()
    gecaro.show(console(json=json), counts)
    if json:
        print_json({"gecaro": [count.data() for count in counts]})
    if not all(count.agrees for count in counts):
        raise typer.Exit(1)
