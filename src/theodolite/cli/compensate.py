"""``theodolite compensate``: what to command so that the true robot arrives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    print_json,
    robot_named,
    working,
    wrote,
)

NAME = "compensate"


def command(
    robot: RobotArgument,
    targets: Annotated[
        Path,
        typer.Argument(
            metavar="TARGETS",
            help="Wanted poses or positions in CSV, with joints near them or without; or joints of "
            "a program made for the nominal robot.",
        ),
    ],
    nominal: Annotated[
        str, typer.Option(metavar="ROBOT", help="The robot that the controller knows.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="F", help="Joints and poses to command, CSV.")
    ] = None,
    details: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Correction and error of each target, CSV."),
    ] = None,
    world: Annotated[
        bool,
        typer.Option(
            "--world",
            help="Targets are in the world of the measurements, not in the frame before the first "
            "joint.",
        ),
    ] = False,
    columns: ColumnsOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Correct targets, so that the calibrated robot reaches what was wanted."""
    from theodolite.compensation.compensate import compensate, compensate_joints
    from theodolite.io.naming import name_list
    from theodolite.io.targets import read_targets, write_commands, write_details
    from theodolite.io.writing import check_outputs
    from theodolite.report.compensation import compensation_data, show_compensation

    check_outputs([out, details], force=force, inputs=[targets, Path(robot), Path(nominal)])
    calibrated, known = robot_named(robot), robot_named(nominal)
    program = read_targets(
        targets, calibrated, columns=None if columns is None else name_list(columns)
    )
    with working(f"correcting {len(program.lines)} targets"):
        if program.targets is None:
            assert program.motors is not None
            made = compensate_joints(calibrated, known, program.motors, world=world)
        else:
            made = compensate(
                calibrated,
                known,
                program.targets,
                seed=program.motors,
                world=world,
                rng=generator(seed),
            )
    if out is not None:
        turned = program.targets is None or program.targets.rotations is not None
        write_commands(made, calibrated, out, orientation=turned, force=force)
    if details is not None:
        write_details(made, calibrated, program.lines, details, force=force)
    screen = console(json=json)
    show_compensation(screen, made, program.lines)
    for path in (out, details):
        if path is not None:
            wrote(screen, path)
    if json:
        print_json(compensation_data(made, program.lines))
    if not made.good:
        raise typer.Exit(1)
