"""``theodolite reproduce``: published figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import ForceOption, JsonOption, console, print_json, working, wrote

NAME = "reproduce"
#: Paper -> modules in ``theodolite.reproduce``.
PAPERS = {
    "gecaro": ("gecaro",),
    "everett": ("everett_models", "everett_loops", "everett_fixture"),
    "meggiolaro": ("meggiolaro", "meggiolaro_errors"),
    "renaud": ("renaud", "renaud_tables", "renaud_checks"),
    "renaud-dynamics": ("renaud_dynamics",),
    "gautier": ("gautier", "gautier_tables"),
}
#: Parts of a paper that can be asked for by themselves.
PARTS = {
    "everett-models": ("everett_models",),
    "everett-loops": ("everett_loops",),
    "everett-fixture": ("everett_fixture",),
}


def command(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER]",
            help=f"{', '.join(PAPERS)}; without it, all. Parts: {', '.join(PARTS)}.",
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write the plots to.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Recompute published figures and print them beside the papers'.

    The exit code is 1 if one of them differs from the expected value.
    """
    from importlib import import_module

    from theodolite.errors import InputError
    from theodolite.io.writing import check_writable
    from theodolite.reproduce.figure import Figure, show_figures

    modules = PAPERS | PARTS
    if paper is not None and paper not in modules:
        raise InputError(f"there is no reproduction of '{paper}'", allowed=modules)
    if plots is not None and not plots.is_dir():
        raise InputError("is not a folder", where=str(plots), remedy="Make it first")
    if plots is not None:
        parts = [part for name in (PAPERS if paper is None else [paper]) for part in modules[name]]
        for part in parts:
            module = import_module(f"theodolite.reproduce.{part}")
            for picture in getattr(module, "PICTURES", ()):
                check_writable(plots / picture, force=force)
    screen = console(json=json)
    found: dict[str, list[Figure]] = {}
    for name in PAPERS if paper is None else [paper]:
        found[name] = []
        for part in modules[name]:
            module = import_module(f"theodolite.reproduce.{part}")
            with working(f"computing {module.TITLE}"):
                figures = module.figures()
            found[name] += figures
            if hasattr(module, "show"):
                module.show(screen, figures)
            else:
                show_figures(screen, module.TITLE, figures)
            if plots is not None and hasattr(module, "plots"):
                for path in module.plots(plots, force=force):
                    wrote(screen, path)
    if json:
        print_json({name: [figure.data() for figure in figures] for name, figures in found.items()})
    if not all(figure.agrees for figures in found.values() for figure in figures):
        raise typer.Exit(1)
