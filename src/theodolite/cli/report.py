"""``theodolite report``: a page for people from results that were saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import ForceOption, JsonOption, console, print_json, wrote

NAME = "report"


def command(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Results kept with --save-result."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="F", help="The HTML file to write.")],
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write a report from saved results, one HTML file."""
    from theodolite.io.writing import check_outputs
    from theodolite.report.html import check_report, write_report
    from theodolite.report.saved import page_of

    check_outputs([out], force=force, inputs=results)
    check_report(out)
    pages = [page_of(path) for path in results]
    write_report(pages, out, force=force)
    screen = console(json=json)
    for page in pages:
        screen.print(f"{page.title}: {page.verdict[0]}", markup=False)
    wrote(screen, out)
    if json:
        print_json(
            {
                "reports": [
                    {"title": page.title, "good": page.good, "verdict": list(page.verdict)}
                    for page in pages
                ]
            }
        )
