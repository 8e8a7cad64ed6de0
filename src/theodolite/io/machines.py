"""A robot by what people call it: a robot file, a URDF, a saved result, or a built-in one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.model.machine import Machine


def is_urdf(text: str) -> bool:
    """Is a robot given as a URDF file?"""
    return Path(text).suffix.lower() in (".urdf", ".xml")


def holds_robot(path: Path) -> bool:
    """Is a file that is there a robot, as far as its name says?"""
    from theodolite.io.result_file import is_result

    return path.suffix.lower() in (".toml", ".urdf", ".xml", ".json") or is_result(path)


def machine_named(text: str, *, tip: str | None = None, any_tip: bool = False) -> Machine:
    """A robot from a file (robot file, URDF, or a result saved with it), or a built-in one."""
    # Asked for by every verb, but only when it runs: help is quick.
    from theodolite import robots
    from theodolite.errors import InputError
    from theodolite.io.result_file import is_result, read_result
    from theodolite.io.robot_file import read_robot
    from theodolite.io.urdf import read_urdf
    from theodolite.io.writing import exists

    path = Path(text)
    if is_urdf(text):
        return read_urdf(path, tip=tip, any_tip=any_tip)
    if is_result(path):
        return read_result(path).robot
    if path.suffix or exists(path):
        return read_robot(path)
    if text not in robots.NAMES:
        raise InputError(f"'{text}' is neither a file nor a built-in robot", allowed=robots.NAMES)
    return robots.load(text)
