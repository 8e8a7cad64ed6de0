"""``theodolite dynamics gains``: drive gains, from runs with and without a known payload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.dynamics.bags import JointNamesOption, TopicOption, choose_from_bags
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
from theodolite.cli.dynamics.payload import WithoutArgument
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
    working,
    wrote,
)

if TYPE_CHECKING:
    from theodolite.dynamics.inertia import RigidBody

NAME = "gains"


def command(
    robot: RobotArgument,
    without: WithoutArgument,
    loaded: Annotated[
        Path | None,
        typer.Argument(
            metavar="[WITH]",
            help="A recording with the payload. Without it, the first recording must hold torques "
            "and currents.",
        ),
    ] = None,
    payload: PayloadOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the gains and their covariance as JSON."),
    ] = None,
    friction: FrictionOption = DEFAULT_FRICTION,
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
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Identify drive gains in Nm/A from currents and a known payload, or from torques."""
    from theodolite.dynamics.current_ratio import gains_from_torques
    from theodolite.dynamics.drive_gains import identify_gains
    from theodolite.errors import InputError
    from theodolite.io.gains_file import write_gains
    from theodolite.io.writing import check_outputs
    from theodolite.report.dynamics import gains_data, show_gains, show_remarks

    inputs = [Path(robot), without, *([] if loaded is None else [loaded])]
    check_outputs([out], force=force, inputs=inputs)
    if (payload is None) != (loaded is None):
        raise InputError(
            "--payload and a recording with it belong together",
            remedy="Give both; or neither, with a recording that holds torques and currents",
        )
    body = None if payload is None else _known(payload)
    # A whole payload is given in the frame of the tip, so there must be just one.
    dynamics = load_dynamics(
        robot, gravity, tip, stribeck_speed, any_tip=body is None or isinstance(body, float)
    )
    reader = RecordingReader(
        dynamics, columns, ignore, None, skip_bad, choose_from_bags(robot, topic, joint_names, tip)
    )
    with working(f"identifying the drive gains of {dynamics.name}"):
        if loaded is None or body is None:
            gains = gains_from_torques(
                dynamics,
                reader.read(without),
                reader.read(without, currents=True),
                trim=not keep_rest,
            )
        else:
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
    if out is not None:
        write_gains(out, gains, dynamics.name, force=force)
        wrote(screen, out)
    show_remarks(screen, (), gains.warnings)
    if json:
        print_json(gains_data(gains))
    if not gains.good:
        raise typer.Exit(1)


def _known(text: str) -> RigidBody | float:
    """The whole payload, or its mass alone."""
    try:
        return float(text)
    except ValueError:
        return parse_body(text)
