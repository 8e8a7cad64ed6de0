"""``theodolite dynamics with-geometry``: geometry from poses and dynamics from torques."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.dynamics.bags import JointNamesOption, TopicOption, choose_from_bags
from theodolite.cli.dynamics.options import (
    CutoffOption,
    GainsOption,
    GravityOption,
    KeepRestOption,
    RecordingReader,
    SkipBadOption,
    TipOption,
    load_dynamics,
    parse_numbers,
)
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
    robot_named,
    working,
    wrote,
)
from theodolite.cli.sources import measurements

if TYPE_CHECKING:
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method

NAME = "with-geometry"


def command(
    robot: RobotArgument,
    recording: Annotated[
        list[Path], typer.Argument(metavar="RECORDING...", help="Recordings of torques.")
    ],
    poses: Annotated[
        list[str],
        typer.Option(
            "--data",
            metavar="METHOD:FILE",
            help="Measurements that calibrate the geometry, as for 'identify --data'.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the identified dynamics as JSON.")
    ] = None,
    robot_out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the calibrated robot.")
    ] = None,
    drive_gains: GainsOption = None,
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
    """Calibrate the geometry and identify the dynamics, with one uncertainty for both."""
    from theodolite.api import identify
    from theodolite.calibration.catalogue import method_named
    from theodolite.dynamics.judge import judge_identification
    from theodolite.dynamics.with_geometry import identify_with_geometry
    from theodolite.io.dynamics_file import dynamics_content, write_content
    from theodolite.io.robot_file import write_robot
    from theodolite.io.tables import read_measurements
    from theodolite.io.writing import check_outputs
    from theodolite.report.dynamics import (
        geometry_data,
        show_geometry,
        show_judgement,
        show_remarks,
    )

    files = [Path(text.partition(":")[2]) for text in poses]
    check_outputs([out, robot_out], force=force, inputs=[Path(robot), *recording, *files])
    machine = robot_named(robot, tip=tip)
    reader = RecordingReader(
        load_dynamics(robot, gravity, tip),
        columns,
        ignore,
        drive_gains,
        skip_bad,
        choose_from_bags(robot, topic, joint_names, tip),
    )

    def read(paths: list[Path], method: Method) -> tuple[Dataset, Method]:
        needs = method.needs
        return read_measurements(paths, machine, needs=needs, own=method.columns), method

    data, method = measurements([], None, poses, lambda name, _: method_named(name), read)
    with working(f"calibrating {machine.name} and identifying its dynamics"):
        calibration = identify(machine, data, method)
        both = identify_with_geometry(
            calibration,
            [reader.read(path) for path in recording],
            gravity=None if gravity is None else parse_numbers(gravity, "--gravity", "0,0,-9.81"),
            cutoff=cutoff,
            trim=not keep_rest,
        )
        judgement = judge_identification(both.dynamics)
    screen = console(json=json)
    show_geometry(screen, both)
    show_judgement(screen, judgement)
    if out is not None:
        write_content(
            out, dynamics_content(both.dynamics, judgement, inputs=recording), force=force
        )
        wrote(screen, out)
    if robot_out is not None:
        write_robot(calibration.robot, robot_out, force=force)
        wrote(screen, robot_out)
    show_remarks(screen, judgement.notes, [*calibration.doubts(), *judgement.warnings])
    if json:
        print_json(geometry_data(both))
    if not judgement.good or not calibration.good:
        raise typer.Exit(1)
