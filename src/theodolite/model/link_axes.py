"""Axes of the links in the world, for moments of gravity about them.

z is the axis of the joint that moves the link, x and y are perpendicular to it and move with the
link. Further terms have no part in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from theodolite.arrays import FloatArray

if TYPE_CHECKING:
    from theodolite.model.mechanism import Mechanism
    from theodolite.model.robot import Robot


def axes_in_table(robot: Robot, motors: FloatArray) -> dict[str, FloatArray]:
    """Axes of the links of a serial robot, (3, n) each, by names such as ``z2``."""
    rigid = robot.without_terms()
    motion = rigid.motion(rigid.values, motors)
    return {
        name: motion.frame(link)[place]
        for link, (_, axis) in enumerate(rigid.skeleton.joints, start=1)
        for name, place in _named(link, axis)
    }


def axes_in_tree(machine: Mechanism, motors: FloatArray) -> dict[str, FloatArray]:
    """Axes of the links of a tree; NaN where a joint on the way was not recorded."""
    rigid = machine.without_terms()
    basis = rigid.basis(motors)
    found = {}
    for link in range(1, machine.joints + 1):
        chain, axis = rigid.chain_to_joint(link)
        rotation = chain.motion(rigid.values, basis).rotation
        for name, place in _named(link, axis):
            found[name] = rotation[:, :, place].T
    return found


def _named(link: int, axis: int) -> Iterator[tuple[str, int]]:
    for letter, turn in zip("zxy", range(3), strict=True):
        yield f"{letter}{link}", (axis + turn) % 3
