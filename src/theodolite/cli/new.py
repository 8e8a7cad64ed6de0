"""``theodolite new``: a robot file from a built-in robot, a URDF or a DH table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.options import ForceOption, JsonOption, console, print_json, serial, wrote

if TYPE_CHECKING:
    from theodolite.calibration.circle_points import Axis
    from theodolite.model.conventions import Convention
    from theodolite.model.robot import Robot

NAME = "new"
_URDF = (".urdf", ".xml")
_TABLES = (".csv", ".tsv", ".txt", ".xlsx")


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A built-in robot, a .urdf, a .csv DH table, or measurements (--circles).",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The robot file to write.")],
    tip: Annotated[str | None, typer.Option(help="URDF: the last link of the chain.")] = None,
    root: Annotated[str | None, typer.Option(help="URDF: the first link of the chain.")] = None,
    convention: Annotated[
        str | None,
        typer.Option(
            help="Convert exactly: kk, dh, hayati, pose or generalized. Default: as in the "
            "source; tables that cannot express every error become hayati, kk or pose."
        ),
    ] = None,
    modified: Annotated[
        bool,
        typer.Option(
            "--modified",
            help="A DH table in Craig's convention: a and alpha are those of the link before.",
        ),
    ] = False,
    circles: Annotated[
        bool,
        typer.Option(
            "--circles",
            help="SOURCE holds joints and positions of a target, one joint moving at a time.",
        ),
    ] = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Make a robot file to edit and calibrate."""
    from theodolite.calibration.completeness import complete, completeness_of_arm
    from theodolite.errors import InputError
    from theodolite.io.circle_table import read_circles
    from theodolite.io.robot_file import format_robot, parse_robot
    from theodolite.io.writing import check_writable, write_text
    from theodolite.model.robot import Robot
    from theodolite.report.axes import axes_data, show_axes
    from theodolite.report.text import show_robot

    check_writable(file, force=force)
    wanted = None if convention is None else _convention(convention)
    axes: tuple[Axis, ...] = ()
    if circles and modified:
        raise InputError("--modified is for DH tables, --circles for measurements", where=source)
    if circles:
        measured, axes = read_circles(Path(source))
        text = format_robot(measured)
    else:
        text = _text(source, root, tip, modified=modified)
    original = parse_robot(text, source)
    notes: list[str] = []
    missing: tuple[str, ...] | None = None
    if wanted is not None:
        arm = serial(original, "it cannot be converted to another convention")
        other = _in(arm, wanted)
        if arm.priorities and not other.priorities:
            notes.append("Its priorities were dropped: the parameters have other names.")
        text = format_robot(other)
    elif not circles and isinstance(original, Robot) and Path(source).suffix.lower() in _TABLES:
        completed = complete(original)
        missing = completed.missing
        if completed.convention is not None:
            own = original.frames[original.joint_rows[0]].convention.value
            notes.append(
                f"Not complete: {completed.lacking}. So the {own} table is written as "
                f"{completed.convention.value}, which is complete and describes the same robot; "
                f"--convention {own} keeps the table."
            )
            text = format_robot(completed.robot)
    robot = parse_robot(text, source)
    if missing is None:
        missing = completeness_of_arm(robot).missing if isinstance(robot, Robot) else ()
    write_text(file, text, force=force)
    if json:
        print_json(
            {
                "file": str(file),
                "name": robot.name,
                "joints": robot.joints,
                "parameters": [parameter.name for parameter in robot.parameters],
                "notes": notes,
                "missing": list(missing),
                "axes": axes_data(axes),
            }
        )
        return
    screen = console(json=False)
    show_robot(screen, robot)
    show_axes(screen, axes)
    for note in notes:
        screen.print(note, style="yellow", markup=False)
    for sentence in missing:
        screen.print(f"[yellow]Not complete: {sentence}[/yellow]")
    wrote(screen, file)


def _text(source: str, root: str | None, tip: str | None, *, modified: bool) -> str:
    """The text of a robot file for a source; of a built-in robot its own, with its comments."""
    from theodolite import robots
    from theodolite.errors import InputError
    from theodolite.io.dh_table import read_dh_table
    from theodolite.io.robot_file import format_robot, read_robot
    from theodolite.io.urdf import read_urdf

    path, suffix = Path(source), Path(source).suffix.lower()
    if suffix in _URDF:
        return format_robot(read_urdf(path, root=root, tip=tip))
    if root is not None or tip is not None:
        raise InputError("--root and --tip are for URDF files", where=source)
    if suffix in _TABLES:
        return format_robot(read_dh_table(path, modified=modified))
    if modified:
        raise InputError("--modified is for DH tables", where=source)
    if suffix == ".toml":
        return format_robot(read_robot(path))
    if source not in robots.NAMES:
        raise InputError(
            f"'{source}' is neither a built-in robot nor a .urdf, .csv or .toml file",
            allowed=robots.NAMES,
        )
    return robots.text(source)


def _in(robot: Robot, convention: Convention) -> Robot:
    """The robot in another convention; as it is where all its joints have it already."""
    from theodolite.model.conversion import convert

    if all(robot.frames[row].convention is convention for row in robot.joint_rows):
        return robot
    return convert(robot, convention)


def _convention(name: str) -> Convention:
    from theodolite.errors import InputError
    from theodolite.model.conventions import Convention

    names = [known.value for known in Convention if known is not Convention.PRODUCT]
    if name not in names:
        raise InputError(f"--convention {name}", allowed=names)
    return Convention(name)
