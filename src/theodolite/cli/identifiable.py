"""``theodolite identifiable``: which parameters a method determines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.mapping_options import MapOption, MappingOption, mapping_from
from theodolite.cli.options import (
    BetweenOption,
    ColumnsOption,
    ForceOption,
    IgnoreLimitsOption,
    IgnoreOption,
    JsonOption,
    LineOption,
    MethodOption,
    PlaneOption,
    PrioritiesOption,
    RadiusOption,
    RobotArgument,
    SeedOption,
    console,
    data_from,
    generator,
    method_from,
    print_json,
    robot_named,
    serial,
    with_priorities,
)
from theodolite.cli.pictures import LensOption, MountOption

if TYPE_CHECKING:
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.excitation import Excitation
    from theodolite.calibration.method import Method
    from theodolite.estimation.identifiability import Identifiability
    from theodolite.model.machine import Machine

NAME = "identifiable"


def command(
    robot: RobotArgument,
    method: MethodOption = "frame",
    gains: Annotated[
        bool, typer.Option("--gains", help="Include the transmission gains K.")
    ] = False,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data", metavar="F", help="Measurements to analyse; may be given several times."
        ),
    ] = None,
    priorities: PrioritiesOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Check a model for completeness: own, kk, dh, hayati, pose or generalized.",
        ),
    ] = None,
    base: Annotated[
        bool,
        typer.Option("--base/--no-base", help="Treat the base of a serial robot as unknown."),
    ] = True,
    lens: LensOption = None,
    mount: MountOption = None,
    plane: PlaneOption = None,
    line: LineOption = None,
    radius_mm: RadiusOption = None,
    between: BetweenOption = None,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    ignore_limits: IgnoreLimitsOption = False,
    map_: MapOption = None,
    mapping: MappingOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="F", help="Write the new priority matrix to a file."),
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show which parameters are identifiable, and how the others combine with them."""
    from theodolite.calibration.completeness import completeness
    from theodolite.calibration.coupling import coupling
    from theodolite.io.priorities import format_matrix, to_matrix
    from theodolite.io.writing import check_writable, write_text
    from theodolite.model.mechanism import Mechanism
    from theodolite.model.robot import Robot
    from theodolite.report.data import (
        completeness_data,
        coupling_data,
        excitation_data,
        identifiability_data,
    )
    from theodolite.report.text import (
        show_completeness,
        show_excitation,
        show_identifiability,
    )

    if out is not None:
        check_writable(out, force=force)
    way = method_from(
        method, plane=plane, line=line, radius_mm=radius_mm, between=between, lens=lens, mount=mount
    )
    subject = with_priorities(_modelled(robot_named(robot), model, way, base=base), priorities)
    recorded = None
    if data:
        recorded = data_from(
            data,
            subject,
            needs=way.needs,
            columns=columns,
            ignore=ignore,
            ignore_limits=ignore_limits,
            mapping=mapping_from(map_, mapping),
        )
    shown, excited = _examined(subject, way, recorded, gains=gains, seed=seed)
    fixed = [
        parameter.name
        for parameter in subject.parameters
        if subject.priority(parameter) == 0 and (gains or not parameter.gain)
    ]
    screen = console(json=json)
    if out is not None:
        matrix_of = serial(subject, "priority matrices are only for serial robots")
        write_text(out, format_matrix(to_matrix(matrix_of, shown.identifiable)), force=force)
    show_identifiability(screen, shown, f"{subject.name}, {way.title}", fixed)
    if excited is not None:
        show_excitation(screen, excited)
    lost = coupling(shown) if isinstance(subject, Mechanism) else None
    for sentence in lost.sentences() if lost is not None else ():
        screen.print(sentence)
    found = None
    if way.shows is not None and isinstance(subject, Robot):
        found = completeness(subject, way.shows, base=base)
    missing = () if found is None else found.missing
    report = None if model is None else found
    if report is not None:
        show_completeness(screen, report)
    else:
        for sentence in missing:
            screen.print(f"[yellow]Note: {sentence} by this model[/yellow]")
    if json:
        content = {**identifiability_data(shown, subject, fixed), "missing": list(missing)}
        if report is not None:
            content["completeness"] = completeness_data(report)
        if lost is not None:
            content["lost"] = coupling_data(lost)
        if excited is not None:
            content["excitation"] = excitation_data(excited)
        print_json(content)
    poor = excited is not None and not excited.sufficient
    if not shown.rank or poor or (report is not None and not report.complete):
        raise typer.Exit(1)


def _examined(
    robot: Machine, method: Method, recorded: Dataset | None, *, gains: bool, seed: int
) -> tuple[Identifiability, Excitation | None]:
    """What random configurations show, or what a recording does and how the two compare."""
    from theodolite.calibration.calibrate import identifiable
    from theodolite.calibration.excitation import excitation
    from theodolite.errors import UnreachableError

    if recorded is None:
        return identifiable(robot, method, gains=gains, rng=generator(seed)), None
    shown = identifiable(robot, method, data=recorded, gains=gains)
    try:
        known = identifiable(robot, method, gains=gains, rng=generator(seed))
    except UnreachableError:
        return shown, None
    return shown, excitation(robot, recorded, shown, known)


def _modelled(robot: Machine, model: str | None, method: Method, *, base: bool) -> Machine:
    """The robot in the model that is asked about, its base unknown or not."""
    from theodolite.calibration.analytic import with_base_known
    from theodolite.errors import InputError
    from theodolite.model.conventions import Convention
    from theodolite.model.conversion import convert

    if not base:
        robot = with_base_known(serial(robot, "its base is part of its loops"))
    if model is None:
        return robot
    robot = serial(robot, "completeness is defined only for serial robots")
    if method.shows is None:
        raise InputError(
            f"completeness is defined only for poses and positions, not for '{method.name}'",
            allowed="--method frame, --method position",
        )
    if model == "own":
        return robot
    allowed = [c.value for c in Convention if c is not Convention.PRODUCT]
    if model not in allowed:
        raise InputError(f"there is no model '{model}'", allowed=["own", *allowed])
    converted = convert(robot, Convention(model))
    return converted if base else with_base_known(converted)
