"""The site builds without a warning, runs its tutorials, and needs nothing from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import building
import pages
import theodolite as th
from commands import PROJECT

TUTORIALS = sorted((PROJECT / "docs" / "tutorials").glob("*.md"))


def built(folder: Path) -> Path:
    """The site, built as ``make docs`` does. The build runs the tutorials and compares."""
    run = subprocess.run(
        [sys.executable, PROJECT / "docs" / "extensions" / "building.py", folder],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def test_the_site_is_whole(tmp_path: Path) -> None:
    """One test, so that one process builds the site, once."""
    site, docs = built(tmp_path / "docs"), PROJECT / "docs"
    for path in pages.all_pages(PROJECT)[1:]:
        assert (site / path.relative_to(docs).with_suffix(".html")).is_file()
    # Tutorials show the pictures of their run.
    wanted = re.findall(r"\(_run/([^)]+)\)", "".join(path.read_text() for path in TUTORIALS))
    assert len(wanted) >= 3
    for picture in wanted:
        assert (site / "_images" / Path(picture).name).stat().st_size > 5000
    # The reader of a tutorial sees the figures of the run where the page omits them.
    text = (site / "tutorials" / "ur10e-dynamics.html").read_text(encoding="utf-8")
    assert re.search(r"condition number \d+\.\d\d of the 58 scaled base columns", text)
    # Every public name is documented.
    text = (site / "reference" / "python-api.html").read_text(encoding="utf-8")
    assert not [name for name in th.__all__ if f'id="theodolite.{name}"' not in text]
    assert not list(building.outside_assets(site))


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="missing.png">',
    ],
)
def test_assets_from_outside_are_noticed(html: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(html)
    assert list(building.outside_assets(tmp_path))


def test_links_to_other_sites_are_no_assets(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<a href="https://doi.org/10.1016">paper</a>')
    assert not list(building.outside_assets(tmp_path))


def test_a_tutorial_that_prints_something_else_fails(tmp_path: Path) -> None:
    from commands import run_page

    text = (PROJECT / "docs" / "tutorials" / "tracker.md").read_text(encoding="utf-8")
    first = text[: text.index("## What a tracker can see")]
    assert not run_page(first, tmp_path, tmp_path).differences
    (tmp_path / "irb120.toml").unlink()
    assert run_page(first.replace("6 joints", "7 joints"), tmp_path, tmp_path).differences
