"""Which of a machine's targets touches."""

from __future__ import annotations

from dataclasses import replace

from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism


def aimed(robot: Machine, target: str | None, where: str) -> Machine:
    """The machine with one of its targets as the first: that is what touches."""
    if target is None:
        return robot
    names = robot.target_names
    if target not in names:
        raise InputError(
            f"robot '{robot.name}' has no target '{target}'",
            where=where,
            allowed=[repr(name) for name in names],
        )
    if isinstance(robot, Mechanism):
        return robot.with_first_tool(target)
    first = robot.targets[names.index(target)]
    return replace(robot, targets=(first, *(one for one in robot.targets if one is not first)))
