"""Theodolite: robot calibration and identification.

Names load when first used, so that ``import theodolite`` costs little more than NumPy. What is
public stands in `theodolite/api.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from theodolite import robots as robots
    from theodolite.api import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "robots":
        return import_module("theodolite.robots")
    api = import_module("theodolite.api")
    if name == "__all__" or name in api.__all__:
        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*import_module("theodolite.api").__all__, "robots", "__version__"])
