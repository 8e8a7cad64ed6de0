"""The documentation that is shipped with the package, read in the application."""

from __future__ import annotations

from itertools import groupby

from nicegui import app, ui
from starlette.responses import FileResponse, PlainTextResponse, Response

from theodolite.app import documentation
from theodolite.app.frame import framed
from theodolite.app.panel import show_message
from theodolite.app.site import Site


def register(site: Site) -> None:
    @app.get("/documentation/pictures/{name}")
    def shown(name: str) -> Response:
        path = documentation.picture(name)
        if path is None:
            return PlainTextResponse("there is no such picture", status_code=404)
        return FileResponse(path, headers={"X-Content-Type-Options": "nosniff"})

    @ui.page("/documentation")
    def contents() -> None:
        with framed(site, "Documentation"):
            if not documentation.pages():
                show_message("the documentation was not installed with this package")
            for part, some in groupby(documentation.pages(), key=lambda page: page.part):
                ui.label(part).classes("text-h6")
                with ui.column().classes("gap-1"):
                    for page in some:
                        ui.link(page.title, f"/documentation/{page.name}")

    @ui.page("/documentation/{name:path}")
    def page(name: str) -> None:
        with framed(site, "Documentation"):
            text = documentation.text_of(name)
            if text is None:
                show_message(f"there is no page '{name}'")
                return
            ui.link("All pages", "/documentation")
            ui.markdown(text, extras=["fenced-code-blocks", "tables"]).classes("max-w-4xl")
