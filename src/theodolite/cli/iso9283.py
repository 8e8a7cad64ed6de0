"""``theodolite iso9283``: plan the tests of the standard, and evaluate what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.help import Command
from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    ReportOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    numbers,
    pose_from,
    print_json,
    robot_named,
    working,
    wrote,
)

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray

NAME = "iso9283"
app = typer.Typer(
    help="Plan tests of ISO 9283 and evaluate what was measured.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("plan", cls=Command)
def plan(
    robot: RobotArgument,
    out: Annotated[Path, typer.Option("--out", metavar="F", help="The plan to write, CSV.")],
    tests: Annotated[
        str,
        typer.Option(metavar="A,B,...", help="Some of pose, multi, distance, drift, path."),
    ] = "pose",
    centre_mm: Annotated[
        str | None,
        typer.Option(metavar="X,Y,Z", help="Centre of the cube, in the frame before joint 1."),
    ] = None,
    edge_mm: Annotated[
        float | None, typer.Option(min=1.0, help="Edge of the cube. Default: the largest.")
    ] = None,
    turn: Annotated[
        str | None,
        typer.Option(metavar="ROLL,PITCH,YAW", help="Orientation of the tool, deg. Default: any."),
    ] = None,
    plane: Annotated[str, typer.Option(help="Diagonal plane of the cube: a, b, c or d.")] = "a",
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Choose the cube and its five poses, and write what to run."""
    from theodolite.assessment.iso9283.attained import Test
    from theodolite.assessment.iso9283.plan import plan_tests
    from theodolite.cli.options import parse_turn
    from theodolite.errors import InputError
    from theodolite.io.iso9283_file import write_plan
    from theodolite.io.naming import name_list
    from theodolite.io.writing import check_outputs
    from theodolite.report.iso9283 import plan_data, show_plan

    check_outputs([out], force=force, inputs=[Path(robot)])
    known = {test.value: test for test in Test if test not in (Test.SETTLING, Test.CORNER)}
    names = name_list(tests)
    if not names or not set(names) <= set(known):
        raise InputError(f"--tests {tests}", allowed=list(known))
    wanted = [known[name] for name in names]
    subject = robot_named(robot)
    with working("looking for the largest cube"):
        found = plan_tests(
            subject,
            wanted,
            centre=None if centre_mm is None else _point(centre_mm),
            edge=None if edge_mm is None else 1e-3 * edge_mm,
            rotation=None if turn is None else parse_turn(turn, "--turn"),
            plane=plane,
            rng=generator(seed),
        )
    write_plan(found, subject, out, force=force)
    screen = console(json=json)
    show_plan(screen, found)
    wrote(screen, out)
    if json:
        print_json(plan_data(found))


def _point(text: str) -> FloatArray:
    from theodolite.errors import InputError

    values = numbers(text, 1e6)
    if len(values) != 3:
        raise InputError(f"--centre-mm {text}", allowed="x,y,z in mm")
    return 1e-3 * values


@app.command("evaluate", cls=Command)
def evaluate(
    measured: Annotated[
        Path, typer.Argument(metavar="MEASURED", help="Attained poses, CSV with units in names.")
    ],
    plan: Annotated[
        Path | None,
        typer.Option(metavar="F", help="The plan, if the file holds no commanded poses."),
    ] = None,
    before: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Attained poses before calibration, to stand beside."),
    ] = None,
    sensor: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,ROLL,PITCH,YAW",
            help="The sensor's frame in that of the commands, mm and deg. Default: the same.",
        ),
    ] = None,
    fit_sensor: Annotated[
        bool,
        typer.Option("--fit-sensor", help="Fit the sensor's frame to the attained poses."),
    ] = False,
    path: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Points of the commanded path, CSV (path, corner)."),
    ] = None,
    speed_mm_s: Annotated[
        float, typer.Option(min=0.0, help="Commanded speed on the path, for its figures.")
    ] = 0.0,
    band_mm: Annotated[
        float | None,
        typer.Option(min=0.0, help="Band about the final pose (settling). Default: RP_l."),
    ] = None,
    about: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What the certificate is of: robot, serial number, load, sensor.",
        ),
    ] = "",
    report: ReportOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Compute the standard's figures from attained poses, with intervals."""
    from theodolite.assessment.iso9283.evaluation import Evaluation
    from theodolite.assessment.iso9283.evaluation import evaluate as evaluated
    from theodolite.errors import InputError
    from theodolite.io.iso9283_file import read_attained, read_polyline
    from theodolite.io.provenance import provenance
    from theodolite.io.writing import check_outputs
    from theodolite.report.html import check_report, write_report
    from theodolite.report.iso9283 import iso_data, iso_page, show_evaluation

    files = [file for file in (measured, plan, before, path) if file is not None]
    check_outputs([report], force=force, inputs=files)
    check_report(report)
    if sensor is not None and fit_sensor:
        raise InputError("--sensor and --fit-sensor exclude each other")
    frame = None if sensor is None else pose_from(sensor, "--sensor")
    command = None if path is None else read_polyline(path)

    def figures(file: Path) -> Evaluation:
        return evaluated(
            read_attained(file, plan),
            sensor=frame,
            fit_sensor=fit_sensor,
            command=command,
            speed=1e-3 * speed_mm_s,
            band=None if band_mm is None else 1e-3 * band_mm,
        )

    found = figures(measured)
    earlier = None if before is None else figures(before)
    if not found.figures:
        raise InputError(
            "no test of it is complete",
            where=str(measured),
            remedy="; ".join(found.short),
        )
    screen = console(json=json)
    show_evaluation(screen, found, earlier)
    if report is not None:
        title = f"ISO 9283: {measured.name}"
        page = iso_page(title, found, earlier, provenance(files), about)
        write_report([page], report, force=force)
        wrote(screen, report)
    if json:
        print_json(iso_data(found, earlier))
    if not found.good:
        raise typer.Exit(1)
