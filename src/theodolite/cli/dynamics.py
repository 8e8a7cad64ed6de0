"""``theodolite dynamics``: base inertial parameters, and their identification from torques."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    robot_named,
    working,
)

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.inertial.identify import Dynamic
    from theodolite.measure.recording import Filtered
    from theodolite.model.dynamics import Dynamics
    from theodolite.model.loop_dynamics import LoopDynamics

NAME = "dynamics"
app = typer.Typer(
    help="Inertial parameters and friction: which exist, and what they are.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

GravityOption = Annotated[
    str | None,
    typer.Option(metavar="x,y,z", help="Gravity in the world, m/s2. Default: along joint 1."),
]
RecordingArgument = Annotated[
    Path, typer.Argument(metavar="DATA", help="A recording: CSV with units in its columns, or npz.")
]
GainsOption = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Drive gains, Nm/A, where currents are given.")
]
CutoffOption = Annotated[
    float | None, typer.Option(help="Of the low-pass, Hz. Default: proposed from the data.")
]


@app.command("identifiable")
def identifiable(
    robot: RobotArgument,
    rotors: Annotated[bool, typer.Option("--rotors/--no-rotors", help="Rotor inertias.")] = True,
    friction: Annotated[
        bool, typer.Option("--friction", help="Viscous, Coulomb and offset friction.")
    ] = False,
    gravity: GravityOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Say which inertial parameters torques determine, and how the others are regrouped."""
    from theodolite.identification.base_parameters import base_parameters
    from theodolite.measure.torque import TorqueProblem, random_state
    from theodolite.model.dynamics import Drive
    from theodolite.report.data import identifiability_data
    from theodolite.report.text import show_identifiability

    dynamics = _dynamics(robot, gravity)
    drives = ((Drive.ROTOR,) if rotors else ()) + (
        (Drive.VISCOUS, Drive.COULOMB, Drive.OFFSET) if friction else ()
    )
    state = random_state(dynamics, 40 * dynamics.motors, generator(seed))
    known = base_parameters(TorqueProblem(dynamics, state, drives=drives))
    screen = console(json=json)
    show_identifiability(screen, known, f"{dynamics.robot.name}, torques", [])
    if json:
        print_json(identifiability_data(known, None, []))


@app.command("identify")
def identify(
    robot: RobotArgument,
    data: RecordingArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="F", help="Write the parameters to a JSON file.")
    ] = None,
    way: Annotated[
        str, typer.Option(help="ordinary, weighted, essential or consistent.")
    ] = "weighted",
    check: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Another recording, to judge the result.")
    ] = None,
    drive_gains: GainsOption = None,
    gravity: GravityOption = None,
    cutoff: CutoffOption = None,
    whole: Annotated[bool, typer.Option(help="Use the rest before and after moving too.")] = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Identify inertial and friction parameters from recorded torques."""
    from json import dumps

    from theodolite.errors import InputError
    from theodolite.inertial import identify as dynamic
    from theodolite.io.writing import check_writable, write_text

    ways = ("ordinary", "weighted", "essential", "consistent")
    if way not in ways:
        raise InputError(f"--way {way}", allowed=ways)
    if out is not None:
        check_writable(out, force=force)
    dynamics = _dynamics(robot, gravity)

    def recorded(path: Path) -> Filtered:
        return _recorded(dynamics, path, columns, ignore, drive_gains, cutoff=cutoff, whole=whole)

    screen = console(json=json)
    with working(f"identifying the dynamics of {dynamics.robot.name}"):
        seen = recorded(data)
        found = dynamic.identify_dynamics(dynamics, seen, weighted=way != "ordinary")
        if way == "essential":
            found = dynamic.essential(found, seen)
        if way == "consistent":
            found = dynamic.consistent(found, seen)
        fit = dynamic.torque_error(found, seen)
        judged = None if check is None else dynamic.torque_error(found, recorded(check))
    doubts = [*seen.doubts, *found.doubts()]
    content = _content(found, seen, fit, judged, doubts, way)
    if out is not None:
        write_text(out, dumps(content, indent=2) + "\n", force=force)
    _show(screen, found, seen, fit, judged, doubts)
    if json:
        print_json(content)
    if doubts:
        raise typer.Exit(1)


@app.command("validate")
def validate(
    robot: RobotArgument,
    parameters: Annotated[
        Path, typer.Argument(metavar="PARAMETERS", help="What 'dynamics identify --out' wrote.")
    ],
    data: RecordingArgument,
    drive_gains: GainsOption = None,
    gravity: GravityOption = None,
    cutoff: CutoffOption = None,
    whole: Annotated[bool, typer.Option(help="Use the rest before and after moving too.")] = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    json: JsonOption = False,
) -> None:
    """Say how well identified parameters predict the torques of another recording."""
    import numpy as np

    from theodolite.measure.torque import TorqueProblem
    from theodolite.model.dynamics import Drive

    dynamics = _dynamics(robot, gravity)
    values, symbols = _read_parameters(parameters)
    drives = tuple(Drive(symbol) for symbol in symbols)
    seen = _recorded(dynamics, data, columns, ignore, drive_gains, cutoff=cutoff, whole=whole)
    problem = TorqueProblem(dynamics, seen.state, seen.torques, drives=drives)
    names = [parameter.name for parameter in problem.parameters]
    off = problem.predicted(np.array([values.get(name, 0.0) for name in names])) - seen.torques
    total = float(np.linalg.norm(off) / np.linalg.norm(seen.torques))
    each = np.linalg.norm(off, axis=0) / np.linalg.norm(seen.torques, axis=0)
    screen = console(json=json)
    parts = ", ".join(f"joint {j + 1} {100 * part:.1f} %" for j, part in enumerate(each))
    screen.print(f"torque error {100 * total:.2f} % in all; {parts}")
    if json:
        print_json({"error": total, "joints": each.tolist(), "rows": len(seen.torques)})


def _dynamics(robot: str, gravity: str | None) -> Dynamics | LoopDynamics:
    from theodolite.model.dynamics import Dynamics
    from theodolite.model.loop_dynamics import LoopDynamics
    from theodolite.model.mechanism import Mechanism

    subject = robot_named(robot)
    vector = None
    if gravity is not None:
        vector = _vector(gravity)
    if isinstance(subject, Mechanism):
        return LoopDynamics(subject, gravity=vector)
    return Dynamics(subject, gravity=vector)


def _vector(gravity: str) -> FloatArray:
    import numpy as np

    from theodolite.errors import InputError

    try:
        vector = np.array([float(item) for item in gravity.replace(",", " ").split()])
    except ValueError:
        vector = np.empty(0)
    if len(vector) != 3 or not np.isfinite(vector).all():
        raise InputError(f"--gravity {gravity!r}", allowed="three numbers, as in 0,0,-9.81")
    return vector


def _recorded(
    dynamics: Dynamics | LoopDynamics,
    path: Path,
    columns: str | None,
    ignore: str,
    gains: str | None,
    *,
    cutoff: float | None,
    whole: bool,
) -> Filtered:
    import numpy as np

    from theodolite.errors import InputError
    from theodolite.io.recordings import read_recording
    from theodolite.measure.recording import filtered

    factors = None
    if gains is not None:
        try:
            factors = np.array([float(item) for item in gains.replace(",", " ").split()])
        except ValueError as error:
            raise InputError(f"--drive-gains {gains!r}", allowed="numbers, Nm/A") from error
    recording = read_recording(
        path,
        dynamics.robot,
        columns=None if columns is None else [name.strip() for name in columns.split(",")],
        ignore=[name.strip() for name in ignore.split(",") if name.strip()],
        drive_gains=factors,
    )
    return filtered(recording if whole else recording.moving(), cutoff=cutoff)


def _content(
    found: Dynamic, seen: Filtered, fit: Any, judged: Any, doubts: list[str], way: str
) -> dict[str, Any]:
    known = found.identifiability
    errors = dict(zip(known.base.tolist(), found.statistics.standard_errors.tolist(), strict=True))
    return {
        "way": way,
        "consistent": found.consistent,
        "drives": [drive.value for drive in found.drives],
        "rank": known.rank,
        "condition_number": known.condition_number,
        "rows": found.rows,
        "cutoff_hz": seen.cutoff,
        "rate_hz": seen.rate,
        "decimation": seen.decimation,
        "sigma_Nm": found.sigmas.tolist(),
        "error": fit.total,
        "error_joints": list(fit.joints),
        "checked_error": None if judged is None else judged.total,
        "checked_error_joints": None if judged is None else list(judged.joints),
        "doubts": doubts,
        "relations": known.sentences(),
        "parameters": [
            {
                "name": parameter.name,
                "value": float(value),
                "stderr": errors.get(index),
                "unit": parameter.unit.value,
            }
            for index, (parameter, value) in enumerate(
                zip(known.parameters, found.values, strict=True)
            )
        ],
    }


def _show(
    screen: Any, found: Dynamic, seen: Filtered, fit: Any, judged: Any, doubts: list[str]
) -> None:
    from rich.table import Table

    known = found.identifiability
    screen.print(
        f"{known.rank} base parameters from {found.rows} samples, low-passed at {seen.cutoff:.1f} "
        f"Hz (of {seen.rate:.0f} Hz, every {seen.decimation}. kept), condition number "
        f"{known.condition_number:.0f}"
    )
    table = Table(title="Parameters", title_justify="left")
    for heading in ("name", "value", "std %", "unit"):
        table.add_column(heading, justify="left" if heading in ("name", "unit") else "right")
    for index, percent in zip(known.base, found.relative_deviations, strict=True):
        parameter = known.parameters[index]
        shown = "" if found.consistent else f"{percent:.1f}"
        table.add_row(parameter.name, f"{found.values[index]:.5f}", shown, parameter.unit.value)
    screen.print(table)
    parts = ", ".join(f"joint {j + 1} {100 * part:.1f} %" for j, part in enumerate(fit.joints))
    screen.print(f"torque error of the fit {100 * fit.total:.2f} %: {parts}")
    if judged is not None:
        parts = ", ".join(f"joint {j + 1} {100 * e:.1f} %" for j, e in enumerate(judged.joints))
        screen.print(f"torque error on the other recording {100 * judged.total:.2f} %: {parts}")
    for doubt in doubts:
        screen.print(f"[yellow]{doubt}[/yellow]")


def _read_parameters(path: Path) -> tuple[dict[str, float], list[str]]:
    from json import JSONDecodeError, loads

    from theodolite.errors import InputError
    from theodolite.io.writing import read_text

    try:
        content = loads(read_text(path))
        values = {entry["name"]: float(entry["value"]) for entry in content["parameters"]}
        return values, list(content["drives"])
    except (JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError("is not what 'dynamics identify --out' writes", where=str(path)) from error
