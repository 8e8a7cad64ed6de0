"""The server itself: what it refuses, how it starts, and that it does not grow."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.app.conftest import Running
from tests.quick import some_of
from theodolite.app.forgetting import SOON

#: One process starts the application and the browser.
pytestmark = pytest.mark.xdist_group("browser")


def ask(address: str, **headers: str) -> tuple[int, str]:
    try:
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_only_its_own_pages_are_served(application):
    assert ask(application.address + "/")[0] == 200
    assert ask(application.address + "/", Host="evil.example")[0] == 403
    assert ask(application.address + "/", Origin="http://evil.example")[0] == 403
    socket = application.address + "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert ask(socket, Origin="http://evil.example")[0] == 403
    assert ask(socket, Host="evil.example")[0] == 403


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.html", "%2e%2e%2fsecret.html", "..%2fsecret.html", "/etc/passwd", "link.html"),
        *("%2Fetc%2Fpasswd", "..%5csecret.html", "folder/../../secret.html", "robot.toml", ""),
        *(".theodolite/chosen.json", "%00.html"),
    ],
)
def test_files_outside_are_not_served(application, name):
    (application.folder.parent / "secret.html").write_text("secret")
    link = application.folder / "link.html"
    if not link.is_symlink():
        link.symlink_to(application.folder.parent / "secret.html")
    (application.folder / "robot.toml").write_text("secret")
    status, content = ask(f"{application.address}/file?name={name}")
    assert status in (404, 422)
    assert "secret" not in content.replace("secret.html", "")


def test_reports_cannot_run_anything(application):
    (application.folder / "report.html").write_text("<script>alert(1)</script>")
    with urllib.request.urlopen(f"{application.address}/file?name=report.html") as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy


def test_one_application_for_one_folder(application):
    command = [sys.executable, "-m", "theodolite", "app", str(application.folder), "--no-browser"]
    second = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert second.returncode == 2
    assert application.address in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    "options", [("--host", "0.0.0.0"), ("--host", "0.0.0.0", "--token", "short"), ("--port", "0")]
)
def test_what_would_be_open_is_refused(tmp_path, options):
    command = [sys.executable, "-m", "theodolite", "app", str(tmp_path), "--no-browser", *options]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert outcome.returncode == 2
    assert "Traceback" not in outcome.stderr


def _memory(process: int) -> float:
    """Resident memory, MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError


def _loads(running: Running, count: int) -> float:
    """How much memory grows over page loads, MB."""
    pages = ("/", "/robot", "/method/position/identification", "/use/compensate", "/help")
    # The first loads fill caches, which stay; their pages are forgotten.
    for page in pages * 4:
        assert ask(running.address + page)[0] == 200
    before = _memory(running.process.pid)
    for number in range(count):
        assert ask(running.address + pages[number % len(pages)])[0] == 200
    # Pages that no browser came back for are forgotten.
    time.sleep(3 * SOON)
    return _memory(running.process.pid) - before


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("count", some_of([10, 500], [10]))
def test_page_loads_leave_no_memory_behind(tmp_path, count):
    running = Running(tmp_path)
    try:
        assert _loads(running, count) < 50.0
    finally:
        running.close()
