"""Files dropped onto a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from theodolite.app.site import Site
from theodolite.app.workspace import LARGEST_UPLOAD
from theodolite.errors import TheodoliteError


def upload_area(
    site: Site,
    kept: Callable[[list[str]], Any],
    *,
    label: str = "Drop files here, or choose them",
) -> ui.upload:
    """Where files can be dropped; each is kept in the folder, and in the end all names are told."""
    names: list[str] = []

    async def take(event: Any) -> None:
        try:
            path = site.workspace.upload(event.file.name, await event.file.read())
        except TheodoliteError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        names.append(site.workspace.name(path))
        ui.notify(f"kept as {names[-1]}")

    def finish() -> None:
        # Not before the last file has come: a page that is shown anew ends what is on its way.
        if names:
            kept(names.copy())
            names.clear()

    def refuse() -> None:
        ui.notify(f"refused: a file may have {LARGEST_UPLOAD >> 20} MB", type="negative")

    shown = ui.upload(
        label=label,
        multiple=True,
        auto_upload=True,
        max_file_size=LARGEST_UPLOAD,
        on_upload=take,
        on_rejected=refuse,
    )
    shown.classes("w-full max-w-xl").props("flat bordered")
    shown.on("finish", finish)
    return shown
