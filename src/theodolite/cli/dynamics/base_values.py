"""``theodolite dynamics base-values``: base parameters of bodies that are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.dynamics.options import GravityOption, TipOption, load_dynamics
from theodolite.cli.options import JsonOption, RobotArgument, console, print_json
from theodolite.io.machines import is_urdf

NAME = "base-values"


def command(
    robot: RobotArgument,
    parameters: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PARAMETERS]",
            help="What 'dynamics identify --out' wrote, or a URDF with inertias. Default: the "
            "robot's own URDF.",
        ),
    ] = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    json: JsonOption = False,
) -> None:
    """Print the base parameters of known bodies: what any torque shows of them."""
    from theodolite.dynamics.base_parameters import base_values, find_base_parameters
    from theodolite.dynamics.constants import describe_relations
    from theodolite.errors import InputError
    from theodolite.io.dynamics_file import read_prior
    from theodolite.report.dynamics import base_value_data, show_base_values

    if parameters is None and is_urdf(robot):
        parameters = Path(robot)
    if parameters is None:
        raise InputError(
            f"nothing is known of the bodies of '{robot}'", remedy="Give PARAMETERS, or a URDF"
        )
    known = read_prior(parameters, tip=tip)
    dynamics = load_dynamics(robot, gravity, tip, parameters=known)
    known.check_frames(dynamics)
    identifiability = find_base_parameters(dynamics, drives=known.drives)
    names = [parameter.name for parameter in identifiability.parameters]
    values = base_values(identifiability, known.vector(names))
    relations = describe_relations(dynamics, identifiability, known.drives)
    screen = console(json=json)
    show_base_values(screen, identifiability, values, relations)
    if json:
        print_json(base_value_data(identifiability, values, relations))
