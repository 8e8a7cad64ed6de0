"""The first page: what is in the folder, and where to begin."""

from __future__ import annotations

from nicegui import ui

from theodolite.app.frame import MENUS, framed
from theodolite.app.site import Site
from theodolite.app.upload import upload_area
from theodolite.app.workspace import Kind

#: Files of each kind that are listed here.
LISTED = 30


def register(site: Site) -> None:
    @ui.page("/")
    def home() -> None:
        with framed(site, "Calibrate a robot"):
            ui.label(f"Folder: {site.workspace.root}").classes("font-mono text-caption")
            with ui.row().classes("w-full gap-4 items-stretch"):
                _begin()
                for kind in (Kind.ROBOT, Kind.DATA, Kind.RESULT, Kind.REPORT):
                    _files(site, kind)
            upload_area(site, lambda names: ui.navigate.reload())


def _begin() -> None:
    with ui.card().props("flat bordered").classes("w-80"):
        ui.label("Where to begin").classes("text-subtitle1")
        ui.label("1. Choose or describe your robot.")
        ui.link("Robot", "/robot")
        ui.label("2. Choose how it is measured: what can be identified, and which points.")
        for method, words in MENUS.items():
            ui.link(words, f"/method/{method}")
        ui.label("3. Identify, and save the calibrated robot.")


def _files(site: Site, kind: Kind) -> None:
    names = site.workspace.files(kind)
    with ui.card().props("flat bordered").classes("w-80"):
        ui.label(kind.value.capitalize()).classes("text-subtitle1")
        if not names:
            ui.label("none yet").classes("text-caption")
        for name in names[:LISTED]:
            if kind is Kind.ROBOT:
                ui.link(name, _with("/robot", robot=name))
            elif kind is Kind.REPORT:
                ui.link(name, _with("/file", name=name), new_tab=True)
            else:
                ui.label(name)
        if len(names) > LISTED:
            ui.label(f"and {len(names) - LISTED} more").classes("text-caption")


def _with(address: str, **query: str) -> str:
    from urllib.parse import urlencode

    return f"{address}?{urlencode(query)}"
