"""``theodolite dynamics validate``: how well identified parameters predict another recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.dynamics.bags import JointNamesOption, TopicOption, choose_from_bags
from theodolite.cli.dynamics.options import (
    DEFAULT_GOOD,
    DEFAULT_USABLE,
    CutoffOption,
    GainsOption,
    GoodOption,
    GravityOption,
    KeepRestOption,
    PayloadOption,
    PlotOption,
    RecordingReader,
    SkipBadOption,
    TipOption,
    UsableOption,
    load_dynamics,
    parse_body,
)
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    ReportOption,
    RobotArgument,
    console,
    print_json,
    wrote,
)

NAME = "validate"


def command(
    robot: RobotArgument,
    parameters: Annotated[
        Path, typer.Argument(metavar="PARAMETERS", help="What 'dynamics identify --out' wrote.")
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A recording that was not used to identify.")
    ],
    plot: PlotOption = None,
    good: GoodOption = DEFAULT_GOOD,
    usable: UsableOption = DEFAULT_USABLE,
    payload: PayloadOption = None,
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
    report: ReportOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Test how well identified parameters predict the torques of another recording."""
    from theodolite.dynamics.judge import Accuracy, validate_parameters
    from theodolite.io.dynamics_file import prediction_content, read_dynamics
    from theodolite.io.writing import check_outputs
    from theodolite.report.dynamics import show_judgement, show_remarks
    from theodolite.report.dynamics_page import judgement_page
    from theodolite.report.html import check_report, write_report
    from theodolite.report.plots import check_plot, torque_curves

    accuracy = Accuracy(good / 100, usable / 100)
    check_outputs([plot, report], force=force, inputs=[Path(robot), parameters, data])
    if plot is not None:
        check_plot(plot)
    check_report(report)
    body = None if payload is None else parse_body(payload)
    identified = read_dynamics(parameters)
    # A payload is given in the frame of the tip, so there must be just one.
    dynamics = load_dynamics(robot, gravity, tip, parameters=identified, any_tip=body is None)
    reader = RecordingReader(
        dynamics,
        columns,
        ignore,
        drive_gains,
        skip_bad,
        choose_from_bags(robot, topic, joint_names, tip),
    )
    judgement = validate_parameters(
        dynamics,
        identified,
        reader.read(data),
        payload=body,
        accuracy=accuracy,
        cutoff=cutoff,
        trim=not keep_rest,
    )
    screen = console(json=json)
    show_judgement(screen, judgement)
    if plot is not None:
        torque_curves(plot, judgement.decisive, f"{dynamics.name}: {data.name}", force=force)
        wrote(screen, plot)
    if report is not None:
        write_report([judgement_page(judgement, dynamics.name)], report, force=force)
        wrote(screen, report)
    show_remarks(screen, judgement.notes, judgement.warnings)
    if json:
        content = prediction_content(judgement.decisive)
        print_json(
            {
                **content,
                "joints": content["error_joints"],
                "good": judgement.accurate,
                "verdict": judgement.verdict,
                "doubts": list(judgement.warnings),
                "notes": list(judgement.notes),
            }
        )
    if not judgement.good:
        raise typer.Exit(1)
