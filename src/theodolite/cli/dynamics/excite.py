"""``theodolite dynamics excite``: a motion that best excites the parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.dynamics.options import (
    DEFAULT_FRICTION,
    GravityOption,
    RotorsOption,
    TipOption,
    load_dynamics,
    parse_drives,
    parse_numbers,
)
from theodolite.cli.options import (
    ForceOption,
    JsonOption,
    RobotArgument,
    SeedOption,
    console,
    generator,
    member_of,
    print_json,
    wrote,
)
from theodolite.io.machines import is_urdf

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.dynamics.excitation.limits import Surroundings, TorqueLimit
    from theodolite.dynamics.machine_dynamics import MachineDynamics
    from theodolite.dynamics.parameters import DynamicParameters

NAME = "excite"
#: Radius of the spheres that model the arm, as part of its reach: about half an arm's thickness.
ARM_RADIUS = 0.08


def command(
    robot: RobotArgument,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the trajectory as CSV.")],
    duration: Annotated[
        float, typer.Option(metavar="S", help="Duration of the fast part, s.")
    ] = 10.0,
    slow: Annotated[
        float,
        typer.Option(metavar="S", help="Duration of a slow part before it, for friction, s."),
    ] = 0.0,
    slow_speed: Annotated[
        float,
        typer.Option(
            metavar="PART", help="Fraction of the speed limits that the slow part may use."
        ),
    ] = 0.15,
    harmonics: Annotated[
        int, typer.Option(metavar="N", help="Harmonics of the Fourier series, 2 or more.")
    ] = 5,
    rate: Annotated[
        float, typer.Option(metavar="HZ", help="Samples per second in the file.")
    ] = 100.0,
    criterion: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="condition: smallest condition number; logdet: largest log det."
        ),
    ] = "condition",
    friction: Annotated[
        str,
        typer.Option(
            metavar="TERM,...",
            help="Friction terms that the motion should excite: viscous, coulomb, offset; or none.",
        ),
    ] = DEFAULT_FRICTION,
    rotors: RotorsOption = True,
    velocity: Annotated[
        str | None,
        typer.Option(
            metavar="V,...",
            help="Highest speed, rad/s or m/s: one for all joints, or one each. Default: those of "
            "the URDF or robot file; else 2 rad/s, of slides a third of their stroke per second.",
        ),
    ] = None,
    acceleration: Annotated[
        str | None,
        typer.Option(
            metavar="A,...",
            help="Highest acceleration, rad/s2 or m/s2. Default: 6 rad/s2; of slides, their stroke "
            "per second squared.",
        ),
    ] = None,
    torque: Annotated[
        str | None,
        typer.Option(
            metavar="T,...",
            help="Highest torque, Nm; needs masses: --parameters, or a URDF with inertias. "
            "Default: the efforts of the URDF or robot file, where masses are known.",
        ),
    ] = None,
    parameters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What 'dynamics identify --out' wrote, to predict torques."
        ),
    ] = None,
    floor: Annotated[
        float | None, typer.Option(metavar="MM", help="Height of the floor in the world, mm.")
    ] = None,
    keep_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="x,y,z,r",
            help="A sphere that the arm must not enter, mm; may be given several times.",
        ),
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(
            metavar="MM",
            help="Radius of the spheres that model the arm, mm. Default: 8 % of its reach.",
        ),
    ] = None,
    starts: Annotated[
        int, typer.Option(metavar="N", help="Random starts of the search, 1 or more.")
    ] = 6,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Plot the motion.")] = None,
    gravity: GravityOption = None,
    tip: TipOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Plan a motion within limits that best excites inertial and friction parameters."""
    from theodolite.dynamics.excitation.criteria import Criterion
    from theodolite.dynamics.excitation.limits import Limits
    from theodolite.dynamics.excitation.optimise import Part, excite
    from theodolite.dynamics.excitation.trajectory import check_rate
    from theodolite.io.dynamics_file import read_dynamics, read_prior
    from theodolite.io.trajectories import write_trajectory
    from theodolite.io.writing import check_outputs
    from theodolite.report.dynamics import excitation_data, show_excitation, show_remarks
    from theodolite.report.plots import check_plot, trajectory_curves

    chosen = member_of(Criterion, criterion, "--criterion")
    parts = [Part(duration)] if slow == 0 else [Part(slow, slow_speed), Part(duration)]
    check_rate(rate, sum(part.duration for part in parts))
    inputs = [Path(robot), *([] if parameters is None else [parameters])]
    check_outputs([out, plot], force=force, inputs=inputs)
    if plot is not None:
        check_plot(plot)
    identified = None if parameters is None else read_dynamics(parameters)
    dynamics = load_dynamics(robot, gravity, tip, parameters=identified)
    if identified is None and is_urdf(robot):
        # The masses that a URDF states are good enough to stay within its efforts.
        own = read_prior(Path(robot), tip=tip)
        identified = own if any(own.values.values()) else None
    limits = Limits.of(
        dynamics,
        velocity=_numbers(velocity, "--velocity", "2 or 2,2,3"),
        acceleration=_numbers(acceleration, "--acceleration", "6 or 6,6,9"),
        torque=_torque_limit(dynamics, torque, identified),
        surroundings=_surroundings(floor, keep_out or [], radius, dynamics.reach),
    )
    with _Progress(starts) as progress:
        excitation = excite(
            dynamics,
            limits,
            parts=parts,
            harmonics=harmonics,
            drives=parse_drives(friction, rotors=rotors),
            criterion=chosen,
            starts=starts,
            rng=generator(seed),
            progress=progress,
        )
    screen = console(json=json)
    show_excitation(screen, excitation)
    if excitation.within_limits:
        times, state = excitation.trajectory.sample(rate)
        write_trajectory(out, times, state, dynamics.robot.joint_types, force=force)
        wrote(screen, out, f"{len(times)} rows at {rate:g} Hz")
        if plot is not None:
            trajectory_curves(
                plot, times, state, limits, f"{dynamics.name}: exciting motion", force=force
            )
            wrote(screen, plot)
    else:
        screen.print("nothing is written", markup=False)
    show_remarks(screen, (), excitation.warnings)
    if json:
        print_json(excitation_data(excitation))
    if not excitation.good:
        raise typer.Exit(1)


def _numbers(text: str | None, option: str, example: str) -> FloatArray | None:
    return None if text is None else parse_numbers(text, option, example)


def _torque_limit(
    dynamics: MachineDynamics, torque: str | None, identified: DynamicParameters | None
) -> TorqueLimit | None:
    from theodolite.dynamics.excitation.limits import TorqueLimit
    from theodolite.errors import InputError

    if identified is not None:
        identified.check_frames(dynamics)
    if torque is None:
        efforts = dynamics.effort_limits()
        if efforts is None or identified is None:
            return None
        return TorqueLimit.of(dynamics, efforts, identified)
    if identified is None:
        raise InputError("--torque needs the robot's masses", remedy="Add --parameters FILE")
    return TorqueLimit.of(dynamics, parse_numbers(torque, "--torque", "50 or 80,80,40"), identified)


def _surroundings(
    floor: float | None, keep_out: list[str], radius: float | None, reach: float
) -> Surroundings | None:
    from theodolite.dynamics.excitation.limits import Surroundings
    from theodolite.errors import InputError

    if floor is None and not keep_out:
        return None
    spheres = []
    for text in keep_out:
        numbers = parse_numbers(text, "--keep-out", "500,0,300,100")
        if len(numbers) != 4:
            raise InputError(f"--keep-out {text!r}", allowed="four numbers x,y,z,r, mm")
        x, y, z, r = map(float, 1e-3 * numbers)
        spheres.append((x, y, z, r))
    return Surroundings(
        ARM_RADIUS * reach if radius is None else 1e-3 * radius,
        None if floor is None else 1e-3 * floor,
        tuple(spheres),
    )


class _Progress:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, starts: int) -> None:
        from rich.console import Console
        from rich.progress import Progress

        screen = Console(stderr=True)
        self._bar = Progress(console=screen, transient=True, disable=not screen.is_terminal)
        self._task = self._bar.add_task("searching", total=starts)

    def __enter__(self) -> _Progress:
        self._bar.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._bar.__exit__(None, None, None)

    def __call__(self, done: int, starts: int, best: float) -> None:
        self._bar.update(self._task, completed=done, description=f"condition number {best:.1f}")
