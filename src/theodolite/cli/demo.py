"""``theodolite demo``: a whole calibration, offline, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import ForceOption, SeedOption, console, generator

NAME = "demo"


def command(
    robot: Annotated[str, typer.Option(help="A built-in robot.")] = "puma560",
    points: Annotated[int, typer.Option(min=20, help="Positions to measure.")] = 80,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Keep the files in this folder.")
    ] = None,
    seed: SeedOption = 1,
    force: ForceOption = False,
) -> None:
    """Simulate a robot with errors, measure and calibrate it, prove it on fresh configurations."""
    from theodolite import robots
    from theodolite.calibration.calibrate import identifiable, identify
    from theodolite.calibration.cross_validation import summarise
    from theodolite.calibration.noise import Noise
    from theodolite.calibration.position import Position
    from theodolite.calibration.simulation import ParameterErrors, perturb, simulate
    from theodolite.io.robot_file import write_robot
    from theodolite.io.tables import write_measurements
    from theodolite.report.text import show_errors, show_identifiability, show_result, show_robot

    files = {} if out is None else _files(out, force=force)
    screen = console(json=False)
    rng = generator(seed)
    nominal, method = robots.load(robot), Position()
    screen.rule("1. The robot as it should be")
    show_robot(screen, nominal)
    screen.rule("2. The robot as it is: off by up to 3 mm, 6 mrad, gains 0.2 %")
    true = perturb(nominal, ParameterErrors(3e-3, 6e-3, 2e-3), rng)
    noise = Noise(position=5e-5)
    data = simulate(true, method, points=points, rng=rng, noise=noise)
    fresh = simulate(true, method, points=200, rng=rng)
    screen.print(
        f"{points} positions measured with 0.05 mm noise; 200 fresh ones without noise set aside"
    )
    screen.rule("3. What position measurements determine")
    known = identifiable(nominal, method, gains=True)
    show_identifiability(screen, known, f"{nominal.name}, {method.title}", [])
    screen.rule("4. Identification")
    result = identify(nominal, data, method, gains=True, rng=rng)
    show_result(screen, result)
    screen.rule("5. Proof on fresh configurations")
    before, after = summarise(nominal, fresh, method), summarise(result.robot, fresh, method)
    show_errors(screen, "200 configurations never measured", {"before": before, "after": after})
    gain = before["position"].rms / after["position"].rms
    screen.print(f"The calibrated robot is {gain:.0f} times as accurate as the nominal one.")
    if out is not None:
        write_measurements(data, nominal, files["measurements.csv"], force=force)
        write_measurements(fresh, nominal, files["fresh.csv"], force=force)
        write_robot(result.signed_robot(), files["calibrated.toml"], force=force)
        screen.print(
            f"Files are in {out}: try  theodolite validate {out}/calibrated.toml {out}/fresh.csv"
        )
    if not result.good or gain < 1:
        raise typer.Exit(1)


def _files(folder: Path, *, force: bool) -> dict[str, Path]:
    """The files to write, checked before any work is done."""
    from theodolite.errors import InputError
    from theodolite.io.writing import check_writable

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be created as a folder: {error.strerror}", where=str(folder)
        ) from error
    names = ("measurements.csv", "fresh.csv", "calibrated.toml")
    for name in names:
        check_writable(folder / name, force=force)
    return {name: folder / name for name in names}
