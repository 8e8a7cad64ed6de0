"""Pictures of the application for its page: taken from the running application in Chromium.

python docs/pictures/make_application.py FOLDER [ROBOT ...]
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from playwright.sync_api import sync_playwright

from theodolite import robots

SIZE = {"width": 1280, "height": 720}
#: Size of the picture of one robot, and how many stand side by side.
TILE, ACROSS = (240, 205), 5


def main(folder: Path, names: list[str]) -> None:
    workspace = Path(tempfile.mkdtemp())
    server = subprocess.Popen(
        [sys.executable, "-m", "theodolite", "app", str(workspace), "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    found = re.search(r"http://\S+?:\d+", server.stdout.readline())
    assert found is not None
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
            )
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(60_000)
            if names:
                drawings(page, found[0], names, folder)
            else:
                tour(page, found[0], workspace, folder)
            browser.close()
    finally:
        server.terminate()


def drawings(page: Any, address: str, names: list[str], folder: Path) -> None:
    """Robots as they are drawn, in one picture."""
    tiles = []
    for name in names:
        page.goto(f"{address}/robot?robot={name}")
        canvas = page.locator("canvas").first
        canvas.wait_for()
        page.wait_for_timeout(2500)
        picture = cv2.imdecode(np.frombuffer(canvas.screenshot(), np.uint8), cv2.IMREAD_COLOR)
        tile = cv2.resize(picture, TILE, interpolation=cv2.INTER_AREA)
        cv2.putText(tile, name, (8, 18), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 1, cv2.LINE_AA)
        tiles.append(tile)
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % ACROSS)
    rows = [np.hstack(tiles[at : at + ACROSS]) for at in range(0, len(tiles), ACROSS)]
    cv2.imwrite(str(folder / "application-drawings.png"), np.vstack(rows))


def tour(page: Any, address: str, workspace: Path, folder: Path) -> None:
    """The steps of a calibration."""
    page.goto(f"{address}/robot?robot=puma560")
    page.locator("canvas").first.wait_for()
    page.wait_for_timeout(2500)
    page.screenshot(path=folder / "application-robot.png")
    filled(workspace, "method-position-points", out="data.csv", noise_mm=0.05, error_mm=1.0)
    page.goto(f"{address}/method/position/points")
    page.get_by_role("button", name="Generate").click()
    page.get_by_text("wrote data.csv").wait_for()
    page.wait_for_timeout(2500)
    page.screenshot(path=folder / "application-points.png")
    page.goto(f"{address}/method/position/identifiable")
    page.get_by_role("button", name="Analyse").click()
    page.get_by_text("identifiable; condition").wait_for()
    page.wait_for_timeout(1500)
    page.screenshot(path=folder / "application-identifiable.png")
    filled(workspace, "method-position-identification", data=["data.csv"])
    page.goto(f"{address}/method/position/identification")
    page.get_by_role("button", name="Identify", exact=True).click()
    page.get_by_text("Errors before and after").wait_for()
    page.wait_for_timeout(2500)
    page.mouse.wheel(0, 330)
    page.wait_for_timeout(800)
    page.screenshot(path=folder / "application-identified.png")
    filled(workspace, "method-position-design", out="plan.csv", points=20)
    page.goto(f"{address}/method/position/design")
    page.get_by_role("button", name="Design", exact=True).click()
    page.get_by_text("measurements chosen from").wait_for()
    page.wait_for_timeout(2500)
    page.mouse.wheel(0, 250)
    page.wait_for_timeout(800)
    page.screenshot(path=folder / "application-design.png")


def filled(workspace: Path, page: str, **values: Any) -> None:
    """What somebody filled in before."""
    path = workspace / ".theodolite" / "forms" / f"{page}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


if __name__ == "__main__":
    asked = sys.argv[2:]
    main(Path(sys.argv[1]), list(robots.NAMES) if asked == ["all"] else asked)
