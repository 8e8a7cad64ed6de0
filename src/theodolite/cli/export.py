"""``theodolite export``: the calibrated robot for controllers and simulators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    RobotArgument,
    console,
    member_of,
    one_of,
    print_json,
    robot_named,
    serial,
    working,
    wrote,
)

NAME = "export"


def command(
    robot: RobotArgument,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="F",
            help="urdf, mjcf, ur, kk, dh, hayati or json (frames).",
            autocompletion=one_of("urdf", "mjcf", "ur", "kk", "dh", "hayati", "json"),
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="F", help="The file to write.")],
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="F",
            help="The nominal robot's file, which is copied with the links changed (urdf, mjcf, "
            "and ur: kinematics in YAML).",
        ),
    ] = None,
    tip: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Link (urdf), body or site (mjcf) that is the tip."),
    ] = None,
    world: Annotated[
        bool,
        typer.Option(
            "--world", help="Move the file's base to where it stands in the measurements' world."
        ),
    ] = False,
    keep_tool: Annotated[
        bool, typer.Option("--keep-tool", help="Keep the file's tool behind the last joint.")
    ] = False,
    visuals: Annotated[
        str,
        typer.Option(
            help="move: shapes move with their links; stay: they stay in place with all joints at "
            "zero (urdf)."
        ),
    ] = "move",
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a format that cannot carry all of the robot.")
    ] = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write a robot for a controller or a simulator."""
    from theodolite.errors import InputError
    from theodolite.io.exports import Format, Options, check_export, export_robot, write_export
    from theodolite.io.machines import is_urdf
    from theodolite.io.urdf_patch import Visuals
    from theodolite.io.writing import check_outputs

    kind = member_of(Format, format_, "--format")
    options = Options(into, tip, world, not keep_tool, member_of(Visuals, visuals, "--visuals"))
    inputs = [Path(robot), *([] if into is None else [into])]
    check_outputs([out], force=force, inputs=inputs)
    check_export(kind, out, options)
    # A tip belongs to the URDF that the robot is read from, if it is one.
    read = robot_named(robot, tip=tip if is_urdf(robot) else None)
    subject = serial(read, "exports are for serial robots")
    with working(f"preparing {kind.value} of {subject.name}"):
        found = export_robot(subject, kind, suffix=out.suffix, options=options)
    loss = found.loss
    if strict and not loss.none:
        raise InputError(
            f"{kind.value} cannot carry {', '.join(loss.missing)}: {1e3 * loss.mean:.3g} mm would "
            f"be lost on average, {1e3 * loss.worst:.3g} mm at worst",
            remedy="Leave out --strict, or choose another format",
        )
    screen = console(json=json)
    if loss.missing:
        screen.print(
            f"{kind.value} cannot carry {', '.join(loss.missing)}. The nearest robot that it can "
            f"carry is written: {1e3 * loss.mean:.3g} mm away on average, "
            f"{1e3 * loss.worst:.3g} mm at worst over the workspace.",
            markup=False,
        )
    for note in found.notes:
        screen.print(f"{note[:1].upper()}{note[1:]}.", markup=False)
    write_export(found, out, force=force)
    wrote(screen, out)
    if json:
        print_json(
            {
                "format": kind.value,
                "file": str(out),
                "missing": list(loss.missing),
                "loss_mm": {"mean": 1e3 * loss.mean, "worst": 1e3 * loss.worst},
                "notes": list(found.notes),
            }
        )
