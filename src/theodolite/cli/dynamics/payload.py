"""``theodolite dynamics payload``: what the robot carries, from runs with and without it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.dynamics.recorded import (
    DEFAULT_FRICTION,
    DEFAULT_STRIBECK,
    CutoffOption,
    FrictionOption,
    GainsOption,
    GravityOption,
    Reader,
    StribeckOption,
    TipOption,
    WholeOption,
    drives_from,
    dynamics_of,
    show_doubts,
)
from theodolite.cli.options import (
    ColumnsOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
    serial,
    working,
)

NAME = "payload"

WithoutArgument = Annotated[
    Path, typer.Argument(metavar="WITHOUT", help="A recording without the payload.")
]
LoadedArgument = Annotated[
    Path, typer.Argument(metavar="WITH", help="A recording with the payload.")
]


def command(
    robot: RobotArgument,
    without: WithoutArgument,
    loaded: LoadedArgument,
    friction: FrictionOption = DEFAULT_FRICTION,
    drive_gains: GainsOption = None,
    stribeck_speed: StribeckOption = DEFAULT_STRIBECK,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    whole: WholeOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    json: JsonOption = False,
) -> None:
    """Identify mass, centre and inertia of a payload, in the frame of the robot's tip."""
    from theodolite.dynamics.payload import identify_payload
    from theodolite.dynamics.serial import Dynamics
    from theodolite.report.dynamics import payload_data, show_payload

    dynamics = dynamics_of(robot, gravity, tip, stribeck_speed)
    serial(dynamics.robot, "a payload is identified on serial robots")
    assert isinstance(dynamics, Dynamics)
    reader = Reader(dynamics, columns, ignore, drive_gains, cutoff, whole)
    with working(f"identifying what {dynamics.robot.name} carries"):
        before = reader.runs(without)
        after = reader.runs(loaded, cutoff=before[0].cutoff)
        found = identify_payload(dynamics, before, after, drives=drives_from(friction, rotors=True))
    screen = console(json=json)
    show_payload(screen, found, dynamics.robot.source)
    said = show_doubts(screen, [*before, *after], dynamics)
    if json:
        print_json(payload_data(found) | {"doubts": said})
    if said or not found.seen:
        raise typer.Exit(1)
