"""``theodolite dynamics``: inertial parameters and friction, one file per verb."""

import typer

from theodolite.cli.dynamics import excite, gains, identifiable, identify, payload, validate

NAME = "dynamics"
app = typer.Typer(
    help="Inertial parameters and friction: which exist, and what they are.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for verb in (identifiable, excite, identify, validate, payload, gains):
    app.command(verb.NAME)(verb.command)
