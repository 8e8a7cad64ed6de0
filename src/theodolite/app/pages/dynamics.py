"""Dynamics: what torques determine, motions that excite it, identification, payload."""

from __future__ import annotations

from nicegui import ui

from theodolite.app.explanations import DYNAMICS as EXPLAINED
from theodolite.app.frame import DYNAMICS, framed, robot_choice
from theodolite.app.pages.motion import show_excited
from theodolite.app.panel import Panel, page_of
from theodolite.app.site import Site
from theodolite.app.upload import upload_area

FIRST = {
    "identifiable": (),
    "excite": ("out", "duration", "harmonics"),
    "identify": ("data", "out"),
    "validate": ("parameters", "data"),
    "payload": ("without", "loaded"),
}


def register(site: Site) -> None:
    for verb in DYNAMICS:
        _register(site, verb)


def _register(site: Site, verb: str) -> None:
    @ui.page(f"/dynamics/{verb}")
    def page(robot: str = "") -> None:
        with framed(site, f"Dynamics: {DYNAMICS[verb].lower()}"):
            ui.label(EXPLAINED).classes("text-body2 max-w-4xl")
            chosen = robot_choice(site, f"/dynamics/{verb}", asked=robot)
            panel = Panel(
                site,
                page_of(f"dynamics/{verb}", chosen),
                f"dynamics {verb}",
                given={"robot": chosen},
                first=FIRST[verb],
                view=show_excited if verb == "excite" else None,
            )
            with panel.beside, ui.expansion("Bring files into the folder").props("dense"):
                upload_area(site, panel.take)
