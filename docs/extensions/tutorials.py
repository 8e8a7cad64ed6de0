"""Sphinx extension: tutorials are run when the site is built.

The blocks of a page in ``tutorials/`` run in ``tutorials/_run/NAME``, where the page finds the
pictures that its commands draw. A command that does not print what the page shows is a warning, and
warnings are errors. Lines that end in an omission, because their figures depend on the machine, are
shown as they were printed.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from commands import run_page
from comparing import filled

FOLDER = "tutorials/"
_LOG = logging.getLogger(__name__)


def run_tutorial(app: Sphinx, name: str, source: list[str]) -> None:
    """Run a page that is about to be read."""
    if not name.startswith(FOLDER):
        return
    folder = Path(app.srcdir) / FOLDER / "_run" / name.removeprefix(FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = run_page(source[0], folder, folder.parents[1])
    for difference in run.differences:
        _LOG.warning("%s", difference, location=(name, difference.line + 1))
    lines = source[0].splitlines()
    for output in run.outputs:
        lines[output.start : output.end] = filled(output.shown, output.real)
    source[0] = "\n".join(lines) + "\n"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", run_tutorial)
    return {"parallel_read_safe": False}
