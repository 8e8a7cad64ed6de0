"""``theodolite identify``: calibrate a robot from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.options import (
    ColumnsOption,
    DataArgument,
    ForceOption,
    IgnoreLimitsOption,
    IgnoreOption,
    JsonOption,
    MethodOption,
    PlaneOption,
    PrioritiesOption,
    RobotArgument,
    SeedOption,
    console,
    data_from,
    generator,
    method_from,
    print_json,
    robot_named,
    with_priorities,
    working,
)
from theodolite.cli.pictures import (
    BoardOption,
    ImagesOption,
    LensImagesOption,
    LensOption,
    MountOption,
    camera_from,
    from_pictures,
)

if TYPE_CHECKING:
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method
    from theodolite.model.machine import Machine

NAME = "identify"
#: Nominal errors beyond this part of the reach mean that base or tool are elsewhere.
ELSEWHERE = 0.05
#: Legs that are off by more than this part of their length in the median are of another robot.
FOREIGN = 0.08
#: A pose that fits its joints this many times worse than usual does not belong to them.
MISMATCHED = 10.0
#: Beyond this part, a link or plane recording is of another robot; a tool not yet known is less.
ANOTHER = 0.1


def command(
    robot: RobotArgument,
    data: DataArgument,
    method: MethodOption,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="F", help="The calibrated robot to write.")
    ] = None,
    gains: Annotated[
        bool | None,
        typer.Option(
            "--gains/--no-gains", help="Identify transmission gains. Default: if that helps."
        ),
    ] = None,
    priorities: PrioritiesOption = None,
    loss: Annotated[
        str, typer.Option(help="squared, huber or cauchy; the last two bear outliers.")
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
    start: Annotated[
        str,
        typer.Option(
            help="nominal; locate: place base and targets first; auto: if they are elsewhere."
        ),
    ] = "auto",
    hold_out: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Part of the data held out to judge.")
    ] = 0.2,
    images: ImagesOption = None,
    board: BoardOption = None,
    lens_images: LensImagesOption = None,
    lens: LensOption = None,
    mount: MountOption = "ground",
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    ignore_limits: IgnoreLimitsOption = False,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Identify a robot's parameters and write the calibrated robot."""
    from theodolite.calibration.calibrate import identify
    from theodolite.io.provenance import provenance
    from theodolite.io.robot_file import write_robot
    from theodolite.io.writing import check_writable
    from theodolite.report.data import result_data
    from theodolite.report.text import show_result

    if out is not None:
        check_writable(out, force=force)
    subject = with_priorities(robot_named(robot), priorities)
    way = camera_from(lens, mount) if method == "camera" else method_from(method, plane)
    recorded = data_from(
        data,
        subject,
        method=method if images is None else None,
        columns=columns,
        ignore=ignore,
        ignore_limits=ignore_limits,
        plane=plane,
    )
    screen = console(json=json)
    if images is not None:
        with working("looking at the pictures"):
            recorded, seen_by = from_pictures(
                recorded,
                images,
                board,
                lens_images=lens_images,
                lens=lens,
                mount=mount,
                pixels=method == "camera",
                warn=lambda text: typer.echo(f"warning: {text}", err=True),
            )
        way = seen_by if method == "camera" else way
    with working(f"identifying {subject.name}"):
        subject, moved = _started(subject, recorded, way, start)
        _check_enough(subject, recorded, way, gains=bool(gains))
        result = identify(
            subject,
            recorded,
            way,
            noise=_noise(noise_mm, noise_mrad, noise_joint_deg, noise_slide_mm),
            gains=gains,
            loss=_loss(loss),
            hold_out=hold_out,
            rng=generator(seed),
            provenance=provenance(
                [*([Path(robot)] if Path(robot).is_file() else []), *data],
                method=method,
                robot=robot,
                gains=gains,
                loss=loss,
                start=start,
                hold_out=hold_out,
                seed=seed,
            ),
        )
    if out is not None:
        write_robot(_signed(result), out, force=force)
    if moved:
        screen.print("Base and targets were placed by the data first; 'nominal' below has them.")
    show_result(screen, result)
    if out is not None:
        screen.print(f"wrote {out}", markup=False)
    if json:
        print_json({**result_data(result), "located": moved})
    if not result.good:
        raise typer.Exit(1)


def _started(robot: Machine, data: Dataset, method: Method, start: str) -> tuple[Machine, bool]:
    """The robot to start from, and whether base and targets had to be placed."""
    from theodolite.calibration.calibrate import fit_placement
    from theodolite.calibration.cross_validation import summary
    from theodolite.calibration.placement import located
    from theodolite.errors import InputError
    from theodolite.model.robot import Robot

    if start not in ("auto", "nominal", "locate"):
        raise InputError(f"--start {start}", allowed="auto, nominal, locate")
    if start == "auto":
        _check_poses(robot, data, method)
    far = ELSEWHERE * robot.reach() or float("inf")
    if method.name in ("implicit", "inverse", "camera"):
        return robot, False
    if method.name not in ("position", "frame"):
        if start == "locate":
            raise InputError("only measured positions can locate a robot", where=data.name)
        error = summary(robot, data, method)["position"].rms
        if error > ANOTHER / ELSEWHERE * far and start == "auto":
            raise InputError(
                f"the nominal '{robot.name}' is {1e3 * error:.0f} mm (rms) from what these "
                "configurations should share",
                where=data.name,
                remedy="Check the sets or the plane and that the file is of this robot; "
                "--start nominal tries all the same",
            )
        return robot, False
    known = all(name in robot.target_names for name in data.targets)
    if start == "nominal" or (
        start == "auto" and known and summary(robot, data, method)["position"].rms <= far
    ):
        return robot, False
    # Where a mechanism stands is fitted from nominal; a serial robot can be found from nothing.
    known_place = located(robot, data) if isinstance(robot, Robot) else robot
    placed = fit_placement(known_place, data, method)
    error = summary(placed, data, method)["position"].rms
    if error > far:
        raise InputError(
            f"wherever '{robot.name}' stands, these positions are {1e3 * error:.0f} mm off (rms)",
            where=data.name,
            remedy="The file may be of another robot, or its joints in another order or unit",
        )
    return placed, True


def _check_poses(robot: Machine, data: Dataset, method: Method) -> None:
    """Refuse poses that do not belong to their joints: out of reach, mixed up, another assembly."""
    import numpy as np

    from theodolite.calibration.assembly import named
    from theodolite.calibration.parallel import misfit
    from theodolite.calibration.platform import Platform
    from theodolite.errors import InputError
    from theodolite.model.mechanism import Mechanism

    if method.name not in ("implicit", "inverse", "frame") or not isinstance(robot, Mechanism):
        return
    try:
        Platform(robot)
    except InputError:
        if method.name != "frame":
            raise
        return
    if data.positions is None or not len(data):
        return
    off = misfit(robot, data)
    usual = float(np.median(off))
    if usual > FOREIGN:
        raise InputError(
            f"with the nominal '{robot.name}' legs would have to be {100 * usual:.0f} % longer or "
            "shorter (median) for joints and poses to agree",
            where=data.name,
            remedy="Check units, the order of the joints and where the robot file puts sensor and "
            "target; --start nominal tries all the same",
        )
    wrong = np.flatnonzero(off > np.maximum(MISMATCHED * usual, ELSEWHERE / 2))
    if len(wrong):
        lines = wrong + 1 if data.lines is None else data.lines[wrong]
        raise InputError(
            f"{named(lines)}: joints and pose do not belong together: legs would have to be "
            f"{100 * off[wrong[0]]:.0f} % longer or shorter, where {100 * usual:.1f} % is usual",
            where=data.name,
            remedy="The pose is out of reach, of another assembly or of another row: leave it out",
        )


def _check_enough(robot: Machine, data: Dataset, method: Method, *, gains: bool) -> None:
    """Refuse data that have fewer equations than the method has unknowns for this robot."""
    from theodolite.calibration.calibrate import equations, unknowns
    from theodolite.errors import InputError

    have, need = equations(robot, data, method), unknowns(robot, method, gains=gains)
    if need is not None and have < need:
        per_row = have / len(data)
        rows = int(-(-need // per_row)) if per_row else need
        raise InputError(
            f"too few rows: {len(data)} give {have} equations for {need} parameters",
            where=data.name,
            allowed=f"at least {rows} rows, better three times as many",
            remedy="Measure more configurations",
        )


def _noise(mm: float | None, mrad: float | None, joint_deg: float, slide_mm: float) -> Any:
    import numpy as np

    from theodolite.calibration.noise import Noise
    from theodolite.errors import InputError

    if mm == 0.0 or mrad == 0.0:
        raise InputError("noise 0 would give infinite weights", allowed="positive numbers")
    if mm is None and (mrad is not None or joint_deg or slide_mm):
        raise InputError(
            "noise is known whole or not at all", remedy="Give --noise-mm as well, or none"
        )
    default = Noise()
    return Noise(
        position=default.position if mm is None else mm * 1e-3,
        orientation=default.orientation if mrad is None else mrad * 1e-3,
        joint=float(np.radians(joint_deg)),
        slide=slide_mm * 1e-3,
        known=mm is not None,
    )


def _loss(name: str) -> Any:
    from theodolite.errors import InputError
    from theodolite.estimation.loss import Loss, Shape

    try:
        return Loss(Shape(name))
    except ValueError as error:
        raise InputError(f"--loss {name}", allowed=[shape.value for shape in Shape]) from error


def _signed(result: Any) -> Any:
    """The calibrated robot, saying in its source how it came about."""
    from dataclasses import replace

    robot = result.robot
    history = f"Calibrated by theodolite, {result.method}: {', '.join(result.provenance['files'])}."
    return replace(robot, source=f"{robot.source} {history}".strip())
