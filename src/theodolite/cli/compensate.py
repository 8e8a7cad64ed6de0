"""``theodolite compensate``: what to command so that the true robot arrives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    numbers,
    pose_from,
    print_json,
    robot_named,
    working,
    wrote,
)

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.compensation.controller import ControllerFrames
    from theodolite.compensation.uncertainty import Uncertainty
    from theodolite.model.machine import Machine

NAME = "compensate"


def command(
    robot: RobotArgument,
    targets: Annotated[
        Path,
        typer.Argument(
            metavar="TARGETS",
            help="A program (RAPID, KRL, URScript, FANUC LS), or a table: desired poses or "
            "positions (optionally with joints near them), or joints.",
        ),
    ],
    nominal: Annotated[
        str, typer.Option(metavar="ROBOT", help="The robot that the controller knows.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="F", help="The corrected program, or joints and poses to command, CSV."
        ),
    ] = None,
    details: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Correction and error of each target, CSV."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,ROLL,PITCH,YAW",
            help="The controller's base, work object or user frame, seen from the frame before the "
            "first joint, mm and deg.",
        ),
    ] = None,
    tool: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,ROLL,PITCH,YAW",
            help="The controller's tool on the flange, mm and deg. Default: that of the robot "
            "files.",
        ),
    ] = None,
    world: Annotated[
        bool,
        typer.Option(
            "--world",
            help="Targets are in the world of the measurements, not in the frame before the first "
            "joint.",
        ),
    ] = False,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="Q1,Q2,...",
            help="Joints near which the robot begins, deg and mm; they choose the branch.",
        ),
    ] = None,
    path: Annotated[
        bool,
        typer.Option(
            "--path", help="Targets are samples of one motion: no jump between them is allowed."
        ),
    ] = False,
    columns: ColumnsOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Correct targets, so that the calibrated robot reaches what was wanted."""
    from theodolite.io.programs.files import is_program
    from theodolite.io.writing import check_outputs

    check_outputs([out, details], force=force, inputs=[targets, Path(robot), Path(nominal)])
    asked = _Asked(
        robot_named(robot),
        robot_named(nominal),
        targets,
        frames=_frames(base, tool),
        given_base=base is not None,
        world=world,
        start=start,
        path=path,
        uncertainty=_uncertainty(robot),
        columns=columns,
        seed=seed,
    )
    correct = _program if is_program(targets) else _table
    content, good = correct(asked, out, details, force=force, json=json)
    if json:
        print_json(content)
    if not good:
        raise typer.Exit(1)


class _Asked:
    """What is to be corrected, and how."""

    def __init__(
        self,
        calibrated: Machine,
        nominal: Machine,
        targets: Path,
        *,
        frames: ControllerFrames,
        given_base: bool,
        world: bool,
        start: str | None,
        path: bool,
        uncertainty: Uncertainty | None,
        columns: str | None,
        seed: int,
    ) -> None:
        self.calibrated, self.nominal, self.targets = calibrated, nominal, targets
        self.frames, self.world, self.path = frames, world, path
        self.given_base = given_base
        self.uncertainty, self.columns, self.seed = uncertainty, columns, seed
        self.start = None if start is None else _joints(start, nominal)


def _table(
    asked: _Asked, out: Path | None, details: Path | None, *, force: bool, json: bool
) -> tuple[dict[str, Any], bool]:
    """Correct the targets of a table."""
    from theodolite.compensation.compensate import compensate, compensate_joints
    from theodolite.io.naming import name_list
    from theodolite.io.targets import read_targets, write_commands, write_details
    from theodolite.report.compensation import compensation_data, show_compensation

    names = None if asked.columns is None else name_list(asked.columns)
    program = read_targets(asked.targets, asked.calibrated, columns=names)
    with working(f"correcting {len(program.lines)} targets"):
        if program.targets is None:
            assert program.motors is not None
            made = compensate_joints(
                asked.calibrated,
                asked.nominal,
                program.motors,
                world=asked.world,
                frames=asked.frames,
                uncertainty=asked.uncertainty,
            )
        else:
            made = compensate(
                asked.calibrated,
                asked.nominal,
                program.targets,
                seed=asked.start if program.motors is None else program.motors,
                world=asked.world,
                frames=asked.frames,
                path=asked.path,
                uncertainty=asked.uncertainty,
                rng=generator(asked.seed),
            )
    if out is not None:
        turned = program.targets is None or program.targets.rotations is not None
        write_commands(
            made, asked.calibrated, out, orientation=turned, others=program.others, force=force
        )
    if details is not None:
        write_details(made, asked.calibrated, program.lines, details, force=force)
    screen = console(json=json)
    show_compensation(screen, made, program.lines)
    for path in (out, details):
        if path is not None:
            wrote(screen, path)
    return compensation_data(made, program.lines), made.good


def _program(
    asked: _Asked, out: Path | None, details: Path | None, *, force: bool, json: bool
) -> tuple[dict[str, Any], bool]:
    """Correct the targets of a program in place."""
    from theodolite.compensation.programs import correct_program
    from theodolite.errors import InputError
    from theodolite.io.programs.files import corrected_program, read_program, turning
    from theodolite.io.targets import write_details
    from theodolite.io.writing import write_bytes
    from theodolite.report.compensation import program_data, show_program

    if asked.path or asked.columns is not None:
        raise InputError("--path and --columns are for tables", where=str(asked.targets))
    program = read_program(asked.targets, asked.nominal)
    if not program.spots:
        raise InputError(
            "has no targets that can be corrected",
            where=str(asked.targets),
            remedy=f"{program.refused[0].what}, line {program.refused[0].line}"
            if program.refused
            else "Give the file that declares the targets, such as KUKA's .dat",
        )
    with working(f"correcting {len(program.spots)} targets"):
        made = correct_program(
            asked.calibrated,
            asked.nominal,
            program.wanted(turning(asked.nominal)),
            frames=asked.frames,
            world=asked.world,
            start=asked.start,
            uncertainty=asked.uncertainty,
            rng=generator(asked.seed),
        )
    if out is not None:
        text = corrected_program(program, made, asked.nominal)
        write_bytes(out, text, force=force)
    if details is not None:
        joined, lines = made.joined([spot.line for spot in program.spots])
        write_details(joined, asked.calibrated, lines, details, force=force)
    doubts = program.frame_doubts(
        base=asked.given_base or asked.world, tool=asked.frames.tool is not None
    )
    screen = console(json=json)
    show_program(screen, program, made, doubts)
    for path in (out, details):
        if path is not None:
            wrote(screen, path)
    good = made.good and not program.refused and not doubts
    return program_data(program, made, doubts), good


def _uncertainty(robot: str) -> Uncertainty | None:
    """What a saved result knows of the robot's errors; a robot file knows nothing."""
    from theodolite.compensation.uncertainty import Uncertainty
    from theodolite.io.result_file import is_result, read_result

    if not is_result(Path(robot)):
        return None
    return Uncertainty.from_result(read_result(robot))


def _frames(base: str | None, tool: str | None) -> ControllerFrames:
    from theodolite.compensation.controller import NOWHERE, ControllerFrames

    return ControllerFrames(
        NOWHERE if base is None else pose_from(base, "--base"),
        None if tool is None else pose_from(tool, "--tool"),
    )


def _joints(text: str, robot: Machine) -> FloatArray:
    import numpy as np

    from theodolite.errors import InputError
    from theodolite.model.conventions import Joint

    values = numbers(text, 1e6)
    if len(values) != robot.joints:
        raise InputError(
            f"--start: {text!r}", allowed=f"{robot.joints} numbers, deg for turns, mm for slides"
        )
    units = [np.pi / 180 if kind is Joint.REVOLUTE else 1e-3 for kind in robot.joint_types]
    return values * np.array(units)
