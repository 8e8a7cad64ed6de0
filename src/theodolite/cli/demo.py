"""``theodolite demo``: a whole calibration, offline, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import SeedOption, console, generator

NAME = "demo"


def command(
    robot: Annotated[str, typer.Option(help="A built-in robot.")] = "puma560",
    points: Annotated[int, typer.Option(min=20, help="Positions to measure.")] = 80,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Keep the files in this folder.")
    ] = None,
    seed: SeedOption = 1,
) -> None:
    """Simulate a robot with errors, measure and calibrate it, prove it on fresh configurations."""
    from theodolite import robots
    from theodolite.identification.identify import identifiable, identify, summary
    from theodolite.io.robot_file import write_robot
    from theodolite.io.tables import write_measurements
    from theodolite.measure.noise import Noise
    from theodolite.measure.position import Position
    from theodolite.measure.simulate import ParameterErrors, perturbed, simulate
    from theodolite.report.text import show_errors, show_identifiability, show_result, show_robot

    screen = console(json=False)
    rng = generator(seed)
    nominal, method = robots.load(robot), Position()
    screen.rule("1. The robot as it should be")
    show_robot(screen, nominal)
    screen.rule(
        "2. The robot as it is: lengths off by up to 3 mm, angles by 6 mrad, gains by 0.2 %"
    )
    true = perturbed(nominal, ParameterErrors(3e-3, 6e-3, 2e-3), rng)
    noise = Noise(position=5e-5)
    data = simulate(true, method, points=points, rng=rng, noise=noise)
    fresh = simulate(true, method, points=200, rng=rng)
    screen.print(
        f"{points} positions measured with 0.05 mm noise; 200 fresh ones kept aside, exact"
    )
    screen.rule("3. What position measurements determine")
    known = identifiable(nominal, method, gains=True)
    show_identifiability(screen, known, f"{nominal.name}, {method.title}", [])
    screen.rule("4. Identification")
    result = identify(nominal, data, method, gains=True, rng=rng)
    show_result(screen, result)
    screen.rule("5. Proof on fresh configurations")
    before, after = summary(nominal, fresh, method), summary(result.robot, fresh, method)
    show_errors(screen, "200 configurations never measured", {"before": before, "after": after})
    gain = before["position"].rms / after["position"].rms
    screen.print(f"The calibrated robot is {gain:.0f} times as accurate as the nominal one.")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_measurements(data, nominal, out / "measurements.csv", force=True)
        write_measurements(fresh, nominal, out / "fresh.csv", force=True)
        write_robot(result.robot, out / "calibrated.toml", force=True)
        screen.print(
            f"Files are in {out}: try  theodolite validate {out}/calibrated.toml {out}/fresh.csv"
        )
    if not result.good or gain < 1:
        raise typer.Exit(1)
