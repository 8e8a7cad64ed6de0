"""``theodolite``: the verbs together, and what happens when one fails.

Exit codes: 0 done, 1 done but the result is bad, 2 wrong usage or input.
"""

from __future__ import annotations

import sys

import typer

import theodolite
from theodolite.cli import (
    check,
    demo,
    dynamics,
    generate,
    identifiable,
    identify,
    new,
    reproduce,
    robots,
    validate,
)
from theodolite.errors import TheodoliteError

app = typer.Typer(
    name="theodolite",
    help="Robot calibration: which parameters exist, what they are, and how sure we are.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verb in (robots, new, check, identifiable, generate, identify, validate, reproduce, demo):
    app.command(verb.NAME)(verb.command)
app.add_typer(dynamics.app, name=dynamics.NAME)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"theodolite {theodolite.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Robot calibration: which parameters exist, what they are, and how sure we are."""


def run() -> None:
    """Run the command line and exit with its code; typer itself exits with 2 on wrong usage."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character shows a question mark.
            stream.reconfigure(errors="replace")
    try:
        app()
    except TheodoliteError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
