"""Reports as one HTML file that needs nothing from outside and prints on A4; or as JSON."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from theodolite.errors import InputError, MissingExtraError, printable
from theodolite.io.writing import write_text
from theodolite.report.drawing import draw
from theodolite.report.page import Drawn, Page
from theodolite.report.page_file import page_text

_TEMPLATE = Path(__file__).parent / "page.html"
#: For programs, which draw the charts themselves.
DATA = ".json"
SUFFIXES = (".html", ".htm", DATA)
_KINDS = {"svg": "image/svg+xml", "png": "image/png"}


def check_report(path: Path | None) -> None:
    """Refuse, before any work is done, a report that cannot be written."""
    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"reports cannot be written as '{path.suffix}'", where=str(path), allowed=SUFFIXES
        )
    if path.suffix.lower() == DATA:
        return
    try:
        import jinja2
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("a report", "reports") from error
    del jinja2, matplotlib


def write_report(pages: Sequence[Page], path: Path, *, force: bool = False) -> None:
    """Write one page, or several in one file with a table of contents."""
    data = path.suffix.lower() == DATA
    write_text(path, page_text(pages) if data else rendered(pages), force=force)


def rendered(pages: Sequence[Page]) -> str:
    """The text of the file."""
    from jinja2 import Environment

    # Names of robots and files may hold anything: everything is escaped.
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["embedded"] = _embedded
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.filters["clean"] = printable
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(pages=pages) + "\n"


def _embedded(block: Drawn) -> str:
    """A chart as an address that holds its picture."""
    picture = draw(block)
    return f"data:{_KINDS[picture.kind]};base64,{b64encode(picture.content).decode()}"
