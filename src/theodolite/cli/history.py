"""``theodolite history``: one robot over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    ReportOption,
    console,
    print_json,
    wrote,
)

NAME = "history"


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with the saved results of one robot.")
    ],
    add: Annotated[
        list[Path] | None,
        typer.Option("--add", metavar="RESULT", help="Keep a saved result there first."),
    ] = None,
    report: ReportOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show which parameters of a robot have changed over its calibrations, and when."""
    from theodolite.io.history_folder import add_result, read_history
    from theodolite.io.writing import check_outputs
    from theodolite.report.history import history_data, history_page, show_history
    from theodolite.report.html import check_report, write_report
    from theodolite.studies.history import history

    check_outputs([report], force=force, inputs=list(add or []))
    check_report(report)
    screen = console(json=json)
    for path in add or []:
        wrote(screen, add_result(folder, path))
    moments = read_history(folder)
    found = history(moments)
    show_history(screen, found)
    if report is not None:
        write_report([history_page(folder.resolve().name, found)], report, force=force)
        wrote(screen, report)
    if json:
        print_json(history_data(found))
