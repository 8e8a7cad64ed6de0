"""``theodolite study``: thousands of simulated calibrations, before an interval is trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import (
    BetweenOption,
    ForceOption,
    JsonOption,
    LineOption,
    MethodOption,
    PlaneOption,
    RadiusOption,
    RobotArgument,
    SeedOption,
    console,
    method_from,
    print_json,
    robot_named,
    working,
)
from theodolite.cli.pictures import LensOption, MountOption
from theodolite.cli.scale import Countdown, SchedulerOption, WorkersOption

NAME = "study"
#: Runs that one worker does before it reports: seconds of work; of fits alone, more.
PIECE, FITS = 50, 500


def command(
    robot: RobotArgument,
    method: MethodOption,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Output folder; an unfinished study resumes."),
    ],
    runs: Annotated[int, typer.Option("--runs", min=1, max=10**7, help="Calibrations.")] = 1000,
    points: Annotated[
        int,
        typer.Option("--points", min=1, max=10**6, help="Measurements; for link methods, sets."),
    ] = 30,
    per_set: Annotated[
        int, typer.Option("--per-set", min=2, help="Link methods: configurations per set.")
    ] = 4,
    noise_mm: Annotated[
        float, typer.Option(min=0.0, help="Noise of each coordinate, or of the contact, mm.")
    ] = 0.05,
    noise_mrad: Annotated[
        float, typer.Option(min=0.0, help="Noise of each rotation component, mrad.")
    ] = 0.1,
    noise_joint_deg: Annotated[
        float, typer.Option(min=0.0, help="Noise of revolute joints, deg.")
    ] = 0.0,
    noise_slide_mm: Annotated[
        float, typer.Option(min=0.0, help="Noise of prismatic joints, mm.")
    ] = 0.0,
    noise_px: Annotated[float, typer.Option(min=0.0, help="Noise of each pixel, px.")] = 0.1,
    errors: Annotated[
        float, typer.Option(min=0.0, help="Size of the simulated robots' errors, in tolerances.")
    ] = 0.2,
    gains: Annotated[
        bool, typer.Option("--gains", help="Give gains errors too, and identify them.")
    ] = False,
    fit_only: Annotated[
        bool,
        typer.Option(
            "--fit-only",
            help="Fits without checks and verdicts, many at a time: positions or poses of a "
            "serial robot, some ten times as fast.",
        ),
    ] = False,
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    lens: LensOption = None,
    mount: MountOption = None,
    workers: WorkersOption = 0,
    scheduler: SchedulerOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Simulate many calibrations: do the intervals hold, and how good is the robot afterwards?

    An interrupted study resumes where it stopped.
    """
    import numpy as np

    from theodolite.calibration.noise import Noise
    from theodolite.io.robot_file import format_robot
    from theodolite.io.study_file import StudyFolder
    from theodolite.report.study import show_study, study_data
    from theodolite.studies.monte_carlo import Piece, Study, outcome, rows_of
    from theodolite.studies.workers import in_processes

    subject, way = (
        robot_named(robot),
        method_from(
            method,
            plane=plane,
            line=line,
            radius_mm=radius_mm,
            between=between,
            lens=lens,
            mount=mount,
        ),
    )
    noise = Noise(
        position=noise_mm * 1e-3,
        orientation=noise_mrad * 1e-3,
        joint=float(np.deg2rad(noise_joint_deg)),
        slide=noise_slide_mm * 1e-3,
        pixel=noise_px,
        known=True,
    )
    study = Study(subject, way, points, noise, gains, per_set, errors, seed, fit_only)
    # What cannot be studied is refused before a folder is made; workers need not find out again.
    units = study.units
    folder = StudyFolder(out)
    folder.open(
        {
            "robot": format_robot(subject),
            "method": method,
            "plane": plane,
            "line": line,
            "radius_mm": radius_mm,
            "between": between,
            "points": points,
            "per_set": per_set,
            "gains": gains,
            "errors": errors,
            "seed": seed,
            "fit_only": fit_only,
            "noise": {name: getattr(noise, name) for name in noise.__dataclass_fields__},
        },
        force=force,
    )
    numbers = folder.missing(runs, FITS if fit_only else PIECE)
    count = Countdown(sum(map(len, numbers)), "runs")
    pieces = [Piece(study, part) for part in numbers]
    with (
        working(f"calibrating {count.total} robots") as status,
        in_processes(workers if pieces else 0, scheduler if pieces else None) as each,
    ):
        for _, rows in each(rows_of, pieces):
            folder.add(rows)
            status.update(count.add(len(rows)))
    found = outcome(folder.rows(runs))
    show_study(console(json=json), found, units, out)
    if json:
        print_json(study_data(found, units))
    if fit_only:
        typer.echo("note: fits alone; 'without doubts' means converged", err=True)
    if not len(found.after) and found.reasons:
        raise typer.Exit(1)
