"""``theodolite plan``: how many measurements, and how good a sensor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import (
    JsonOption,
    MethodOption,
    PlaneOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    method_from,
    numbers,
    print_json,
    robot_named,
    working,
)

NAME = "plan"


def command(
    robot: RobotArgument,
    method: MethodOption,
    points: Annotated[
        str, typer.Option(metavar="A,B,...", help="Numbers of measurements.")
    ] = "10,20,30,50,100",
    noise_mm: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Noise of each coordinate or contact, mm."),
    ] = None,
    noise_px: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Noise of each pixel, px (camera).")
    ] = None,
    mrad_per_mm: Annotated[
        float, typer.Option(min=0.0, help="Noise of rotations for each mm of positions, mrad.")
    ] = 4.0,
    task: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Joints or poses at which the robot will be used."),
    ] = None,
    gains: Annotated[bool, typer.Option("--gains", help="Gains are to be identified too.")] = False,
    plane: PlaneOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Say what error to expect after a calibration, before anything is bought."""
    from theodolite.calibration.noise import Noise
    from theodolite.cli.design import task_of
    from theodolite.design.designing import accuracy_table
    from theodolite.errors import InputError
    from theodolite.report.design import plan_table, show_plan_table

    subject, way = robot_named(robot), method_from(method, plane=plane)
    pixels = "pixels" in way.needs
    text = (noise_px or "0.05,0.1,0.2,0.5") if pixels else (noise_mm or "0.01,0.02,0.05,0.1,0.2")
    noises = numbers(text, 1e3)
    counts = numbers(points, 1e5)
    if not len(noises) or (noises <= 0).any():
        raise InputError(f"noise {text}", allowed="positive numbers, separated by commas")
    if not len(counts) or (counts < 1).any() or (counts != counts.round()).any():
        raise InputError(f"--points {points}", allowed="whole numbers, separated by commas")
    unit = Noise(position=1e-3, orientation=1e-3 * mrad_per_mm, pixel=1.0, known=True)
    with working(f"expecting errors of {subject.name}"):
        table = accuracy_table(
            subject,
            way,
            noise=unit,
            counts=[int(count) for count in counts],
            factors=noises.tolist(),
            task=None if task is None else task_of(task, subject),
            gains=gains,
            rng=generator(seed),
        )
    content = plan_table(
        [int(count) for count in counts], noises.tolist(), "px" if pixels else "mm", table
    )
    show_plan_table(console(json=json), content)
    if json:
        print_json(content)
