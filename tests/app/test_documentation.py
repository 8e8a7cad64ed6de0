"""Pages of the documentation in the application: all are there, and links lead to pages."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from theodolite.app import documentation
from theodolite.calibration.catalogue import METHODS

ROOT = Path(__file__).parents[2]


def test_every_link_of_every_page_leads_somewhere() -> None:
    names = {page.name for page in documentation.pages()}
    assert {"getting-started.md", "how-to/outliers.md", "explanation/whole-error.md"} <= names
    for name in names:
        text = documentation.text_of(name)
        assert text is not None
        for target in re.findall(r"\]\((/documentation/[^)#]+)", text):
            inner = target.removeprefix("/documentation/")
            if inner.startswith("pictures/"):
                assert documentation.picture(inner.removeprefix("pictures/")) is not None, target
            else:
                assert inner in names, (name, target)


@pytest.mark.parametrize("name", ["../pyproject.toml", "none.md", "/etc/passwd", "pictures", ""])
def test_nothing_but_pages_is_shown(name: str) -> None:
    assert documentation.text_of(name) is None
    assert documentation.picture(name) is None


def test_every_method_has_a_page() -> None:
    assert all(documentation.page_about(method) for method in METHODS)


def test_the_pages_are_in_the_wheel(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    for page in documentation.pages():
        assert f"theodolite/documentation/{page.name}" in inside
