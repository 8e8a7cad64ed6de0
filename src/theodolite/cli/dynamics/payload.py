"""``theodolite dynamics payload``: what the robot carries, from runs with and without it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.dynamics.bags import JointNamesOption, TopicOption, choose_from_bags
from theodolite.cli.dynamics.options import (
    AUTO,
    DEFAULT_STRIBECK,
    ChosenFrictionOption,
    CutoffOption,
    GainsOption,
    GravityOption,
    KeepRestOption,
    RecordingReader,
    SkipBadOption,
    StribeckOption,
    TipOption,
    choose_drives,
    load_dynamics,
)
from theodolite.cli.options import (
    ColumnsOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
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
    friction: ChosenFrictionOption = AUTO,
    drive_gains: GainsOption = None,
    stribeck_speed: StribeckOption = DEFAULT_STRIBECK,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    keep_rest: KeepRestOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    skip_bad: SkipBadOption = False,
    topic: TopicOption = None,
    joint_names: JointNamesOption = None,
    json: JsonOption = False,
) -> None:
    """Identify mass, centre of mass and inertia of a payload, in the frame of the tip."""
    from theodolite.dynamics.payload import identify_payload
    from theodolite.report.dynamics import payload_data, show_payload, show_remarks

    dynamics = load_dynamics(robot, gravity, tip, stribeck_speed, any_tip=False)
    reader = RecordingReader(
        dynamics,
        columns,
        ignore,
        drive_gains,
        skip_bad,
        choose_from_bags(robot, topic, joint_names, tip),
    )
    with working(f"identifying what {dynamics.name} carries"):
        payload = identify_payload(
            dynamics,
            reader.read(without),
            reader.read(loaded),
            drives=choose_drives(friction, rotors=True, dynamics=dynamics),
            cutoff=cutoff,
            trim=not keep_rest,
            gain_errors=reader.gain_errors(),
        )
    screen = console(json=json)
    show_payload(screen, payload, dynamics.robot.source)
    notes = []
    if drive_gains is not None and reader.gain_errors() is None:
        notes.append(
            "how certain the drive gains are is not known, so their errors are not in these "
            "intervals: a gain that is 1 % off weighs 1 % off"
        )
    show_remarks(screen, notes, payload.warnings)
    if json:
        print_json(payload_data(payload))
    if not payload.good:
        raise typer.Exit(1)
