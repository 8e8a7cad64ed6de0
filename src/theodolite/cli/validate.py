"""``theodolite validate``: what a robot is worth on given measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.mapping_options import MapOption, MappingOption, mapping_from
from theodolite.cli.options import (
    BetweenOption,
    ColumnsOption,
    DataArgument,
    ForceOption,
    IgnoreLimitsOption,
    IgnoreOption,
    JsonOption,
    LineOption,
    PlaneOption,
    RadiusOption,
    ReportOption,
    RobotArgument,
    console,
    data_from,
    method_from,
    print_json,
    robot_named,
    wrote,
)
from theodolite.cli.pictures import (
    BoardOption,
    ImagesOption,
    LensModelOption,
    LensOption,
    MountOption,
    seen_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method

NAME = "validate"


def command(
    robot: RobotArgument,
    data: DataArgument,
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", help="Default: inferred from the data."),
    ] = None,
    nominal: Annotated[
        str | None,
        typer.Option(metavar="ROBOT", help="Compare with this robot, base and tool fitted."),
    ] = None,
    images: ImagesOption = None,
    board: BoardOption = None,
    lens: LensOption = None,
    lens_model: LensModelOption = "brown",
    mount: MountOption = None,
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    ignore_limits: IgnoreLimitsOption = False,
    map_: MapOption = None,
    mapping: MappingOption = None,
    residuals: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Write the error of every measurement, as CSV."),
    ] = None,
    report: ReportOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Test how well a robot predicts measurements it has not seen."""
    from rich.markup import escape

    from theodolite.calibration.validate import validate
    from theodolite.io.camera_file import camera_path
    from theodolite.io.provenance import provenance
    from theodolite.io.reading import is_file
    from theodolite.io.residuals import write_residuals
    from theodolite.io.writing import check_outputs
    from theodolite.report.data import errors_data
    from theodolite.report.html import check_report, write_report
    from theodolite.report.text import show_errors
    from theodolite.report.validation_page import validation_page

    check_outputs([report, residuals], force=force, inputs=[Path(robot), *data])
    check_report(report)
    subject = robot_named(robot)
    if not lens and is_file(camera_path(Path(robot))):
        # What was identified together with this robot.
        lens = [str(camera_path(Path(robot)))]

    def named(name: str) -> Method:
        return method_from(
            name,
            plane=plane,
            line=line,
            radius_mm=radius_mm,
            between=between,
            lens=lens,
            mount=mount,
        )

    recorded = data_from(
        data,
        subject,
        needs=() if method is None or images else named(method).needs,
        columns=columns,
        ignore=ignore,
        ignore_limits=ignore_limits,
        mapping=mapping_from(map_, mapping),
    )
    recorded, way = _judged_by(recorded, method, named, images, board, lens, lens_model, mount)
    reference = None if nominal is None else robot_named(nominal)
    verdict = validate(subject, recorded, way, nominal=reference)
    compared = {subject.name: verdict.errors}
    if verdict.nominal is not None:
        compared = {"nominal": verdict.nominal, "calibrated": verdict.errors}
    screen = console(json=json)
    count = f"{len(recorded)} configurations"
    if recorded.pixels is not None:
        count = f"{int(recorded.configurations().max()) + 1} pictures"
    show_errors(screen, f"{subject.name}, {way.title}, {count}", compared)
    if json:
        content = {
            "method": way.name,
            "configurations": len(recorded),
            **errors_data(verdict.errors),
            "doubts": list(verdict.doubts),
        }
        if verdict.nominal is not None:
            content["nominal"] = errors_data(verdict.nominal)
            content["better"] = verdict.better
        print_json(content)
    if report is not None:
        files = [*([Path(robot)] if Path(robot).is_file() else []), *data]
        origin = provenance(files, robot=robot, nominal=nominal)
        page = validation_page(subject, way.name, len(recorded), verdict, origin)
        write_report([page], report, force=force)
        wrote(screen, report)
    if residuals is not None:
        write_residuals(verdict, recorded, residuals, force=force)
        wrote(screen, residuals)
    for doubt in verdict.doubts:
        screen.print(f"[yellow]{escape(doubt)}[/yellow]")
    if verdict.better is False and not verdict.doubts:
        screen.print("[yellow]The calibrated robot is not better than the nominal one.[/yellow]")
    if not verdict.good:
        raise typer.Exit(1)


def _judged_by(
    recorded: Dataset,
    method: str | None,
    named: Callable[[str], Method],
    images: list[Path] | None,
    board: list[str] | None,
    lens: list[str] | None,
    lens_model: str,
    mount: str | None,
) -> tuple[Dataset, Method]:
    """The data and the method that judges them; pictures are looked through first."""
    from theodolite.calibration.catalogue import method_for
    from theodolite.cli.pictures import camera_known

    known = camera_known(lens, mount)
    if not images:
        way = named(method or method_for(recorded))
        known = known if "pixels" in way.needs else None
        return recorded, way if known is None else way.with_extras(known)
    method = method or "camera"
    pixels = "pixels" in named(method).needs
    seen = seen_in(
        recorded,
        images,
        board,
        pixels=pixels,
        lens=lens,
        lens_model=lens_model,
        mount=mount or (None if known is None else known["mount"]),
    )
    if not pixels:
        return seen.data, named(method)
    return seen.data, seen.camera if known is None else seen.camera.with_extras(known)
