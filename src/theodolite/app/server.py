"""Serve the application, to this machine alone unless asked otherwise."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from pathlib import Path
from typing import IO

from theodolite.app.guard import LOOPBACK, Guard, rules_for
from theodolite.app.site import Site
from theodolite.app.work import Work
from theodolite.app.workspace import LARGEST_UPLOAD, Workspace
from theodolite.errors import InputError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # pragma: no cover
    flock = None  # type: ignore[assignment]

#: The first port that is tried where none is asked for.
PORT = 8420
TRIES = 50
#: Seconds after which a page that lost its connection is forgotten.
RECONNECT = 60.0
#: Fewer letters of a token can be guessed.
SHORTEST_TOKEN = 16


def serve(
    folder: Path,
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    browser: bool = True,
) -> None:
    """Serve until interrupted."""
    from nicegui import app, ui

    from theodolite.app import pages
    from theodolite.app.forgetting import SOON, forget_pages

    check_address(host, token)
    workspace = Workspace(folder)
    port = free_port(host, port)
    named = f"[{host.strip('[]')}]" if ":" in host else host
    shown = f"http://{named}:{port}/" + (f"?token={token}" if token else "")
    # Two applications in one folder would run two jobs at a time.
    lock = claim(workspace, shown)
    site = Site(workspace, Work(workspace))
    app.add_middleware(Guard, rules=rules_for(host, port, LARGEST_UPLOAD, token))
    pages.register(site)
    app.on_shutdown(site.work.stop)

    async def announce() -> None:
        await answering(host, port)
        await site.work.warm_up()
        print(f"Theodolite is at {shown} for {workspace.root}", flush=True)  # noqa: T201

    app.on_startup(announce)
    app.timer(SOON / 2, forget_pages)
    ui.run(
        host=host,
        port=port,
        title="Theodolite",
        show=shown if browser else False,
        reload=False,
        show_welcome_message=False,
        favicon="📐",
        fastapi_docs=False,
        # A lid that was closed, or a busy machine: the page goes on where it was.
        reconnect_timeout=RECONNECT,
    )
    lock.close()


async def answering(host: str, port: int) -> None:
    """Wait until the server takes connections."""
    for _ in range(1000):
        try:
            _, writer = await asyncio.open_connection(host.strip("[]"), port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return


def claim(workspace: Workspace, address: str) -> IO[str]:
    """Hold a folder for this application; refused while another one holds it."""
    lock = workspace.own("lock").open("a+", encoding="utf-8")
    try:
        if flock is not None:
            flock(lock, LOCK_EX | LOCK_NB)
    except OSError as error:
        lock.seek(0)
        other = lock.read().strip()
        lock.close()
        raise InputError(
            "another application has this folder open",
            where=str(workspace.root),
            remedy=f"Use it at {other}, or quit it" if other else "Quit it",
        ) from error
    lock.truncate(0)
    # A token is for those who were told it.
    lock.write(address.partition("?")[0] + "\n")
    lock.flush()
    return lock


def check_address(host: str, token: str | None) -> None:
    """Refuse to be reached by others without a token."""
    local = host in LOOPBACK or _is_loopback(host)
    if not local and (token is None or len(token) < SHORTEST_TOKEN):
        raise InputError(
            f"others could reach '{host}'",
            allowed=f"127.0.0.1, or a token of at least {SHORTEST_TOKEN} letters",
        )
    if token is not None and not (token.isascii() and token.isalnum()):
        raise InputError("the token holds other characters", allowed="letters and digits")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def free_port(host: str, wanted: int | None) -> int:
    """The port that was asked for, or the first that is free."""
    for port in [wanted] if wanted is not None else range(PORT, PORT + TRIES):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((host.strip("[]"), port))
                return port
            except OSError as error:
                reason = error.strerror
    raise InputError(f"port {port} of {host} cannot be used: {reason}", remedy="Ask for another")
