"""Options of recordings in bags, and how they become what is taken from a bag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.io.machines import is_urdf
from theodolite.io.naming import name_list

if TYPE_CHECKING:
    from theodolite.io.bags import BagChoice

TopicOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Topic of joint states, in bags. Default: the one that holds the robot's joints.",
    ),
]
JointNamesOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        help="The robot's joints as a bag calls them, in the robot's order. Default: the names in "
        "the URDF, otherwise q1,q2,...",
    ),
]


def choose_from_bags(
    robot: str, topic: str | None, joint_names: str | None, tip: str | None = None
) -> BagChoice:
    """What to take from bags; the joints of a URDF are called as it says."""
    from theodolite.io.bags import BagChoice
    from theodolite.io.urdf import moving_joints

    if joint_names is not None:
        return BagChoice(topic, tuple(name_list(joint_names)))
    return BagChoice(topic, moving_joints(Path(robot), tip) if is_urdf(robot) else ())
