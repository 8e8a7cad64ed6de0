"""``theodolite new``: a robot file from a built-in robot, a URDF or a DH table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.options import ForceOption, JsonOption, console, print_json, serial

if TYPE_CHECKING:
    from theodolite.model.robot import Robot

NAME = "new"


def command(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A built-in robot, a .urdf or a .csv DH table.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The robot file to write.")],
    tip: Annotated[str | None, typer.Option(help="URDF: the last link of the chain.")] = None,
    root: Annotated[str | None, typer.Option(help="URDF: the first link of the chain.")] = None,
    convention: Annotated[
        str | None,
        typer.Option(help="Convert exactly: kk, dh, hayati, pose or generalized."),
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Make a robot file to edit and calibrate."""
    from theodolite import robots
    from theodolite.calibration.completeness import completeness
    from theodolite.errors import InputError
    from theodolite.io.dh_table import read_dh_table
    from theodolite.io.robot_file import format_robot, parse_robot, read_robot
    from theodolite.io.urdf import read_urdf
    from theodolite.io.writing import write_text
    from theodolite.model.robot import Robot
    from theodolite.report.text import show_robot

    readers = {
        ".urdf": lambda path: read_urdf(path, root=root, tip=tip),
        ".xml": lambda path: read_urdf(path, root=root, tip=tip),
        ".csv": read_dh_table,
        ".toml": read_robot,
    }
    suffix = Path(source).suffix.lower()
    if suffix in readers:
        text = format_robot(readers[suffix](Path(source)))
    elif source in robots.NAMES:
        # The built-in file itself, with its comments and units.
        text = robots.text(source)
    else:
        raise InputError(
            f"'{source}' is neither a built-in robot nor a .urdf, .csv or .toml file",
            allowed=robots.NAMES,
        )
    dropped = False
    if convention is not None:
        original = parse_robot(text, source)
        dropped = bool(original.priorities)
        text = format_robot(_converted(serial(original, "it has no other convention"), convention))
    robot = parse_robot(text, source)
    write_text(file, text, force=force)
    if json:
        print_json(
            {
                "file": str(file),
                "name": robot.name,
                "joints": robot.joints,
                "parameters": [parameter.name for parameter in robot.parameters],
            }
        )
        return
    screen = console(json=False)
    show_robot(screen, robot)
    if dropped:
        screen.print("[yellow]Its priorities were left out: the parameters are others.[/yellow]")
    for sentence in completeness(robot).missing if isinstance(robot, Robot) else ():
        screen.print(f"[yellow]Not complete: {sentence}[/yellow]")
    screen.print(f"wrote {file}", markup=False)


def _converted(robot: Robot, convention: str) -> Robot:
    from theodolite.errors import InputError
    from theodolite.model.conventions import Convention
    from theodolite.model.conversion import convert

    names = [known.value for known in Convention if known is not Convention.PRODUCT]
    if convention not in names:
        raise InputError(f"--convention {convention}", allowed=names)
    return convert(robot, Convention(convention))
