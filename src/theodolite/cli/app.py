"""``theodolite app``: the application in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NAME = "app"


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with robots and measurements.")
    ] = Path(),
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port. Default: the first free port from 8420."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other machines need --token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(help="Access token for visitors: at least 16 letters and digits."),
    ] = None,
) -> None:
    """Open the application in a browser."""
    from theodolite.errors import MissingExtraError

    try:
        import nicegui
    except ImportError as error:
        raise MissingExtraError("the application", "app") from error
    del nicegui
    from theodolite.app.server import serve

    serve(folder, port=port, host=host, token=token, browser=browser)
