"""Pages of verbs that need no more than a form and their report."""

from __future__ import annotations

from nicegui import ui

from theodolite.app.frame import USES, address, framed
from theodolite.app.panel import Panel
from theodolite.app.site import Site
from theodolite.app.upload import upload_area

#: What is asked first.
FIRST = {
    "validate": ("robot", "data", "method", "nominal"),
    "diagnose": ("robot", "data", "method"),
    "compensate": ("robot", "targets", "nominal", "out"),
    "iso9283 evaluate": ("measured", "before"),
}


def register(site: Site) -> None:
    for verb in USES:
        _register(site, verb)


def _register(site: Site, verb: str) -> None:
    where = address(verb)

    @ui.page(where)
    def page() -> None:
        with framed(site, USES[verb]):
            panel = Panel(site, where.strip("/"), verb, first=FIRST.get(verb, ()))
            with panel.beside, ui.expansion("Bring files into the folder").props("dense"):
                upload_area(site, panel.take)
