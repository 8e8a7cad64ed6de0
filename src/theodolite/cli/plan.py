"""``theodolite plan``: how many measurements, and how good a sensor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.options import (
    METHOD,
    BetweenOption,
    ForceOption,
    JsonOption,
    LineOption,
    PlaneOption,
    RadiusOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    method_from,
    numbers,
    print_json,
    robot_named,
    working,
    wrote,
)
from theodolite.cli.pictures import LensOption, MountOption

if TYPE_CHECKING:
    from theodolite.design.mixture import Offer

NAME = "plan"


def command(
    robot: RobotArgument,
    method: Annotated[str | None, METHOD] = None,
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
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    lens: LensOption = None,
    mount: MountOption = None,
    offers: Annotated[
        list[str] | None,
        typer.Option(
            "--offer",
            metavar="METHOD:PRICE:NOISE",
            help="A kind of measurement, the price of one, and its noise in mm (px for camera). "
            "Repeat it for each kind: position:4:0.05, plane:1:0.02.",
        ),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0, help="What all measurements together may cost.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write what to measure of each kind into this folder."),
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Estimate the error to expect after a calibration, before you buy or measure anything."""
    own: dict[str, Any] = {
        **{"plane": plane, "line": line, "radius_mm": radius_mm},
        **{"between": between, "lens": lens, "mount": mount},
    }
    if offers:
        _mixture(robot, offers, budget, task, out, own, mrad_per_mm, gains, seed, force, json)
        return
    from theodolite.calibration.noise import Noise
    from theodolite.cli.design import task_of
    from theodolite.design.designing import accuracy_table
    from theodolite.errors import InputError
    from theodolite.report.design import plan_table, show_plan_table

    if method is None:
        raise InputError("no method was given", remedy="Use --method, or --offer for several kinds")
    if budget is not None or out is not None:
        raise InputError("--budget and --out need --offer")
    subject, way = robot_named(robot), method_from(method, **own)
    if noise_px is not None and "pixels" not in way.needs:
        raise InputError(f"--noise-px is not for the method '{way.name}'", remedy="Use --noise-mm")
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


def _mixture(
    robot: str,
    offers: list[str],
    budget: float | None,
    task: Path | None,
    out: Path | None,
    own: dict[str, Any],
    mrad_per_mm: float,
    gains: bool,
    seed: int,
    force: bool,
    json: bool,
) -> None:
    """What to measure of each kind for a sum."""
    from theodolite.cli.design import task_of
    from theodolite.design.mixture import mix
    from theodolite.errors import InputError
    from theodolite.io.design_file import write_design
    from theodolite.io.writing import check_outputs, make_folder
    from theodolite.report.design import mixture_data, show_mixture

    if budget is None:
        raise InputError("--offer needs --budget")
    subject = robot_named(robot)
    kinds = [_offer(text, own, mrad_per_mm) for text in offers]
    names = [f"{number}-{kind.method.name}.csv" for number, kind in enumerate(kinds, start=1)]
    if out is not None:
        make_folder(out)
        check_outputs([out / name for name in names], force=force)
    with working(f"choosing measurements of {subject.name}") as status:
        found = mix(
            subject,
            kinds,
            budget,
            task=None if task is None else task_of(task, subject),
            gains=gains,
            rng=generator(seed),
            tell=lambda what: status.update(f"choosing measurements of {subject.name}: {what}"),
        )
    screen = console(json=json)
    show_mixture(screen, found)
    for name, share in zip(names, found.shares, strict=True):
        if out is not None and share.data is not None:
            write_design(share.data, subject, out / name, force=force)
            wrote(screen, out / name)
    if json:
        print_json(mixture_data(found))


def _offer(text: str, own: dict[str, Any], mrad_per_mm: float) -> Offer:
    from theodolite.calibration.noise import Noise
    from theodolite.design.mixture import Offer
    from theodolite.errors import InputError

    name, _, rest = text.partition(":")
    given = numbers(rest.replace(":", ","), 1e9).tolist() if rest else []
    if len(given) != 2 or not min(given) > 0.0:
        raise InputError(f"--offer {text}", allowed="METHOD:PRICE:NOISE, as in position:4:0.05")
    price, size = given
    noise = Noise(
        position=1e-3 * size, orientation=1e-3 * mrad_per_mm * size, pixel=size, known=True
    )
    return Offer(method_from(name, one_of_several=True, **own), price, noise)
