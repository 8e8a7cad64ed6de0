"""Files of the folder for the browser: reports to read, nothing that runs."""

from __future__ import annotations

from nicegui import app
from starlette.responses import FileResponse, PlainTextResponse, Response

from theodolite.app.site import Site
from theodolite.app.workspace import Kind, kind_of
from theodolite.errors import InputError

#: A report is only looked at: no script, nothing from outside.
ALONE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
SHOWN = (Kind.REPORT, Kind.PICTURE)


def register(site: Site) -> None:
    @app.get("/file")
    def file(name: str) -> Response:
        try:
            path = site.workspace.path(name)
            if not path.is_file() or kind_of(path) not in SHOWN:
                raise InputError(f"there is no report or picture '{name}'")
        except (InputError, OSError) as error:
            return PlainTextResponse(str(error), status_code=404)
        headers = {"Content-Security-Policy": ALONE, "X-Content-Type-Options": "nosniff"}
        return FileResponse(path, headers=headers)
