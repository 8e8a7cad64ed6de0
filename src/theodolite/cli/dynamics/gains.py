"""``theodolite dynamics gains``: drive gains, from runs with and without a known payload."""

from __future__ import annotations

import typer

from theodolite.cli.dynamics.options import (
    DEFAULT_FRICTION,
    DEFAULT_STRIBECK,
    CutoffOption,
    FrictionOption,
    GravityOption,
    KeepRestOption,
    PayloadOption,
    RecordingReader,
    SkipBadOption,
    StribeckOption,
    TipOption,
    load_dynamics,
    parse_body,
    parse_drives,
)
from theodolite.cli.dynamics.payload import LoadedArgument, WithoutArgument
from theodolite.cli.options import (
    ColumnsOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
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
    keep_rest: KeepRestOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    skip_bad: SkipBadOption = False,
    json: JsonOption = False,
) -> None:
    """Identify drive gains in Nm/A from currents and a known payload."""
    from theodolite.dynamics.drive_gains import identify_gains
    from theodolite.errors import InputError
    from theodolite.report.dynamics import gains_data, show_gains, show_remarks

    if payload is None:
        raise InputError("--payload is missing", remedy="Drive gains need a known payload")
    body = parse_body(payload)
    # The payload is given in the frame of the tip, so there must be just one.
    dynamics = load_dynamics(robot, gravity, tip, stribeck_speed, any_tip=False)
    reader = RecordingReader(dynamics, columns, ignore, None, skip_bad)
    with working(f"identifying the drive gains of {dynamics.name}"):
        gains = identify_gains(
            dynamics,
            reader.read(without, currents=True),
            reader.read(loaded, currents=True),
            body,
            drives=parse_drives(friction, rotors=True),
            cutoff=cutoff,
            trim=not keep_rest,
        )
    screen = console(json=json)
    show_gains(screen, gains)
    show_remarks(screen, (), gains.warnings)
    if json:
        print_json(gains_data(gains))
    if not gains.good:
        raise typer.Exit(1)
