"""``theodolite dynamics identify``: inertial and friction parameters from recorded torques."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from theodolite.cli.dynamics.recorded import (
    DEFAULT_FRICTION,
    DEFAULT_STRIBECK,
    CutoffOption,
    FrictionOption,
    GainsOption,
    GravityOption,
    Reader,
    RotorsOption,
    StribeckOption,
    TipOption,
    WholeOption,
    drives_from,
    dynamics_of,
)
from theodolite.cli.options import (
    ColumnsOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    RobotArgument,
    console,
    print_json,
    working,
)
from theodolite.io.machines import is_urdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from theodolite.arrays import FloatArray
    from theodolite.dynamics.drives import Drive
    from theodolite.dynamics.filtering import Run
    from theodolite.dynamics.identify import IdentifiedDynamics
    from theodolite.dynamics.loop_dynamics import LoopDynamics
    from theodolite.dynamics.prediction import Prediction
    from theodolite.dynamics.serial import Dynamics

NAME = "identify"
WAYS = ("ordinary", "weighted", "correlated", "robust", "essential", "ridge", "consistent")
MODELS = ("torque", "energy", "power")


def command(
    robot: RobotArgument,
    data: Annotated[
        list[Path],
        typer.Argument(metavar="DATA...", help="Recordings: CSV with units in columns, or npz."),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="F", help="Write the parameters to a JSON file.")
    ] = None,
    way: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(WAYS)}. Default: weighted; ordinary for energy and power."),
    ] = None,
    model: Annotated[
        str, typer.Option(help="torque; energy or power need no accelerations.")
    ] = "torque",
    check: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Another recording, to judge the result.")
    ] = None,
    friction: FrictionOption = DEFAULT_FRICTION,
    rotors: RotorsOption = True,
    stribeck_speed: StribeckOption = DEFAULT_STRIBECK,
    prior: Annotated[
        Path | None,
        typer.Option(metavar="F", help="For ridge, consistent: a URDF, or an earlier --out."),
    ] = None,
    urdf_out: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Write the URDF with the identified inertias; consistent."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="F", help="Draw measured and predicted torques.")
    ] = None,
    drive_gains: GainsOption = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    cutoff: CutoffOption = None,
    whole: WholeOption = False,
    columns: ColumnsOption = None,
    ignore: IgnoreOption = "",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Identify inertial and friction parameters from recorded torques."""
    from theodolite.dynamics.prediction import prediction, verdict
    from theodolite.io.dynamics_file import write_dynamics
    from theodolite.io.writing import check_outputs
    from theodolite.report.dynamics import (
        dynamic_data,
        fit_data,
        show_dynamic,
        show_prediction,
    )
    from theodolite.report.plots import check_picture

    way = way or ("weighted" if model == "torque" else "ordinary")
    _refuse(robot, way, model, urdf_out, tip)
    check_outputs([out, urdf_out, plot], force=force, inputs=[*data, Path(robot)])
    if plot is not None:
        check_picture(plot)
    dynamics = dynamics_of(robot, gravity, tip, stribeck_speed)
    drives = drives_from(friction, rotors=rotors)
    reader = Reader(dynamics, columns, ignore, drive_gains, cutoff, whole)
    screen = console(json=json)
    with working(f"identifying the dynamics of {dynamics.robot.name}"):
        runs = reader.all_runs(data)
        # Judged at the cut-off of the fit: a lower one would flatter it.
        unseen = None if check is None else reader.runs(check, cutoff=runs[0].cutoff)
        start = _prior(prior, robot, way, dynamics, drives, tip)
        found = _identified(dynamics, runs, drives, way, model, start)
        fit = prediction(found, runs)
        judged = None if unseen is None else prediction(found, unseen)
        doubts, notes = _doubts(dynamics, runs, unseen or [], found, fit)
    good, words = verdict(fit if judged is None else judged, fit, seen=judged is None)
    content = dynamic_data(found, dynamics.robot.name, way, _relations(dynamics, found))
    content |= {"model": model, "doubts": doubts, "notes": notes, "verdict": words}
    content |= fit_data(fit, judged)
    if out is not None:
        write_dynamics(out, content, force=force)
    show_dynamic(screen, found, f"Parameters of {dynamics.robot.name}, {way}")
    below = f"below {runs[0].cutoff:.3g} Hz"
    show_prediction(screen, fit, f"of the fit, {below},")
    if judged is not None:
        show_prediction(screen, judged, f"on the other recording, {below},")
    screen.print(words, markup=False)
    if plot is not None:
        from theodolite.report.plots import torque_curves

        shown, what = (fit, "fitted") if judged is None else (judged, "not seen before")
        torque_curves(plot, shown, f"{dynamics.robot.name}: torques {what}")
        screen.print(f"wrote {plot}", markup=False)
    if urdf_out is not None:
        _write_urdf(screen, Path(robot), urdf_out, found, tip, force=force)
    for note in notes:
        screen.print(f"note: {note}", markup=False)
    for doubt in doubts:
        screen.print(f"[yellow]{doubt}[/yellow]")
    if json:
        print_json(content)
    if doubts or not good:
        raise typer.Exit(1)


def _refuse(robot: str, way: str, model: str, urdf_out: Path | None, tip: str | None) -> None:
    """Wrong options, before any work is done."""
    from theodolite.errors import InputError
    from theodolite.io.urdf_inertia import check_bodies

    if way not in WAYS:
        raise InputError(f"--way {way}", allowed=WAYS)
    if model not in MODELS:
        raise InputError(f"--model {model}", allowed=MODELS)
    if model != "torque" and way != "ordinary":
        raise InputError(f"--model {model} with --way {way}", allowed="--way ordinary")
    if urdf_out is None:
        return
    if not is_urdf(robot):
        raise InputError(
            "--urdf-out needs a robot that is a URDF file", remedy="Give the URDF as ROBOT"
        )
    if way != "consistent":
        raise InputError(
            f"--urdf-out with --way {way}",
            remedy="A simulator needs bodies that can exist: add --way consistent",
        )
    check_bodies(Path(robot), tip=tip)


def _identified(
    dynamics: Dynamics | LoopDynamics,
    runs: Sequence[Run],
    drives: Sequence[Drive],
    way: str,
    model: str,
    prior: FloatArray | None,
) -> IdentifiedDynamics:
    from theodolite.dynamics.by_energy import Model, identify_by_energy
    from theodolite.dynamics.consistent import consistent, ridge
    from theodolite.dynamics.identify import Way, essential, identify_dynamics
    from theodolite.errors import InputError

    if model != "torque":
        return identify_by_energy(dynamics, runs, Model(model), drives=drives)
    if way == "ridge" and prior is None:
        raise InputError("--way ridge needs a prior", remedy="Add --prior F")
    plain = way in {member.value for member in Way}
    found = identify_dynamics(dynamics, runs, drives=drives, way=Way(way if plain else "weighted"))
    if way == "essential":
        return essential(found)
    if way == "ridge" and prior is not None:
        return ridge(found, prior)[0]
    return consistent(found, prior) if way == "consistent" else found


def _prior(
    path: Path | None,
    robot: str,
    way: str,
    dynamics: Dynamics | LoopDynamics,
    drives: Sequence[Drive],
    tip: str | None,
) -> FloatArray | None:
    """Values of all columns, from a URDF or an earlier result; by default, the robot's own URDF."""
    import numpy as np

    from theodolite.dynamics.consistent import inconsistent
    from theodolite.errors import InputError
    from theodolite.io.dynamics_file import read_dynamics
    from theodolite.io.urdf_inertia import read_inertias

    own = path is None and way in ("ridge", "consistent") and is_urdf(robot)
    path = Path(robot) if own else path
    if path is None:
        return None
    names = dynamics.names(drives)
    if not is_urdf(str(path)):
        given = read_dynamics(path)
        given.check(dynamics, dynamics.robot.name)
        values = given.values
        vector = np.array([values[name] for name in dynamics.names(given.drives)])
        if way == "consistent" and inconsistent(vector, dynamics.columns(given.drives)):
            raise InputError(
                "holds no bodies, only base parameters",
                where=str(path),
                remedy="Take a prior that was identified with --way consistent, or a URDF",
            )
    else:
        values = read_inertias(path, tip=tip)
        other = dynamics if own else dynamics_of(str(path), None, tip)
        if other.frames != dynamics.frames:
            raise InputError(
                f"has other frames than '{dynamics.robot.name}'",
                where=str(path),
                remedy="Give the same URDF as ROBOT",
            )
        if own and not any(values.values()):
            return None
    return np.array([values.get(name, 0.0) for name in names])


def _doubts(
    dynamics: Dynamics | LoopDynamics,
    runs: Sequence[Run],
    unseen: Sequence[Run],
    found: IdentifiedDynamics,
    fit: Prediction,
) -> tuple[list[str], list[str]]:
    """What speaks against the result, and what is only worth saying."""
    from theodolite.dynamics.checks import doubts, joint_fits, shifts
    from theodolite.dynamics.coverage import not_excited
    from theodolite.dynamics.prediction import unexplained

    against: list[str] = []
    said = [note for run in (*runs, *unseen) for note in run.notes]
    for run in unseen:
        fits = joint_fits(dynamics, run)
        against += [f"{run.name}: {doubt}" for doubt in doubts(dynamics, run, fits)]
        against += [f"{run.name}: {doubt}" for doubt in run.doubts]
    for run in runs:
        fits = joint_fits(dynamics, run)
        against += [*run.doubts, *doubts(dynamics, run, fits)]
        said += shifts(dynamics, run, fits)
    against += [*not_excited(found), *unexplained(fit)]
    return list(dict.fromkeys(against)), list(dict.fromkeys(said))


def _relations(dynamics: Dynamics | LoopDynamics, found: IdentifiedDynamics) -> list[str]:
    from theodolite.dynamics.constants import relations_in_words
    from theodolite.dynamics.drives import Drive
    from theodolite.dynamics.serial import Dynamics

    known = found.identifiability
    if isinstance(dynamics, Dynamics) and not len(known.hidden):
        return relations_in_words(dynamics, known, with_rotors=Drive.ROTOR in found.problem.drives)
    return known.sentences()


def _write_urdf(
    screen: Any,
    source: Path,
    target: Path,
    found: IdentifiedDynamics,
    tip: str | None,
    *,
    force: bool,
) -> None:
    from theodolite.io.urdf_inertia import write_inertias

    changed = write_inertias(source, target, found.named(), tip=tip, force=force)
    screen.print(
        f"wrote {target}: inertias of {', '.join(changed)}; rotors and friction have no place in "
        "a URDF's links and stay in --out",
        markup=False,
    )
