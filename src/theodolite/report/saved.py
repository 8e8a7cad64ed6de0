"""The page of a saved result, whatever it is a result of."""

from __future__ import annotations

from pathlib import Path

from theodolite.io.dynamics_file import FORMAT as DYNAMICS
from theodolite.io.dynamics_file import read_curves, read_dynamics
from theodolite.io.result_file import json_object, read_result
from theodolite.report.calibration_page import calibration_page
from theodolite.report.dynamics_page import dynamics_page
from theodolite.report.page import Page


def page_of(path: Path) -> Page:
    """A report from a file that a verb kept."""
    content = json_object(path)
    if content.get("format") == DYNAMICS:
        # Checked as every reader of such files checks it.
        read_dynamics(path)
        return dynamics_page(content, read_curves(content))
    return calibration_page(read_result(path))
