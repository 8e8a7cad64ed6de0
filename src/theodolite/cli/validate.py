"""``theodolite validate``: what a robot is worth on given measurements."""

from __future__ import annotations

from typing import Annotated

import typer

from theodolite.cli.options import (
    ColumnsOption,
    DataArgument,
    IgnoreLimitsOption,
    IgnoreOption,
    JsonOption,
    PlaneOption,
    RobotArgument,
    console,
    data_from,
    method_from,
    print_json,
    robot_named,
)
from theodolite.cli.pictures import LensOption, MountOption, camera_from

NAME = "validate"


def command(
    robot: RobotArgument,
    data: DataArgument,
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", help="Default: what the data hold."),
    ] = None,
    nominal: Annotated[
        str | None,
        typer.Option(metavar="ROBOT", help="Compare with this robot, base and tool fitted."),
    ] = None,
    lens: LensOption = None,
    mount: MountOption = "ground",
    plane: PlaneOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    ignore_limits: IgnoreLimitsOption = False,
    json: JsonOption = False,
) -> None:
    """Say how well a robot predicts measurements it has not seen."""
    from theodolite.calibration.calibrate import fit_placement
    from theodolite.calibration.catalogue import method_for
    from theodolite.calibration.cross_validation import summary
    from theodolite.calibration.placement import located
    from theodolite.errors import InputError
    from theodolite.model.robot import Robot
    from theodolite.report.data import errors_data
    from theodolite.report.text import show_errors

    subject = robot_named(robot)
    recorded = data_from(
        data,
        subject,
        method=method,
        columns=columns,
        ignore=ignore,
        ignore_limits=ignore_limits,
        plane=plane,
    )
    name = method or method_for(recorded)
    way = camera_from(lens, mount) if name == "camera" else method_from(name, plane)
    found = summary(subject, recorded, way)
    compared = {subject.name: found}
    better = None
    if nominal is not None:
        other = robot_named(nominal)
        if other.joint_types != subject.joint_types:
            raise InputError(f"'{nominal}' has other joints than '{robot}'")
        if recorded.positions is not None:
            placed = located(other, recorded) if isinstance(other, Robot) else other
            other = fit_placement(placed, recorded, way)
        reference = summary(other, recorded, way)
        compared = {"nominal": reference, "calibrated": found}
        better = all(found[quantity].rms < reference[quantity].rms for quantity in found)
    screen = console(json=json)
    show_errors(screen, f"{subject.name}, {way.title}, {len(recorded)} configurations", compared)
    if json:
        content = {"method": way.name, "configurations": len(recorded), **errors_data(found)}
        if nominal is not None:
            content["nominal"] = errors_data(compared["nominal"])
            content["better"] = better
        print_json(content)
    if better is False:
        screen.print("[yellow]The calibrated robot is not better than the nominal one.[/yellow]")
        raise typer.Exit(1)
