"""``--map`` and ``--mapping``: how a file's columns become those of this program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from theodolite.io.mapping import Mapping

MapOption = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="A=B,...",
        help="Every column of DATA to read, by its name there: "
        "x_mm=1000*X,q2_deg=-J2,q3_deg=-J3+90,q4_deg=#7.",
    ),
]
MappingOption = Annotated[
    Path | None,
    typer.Option(
        "--mapping",
        metavar="F",
        help="The same from a file, as written by 'theodolite check --save-mapping'.",
    ),
]


def mapping_from(text: str | None, path: Path | None) -> Mapping | None:
    """The mapping that the two options give together: ``--map`` adds to and changes the file."""
    from theodolite.io.mapping import Mapping, parse_mapping
    from theodolite.io.mapping_file import read_mapping

    given = None if text is None else parse_mapping(text)
    if path is None:
        return given
    kept = read_mapping(path)
    return kept if given is None else Mapping({**kept.terms, **given.terms}, kept.skip)
