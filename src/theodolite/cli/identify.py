"""``theodolite identify``: calibrate a robot from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.long_data import check_workers
from theodolite.cli.mapping_options import MapOption, MappingOption
from theodolite.cli.measured import Reader
from theodolite.cli.options import (
    METHOD,
    BetweenOption,
    ColumnsOption,
    ForceOption,
    IgnoreLimitsOption,
    IgnoreOption,
    JsonOption,
    LineOption,
    PlaneOption,
    PrioritiesOption,
    RadiusOption,
    ReportOption,
    RobotArgument,
    SeedOption,
    ToolTurnOption,
    console,
    generator,
    member_of,
    noise_from,
    one_of,
    print_json,
    robot_named,
    serial,
    with_priorities,
    working,
    wrote,
)
from theodolite.cli.pictures import (
    BoardOption,
    BoardToleranceOption,
    ImagesOption,
    KeepLensOption,
    LensBoardOption,
    LensImagesOption,
    LensModelOption,
    LensOption,
    MountOption,
    NoisePixelOption,
    draw,
    files_of,
)
from theodolite.cli.scale import SchedulerOption, WorkersOption
from theodolite.cli.sources import SourcesOption, measurements

if TYPE_CHECKING:
    from rich.console import Console

    from theodolite.calibration.result import Result
    from theodolite.model.machine import Machine
    from theodolite.vision.pictures import Seen

NAME = "identify"


def command(
    robot: RobotArgument,
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DATA",
            help="Measurements in CSV; for link methods also one file per set.",
        ),
    ] = None,
    method: Annotated[str | None, METHOD] = None,
    sources: SourcesOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="F", help="The calibrated robot to write.")
    ] = None,
    gains: Annotated[
        bool | None,
        typer.Option(
            "--gains/--no-gains",
            help="Identify transmission gains. Default: if cross-validation says they help.",
        ),
    ] = None,
    terms: Annotated[
        str,
        typer.Option(
            metavar="TERMS",
            help="Error terms beyond geometry: none, or some of gravity, bending, compliance, "
            "flexure, harmonics, play, drift, separated by commas. auto: those that "
            "cross-validation says help.",
        ),
    ] = "auto",
    masses: Annotated[
        Path | None,
        typer.Option(
            metavar="F",
            help="Weights of the links for compliance and flexure: a URDF, or parameters that "
            "'dynamics identify' wrote.",
        ),
    ] = None,
    rows_as_time: Annotated[
        bool,
        typer.Option("--rows-as-time", help="Use the order of the rows as time for the drift."),
    ] = False,
    priorities: PrioritiesOption = None,
    loss: Annotated[
        str,
        typer.Option(
            help="squared, or huber or cauchy for data with outliers.",
            autocompletion=one_of("squared", "huber", "cauchy"),
        ),
    ] = "squared",
    noise_mm: Annotated[
        float | None, typer.Option(min=0.0, help="Known noise of each coordinate or contact, mm.")
    ] = None,
    noise_mrad: Annotated[
        float | None, typer.Option(min=0.0, help="Known noise of each rotation component, mrad.")
    ] = None,
    noise_joint_deg: Annotated[
        float, typer.Option(min=0.0, help="Known noise of revolute joints, deg.")
    ] = 0.0,
    noise_slide_mm: Annotated[
        float, typer.Option(min=0.0, help="Known noise of prismatic joints, mm.")
    ] = 0.0,
    noise_px: NoisePixelOption = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="hand-eye: identify where camera and target are, with the links as they are. "
            "Or parameters such as theta3,K3, after a repair: the others keep the "
            "uncertainty recorded in ROBOT, a result saved with --save-result.",
        ),
    ] = None,
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    tool_turn: ToolTurnOption = None,
    start: Annotated[
        str,
        typer.Option(
            help="nominal: start as it is; locate: fit base and targets first; auto: if needed.",
            autocompletion=one_of("auto", "nominal", "locate"),
        ),
    ] = "auto",
    change: Annotated[
        str,
        typer.Option(
            help="base: change base parameters only; all: spread changes over all by tolerance.",
            autocompletion=one_of("base", "all"),
        ),
    ] = "base",
    residuals: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Write the error of every measurement to a CSV file."),
    ] = None,
    report: ReportOption = None,
    save_result: Annotated[
        Path | None,
        typer.Option(
            metavar="F", help="Keep the whole result in a JSON file, for reports and comparisons."
        ),
    ] = None,
    tolerance_mm: Annotated[
        float | None,
        typer.Option(
            min=1e-9,
            metavar="T",
            help="How far off every length of the arm and its tools may be, 1 sigma, mm.",
        ),
    ] = None,
    tolerance_mrad: Annotated[
        float | None,
        typer.Option(
            min=1e-9,
            metavar="T",
            help="How far off every angle may be, 1 sigma, mrad.",
        ),
    ] = None,
    hold_out: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Fraction of the data held out for validation.")
    ] = 0.2,
    starts: Annotated[
        int,
        typer.Option(
            min=0,
            max=10_000,
            help="Restart this many times from random points within the tolerances, and say "
            "whether all end in the same minimum.",
        ),
    ] = 0,
    images: ImagesOption = None,
    board: BoardOption = None,
    board_tolerance: BoardToleranceOption = 0.0,
    lens_images: LensImagesOption = None,
    lens_board: LensBoardOption = None,
    lens: LensOption = None,
    lens_model: LensModelOption = "brown",
    keep_lens: KeepLensOption = False,
    mount: MountOption = None,
    drawings: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="DIR",
            help="Write each picture with its marks and the robot's errors, enlarged.",
        ),
    ] = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    ignore_limits: IgnoreLimitsOption = False,
    map_: MapOption = None,
    mapping: MappingOption = None,
    workers: WorkersOption = 0,
    scheduler: SchedulerOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Identify a robot's parameters and write the calibrated robot."""
    from theodolite.calibration.calibrate import identify
    from theodolite.calibration.method import Start
    from theodolite.calibration.term_groups import term_names
    from theodolite.estimation.loss import Loss, Shape
    from theodolite.estimation.solver import Change
    from theodolite.io.camera_file import camera_of, camera_path, write_camera
    from theodolite.io.naming import name_list
    from theodolite.io.provenance import provenance
    from theodolite.io.result_file import check_result_path, is_result, read_result
    from theodolite.io.robot_file import check_robot_path, write_robot
    from theodolite.io.writing import check_outputs
    from theodolite.report.data import result_data
    from theodolite.report.html import check_report
    from theodolite.studies.workers import in_processes

    beside = camera_path(out) if out is not None and method == "camera" else None
    check_outputs(
        [out, residuals, beside, report, save_result],
        force=force,
        inputs=[*(data or []), *files_of(lens)],
    )
    check_robot_path(out)
    check_result_path(save_result)
    check_report(report)
    hand_eye = only == "hand-eye"
    _check_pictures(hand_eye, method, images, drawings, gains=gains, force=force)
    names = () if only is None or hand_eye else name_list(only)
    earlier = read_result(Path(robot)) if names and is_result(Path(robot)) else None
    subject = _with_masses(with_priorities(robot_named(robot), priorities), masses)
    if tolerance_mm is not None or tolerance_mrad is not None:
        subject = subject.with_tolerances_of(
            None if tolerance_mm is None else 1e-3 * tolerance_mm,
            None if tolerance_mrad is None else 1e-3 * tolerance_mrad,
        )

    check_workers(data or [], workers, scheduler)
    with in_processes(workers, scheduler) as each:
        reader = Reader(
            subject,
            {
                "plane": plane,
                "line": line,
                "radius_mm": radius_mm,
                "between": between,
                "tool_turn": tool_turn,
                "lens": lens,
                "mount": mount,
                "keep_lens": keep_lens,
                "board_tolerance": board_tolerance,
            },
            {
                "lens": lens,
                "lens_images": lens_images,
                "lens_board": lens_board,
                "lens_model": lens_model,
                "keep_lens": keep_lens,
                "board_tolerance": 1e-2 * board_tolerance,
                "mount": mount,
            },
            images or [],
            board,
            bool(sources),
            each,
            columns,
            ignore,
            ignore_limits,
            map_,
            mapping,
        )
        recorded, way = measurements(data or [], method, sources or [], reader.method, reader.read)
        files = [Path(name) for name in recorded.files] if recorded.files else list(data or [])
        with working(f"identifying {subject.name}") as status:
            result = identify(
                subject,
                recorded,
                way,
                noise=noise_from(
                    way, noise_mm, noise_mrad, noise_px, noise_joint_deg, noise_slide_mm
                ),
                gains=gains,
                terms=term_names(terms),
                rows_as_time=rows_as_time,
                loss=None if loss == "squared" else Loss(member_of(Shape, loss, "--loss")),
                start=member_of(Start, start, "--start"),
                change=member_of(Change, change, "--change"),
                links=not hand_eye,
                only=names,
                after=earlier,
                hold_out=hold_out,
                starts=starts,
                rng=generator(seed),
                pieces=reader.pieces,
                tell=lambda what: status.update(f"identifying {subject.name}: {what}"),
                progress=lambda step: status.update(
                    f"identifying {subject.name}: iteration {step.number}, "
                    f"sum of squares {step.cost:.6g}"
                ),
                provenance=provenance(
                    [*([Path(robot)] if Path(robot).is_file() else []), *files],
                    method=method or ", ".join(sources or ()),
                    robot=robot,
                    gains=gains,
                    terms=terms,
                    rows_as_time=rows_as_time,
                    loss=loss,
                    start=start,
                    change=change,
                    hold_out=hold_out,
                    seed=seed,
                ),
            )
    if out is not None:
        write_robot(result.signed_robot(), out, force=force)
    seen = reader.seen
    if beside is not None:
        write_camera(camera_of(result, seen[0].camera.size if seen else None), beside, force=force)
    _write(result, residuals, save_result, report, force=force)
    if reader.pieces is not None:
        typer.echo(f"note: {reader.pieces.said(len(recorded))}", err=True)
    _show(console(json=json), result, seen, [out, beside, residuals, save_result, report])
    if drawings is not None:
        draw(console(json=json), seen[0], result, drawings)
    if json:
        print_json({**result_data(result), "located": result.placed})
    if not result.good:
        raise typer.Exit(1)


def _write(
    result: Result,
    residuals: Path | None,
    saved: Path | None,
    report: Path | None,
    *,
    force: bool,
) -> None:
    """What is written besides the robot."""
    from theodolite.io.residuals import write_residuals
    from theodolite.io.result_file import write_result
    from theodolite.report.calibration_page import calibration_page
    from theodolite.report.html import write_report

    if residuals is not None:
        suspicious = set(result.outliers.rows.tolist())
        write_residuals(result, result, residuals, suspicious=suspicious, force=force)
    if saved is not None:
        write_result(result, saved, force=force)
    if report is not None:
        write_report([calibration_page(result)], report, force=force)


def _show(screen: Console, result: Result, seen: list[Seen], paths: list[Path | None]) -> None:
    """The result, and what was written."""
    from theodolite.report.pictures import show_pictures
    from theodolite.report.text import show_result

    if result.placed:
        screen.print(
            "Base and targets were fitted to the data first; 'nominal' below includes that fit."
        )
    show_result(screen, result)
    for one in seen:
        show_pictures(screen, one, result)
    for path in paths:
        if path is not None:
            wrote(screen, path)


def _with_masses(robot: Machine, path: Path | None) -> Machine:
    from theodolite.io.masses import read_masses

    if path is None:
        return robot
    arm = serial(robot, "known weights are for serial robots")
    return arm.with_loads(read_masses(path, arm))


def _check_pictures(
    hand_eye: bool,
    method: str | None,
    images: list[Path] | None,
    drawings: Path | None,
    *,
    gains: bool | None,
    force: bool,
) -> None:
    from theodolite.errors import InputError
    from theodolite.io.writing import make_folder

    if hand_eye and gains:
        raise InputError("--only hand-eye identifies no gains", remedy="Leave out --gains")
    if hand_eye and method != "camera":
        raise InputError("--only hand-eye needs the method 'camera'")
    if drawings is not None and (not images or method != "camera"):
        raise InputError("--draw needs --images and the method 'camera'")
    if drawings is not None:
        make_folder(drawings, empty=not force, inputs=images or [])
