"""``theodolite generate``: simulated measurements."""

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
    method_from,
    print_json,
    robot_named,
    working,
    wrote,
)
from theodolite.cli.pictures import LensOption, MountOption

if TYPE_CHECKING:
    import numpy as np

    from theodolite.arrays import FloatArray
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method
    from theodolite.calibration.noise import Noise
    from theodolite.model.machine import Machine

NAME = "generate"


def command(
    robot: RobotArgument,
    method: MethodOption,
    out: Annotated[Path, typer.Option("--out", metavar="F", help="The CSV file to write.")],
    points: Annotated[
        int,
        typer.Option("--points", min=1, max=10**7, help="Measurements; for link methods, sets."),
    ] = 50,
    at: Annotated[
        Path | None,
        typer.Option(
            "--at", metavar="F", help="Joints at which to measure, as 'design' writes them."
        ),
    ] = None,
    per_set: Annotated[
        int, typer.Option("--per-set", min=2, help="Link methods: configurations per set.")
    ] = 4,
    noise_mm: Annotated[
        float, typer.Option(min=0.0, help="Noise of each coordinate, or of the contact, mm.")
    ] = 0.0,
    noise_mrad: Annotated[
        float, typer.Option(min=0.0, help="Noise of each rotation component, mrad.")
    ] = 0.0,
    noise_joint_deg: Annotated[
        float, typer.Option(min=0.0, help="Noise of revolute joints, deg.")
    ] = 0.0,
    noise_slide_mm: Annotated[
        float, typer.Option(min=0.0, help="Noise of prismatic joints, mm.")
    ] = 0.0,
    true: Annotated[
        str | None,
        typer.Option(
            "--true",
            metavar="ROBOT",
            help="The robot to measure, instead of ROBOT with errors.",
        ),
    ] = None,
    error_mm: Annotated[
        float, typer.Option(min=0.0, help="Largest error of each length, mm.")
    ] = 0.0,
    error_mrad: Annotated[
        float, typer.Option(min=0.0, help="Largest error of each angle, mrad.")
    ] = 0.0,
    error_gain: Annotated[
        float, typer.Option(min=0.0, help="Largest relative error of each gain.")
    ] = 0.0,
    save_true: Annotated[
        Path | None, typer.Option(metavar="F", help="Write the true robot to a file.")
    ] = None,
    noise_px: Annotated[float, typer.Option(min=0.0, help="Noise of each pixel, px.")] = 0.0,
    lens: LensOption = None,
    mount: MountOption = None,
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="camera: write pictures into a folder, and the joints."),
    ] = None,
    board: Annotated[
        str | None, typer.Option(metavar="B", help="The board in them, such as charuco:8x6:30:22.")
    ] = None,
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Simulate measurements of a robot, optionally with parameter errors and noise."""
    import numpy as np

    from theodolite.calibration.noise import Noise
    from theodolite.calibration.simulation import ParameterErrors, perturb, simulate
    from theodolite.errors import InputError
    from theodolite.io.robot_file import write_robot
    from theodolite.io.tables import check_text_table, write_measurements
    from theodolite.io.writing import check_writable

    for path in (out, save_true):
        if path is not None:
            check_writable(path, force=force)
    check_text_table(out)
    if save_true is not None and save_true.resolve() == out.resolve():
        raise InputError("--out and --save-true are the same file", where=str(out))
    if board is not None and images is None:
        raise InputError("--board is for pictures", remedy="Give --images as well")
    nominal = robot_named(robot)
    if true is not None and (error_mm or error_mrad or error_gain):
        raise InputError("--true and parameter errors cannot be combined")
    rng = generator(seed)
    errors = ParameterErrors(error_mm * 1e-3, error_mrad * 1e-3, error_gain)
    subject = nominal if true is None else robot_named(true)
    if errors != ParameterErrors():
        subject = perturb(nominal, errors, rng)
    if subject.joint_types != nominal.joint_types:
        raise InputError(f"'{true}' has different joints from '{robot}'")
    noise = Noise(
        position=noise_mm * 1e-3,
        orientation=noise_mrad * 1e-3,
        joint=float(np.radians(noise_joint_deg)),
        slide=noise_slide_mm * 1e-3,
        pixel=noise_px,
        known=True,
    )
    way = method_from(
        method, plane=plane, line=line, radius_mm=radius_mm, between=between, lens=lens, mount=mount
    )
    given = None if at is None else _joints(at, nominal)
    placed = subject
    if true is None and given is None:
        placed = _arranged(subject, way, board if images is not None else None, images)
    moved, subject = placed is not subject, placed
    with working(f"simulating {way.title}"):
        if images is not None:
            data = _pictures(subject, way, board, images, points, rng, noise, given, force=force)
        else:
            data = simulate(
                subject,
                way,
                points=points,
                rng=rng,
                noise=noise,
                per_set=per_set,
                at=given,
            )
    write_measurements(data, subject, out, force=force)
    if save_true is not None:
        write_robot(subject, save_true, force=force)
    if json:
        print_json(
            {
                "file": str(out),
                "method": method,
                "configurations": len(data),
                "seed": seed,
                "true": None if save_true is None else str(save_true),
                "plane": None if data.planes is None else data.planes[0].tolist(),
                "tool_turn_deg": None if data.fixture is None else _tool_turn(),
            }
        )
        return
    wrote(console(json=False), out, f"{_count(data, images)} of {subject.name}, {way.title}")
    _say_more(data, moved=moved)
    if save_true is not None:
        wrote(console(json=False), save_true, "the robot that was measured")


def _count(data: Dataset, images: Path | None) -> str:
    """How much was measured."""
    import numpy as np

    if images is not None:
        return f"{len(data)} pictures in {images}"
    if data.pixels is not None and data.sets is not None:
        return f"{len(np.unique(data.sets))} pictures with {len(data)} points"
    return f"{len(data)} configurations"


def _say_more(data: Dataset, *, moved: bool) -> None:
    """What an identification needs to know, and where things stand."""
    screen = console(json=False)
    if data.fixture is not None:
        turn = ",".join(f"{angle:.10g}" for angle in _tool_turn())
        screen.print(f"orientation of the tool in the fixture: roll,pitch,yaw {turn} deg")
    if moved:
        screen.print(
            "the target is where the camera sees it well, not in the world of the robot file: "
            "--save-true keeps the robot as it stands there"
        )


def _joints(path: Path, robot: Machine) -> FloatArray:
    """The configurations of a file, whatever else it holds; of a picture's marks one."""
    import numpy as np

    from theodolite.io.tables import read_measurements

    data = read_measurements([path], robot, note=lambda sentence: None)
    return data.motors[np.unique(data.configurations(), return_index=True)[1]]


def _arranged(robot: Machine, method: Method, board: str | None, images: Path | None) -> Machine:
    """The robot, standing where the camera in its hand sees the target."""
    from theodolite.calibration.camera import Camera
    from theodolite.cli.pictures import boards_from

    if not isinstance(method, Camera):
        return robot
    if images is not None:
        from theodolite.vision.rendering import looking_at

        (target,) = boards_from(None if board is None else [board])
        method = looking_at(method, target)
    return method.arranged(robot)


def _pictures(
    robot: Machine,
    method: Method,
    board: str | None,
    folder: Path,
    points: int,
    rng: np.random.Generator,
    noise: Noise,
    at: FloatArray | None,
    *,
    force: bool,
) -> Dataset:
    """Pictures in a folder; the joints at which they were taken."""
    from theodolite.calibration.camera import Camera
    from theodolite.cli.pictures import boards_from
    from theodolite.errors import InputError
    from theodolite.io.writing import make_folder, write_bytes
    from theodolite.vision.rendering import simulate_pictures

    if not isinstance(method, Camera):
        raise InputError("--images needs the method 'camera'")
    if noise.pixel:
        raise InputError(
            "--noise-px and --images cannot be combined",
            remedy="Pictures have their own grain",
        )
    (target,) = boards_from(None if board is None else [board])
    make_folder(folder, empty=not force)
    joints, pictures = simulate_pictures(
        robot, method, target, points=points, rng=rng, noise=noise, at=at
    )
    for name, content in zip(joints.pictures, pictures, strict=True):
        write_bytes(folder / name, content, force=force)
    return joints


def _tool_turn() -> list[float]:
    """Roll, pitch and yaw of the tool in the simulated fixture, deg."""
    import numpy as np

    from theodolite.calibration.point_sensor import simulated_tool_turn
    from theodolite.model.poses import roll_pitch_yaw

    return np.degrees(roll_pitch_yaw(simulated_tool_turn())).tolist()
