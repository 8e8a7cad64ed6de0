"""A running application, and a real browser to use it with."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

#: Debian's, or what others call it.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run_alone(work: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine in a thread of its own: the browser's driver keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


class Running:
    """One application in a folder of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        if "--port" not in options:
            # Two applications that start at once would find the same port free.
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                options = (*options, "--port", str(free.getsockname()[1]))
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "theodolite", "app", str(folder), "--no-browser", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Not the one that NiceGUI's own tests would use.
            env={k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "NICEGUI"))},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+?:(\d+)/", line)
        assert found is not None, line + self.process.stdout.read()
        self.address, self.port = found[0].rstrip("/"), int(found[1])
        self.start = time.monotonic() - begun

    def close(self) -> str:
        """End it; what it said."""
        self.process.terminate()
        try:
            said, _ = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            said, _ = self.process.communicate()
        return said


@pytest.fixture(scope="session")
def application(tmp_path_factory) -> Iterator[Running]:
    pytest.importorskip("nicegui")
    folder = tmp_path_factory.mktemp("cell")
    # Without a graphics card, drawing in space takes most of the time.
    look = folder / ".theodolite" / "look.json"
    look.parent.mkdir()
    look.write_text('{"space": false}')
    running = Running(folder)
    yield running
    said = running.close()
    # A browser that leaves while a page is on its way: Starlette says so in this way.
    left = "No response returned"
    wrong = [part for part in said.split("ERROR:") if "Traceback" in part and left not in part]
    assert not wrong, said[-3000:]


@pytest.fixture(scope="session")
def browsers() -> Iterator[Any]:
    """Chromium, plain and with graphics: without a card, the latter is slow."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium: the application was not tried in a browser")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        started: dict[bool, Any] = {}

        def get(*, graphics: bool) -> Any:
            if graphics not in started:
                way = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
                started[graphics] = playwright.chromium.launch(
                    executable_path=path,
                    args=["--no-sandbox", *(way if graphics else ["--disable-gpu"])],
                )
            return started[graphics]

        yield get
        for one in started.values():
            one.close()


@pytest.fixture
def page(application, browsers) -> Iterator[Any]:
    # Without graphics, a scene that could not be drawn cannot be taken down either.
    yield from _watched(application, browsers(graphics=False), tolerated="reading 'dispose'")


@pytest.fixture
def drawn_page(application, browsers) -> Iterator[Any]:
    """A page that can draw in space."""
    yield from _watched(application, browsers(graphics=True))


def _watched(application: Running, browser: Any, tolerated: str = "\n") -> Iterator[Any]:
    """A page that tolerates no error, and no request to anywhere else."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    context.set_default_timeout(120_000)
    shown = context.new_page()
    wrong: list[str] = []
    shown.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    shown.on("pageerror", lambda error: wrong.append(str(error)))

    def asked(request: Any) -> None:
        if not request.url.startswith((application.address, "data:", "blob:")):
            wrong.append(request.url)

    shown.on("request", asked)
    yield shown
    context.close()
    assert [message for message in wrong if tolerated not in message.partition("\n")[0]] == []
