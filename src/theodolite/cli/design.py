"""``theodolite design``: the configurations worth measuring."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    generator,
    member_of,
    method_from,
    numbers,
    one_of,
    print_json,
    robot_named,
    working,
    wrote,
)
from theodolite.cli.pictures import LensOption, MountOption

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method
    from theodolite.calibration.noise import Noise
    from theodolite.design.constraints import Constraints
    from theodolite.model.machine import Machine

NAME = "design"


def command(
    robot: RobotArgument,
    method: MethodOption,
    out: Annotated[
        Path, typer.Option("--out", metavar="F", help="The configurations to measure, CSV.")
    ],
    points: Annotated[
        int | None, typer.Option(min=1, help="Measurements, or sets of link methods.")
    ] = None,
    until_mm: Annotated[
        float | None,
        typer.Option(min=1e-6, help="Choose as many as needed to reach this expected error, mm."),
    ] = None,
    criterion: Annotated[
        str,
        typer.Option(
            help="I (expected error over the task), D, E, A, or O1 to O5.",
            autocompletion=one_of("I", "D", "E", "A", "O1", "O2", "O3", "O4", "O5"),
        ),
    ] = "I",
    task: Annotated[
        Path | None,
        typer.Option(
            metavar="F", help="Joints or poses at which the robot will be used. Default: anywhere."
        ),
    ] = None,
    candidates: Annotated[
        int, typer.Option(min=10, max=10**6, help="Candidates that are drawn.")
    ] = 2000,
    grid: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Candidates on a grid instead: this many values per joint, within its limits.",
        ),
    ] = None,
    among: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Choose among the configurations of a file instead."),
    ] = None,
    given: Annotated[
        Path | None, typer.Option(metavar="F", help="Measurements already taken.")
    ] = None,
    noise_joint_deg: Annotated[
        float, typer.Option(min=0.0, help="Noise of revolute joints, deg.")
    ] = 0.0,
    noise_slide_mm: Annotated[
        float, typer.Option(min=0.0, help="Noise of prismatic joints, mm.")
    ] = 0.0,
    noise_mm: Annotated[
        float, typer.Option(min=1e-6, help="Noise of each coordinate or contact, mm.")
    ] = 0.05,
    noise_mrad: Annotated[
        float, typer.Option(min=1e-6, help="Noise of each rotation component, mrad.")
    ] = 0.2,
    noise_px: Annotated[float, typer.Option(min=1e-6, help="Noise of each pixel, px.")] = 0.1,
    box_mm: Annotated[
        str | None,
        typer.Option(metavar="X1,X2,Y1,Y2,Z1,Z2", help="The tip stays in this box of the world."),
    ] = None,
    floor_mm: Annotated[
        float | None, typer.Option(help="No link goes below this height of the world.")
    ] = None,
    wall_mm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NX,NY,NZ,H",
            help="No link goes beyond this wall: nx x + ny y + nz z >= h. May be repeated.",
        ),
    ] = None,
    sensor_mm: Annotated[
        str | None,
        typer.Option(metavar="X,Y,Z", help="Position of the sensor, world frame."),
    ] = None,
    distance_mm: Annotated[
        str | None, typer.Option(metavar="MIN,MAX", help="Distances at which the sensor sees.")
    ] = None,
    facing_deg: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=180.0, help="Largest angle between the tool's z axis and the sensor."
        ),
    ] = None,
    view_deg: Annotated[
        float | None,
        typer.Option(min=0.1, max=180.0, help="Opening of the sensor's field of view, a cone."),
    ] = None,
    looking_at_mm: Annotated[
        str,
        typer.Option(metavar="X,Y,Z", help="The point of the world in the middle of that cone."),
    ] = "0,0,0",
    arm_radius_mm: Annotated[
        float,
        typer.Option(min=0.0, help="Radius of the links, which must not touch or hide the target."),
    ] = 0.0,
    mobility: Annotated[
        float,
        typer.Option(
            min=0.0, help="Minimum mobility of the tip, such as 0.02, to avoid singularities."
        ),
    ] = 0.0,
    refine: Annotated[
        bool,
        typer.Option(
            "--refine/--no-refine",
            help="Fine-tune the choice for the most information.",
        ),
    ] = True,
    gains: Annotated[bool, typer.Option("--gains", help="Gains are to be identified too.")] = False,
    terms: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Error terms that will be identified too: gravity, bending, harmonics.",
        ),
    ] = "",
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    lens: LensOption = None,
    mount: MountOption = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="F", help="Draw the expected error: png, svg or pdf.")
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Choose the configurations that determine a robot best."""
    from theodolite.design.criteria import Criterion
    from theodolite.design.designing import design
    from theodolite.errors import InputError
    from theodolite.io.design_file import write_design
    from theodolite.io.naming import name_list
    from theodolite.io.tables import read_measurements
    from theodolite.io.writing import check_outputs
    from theodolite.report.design import design_data, draw_design, show_design
    from theodolite.report.plots import check_plot

    if (points is None) == (until_mm is None):
        raise InputError("give either --points or --until-mm")
    inputs = [Path(robot), *(path for path in (task, given) if path is not None)]
    check_outputs([out, plot], force=force, inputs=inputs)
    if plot is not None:
        check_plot(plot)
    kind = member_of(Criterion, criterion, "--criterion")
    subject = robot_named(robot)
    way = method_from(
        method, plane=plane, line=line, radius_mm=radius_mm, between=between, lens=lens, mount=mount
    )
    with working(f"designing measurements of {subject.name}") as status:
        found = design(
            subject,
            way,
            points,
            noise=noise_of(noise_mm, noise_mrad, noise_px, noise_joint_deg, noise_slide_mm),
            criterion=kind,
            task=None if task is None else task_of(task, subject),
            constraints=_constraints(
                box_mm,
                floor_mm,
                wall_mm or [],
                sensor_mm,
                distance_mm,
                facing_deg,
                view_deg,
                looking_at_mm,
                arm_radius_mm,
                mobility,
            ),
            pool=_pool(subject, way, candidates, grid, among),
            given=None if given is None else read_measurements([given], subject, needs=way.needs),
            until=None if until_mm is None else 1e-3 * until_mm,
            gains=gains,
            terms=name_list(terms),
            refine=refine,
            rng=generator(seed),
            tell=lambda what: status.update(f"designing measurements of {subject.name}: {what}"),
        )
    write_design(found.data, subject, out, force=force)
    screen = console(json=json)
    show_design(screen, found)
    wrote(screen, out)
    if plot is not None:
        draw_design(found, plot, force=force)
        wrote(screen, plot)
    if json:
        print_json(design_data(found))


def noise_of(
    mm: float, mrad: float, px: float, joint_deg: float = 0.0, slide_mm: float = 0.0
) -> Noise:
    """Known noise of a sensor and of joints."""
    import numpy as np

    from theodolite.calibration.noise import Noise

    return Noise(
        position=1e-3 * mm,
        orientation=1e-3 * mrad,
        pixel=px,
        joint=float(np.radians(joint_deg)),
        slide=1e-3 * slide_mm,
        known=True,
    )


def _pool(
    robot: Machine, method: Method, count: int, grid: str | None, among: Path | None
) -> Dataset | int:
    """What to choose from: drawn candidates, a grid of joints, or the rows of a file."""
    from theodolite.calibration.simulation import observe_at, reads_anywhere
    from theodolite.design.information import grid_of
    from theodolite.errors import InputError
    from theodolite.io.tables import read_measurements

    if grid is not None and among is not None:
        raise InputError("--grid and --among cannot be combined")
    if grid is not None:
        values = numbers(grid, 1e6)
        return observe_at(robot, method, grid_of(robot, [int(value) for value in values]))
    if among is None:
        return count
    needs = () if reads_anywhere(method) else method.needs
    rows = read_measurements([among], robot, needs=needs, own=method.columns)
    return observe_at(robot, method, rows.motors) if reads_anywhere(method) else rows


def task_of(path: Path, robot: Machine) -> FloatArray:
    """Joints at which a robot will be used, from joints or poses in a table."""
    import numpy as np

    from theodolite.compensation.inverse import any_joints
    from theodolite.errors import InputError
    from theodolite.io.targets import read_targets

    program = read_targets(path, robot)
    if program.motors is not None:
        return program.motors
    assert program.targets is not None
    found = any_joints(robot, program.targets, generator(0))
    lost = np.flatnonzero(np.isnan(found).any(axis=1))
    if len(lost):
        raise InputError(
            f"line {int(program.lines[lost[0]])}: the robot does not reach this pose of the task "
            f"({len(lost)} of {len(found)})",
            where=str(path),
        )
    return found


def _constraints(
    box: str | None,
    floor: float | None,
    walls: list[str],
    sensor: str | None,
    distance: str | None,
    facing: float | None,
    view: float | None,
    looking_at: str,
    radius: float,
    mobility: float,
) -> Constraints:
    import numpy as np

    from theodolite.design.constraints import Constraints
    from theodolite.errors import InputError

    def some(text: str | None, count: int, option: str) -> FloatArray | None:
        if text is None:
            return None
        values = numbers(text, 1e9)
        if len(values) != count:
            raise InputError(f"{option} {text}", allowed=f"{count} numbers in mm")
        return 1e-3 * values

    sides = some(box, 6, "--box-mm")
    corners = None if sides is None else np.array([sides[::2], sides[1::2]])
    if corners is not None and (corners[0] >= corners[1]).any():
        raise InputError(f"--box-mm {box}", allowed="the smaller side of each axis first")
    sides_of_walls = []
    for text in walls:
        given = numbers(text, 1e9)
        if len(given) != 4 or not given[:3].any():
            raise InputError(f"--wall-mm {text}", allowed="a direction and a distance in mm")
        size = float(np.linalg.norm(given[:3]))
        sides_of_walls.append((given[:3] / size, 1e-3 * float(given[3]) / size))
    place = some(sensor, 3, "--sensor-mm")
    range_ = some(distance, 2, "--distance-mm")
    if range_ is not None and range_[0] >= range_[1]:
        raise InputError(f"--distance-mm {distance}", allowed="the smaller distance first")
    if place is None and (range_ is not None or facing is not None or view is not None):
        raise InputError("--distance-mm, --facing-deg and --view-deg need --sensor-mm")
    middle = some(looking_at, 3, "--looking-at-mm")
    if view is not None and place is not None and middle is not None and (middle == place).all():
        raise InputError("--looking-at-mm is where the sensor stands")
    return Constraints(
        box=corners,
        floor=None if floor is None else 1e-3 * floor,
        walls=tuple(sides_of_walls),
        sensor=place,
        nearest=0.0 if range_ is None else float(range_[0]),
        farthest=np.inf if range_ is None else float(range_[1]),
        facing=None if facing is None else float(np.radians(facing)),
        view=None if view is None else float(np.radians(view)),
        looking_at=middle,
        radius=1e-3 * radius,
        mobility=mobility,
    )
