"""``--data METHOD:FILE``: measurements of several kinds in one calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method
    from theodolite.calibration.sources import Source

SourcesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="METHOD:FILE",
        help="One of several sources that are identified together, in place of DATA and --method; "
        "may be given several times. METHOD@TARGET:FILE says which target touches, "
        "distance@A,B:FILE which two tools.",
    ),
]


Named = Callable[[str, str | None], "Method"]
Read = Callable[[list[Path], "Method"], "tuple[Dataset, Method]"]


def measurements(
    data: list[Path], method: str | None, sources: Sequence[str], named: Named, read: Read
) -> tuple[Dataset, Method]:
    """Measurements and their method, from one source or from several."""
    from theodolite.calibration.sources import join
    from theodolite.errors import InputError

    if sources:
        if data or method is not None:
            raise InputError(
                "--data stands in place of DATA and --method",
                remedy="Give every file as --data METHOD:FILE",
            )
        return join(_sources(sources, named, read))
    if not data or method is None:
        raise InputError(
            f"Missing {'option --method' if data else 'argument DATA'}",
            allowed="ROBOT DATA --method METHOD, or ROBOT --data METHOD:FILE --data ...",
        )
    way = named(method, None)
    return read(data, way)


def _sources(given: Sequence[str], named: Named, read: Read) -> list[Source]:
    """Sources from the words of the command line."""
    from theodolite.calibration.sources import Source
    from theodolite.errors import InputError
    from theodolite.io.reading import is_file, is_folder

    found = []
    for text in given:
        kind, colon, file = text.partition(":")
        if not (kind and colon and file):
            raise InputError(
                f"--data {text!r} is not a source", allowed="METHOD:FILE, as in plane:table.csv"
            )
        name, _, target = kind.partition("@")
        method = named(name, target or None)
        path = Path(file)
        whole = is_file(path) or is_folder(path)
        files = [path] if whole else [Path(part) for part in file.split(",")]
        # Two tools are the method's affair.
        single = target if target and "," not in target else None
        recorded, known = read(files, method)
        found.append(Source(recorded, known, target=single))
    return found
