"""``theodolite dynamics predict``: torques along a motion, by what causes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from theodolite.cli.dynamics.bags import JointNamesOption, TopicOption, choose_from_bags
from theodolite.cli.dynamics.motions import MotionArgument, ParametersArgument, read_motion
from theodolite.cli.dynamics.options import (
    CutoffOption,
    GravityOption,
    PayloadOption,
    SkipBadOption,
    TipOption,
)
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
    wrote,
)

NAME = "predict"


def command(
    robot: RobotArgument,
    parameters: ParametersArgument,
    motion: MotionArgument,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Write the motion with its torques as CSV.")
    ],
    payload: PayloadOption = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    skip_bad: SkipBadOption = False,
    topic: TopicOption = None,
    joint_names: JointNamesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Predict the torques along a motion: inertia, Coriolis, gravity, springs and friction."""
    from theodolite.dynamics.motion_torques import predict_motion
    from theodolite.io.trajectories import write_trajectory
    from theodolite.io.writing import check_outputs
    from theodolite.report.dynamics import motion_data, show_motion, torque_columns

    check_outputs([out], force=force, inputs=[Path(robot), parameters, motion])
    dynamics, identified, times, state, carried = read_motion(
        robot, parameters, motion, payload=payload, gravity=gravity, tip=tip, cutoff=cutoff,
        columns=columns, ignore=ignore, skip_bad=skip_bad,
        bag=choose_from_bags(robot, topic, joint_names, tip),
    )  # fmt: skip
    torques = predict_motion(dynamics, identified, state, payload=carried)
    screen = console(json=json)
    show_motion(screen, torques, dynamics.slides, f"{dynamics.name}: {motion.name}")
    write_trajectory(
        out, times, state, dynamics.robot.joint_types, torques=torque_columns(torques), force=force
    )
    wrote(screen, out, f"{len(times)} rows")
    if json:
        print_json(motion_data(torques, times))
