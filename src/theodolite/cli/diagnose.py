"""``theodolite diagnose``: is a robot still what its calibration says?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from theodolite.cli.design import noise_of
from theodolite.cli.options import (
    BetweenOption,
    ColumnsOption,
    DataArgument,
    IgnoreOption,
    JsonOption,
    LineOption,
    PlaneOption,
    RadiusOption,
    RobotArgument,
    SeedOption,
    console,
    data_from,
    generator,
    method_from,
    print_json,
    robot_named,
)

NAME = "diagnose"


def command(
    robot: RobotArgument,
    data: DataArgument,
    method: Annotated[
        str | None, typer.Option("--method", "-m", help="Default: inferred from the data.")
    ] = None,
    noise_mm: Annotated[
        float, typer.Option(min=1e-6, help="Noise of each coordinate or contact, mm.")
    ] = 0.05,
    noise_mrad: Annotated[
        float, typer.Option(min=1e-6, help="Noise of each rotation component, mrad.")
    ] = 0.2,
    noise_px: Annotated[float, typer.Option(min=1e-6, help="Noise of each pixel, px.")] = 0.1,
    false_alarms: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="How often an unchanged robot is called changed."),
    ] = 0.05,
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Find out from a few fresh measurements what has changed since the calibration."""
    from theodolite.assessment.diagnosis import diagnose
    from theodolite.calibration.catalogue import method_for
    from theodolite.compensation.uncertainty import Uncertainty
    from theodolite.io.result_file import is_result, read_result
    from theodolite.report.diagnosis import diagnosis_data, show_diagnosis

    subject = robot_named(robot)
    own: dict[str, Any] = {"plane": plane, "line": line, "radius_mm": radius_mm, "between": between}
    needs = () if method is None else method_from(method, **own).needs
    recorded = data_from(data, subject, needs=needs, columns=columns, ignore=ignore)
    way = method_from(method or method_for(recorded), **own)
    known = is_result(Path(robot))
    found = diagnose(
        subject,
        recorded,
        way,
        noise=noise_of(noise_mm, noise_mrad, noise_px),
        uncertainty=Uncertainty.from_result(read_result(robot)) if known else None,
        false_alarms=false_alarms,
        rng=generator(seed),
    )
    screen = console(json=json)
    show_diagnosis(screen, found, subject)
    if not known:
        screen.print(
            "A robot file does not say how well it is known: give the result of the calibration, "
            "saved with --save-result, so that its own uncertainty does not raise an alarm."
        )
    if json:
        print_json(diagnosis_data(found))
    if found.changed:
        raise typer.Exit(1)
