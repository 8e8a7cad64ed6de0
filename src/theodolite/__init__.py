"""Theodolite: robot calibration and identification.

Names load when first used, so that ``import theodolite`` costs little more than NumPy. What is
public is listed in `theodolite/api.py`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from theodolite import robots as robots
    from theodolite.api import *  # noqa: F403
else:
    # Hidden from type checkers, which would believe in every name.
    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return [*import_module("theodolite.api").__all__, "robots"]
        if not name.startswith("_"):
            # Modules first: what imports one of them does not need the rest.
            if find_spec(f"{__name__}.{name}") is not None:
                return import_module(f"{__name__}.{name}")
            api = import_module("theodolite.api")
            if name in api.__all__:
                # Found at once from now on.
                globals()[name] = getattr(api, name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*import_module("theodolite.api").__all__, "robots", "__version__"])
