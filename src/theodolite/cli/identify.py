"""``theodolite identify``: calibrate a robot from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.mapping_options import MapOption, MappingOption, mapping_from
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
    RobotArgument,
    SeedOption,
    ToolTurnOption,
    console,
    data_from,
    generator,
    method_from,
    print_json,
    robot_named,
    with_priorities,
    working,
    wrote,
)
from theodolite.cli.pictures import (
    BoardOption,
    ImagesOption,
    LensImagesOption,
    LensOption,
    MountOption,
    lens_from,
)
from theodolite.cli.sources import SourcesOption, measurements

if TYPE_CHECKING:
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method
    from theodolite.calibration.noise import Noise
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
            help="Error terms beyond geometry: none, or some of gravity, bending, harmonics, play, "
            "drift, separated by commas. auto: those that cross-validation says help.",
        ),
    ] = "auto",
    rows_as_time: Annotated[
        bool,
        typer.Option("--rows-as-time", help="Use the order of the rows as time for the drift."),
    ] = False,
    priorities: PrioritiesOption = None,
    loss: Annotated[
        str, typer.Option(help="squared, or huber or cauchy for data with outliers.")
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
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    tool_turn: ToolTurnOption = None,
    start: Annotated[
        str,
        typer.Option(
            help="nominal: start as it is; locate: fit base and targets first; auto: if needed."
        ),
    ] = "auto",
    change: Annotated[
        str,
        typer.Option(
            help="base: change base parameters only; all: spread changes over all by tolerance."
        ),
    ] = "base",
    residuals: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Write the error of every measurement to a CSV file."),
    ] = None,
    hold_out: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Fraction of the data held out for validation.")
    ] = 0.2,
    images: ImagesOption = None,
    board: BoardOption = None,
    lens_images: LensImagesOption = None,
    lens: LensOption = None,
    mount: MountOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    ignore_limits: IgnoreLimitsOption = False,
    map_: MapOption = None,
    mapping: MappingOption = None,
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
    from theodolite.io.provenance import provenance
    from theodolite.io.residuals import write_residuals
    from theodolite.io.robot_file import check_robot_path, write_robot
    from theodolite.io.writing import check_writable
    from theodolite.report.data import result_data
    from theodolite.report.text import show_result

    for path in (out, residuals):
        if path is not None:
            check_writable(path, force=force)
    if out is not None:
        check_robot_path(out)
    subject = with_priorities(robot_named(robot), priorities)

    def read(paths: list[Path], way: Method) -> Dataset:
        return data_from(
            paths,
            subject,
            needs=() if images is not None else way.needs,
            columns=columns,
            ignore=ignore,
            ignore_limits=ignore_limits,
            mapping=mapping_from(map_, mapping),
            own=way.columns,
        )

    def named(name: str, target: str | None = None) -> Method:
        paired = target is not None and "," in target
        return method_from(
            name,
            plane=plane,
            line=line,
            radius_mm=radius_mm,
            between=target if paired else between,
            tool_turn=tool_turn,
            lens=lens,
            mount=mount,
            one_of_several=bool(sources),
        )

    screen = console(json=json)
    recorded, way = measurements(data or [], method, sources or [], named, read)
    if images is not None:
        pixels = "pixels" in way.needs
        with working("reading the pictures"):
            seen = _seen(recorded, images, board, lens_images, lens, mount, pixels=pixels)
        for picture in seen.rejected:
            typer.echo(f"warning: {picture.name} is left out: {picture.reason}", err=True)
        recorded = seen.data
        way = seen.camera if pixels else way
    files = [Path(name) for name in recorded.files] if recorded.files else list(data or [])
    with working(f"identifying {subject.name}"):
        result = identify(
            subject,
            recorded,
            way,
            noise=_noise(way, noise_mm, noise_mrad, noise_joint_deg, noise_slide_mm),
            gains=gains,
            terms=term_names(terms),
            rows_as_time=rows_as_time,
            loss=_chosen(Shape, loss, "--loss", then=Loss),
            start=_chosen(Start, start, "--start"),
            change=_chosen(Change, change, "--change"),
            hold_out=hold_out,
            rng=generator(seed),
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
    if residuals is not None:
        write_residuals(result, residuals, force=force)
    if result.placed:
        screen.print(
            "Base and targets were fitted to the data first; 'nominal' below includes that fit."
        )
    show_result(screen, result)
    for path in (out, residuals):
        if path is not None:
            wrote(screen, path)
    if json:
        print_json({**result_data(result), "located": result.placed})
    if not result.good:
        raise typer.Exit(1)


def _seen(
    recorded: Dataset,
    images: Path,
    board: str | None,
    lens_images: Path | None,
    lens: str | None,
    mount: str | None,
    *,
    pixels: bool,
) -> Seen:
    """What the pictures show."""
    from theodolite.errors import InputError
    from theodolite.vision.board import Board
    from theodolite.vision.pictures import read_pictures

    if board is None:
        raise InputError("--images needs --board", allowed="charuco:8x6:30:22, chessboard:9x6:25")
    return read_pictures(
        recorded,
        images,
        Board.parse(board),
        pixels=pixels,
        lens=None if lens is None else lens_from(lens),
        lens_folder=lens_images,
        mount=mount or "ground",
    )


def _chosen(kind: Any, text: str, option: str, *, then: Any = None) -> Any:
    """A member of an enumeration by its name on the command line."""
    from theodolite.errors import InputError

    try:
        member = kind(text)
    except ValueError as error:
        raise InputError(f"{option} {text}", allowed=[m.value for m in kind]) from error
    return member if then is None else then(member)


def _noise(
    method: Method, mm: float | None, mrad: float | None, joint_deg: float, slide_mm: float
) -> Noise | None:
    import numpy as np

    from theodolite.calibration.noise import Noise
    from theodolite.errors import InputError

    if mm == 0.0 or mrad == 0.0:
        raise InputError("noise 0 would give infinite weights", allowed="positive numbers")
    if mm is None and (mrad is not None or joint_deg or slide_mm):
        raise InputError(
            "joint or rotation noise was given without position noise",
            remedy="Give --noise-mm as well, or none of them",
        )
    if mm is None:
        return None
    if mrad is None and "rotations" in method.needs:
        raise InputError(
            "position noise was given without rotation noise, and orientations are seen too",
            remedy="Give --noise-mrad as well, or neither",
        )
    return Noise(
        position=mm * 1e-3,
        orientation=Noise().orientation if mrad is None else mrad * 1e-3,
        joint=float(np.radians(joint_deg)),
        slide=slide_mm * 1e-3,
        known=True,
    )
