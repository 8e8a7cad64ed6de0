"""``theodolite dynamics gains``: drive gains, from runs with and without a known payload."""

from __future__ import annotations

import typer

from theodolite.cli.dynamics.payload import LoadedArgument, WithoutArgument
from theodolite.cli.dynamics.recorded import (
    DEFAULT_FRICTION,
    DEFAULT_STRIBECK,
    CutoffOption,
    FrictionOption,
    GravityOption,
    PayloadOption,
    Reader,
    StribeckOption,
    TipOption,
    WholeOption,
    drives_from,
    dynamics_of,
    show_doubts,
    solid_from,
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

NAME = "gains"


def command(
    robot: RobotArgument,
    without: WithoutArgument,
    loaded: LoadedArgument,
    payload: PayloadOption = None,
    friction: FrictionOption = DEFAULT_FRICTION,
    stribeck_speed: StribeckOption = DEFAULT_STRIBECK,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    whole: WholeOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    json: JsonOption = False,
) -> None:
    """Identify drive gains in Nm/A from currents and a payload that is known."""
    from theodolite.dynamics.drive_gains import identify_gains
    from theodolite.dynamics.serial import Dynamics
    from theodolite.errors import InputError

    if payload is None:
        raise InputError("--payload is missing", remedy="Currents need a load that is known")
    solid = solid_from(payload)
    # The payload is given in the frame of the tip, so there must be just one.
    dynamics = dynamics_of(robot, gravity, tip, stribeck_speed, any_tip=False)
    serial(dynamics.robot, "drive gains are identified on serial robots")
    assert isinstance(dynamics, Dynamics)
    reader = Reader(dynamics, columns, ignore, None, cutoff, whole)
    with working(f"identifying the drive gains of {dynamics.robot.name}"):
        before = reader.runs(without, currents=True)
        after = reader.runs(loaded, currents=True, cutoff=before[0].cutoff)
        found = identify_gains(
            dynamics,
            before,
            after,
            dynamics.payload(*solid),
            drives=drives_from(friction, rotors=True),
        )
    screen = console(json=json)
    for joint, (gain, width) in enumerate(zip(found.gains, found.half_widths, strict=True)):
        screen.print(f"joint {joint + 1}: {gain:.3f} +- {width:.3f} Nm/A")
    screen.print(found.status.value)
    said = show_doubts(screen, [*before, *after], dynamics)
    weak = found.doubts(dynamics.motor_names)
    for doubt in weak:
        screen.print(f"[yellow]{doubt}[/yellow]")
    said += weak
    if json:
        print_json(
            {
                "gains_Nm_A": found.gains.tolist(),
                "stderr_Nm_A": found.errors.tolist(),
                "status": found.status.name.lower(),
                "doubts": said,
            }
        )
    if said or not found.status.good:
        raise typer.Exit(1)
