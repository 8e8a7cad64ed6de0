"""Built-in robots, as data files: ``robots.puma560()``, ``robots.load("puma560")``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.model.machine import Machine
    from theodolite.model.mechanism import Mechanism
    from theodolite.model.robot import Robot

SERIAL = ("puma560", "rx90", "stanford", "scara", "irb120", "ur10e", "panda", "lwr4", "everett7")
MECHANISMS = ("fourbar", "fivebar", "palletizer", "mtm", "rssr")
PARALLEL = ("h4", "h4_31", "delta", "gough", "rrr3")
NAMES = (*SERIAL, *MECHANISMS, *PARALLEL)


def text(name: str) -> str:
    """The robot file of a built-in robot."""
    from theodolite.errors import InputError

    if name not in NAMES:
        raise InputError(f"there is no built-in robot '{name}'", allowed=NAMES)
    return files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def load(name: str) -> Machine:
    """A built-in robot."""
    from theodolite.io.robot_file import parse_robot

    return parse_robot(text(name), f"built-in robot {name}")


if TYPE_CHECKING:

    def puma560() -> Robot: ...
    def rx90() -> Robot: ...
    def stanford() -> Robot: ...
    def scara() -> Robot: ...
    def irb120() -> Robot: ...
    def ur10e() -> Robot: ...
    def panda() -> Robot: ...
    def lwr4() -> Robot: ...
    def everett7() -> Robot: ...
    def fourbar() -> Mechanism: ...
    def fivebar() -> Mechanism: ...
    def palletizer() -> Mechanism: ...
    def mtm() -> Mechanism: ...
    def rssr() -> Mechanism: ...
    def h4() -> Mechanism: ...
    def h4_31() -> Mechanism: ...
    def delta() -> Mechanism: ...
    def gough() -> Mechanism: ...
    def rrr3() -> Mechanism: ...

else:
    # Hidden from type checkers, which would believe in every name.
    def __getattr__(name: str) -> Callable[[], Machine]:
        if name in NAMES:
            return partial(load, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*NAMES, "NAMES", "load", "text"])
