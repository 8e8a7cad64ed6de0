"""``theodolite sensitivity``: from tolerances of parts to errors of the tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    print_json,
    robot_named,
    working,
    wrote,
)

NAME = "sensitivity"


def command(
    robot: RobotArgument,
    base: Annotated[
        bool, typer.Option("--base", help="Count tolerances of base and tool as well.")
    ] = False,
    points: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Positions in the calibration compared with."),
    ] = 50,
    noise_mm: Annotated[
        float, typer.Option(min=1e-6, help="Noise of each measured coordinate, mm.")
    ] = 0.05,
    plot: Annotated[
        Path | None, typer.Option(metavar="F", help="Draw bars and a map: png, svg or pdf.")
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show which tolerances matter, and how far off the tool may be."""
    from theodolite.design.sensitivity import sensitivity
    from theodolite.io.writing import check_outputs
    from theodolite.report.design import draw_sensitivity, sensitivity_data, show_sensitivity
    from theodolite.report.plots import check_plot

    check_outputs([plot], force=force, inputs=[Path(robot)])
    if plot is not None:
        check_plot(plot)
    subject = robot_named(robot)
    with working(f"drawing robots like {subject.name}"):
        found = sensitivity(
            subject,
            base=base,
            rng=generator(seed),
            measurements=points,
            noise=1e-3 * noise_mm,
        )
    screen = console(json=json)
    show_sensitivity(screen, found)
    if plot is not None:
        draw_sensitivity(found, plot, force=force)
        wrote(screen, plot)
    if json:
        print_json(sensitivity_data(found))
