"""``theodolite dynamics simulate``: a recording along a motion, with noise."""

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
    parse_numbers,
)
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    print_json,
    wrote,
)

NAME = "simulate"


def command(
    robot: RobotArgument,
    parameters: ParametersArgument,
    motion: MotionArgument,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the recording as CSV.")],
    noise: Annotated[
        str | None,
        typer.Option(
            "--noise-Nm",
            metavar="T,...",
            help="Standard deviation of the torques, Nm (N for slides): one for all joints, or "
            "one each. Default: what the fit left; 0 without a fit.",
        ),
    ] = None,
    noise_rad: Annotated[
        float,
        typer.Option(metavar="A", help="Standard deviation of the positions, rad (m for slides)."),
    ] = 0.0,
    payload: PayloadOption = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    skip_bad: SkipBadOption = False,
    topic: TopicOption = None,
    joint_names: JointNamesOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Simulate a recording: positions and torques along a motion, with noise."""
    from theodolite.dynamics.motion_torques import simulate_recording
    from theodolite.io.trajectories import write_recording
    from theodolite.io.writing import check_outputs

    check_outputs([out], force=force, inputs=[Path(robot), parameters, motion])
    dynamics, identified, times, state, carried = read_motion(
        robot, parameters, motion, payload=payload, gravity=gravity, tip=tip, cutoff=cutoff,
        columns=columns, ignore=ignore, skip_bad=skip_bad,
        bag=choose_from_bags(robot, topic, joint_names, tip),
    )  # fmt: skip
    recording = simulate_recording(
        dynamics,
        identified,
        times,
        state,
        noise=None if noise is None else parse_numbers(noise, "--noise-Nm", "0.5 or 2,2,1"),
        position_noise=noise_rad,
        payload=carried,
        rng=generator(seed),
    )
    write_recording(out, recording, dynamics.robot.joint_types, force=force)
    screen = console(json=json)
    wrote(screen, out, f"{len(times)} rows")
    if json:
        print_json({"rows": len(times), "duration_s": recording.duration})
