"""``theodolite dynamics identifiable``: which inertial parameters torques determine."""

from __future__ import annotations

from typing import Annotated

import typer

from theodolite.cli.dynamics.options import (
    DEFAULT_FRICTION,
    GravityOption,
    RotorsOption,
    TipOption,
    load_dynamics,
    parse_drives,
)
from theodolite.cli.options import (
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    member_of,
    print_json,
)

NAME = "identifiable"


def command(
    robot: RobotArgument,
    rotors: RotorsOption = True,
    friction: Annotated[
        bool, typer.Option("--friction", help="Include viscous, Coulomb and offset friction.")
    ] = False,
    by: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="qr or svd: from random samples; rules: by closed-form rules, for trees.",
        ),
    ] = "qr",
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Sample torque, torque without velocities (rest), or energy."
        ),
    ] = "torque",
    gravity: GravityOption = None,
    tip: TipOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Show which inertial parameters torques determine, and how the others are regrouped."""
    from theodolite.dynamics.base_parameters import Analysis, Samples, find_base_parameters
    from theodolite.dynamics.constants import describe_relations
    from theodolite.report.data import identifiability_data
    from theodolite.report.text import show_identifiability

    analysis = member_of(Analysis, by, "--by")
    samples = member_of(Samples, model, "--model")
    dynamics = load_dynamics(robot, gravity, tip)
    drives = parse_drives(DEFAULT_FRICTION if friction else "none", rotors=rotors)
    identifiability = find_base_parameters(
        dynamics, drives=drives, analysis=analysis, samples=samples, rng=generator(seed)
    )
    relations = describe_relations(dynamics, identifiability, drives)
    screen = console(json=json)
    title = f"{dynamics.name}, {model} by {by}"
    show_identifiability(screen, identifiability, title, [], relations)
    if json:
        print_json(identifiability_data(identifiability, None, []) | {"relations": relations})
