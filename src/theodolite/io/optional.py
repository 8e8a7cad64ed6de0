"""Readers that not everybody has installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from theodolite.errors import InputError


def needed(module: str, what: str, path: Path) -> Any:
    """A library that reads ``what``, or one line that says how to get it."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"reading {what} needs {package}, which is not installed",
            where=str(path),
            remedy=f"Type: pip install {package}",
        ) from error
