"""``theodolite compare``: what differs between robots, or between a robot and itself later."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    ReportOption,
    SeedOption,
    console,
    generator,
    print_json,
    wrote,
)

NAME = "compare"


def command(
    robots: Annotated[
        list[str],
        typer.Argument(
            metavar="ROBOT...",
            help="Two or more: robot files, built-in robots, or results kept with --save-result.",
        ),
    ],
    report: ReportOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Compare robots: parameters that differ, and tips over the workspace."""
    from theodolite.assessment.comparison import Compared, compare_robots
    from theodolite.errors import InputError
    from theodolite.io.machines import machine_named
    from theodolite.io.provenance import provenance
    from theodolite.io.result_file import is_result, read_result
    from theodolite.io.writing import check_outputs
    from theodolite.report.comparison import (
        comparison_data,
        comparison_page,
        show_comparison,
        show_trend,
    )
    from theodolite.report.html import check_report, write_report

    if len(robots) < 2:
        raise InputError("one robot cannot be compared", remedy="Give two or more")
    check_outputs([report], force=force, inputs=[Path(name) for name in robots])
    check_report(report)

    def read(name: str) -> Compared:
        if is_result(Path(name)):
            result = read_result(name)
            return Compared(name, result.robot, result)
        return Compared(name, machine_named(name))

    several = [read(name) for name in robots]
    pairs = [compare_robots(one, other, generator(seed)) for one, other in pairwise(several)]
    screen = console(json=json)
    for found in pairs:
        show_comparison(screen, found)
    if len(several) > 2:
        show_trend(screen, several, pairs)
    if report is not None:
        files = [Path(name) for name in robots if Path(name).is_file()]
        page = comparison_page(several, pairs, provenance(files, robots=", ".join(robots)))
        write_report([page], report, force=force)
        wrote(screen, report)
    if json:
        print_json({"comparisons": [comparison_data(found) for found in pairs]})
