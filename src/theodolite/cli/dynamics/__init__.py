"""``theodolite dynamics``: inertial parameters and friction, one file per verb."""

import typer

from theodolite.cli.dynamics import (
    base_values,
    excite,
    gains,
    identifiable,
    identify,
    payload,
    predict,
    simulate,
    validate,
    with_geometry,
)
from theodolite.cli.help import Command

NAME = "dynamics"
app = typer.Typer(
    help="Identify inertial parameters and friction from recorded torques.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for verb in (
    *(identifiable, excite, identify, validate, predict, simulate),
    *(payload, gains, base_values, with_geometry),
):
    app.command(verb.NAME, cls=Command)(verb.command)
