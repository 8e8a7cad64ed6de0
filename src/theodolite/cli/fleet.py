"""``theodolite fleet``: many robots at once, and what they have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.help import Command
from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    console,
    print_json,
    working,
    wrote,
)
from theodolite.cli.scale import Countdown, SchedulerOption, WorkersOption

if TYPE_CHECKING:
    from theodolite.io.fleet_file import Entry
    from theodolite.studies.fleet import Calibrated, Member

NAME = "fleet"
app = typer.Typer(
    help="Calibrate many robots, and see what they have in common.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def group() -> None:
    """Calibrate many robots, and see what they have in common."""


@app.command("calibrate", cls=Command)
def calibrate(
    fleet: Annotated[
        Path, typer.Argument(metavar="FLEET", help="The robots: TOML with [[robot]], or CSV.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for robots, results and the page.")
    ],
    pool: Annotated[
        bool,
        typer.Option("--pool", help="Calibrate again with mean and spread of the make as a prior."),
    ] = False,
    workers: WorkersOption = 0,
    scheduler: SchedulerOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Calibrate every robot of a fleet; one that fails stops no other."""
    from theodolite.io.fleet_file import read_fleet
    from theodolite.io.result_file import write_result
    from theodolite.io.robot_file import write_robot
    from theodolite.io.writing import make_folder
    from theodolite.report.fleet import fleet_data, fleet_page, show_fleet
    from theodolite.report.html import check_report, write_report
    from theodolite.studies.fleet import Calibrated, calibrate_member, makes, with_make
    from theodolite.studies.workers import in_processes

    entries = read_fleet(fleet)
    page = out / "fleet.html"
    check_report(page)
    make_folder(out, empty=not force)
    read = [_member(entry) for entry in entries]
    members = [one for one in read if not isinstance(one, Calibrated)]
    found = {one.name: one for one in read if isinstance(one, Calibrated)}

    def run(some: list[Member]) -> None:
        count = Countdown(len(some), "robots")
        with working(f"calibrating {len(some)} robots") as status:
            for _, one in each(calibrate_member, some):
                found[one.name] = one
                if one.result is not None:
                    # At once: an interrupted fleet keeps what is done.
                    write_robot(one.result.signed_robot(), out / f"{one.name}.toml", force=True)
                    write_result(one.result, out / f"{one.name}.json", force=True)
                status.update(count.add(1))

    with in_processes(workers, scheduler) as each:
        run(members)
        common = list(makes(members, [found[one.name] for one in members]))
        if pool:
            run([with_make(m, make) for make in common for m in members if m.name in make.alike])
    outcomes = [found[entry.name] for entry in entries]
    if common:
        make_folder(out / "means")
    for number, make in enumerate(common, start=1):
        write_robot(make.robot, out / "means" / f"mean-{number}.toml", force=force)
    write_report([fleet_page(fleet.stem, outcomes, common)], page, force=force)
    screen = console(json=json)
    show_fleet(screen, outcomes, common)
    wrote(screen, page)
    if json:
        print_json(fleet_data(outcomes, common))
    if any(one.result is None or not one.result.good for one in outcomes):
        raise typer.Exit(1)


def _member(entry: Entry) -> Member | Calibrated:
    """A robot with its data, or why it cannot be read."""
    from theodolite.calibration.term_groups import term_names
    from theodolite.cli.options import data_from, method_from, noise_from, robot_named
    from theodolite.errors import TheodoliteError
    from theodolite.studies.fleet import Calibrated, Member

    try:
        robot = robot_named(entry.nominal)
        method = method_from(entry.method, **entry.of_method)
        data = data_from(
            list(entry.data),
            robot,
            needs=method.needs,
            own=method.columns,
            ignore_limits=entry.ignore_limits,
        )
        noise = noise_from(method, entry.noise_mm, entry.noise_mrad)
        terms = term_names(entry.terms)
    except TheodoliteError as error:
        return Calibrated(entry.name, None, str(error), entry.made)
    return Member(
        entry.name, robot, data, method, entry.made, entry.gains, terms, entry.hold_out, noise
    )
