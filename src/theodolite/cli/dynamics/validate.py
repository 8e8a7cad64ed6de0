"""``theodolite dynamics validate``: how well identified parameters predict another recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.dynamics.recorded import (
    CutoffOption,
    GainsOption,
    GravityOption,
    PayloadOption,
    Reader,
    TipOption,
    WholeOption,
    dynamics_of,
    show_doubts,
    solid_from,
)
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
)

NAME = "validate"


def command(
    robot: RobotArgument,
    parameters: Annotated[
        Path, typer.Argument(metavar="PARAMETERS", help="What 'dynamics identify --out' wrote.")
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A recording that was not used to identify.")
    ],
    plot: Annotated[
        Path | None, typer.Option(metavar="F", help="Draw measured and predicted torques.")
    ] = None,
    payload: PayloadOption = None,
    drive_gains: GainsOption = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    whole: WholeOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Say how well identified parameters predict the torques of another recording."""
    from theodolite.dynamics.inertia import INERTIAL
    from theodolite.dynamics.prediction import predict, verdict
    from theodolite.dynamics.serial import Dynamics
    from theodolite.dynamics.torque import LOAD
    from theodolite.errors import InputError
    from theodolite.io.dynamics_file import read_dynamics
    from theodolite.io.writing import check_writable
    from theodolite.report.dynamics import prediction_data, show_prediction
    from theodolite.report.plots import check_picture, torque_curves

    if plot is not None:
        check_writable(plot, force=force)
        check_picture(plot)
    given = read_dynamics(parameters)
    if gravity is None:
        gravity = ",".join(map(repr, given.gravity))
    # A payload is given in the frame of the tip, so there must be just one.
    dynamics = dynamics_of(robot, gravity, tip, given.stribeck_speed, any_tip=payload is None)
    given.check(dynamics, dynamics.robot.name)
    values = dict(given.values)
    if payload is not None:
        carried = dynamics.payload(*solid_from(payload)) if isinstance(dynamics, Dynamics) else None
        if carried is None:
            raise InputError("a payload is for serial robots")
        values |= {f"{name}{LOAD}": v for name, v in zip(INERTIAL, carried.tolist(), strict=True)}
    reader = Reader(dynamics, columns, ignore, drive_gains, cutoff, whole)
    runs = reader.runs(data, loaded=payload is not None, cutoff=given.cutoff)
    found = predict(dynamics, runs, values, given.drives)
    good, words = verdict(found)
    screen = console(json=json)
    show_prediction(screen, found, f"below {runs[0].cutoff:.3g} Hz")
    screen.print(words, markup=False)
    if plot is not None:
        torque_curves(plot, found, f"{dynamics.robot.name}: {data.name}")
        screen.print(f"wrote {plot}", markup=False)
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        screen.print(f"note: {note}", markup=False)
    doubts = show_doubts(screen, runs, dynamics)
    if json:
        content = prediction_data(found) | {"doubts": doubts}
        print_json(content | {"joints": content["error_joints"], "good": good, "verdict": words})
    if doubts or not good:
        raise typer.Exit(1)
