"""``theodolite dynamics identify``: inertial and friction parameters from recorded torques."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.dynamics.bags import JointNamesOption, TopicOption, choose_from_bags
from theodolite.cli.dynamics.long_recordings import open_long
from theodolite.cli.dynamics.options import (
    AUTO,
    DEFAULT_GOOD,
    DEFAULT_STRIBECK,
    DEFAULT_USABLE,
    ChosenFrictionOption,
    CutoffOption,
    GainsOption,
    GoodOption,
    GravityOption,
    KeepRestOption,
    PlotOption,
    PreslidingOption,
    RecordingReader,
    RotorsOption,
    SkipBadOption,
    StribeckOption,
    TipOption,
    TransitionOption,
    UsableOption,
    choose_drives,
    load_dynamics,
    parse_reversal,
)
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    ReportOption,
    RobotArgument,
    console,
    member_of,
    print_json,
    working,
    wrote,
)
from theodolite.cli.scale import SchedulerOption, WorkersOption
from theodolite.io.machines import is_urdf
from theodolite.io.naming import name_list

if TYPE_CHECKING:
    from rich.console import Console

    from theodolite.dynamics.estimators import Estimator, Model
    from theodolite.dynamics.judge import Judgement
    from theodolite.dynamics.parameters import DynamicParameters
    from theodolite.dynamics.result import IdentifiedDynamics

NAME = "identify"


def command(
    robot: RobotArgument,
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA...",
            help="Recordings: CSV with units in the column names, npz, bags, or one folder of "
            "Parquet files of any size.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the parameters to a JSON file.")
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            "--way",
            metavar="NAME",
            help="ordinary, weighted, correlated, robust, essential, ridge or consistent. Default: "
            "consistent; ordinary for energy and power.",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="torque, energy or power. The last two need no accelerations."
        ),
    ] = "torque",
    check: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="Validate the result on another recording."),
    ] = None,
    friction: ChosenFrictionOption = AUTO,
    rotors: RotorsOption = True,
    stribeck_speed: StribeckOption = DEFAULT_STRIBECK,
    transition_speed: TransitionOption = None,
    presliding_distance: PreslidingOption = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Prior for ridge and consistent: a URDF, or a file written by --out. Default: the "
            "robot's own URDF.",
        ),
    ] = None,
    prior_weight: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            help="Weight of the prior against the data (consistent). Default: as large as torques "
            "that are left out allow.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...", help="Identify only these parameters; all others are zero."
        ),
    ] = None,
    prefer: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Keep these of parameters that depend on each other. Default: those of the links "
            "nearest to the base.",
        ),
    ] = "",
    urdf_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a copy of the URDF with the identified inertias (consistent).",
        ),
    ] = None,
    plot: PlotOption = None,
    report: ReportOption = None,
    good: GoodOption = DEFAULT_GOOD,
    usable: UsableOption = DEFAULT_USABLE,
    drive_gains: GainsOption = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    keep_rest: KeepRestOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    skip_bad: SkipBadOption = False,
    topic: TopicOption = None,
    joint_names: JointNamesOption = None,
    workers: WorkersOption = 0,
    scheduler: SchedulerOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Identify inertial and friction parameters from recorded torques."""
    from theodolite.dynamics.estimators import Estimator, Model
    from theodolite.dynamics.judge import Accuracy, judge_identification
    from theodolite.errors import InputError
    from theodolite.io.dynamics_file import dynamics_content
    from theodolite.io.writing import check_outputs
    from theodolite.report.dynamics import show_identified, show_judgement, show_remarks
    from theodolite.report.html import check_report
    from theodolite.report.plots import check_plot, torque_curves

    chosen = None if estimator is None else member_of(Estimator, estimator, "--estimator")
    kind = member_of(Model, model, "--model")
    accuracy = Accuracy(good / 100, usable / 100)
    inputs = [Path(robot), *data, *(path for path in (check, prior) if path is not None)]
    check_outputs([out, urdf_out, plot, report], force=force, inputs=inputs)
    check_report(report)
    if plot is not None:
        check_plot(plot)
    if urdf_out is not None:
        _check_urdf_output(robot, chosen, tip)
    if prior_weight is not None and not 0 < prior_weight < float("inf"):
        raise InputError(f"--prior-weight {prior_weight:g}", allowed="more than 0")
    dynamics = parse_reversal(
        transition_speed,
        presliding_distance,
        load_dynamics(robot, gravity, tip, stribeck_speed),
    )
    reader = RecordingReader(
        dynamics,
        columns,
        ignore,
        drive_gains,
        skip_bad,
        choose_from_bags(robot, topic, joint_names, tip),
    )
    screen = console(json=json)
    with working(f"identifying the dynamics of {dynamics.name}"):
        options: dict[str, Any] = {
            "estimator": chosen,
            "drives": choose_drives(friction, rotors=rotors, dynamics=dynamics),
            "rotors": rotors,
            "prior": _read_prior(prior, robot, chosen, tip) if kind is Model.TORQUE else None,
            "prior_weight": prior_weight,
            "only": None if only is None else name_list(only),
            "prefer": name_list(prefer),
            "cutoff": cutoff,
        }
        processes = (workers, scheduler)
        result, notes = _identify(reader, data, kind, options, processes, trim=not keep_rest)
        unseen = [] if check is None else [reader.read(check)]
        judgement = judge_identification(result, unseen, accuracy=accuracy, trim=not keep_rest)
        judgement = replace(judgement, notes=(*notes, *judgement.notes))
    wanted = out is not None or report is not None or json
    content = dynamics_content(result, judgement, inputs=inputs) if wanted else {}
    _write(content, judgement, out, report, force=force)
    show_identified(screen, result, f"Parameters of {dynamics.name}, {result.estimator.value}")
    show_judgement(screen, judgement)
    if plot is not None:
        what = "fitted" if judgement.check is None else "not seen before"
        torque_curves(plot, judgement.decisive, f"{dynamics.name}: torques {what}", force=force)
        wrote(screen, plot)
    if report is not None:
        wrote(screen, report)
    if urdf_out is not None:
        _write_urdf(screen, Path(robot), urdf_out, result, tip, force=force)
    show_remarks(screen, judgement.notes, judgement.warnings)
    if json:
        print_json(content)
    if not judgement.good:
        raise typer.Exit(1)


def _identify(
    reader: RecordingReader,
    data: list[Path],
    model: Model,
    options: dict[str, Any],
    processes: tuple[int, str | None],
    *,
    trim: bool,
) -> tuple[IdentifiedDynamics, tuple[str, ...]]:
    """The result, of any recordings, and what is to be said about a long one."""
    from theodolite.dynamics.identify import identify_dynamics
    from theodolite.dynamics.identify_long import identify_long
    from theodolite.errors import InputError
    from theodolite.studies.workers import in_processes

    with open_long(reader, data, model, elsewhere=processes[1] is not None) as (source, notes):
        if source is not None:
            with in_processes(*processes) as each:
                found = identify_long(reader.dynamics, source, each=each, **options)
            return found.result, (*notes, *found.notes)
    if processes[0] > 1 or processes[1] is not None:
        raise InputError(
            "--workers and --scheduler are for folders of Parquet files and long bags",
            where=str(data[0]),
            remedy="Leave them out: data that fit in memory use a single process",
        )
    recordings = [reader.read(path) for path in data]
    return identify_dynamics(reader.dynamics, recordings, model=model, trim=trim, **options), ()


def _write(
    content: dict[str, Any],
    judgement: Judgement,
    out: Path | None,
    report: Path | None,
    *,
    force: bool,
) -> None:
    """Keep the parameters with some torques to draw, and a report."""
    from theodolite.io.dynamics_file import kept_content, write_content
    from theodolite.report.dynamics_page import dynamics_page
    from theodolite.report.html import write_report

    if out is not None:
        write_content(out, kept_content(content, judgement), force=force)
    if report is not None:
        write_report([dynamics_page(content, judgement.decisive)], report, force=force)


def _check_urdf_output(robot: str, estimator: Estimator | None, tip: str | None) -> None:
    """Refuse, before any work is done, a URDF that cannot be written."""
    from theodolite.dynamics.estimators import Estimator
    from theodolite.errors import InputError
    from theodolite.io.urdf_inertia import check_bodies

    if not is_urdf(robot):
        raise InputError(
            "--urdf-out needs a robot that is a URDF file", remedy="Give the URDF as ROBOT"
        )
    if estimator not in (None, Estimator.CONSISTENT):
        raise InputError(
            "--urdf-out needs physically consistent bodies", remedy="Leave --estimator out"
        )
    check_bodies(Path(robot), tip=tip)


def _read_prior(
    path: Path | None, robot: str, estimator: Estimator | None, tip: str | None
) -> DynamicParameters | None:
    """The prior that was given; by default, the robot's own URDF."""
    from theodolite.io.dynamics_file import read_prior

    if path is None and (estimator is None or estimator.uses_prior) and is_urdf(robot):
        path = Path(robot)
    return None if path is None else read_prior(path, tip=tip)


def _write_urdf(
    screen: Console,
    source: Path,
    target: Path,
    result: IdentifiedDynamics,
    tip: str | None,
    *,
    force: bool,
) -> None:
    from theodolite.errors import printable
    from theodolite.io.urdf_inertia import write_inertias

    if not result.consistent:
        text = f"{target} is not written: there are no bodies to write"
        screen.print(printable(text), markup=False)
        return
    changed = write_inertias(source, target, result.named(), tip=tip, force=force)
    wrote(
        screen,
        target,
        f"inertias of {', '.join(changed)}; a URDF has no place for rotors and friction, which "
        "--out keeps",
    )
