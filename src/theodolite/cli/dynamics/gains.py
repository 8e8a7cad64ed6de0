"""``theodolite dynamics gains``: drive gains, from runs with and without a known payload."""

from __future__ import annotations

from typing import Annotated

import typer

from theodolite.cli.dynamics.payload import LoadedArgument, WithoutArgument
from theodolite.cli.dynamics.recorded import (
    DEFAULT_FRICTION,
    CutoffOption,
    FrictionOption,
    GravityOption,
    Reader,
    TipOption,
    WholeOption,
    drives_from,
    dynamics_of,
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
    payload: Annotated[
        str,
        typer.Option(
            metavar="m,x,y,z[,...]",
            help="The payload: kg, and its centre in the flange's frame, mm; then perhaps XX, XY, "
            "XZ, YY, YZ, ZZ about the centre, kg m2.",
        ),
    ],
    friction: FrictionOption = DEFAULT_FRICTION,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    whole: WholeOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    json: JsonOption = False,
) -> None:
    """Identify drive gains in Nm/A from currents and a payload that is known."""
    import numpy as np

    from theodolite.errors import InputError
    from theodolite.inertial.drive_gains import identify_gains
    from theodolite.model.dynamics import Dynamics
    from theodolite.model.inertia import PLACES

    try:
        given = [float(item) for item in payload.replace(",", " ").split()]
    except ValueError:
        given = []
    if len(given) not in (4, 10) or not np.isfinite(given).all() or given[0] <= 0:
        raise InputError(
            f"--payload {payload!r}", allowed="4 or 10 numbers: kg, three mm, perhaps six kg m2"
        )
    inertia = np.zeros((3, 3))
    for value, (i, j) in zip(given[4:], PLACES, strict=False):
        inertia[i, j] = inertia[j, i] = value
    dynamics = dynamics_of(robot, gravity, tip)
    serial(dynamics.robot, "drive gains are identified on serial robots")
    assert isinstance(dynamics, Dynamics)
    reader = Reader(dynamics, columns, ignore, None, cutoff, whole)
    with working(f"identifying the drive gains of {dynamics.robot.name}"):
        found = identify_gains(
            dynamics,
            [reader.run(without, currents=True)],
            [reader.run(loaded, loaded=True, currents=True)],
            dynamics.payload(given[0], 1e-3 * np.array(given[1:4]), inertia),
            drives=drives_from(friction, rotors=True),
        )
    screen = console(json=json)
    for joint, (gain, error) in enumerate(zip(found.gains, found.errors, strict=True)):
        screen.print(f"joint {joint + 1}: {gain:.3f} +- {1.96 * error:.3f} Nm/A")
    screen.print(found.status.value)
    if json:
        print_json(
            {
                "gains_Nm_A": found.gains.tolist(),
                "stderr_Nm_A": found.errors.tolist(),
                "status": found.status.name.lower(),
            }
        )
    if not found.status.good:
        raise typer.Exit(1)
