"""``theodolite dynamics excite``: a motion from which the parameters are seen best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.dynamics.recorded import (
    DEFAULT_FRICTION,
    DEFAULT_STRIBECK,
    GravityOption,
    RotorsOption,
    TipOption,
    drives_from,
    dynamics_of,
    number_list,
)
from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    print_json,
)

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.dynamics.excitation.limits import Limits, Surroundings, TorqueLimit
    from theodolite.dynamics.loop_dynamics import LoopDynamics
    from theodolite.dynamics.serial import Dynamics
    from theodolite.io.dynamics_file import DynamicsFile

NAME = "excite"
#: A file with more rows than this is nobody's wish.
MOST_ROWS = 1e6
#: Beyond this condition number a motion shows some parameters hardly at all.
POOR = 1e4


def command(
    robot: RobotArgument,
    out: Annotated[Path, typer.Option(metavar="F", help="Write the trajectory as CSV.")],
    duration: Annotated[float, typer.Option(help="Seconds of the fast part.")] = 10.0,
    slow: Annotated[
        float, typer.Option(help="Seconds of a slow part before it, for friction; 0: none.")
    ] = 0.0,
    slow_speed: Annotated[
        float, typer.Option(help="Part of the highest speed that the slow part may use.")
    ] = 0.15,
    harmonics: Annotated[int, typer.Option(min=2, help="Of the Fourier series.")] = 5,
    rate: Annotated[float, typer.Option(help="Samples per second of the file.")] = 100.0,
    criterion: Annotated[
        str, typer.Option(help="condition (number, small) or logdet (large).")
    ] = "condition",
    friction: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Terms of friction to be seen, too: viscous, coulomb, offset; or none.",
        ),
    ] = DEFAULT_FRICTION,
    rotors: RotorsOption = True,
    velocity: Annotated[
        str, typer.Option(metavar="A,B,...", help="Highest, rad/s or m/s; one for all or each.")
    ] = "2",
    acceleration: Annotated[
        str, typer.Option(metavar="A,B,...", help="Highest, rad/s2 or m/s2.")
    ] = "6",
    torque: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Highest, Nm; needs --parameters."),
    ] = None,
    parameters: Annotated[
        Path | None,
        typer.Option(metavar="F", help="What 'dynamics identify --out' wrote, for torques."),
    ] = None,
    floor: Annotated[
        float | None, typer.Option(help="Height of the floor in the world, mm.")
    ] = None,
    keep_out: Annotated[
        list[str] | None,
        typer.Option(metavar="x,y,z,r", help="A sphere to stay out of, mm; may be repeated."),
    ] = None,
    radius: Annotated[float, typer.Option(help="Of the balls that stand for the arm, mm.")] = 80.0,
    starts: Annotated[int, typer.Option(min=1, help="Random motions to improve.")] = 6,
    plot: Annotated[Path | None, typer.Option(metavar="F", help="Draw the motion.")] = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Plan a motion within limits from which inertial and friction parameters are seen best."""
    from theodolite.dynamics.excitation.criteria import Criterion
    from theodolite.dynamics.excitation.optimise import Part, excite
    from theodolite.io.dynamics_file import read_dynamics
    from theodolite.io.trajectories import write_trajectory
    from theodolite.io.writing import check_outputs
    from theodolite.model.conventions import Joint
    from theodolite.report.dynamics import excitation_data, show_excitation
    from theodolite.report.plots import check_picture, trajectory_curves

    _refuse(criterion, duration, slow, slow_speed, radius, floor, rate)
    check_outputs([out, plot], force=force)
    if plot is not None:
        check_picture(plot)
    given = None if parameters is None else read_dynamics(parameters)
    if gravity is None and given is not None:
        gravity = ",".join(map(repr, given.gravity))
    dynamics = dynamics_of(
        robot, gravity, tip, DEFAULT_STRIBECK if given is None else given.stribeck_speed
    )
    if given is not None:
        given.check(dynamics, dynamics.robot.name)
    motors = dynamics.motors
    allowed = f"one number, or {motors}"
    limits = _limits(
        dynamics,
        number_list(velocity, "--velocity", motors, allowed, one_for_all=True),
        number_list(acceleration, "--acceleration", motors, allowed, one_for_all=True),
        _torque_limit(dynamics, torque, given),
        _surroundings(floor, keep_out or [], radius),
    )
    parts = [Part(duration)] if slow <= 0 else [Part(slow, slow_speed), Part(duration)]
    with _Bar(starts) as told:
        found = excite(
            dynamics,
            limits,
            parts=parts,
            harmonics=harmonics,
            drives=drives_from(friction, rotors=rotors),
            which=Criterion(criterion),
            starts=starts,
            rng=generator(seed),
            progress=told,
        )
    times, state = found.trajectory.sampled(rate)
    revolute = [kind is Joint.REVOLUTE for kind in dynamics.robot.joint_types]
    screen = console(json=json)
    show_excitation(screen, found)
    if not found.within_limits:
        screen.print(
            "[yellow]no motion within all limits was found: nothing is written. Widen the limits, "
            "move --floor and --keep-out, or try more --starts[/yellow]"
        )
    else:
        write_trajectory(out, times, state, revolute, force=force)
        screen.print(f"wrote {out}: {len(times)} rows at {rate:g} Hz", markup=False)
        if found.condition_number > POOR:
            screen.print(
                "[yellow]some parameters hardly show: allow more speed, or more time[/yellow]"
            )
        if plot is not None:
            trajectory_curves(plot, times, state, limits, f"{dynamics.robot.name}: exciting motion")
            screen.print(f"wrote {plot}", markup=False)
    if json:
        print_json(excitation_data(found))
    if not found.within_limits or found.condition_number > POOR:
        raise typer.Exit(1)


def _refuse(
    criterion: str,
    duration: float,
    slow: float,
    slow_speed: float,
    radius: float,
    floor: float | None,
    rate: float,
) -> None:
    """Wrong options, before any work is done."""
    from theodolite.dynamics.excitation.criteria import Criterion
    from theodolite.errors import InputError

    kinds = [member.value for member in Criterion]
    if criterion not in kinds:
        raise InputError(f"--criterion {criterion}", allowed=kinds)
    for name, value, low, high in (
        ("duration", duration, 0.1, 1e4),
        ("slow", slow, 0.0, 1e4),
        ("slow-speed", slow_speed, 1e-3, 1.0),
        ("radius", radius, 0.0, 1e4),
        ("floor", floor or 0.0, -1e6, 1e6),
        ("rate", rate, 1.0, MOST_ROWS / max(duration + slow, 1.0)),
    ):
        if not low <= value <= high:
            raise InputError(f"--{name} {value:g}", allowed=f"{low:g} to {high:g}")


def _limits(
    dynamics: Dynamics | LoopDynamics,
    velocity: FloatArray,
    acceleration: FloatArray,
    torque: TorqueLimit | None,
    surroundings: Surroundings | None,
) -> Limits:
    from theodolite.dynamics.excitation.limits import Limits, motor_box, within_closure
    from theodolite.dynamics.loop_dynamics import LoopDynamics

    if isinstance(dynamics, LoopDynamics):
        lower, upper = within_closure(dynamics.mechanism)
    else:
        lower, upper = motor_box(dynamics)
    return Limits(lower, upper, velocity, acceleration, torque, surroundings)


def _torque_limit(
    dynamics: Dynamics | LoopDynamics, torque: str | None, given: DynamicsFile | None
) -> TorqueLimit | None:
    import numpy as np

    from theodolite.dynamics.excitation.limits import TorqueLimit
    from theodolite.errors import InputError

    if torque is None:
        return None
    if given is None:
        raise InputError("--torque needs to know the robot's masses", remedy="Add --parameters F")
    motors = dynamics.motors
    highest = number_list(
        torque, "--torque", motors, f"one number, or {motors}, Nm", one_for_all=True
    )
    if not (highest > 0).all():
        raise InputError(f"--torque {torque!r}", allowed="more than 0 Nm")
    values = np.array([given.values.get(name, 0.0) for name in dynamics.names(given.drives)])
    return TorqueLimit(highest, values, given.drives)


def _surroundings(floor: float | None, keep_out: list[str], radius: float) -> Surroundings | None:
    from theodolite.dynamics.excitation.limits import Surroundings
    from theodolite.errors import InputError

    if floor is None and not keep_out:
        return None
    spheres = []
    for text in keep_out:
        x, y, z, r = 1e-3 * number_list(text, "--keep-out", 4, "four numbers x,y,z,r, mm")
        if not r > 0:
            raise InputError(f"--keep-out {text!r}", allowed="a radius above 0 mm")
        spheres.append((float(x), float(y), float(z), float(r)))
    return Surroundings(1e-3 * radius, None if floor is None else 1e-3 * floor, tuple(spheres))


class _Bar:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, starts: int) -> None:
        from rich.console import Console
        from rich.progress import Progress

        screen = Console(stderr=True)
        self._bar = Progress(console=screen, transient=True, disable=not screen.is_terminal)
        self._task = self._bar.add_task("improving random motions", total=starts)

    def __enter__(self) -> _Bar:
        self._bar.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._bar.__exit__(None, None, None)

    def __call__(self, done: int, starts: int, best: float) -> None:
        self._bar.update(self._task, completed=done, description=f"condition number {best:.1f}")
