"""Pictures: bring them, see what was found in each, then calibrate."""

from __future__ import annotations

from nicegui import ui

from theodolite.app.frame import framed, robot_choice
from theodolite.app.pages.views import show_identified
from theodolite.app.panel import Panel, page_of
from theodolite.app.site import Site
from theodolite.app.upload import upload_area
from theodolite.app.workspace import Kind, kind_of

#: Pictures that are shown side by side.
SHOWN = 60


def register(site: Site) -> None:
    @ui.page("/camera")
    def camera(robot: str = "") -> None:
        with framed(site, "Camera"):
            chosen = robot_choice(site, "/camera", asked=robot)
            ui.label(
                "1. Bring the pictures and a table that says at which joints each was taken "
                "(column 'picture'). 2. Calibrate the lens, if it is not known. 3. Identify; into "
                "the folder of Drawings each picture is written with its marks and errors."
            ).classes("max-w-4xl")
            upload_area(site, lambda names: brought(names), label="Drop pictures here")
            with ui.expansion("The lens").classes("w-full"):
                Panel(site, "camera/lens", "lens", action="Calibrate the lens")
            with ui.expansion("The robot", value=True).classes("w-full"):
                panel = Panel(
                    site,
                    page_of("camera/identification", chosen),
                    "identify",
                    given={"robot": chosen, "method": "camera"},
                    first=("data", "images", "board", "lens", "mount", "drawings", "seed"),
                    hidden=("sources", "plane", "line", "radius_mm", "between", "tool_turn", "out"),
                    view=show_identified,
                    action="Identify",
                )
            seen = ui.column().classes("w-full")

            def brought(names: list[str]) -> None:
                """Pictures lie in the workspace itself; a table beside them holds the joints."""
                kinds = {name: kind_of(site.workspace.path(name)) for name in names}
                if Kind.PICTURE in kinds.values():
                    panel.form.set("images", ["."])
                tables = [name for name, kind in kinds.items() if kind is Kind.DATA]
                if tables:
                    panel.form.set("data", tables)
                seen.clear()
                with seen:
                    _pictures(site)

            with seen:
                _pictures(site)


def _pictures(site: Site) -> None:
    from urllib.parse import urlencode

    names = site.workspace.files(Kind.PICTURE)
    with ui.expansion(f"Pictures in the folder: {len(names)}").classes("w-full"), ui.row():
        for name in names[:SHOWN]:
            with ui.column().classes("gap-0"):
                ui.image(f"/file?{urlencode({'name': name})}").classes("w-48").props("loading=lazy")
                ui.label(name).classes("text-caption")
