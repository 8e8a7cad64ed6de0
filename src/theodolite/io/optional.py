"""Readers that not everybody has installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from theodolite.errors import MissingExtraError

#: The extra that brings each library.
_EXTRAS = {"openpyxl": "tables", "pyarrow": "tables", "rosbags": "bags"}


def needed(module: str, what: str, path: Path) -> Any:
    """A library that reads ``what``, or one line that says how to get it."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"'{path}': reading {what}", _EXTRAS[package]) from error
