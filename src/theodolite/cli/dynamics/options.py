"""Options that the verbs of dynamics share, and how they become robots and recordings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.options import is_urdf, name_list, robot_named

if TYPE_CHECKING:
    from rich.console import Console

    from theodolite.arrays import FloatArray
    from theodolite.dynamics.drives import Drive
    from theodolite.dynamics.filtering import Run
    from theodolite.dynamics.loop_dynamics import LoopDynamics
    from theodolite.dynamics.serial import Dynamics

GravityOption = Annotated[
    str | None,
    typer.Option(
        metavar="x,y,z",
        help="Gravity in the world, m/s2. Default: along joint 1; for URDF files and mechanisms "
        "0,0,-9.81.",
    ),
]
TipOption = Annotated[
    str | None,
    typer.Option(
        metavar="LINK",
        help="Last link, where a URDF has several; a payload is given in its frame.",
    ),
]
GainsOption = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Drive gains, Nm/A, where currents are given.")
]
CutoffOption = Annotated[
    float | None, typer.Option(help="Of the low-pass, Hz. Default: proposed from the data.")
]
WholeOption = Annotated[bool, typer.Option(help="Use the rest before and after moving too.")]
FrictionOption = Annotated[
    str,
    typer.Option(
        metavar="A,B,...",
        help="Terms of friction: viscous, coulomb, offset; asymmetric, stribeck, spring; or none.",
    ),
]
PayloadOption = Annotated[
    str | None,
    typer.Option(
        metavar="m,x,y,z[,...]",
        help="What the robot carries: kg, and its centre in the flange's frame, mm; then perhaps "
        "XX, XY, XZ, YY, YZ, ZZ about the centre, kg m2.",
    ),
]
RotorsOption = Annotated[bool, typer.Option("--rotors/--no-rotors", help="Rotor inertias.")]
StribeckOption = Annotated[float, typer.Option(help="Speed of the Stribeck term, rad/s.")]
DEFAULT_FRICTION = "viscous,coulomb,offset"
#: As in ``theodolite.dynamics.drives``, which is not imported before it is needed.
DEFAULT_STRIBECK = 0.1


def dynamics_of(
    robot: str,
    gravity: str | None,
    tip: str | None = None,
    stribeck: float = DEFAULT_STRIBECK,
    *,
    any_tip: bool = True,
) -> Dynamics | LoopDynamics:
    """The robot's dynamics, whatever kind it is; of a URDF, any tip will do, or just one."""
    import numpy as np

    from theodolite.dynamics.loop_dynamics import LoopDynamics
    from theodolite.dynamics.serial import GRAVITY, Dynamics
    from theodolite.errors import InputError
    from theodolite.model.mechanism import Mechanism

    if not 0 < stribeck < 1e3:
        raise InputError(f"--stribeck-speed {stribeck:g}", allowed="more than 0 rad/s")
    if tip is not None and not is_urdf(robot):
        raise InputError(f"--tip {tip} is for URDF files, not for '{robot}'")
    subject = robot_named(robot, tip=tip, any_tip=any_tip)
    allowed = "three numbers in m/s2, as in 0,0,-9.81"
    vector = None
    if gravity is not None:
        vector = number_list(gravity, "--gravity", 3, allowed)
        if np.abs(vector).max() > 1e3:
            raise InputError(f"--gravity {gravity}", allowed=allowed)
    elif is_urdf(robot):
        # The world of a URDF has its z upwards.
        vector = np.array([0.0, 0.0, -GRAVITY])
    if isinstance(subject, Mechanism):
        return LoopDynamics(subject, gravity=vector, stribeck_speed=stribeck)
    return Dynamics(subject, gravity=vector, stribeck_speed=stribeck)


def number_list(
    text: str, option: str, count: int, allowed: str, *, one_for_all: bool = False
) -> FloatArray:
    """So many numbers, or perhaps one for all."""
    import numpy as np

    from theodolite.errors import InputError

    try:
        values = np.array([float(item) for item in text.replace(",", " ").split()])
    except ValueError:
        values = np.empty(0)
    if len(values) == 1 and one_for_all:
        values = np.full(count, values[0])
    if len(values) != count or not np.isfinite(values).all():
        raise InputError(f"{option} {text!r}", allowed=allowed)
    return values


def drives_from(friction: str, *, rotors: bool) -> tuple[Drive, ...]:
    """Rotors, and the terms of friction by their names."""
    from theodolite.dynamics.drives import Drive
    from theodolite.errors import InputError

    names = [name.strip().upper() for name in friction.split(",") if name.strip()]
    known = {drive.name: drive for drive in Drive if drive is not Drive.ROTOR}
    found = [] if names == ["NONE"] else names
    for name in found:
        if name not in known:
            raise InputError(
                f"--friction {name.lower()}", allowed=[*(k.lower() for k in known), "none"]
            )
    ordered = [drive for drive in Drive if drive.name in found]
    return ((Drive.ROTOR,) if rotors else ()) + tuple(ordered)


@dataclass(frozen=True)
class Reader:
    """Reads recordings as the options say."""

    dynamics: Dynamics | LoopDynamics
    columns: str | None = None
    ignore: str = ""
    drive_gains: str | None = None
    cutoff: float | None = None
    whole: bool = False

    def all_runs(self, paths: list[Path]) -> list[Run]:
        """Several recordings at one cut-off: the highest that is proposed for any of them."""
        found = [self.runs(path) for path in paths]
        highest = max(run.cutoff for runs in found for run in runs)
        if any(run.cutoff != highest for runs in found for run in runs):
            found = [self.runs(path, cutoff=highest) for path in paths]
        return [run for runs in found for run in runs]

    def runs(
        self,
        path: Path,
        *,
        loaded: bool = False,
        currents: bool = False,
        cutoff: float | None = None,
    ) -> list[Run]:
        """Even samples of one recording, in several parts where it is interrupted.

        With ``currents``, currents in place of torques; ``cutoff`` where none was asked for.
        """
        import numpy as np

        from theodolite.dynamics.filtering import filtered_parts
        from theodolite.errors import InputError
        from theodolite.io.recordings import read_recording

        motors = self.dynamics.motors
        factors: FloatArray | None = None
        if currents:
            factors = np.ones(motors)
        elif self.drive_gains is not None:
            allowed = f"{motors} numbers, Nm/A, none of them 0"
            factors = number_list(self.drive_gains, "--drive-gains", motors, allowed)
            if not factors.all():
                raise InputError(f"--drive-gains {self.drive_gains}", allowed=allowed)
        recording = read_recording(
            path,
            self.dynamics.robot,
            columns=None if self.columns is None else name_list(self.columns),
            ignore=name_list(self.ignore),
            drive_gains=factors,
            from_currents=currents,
        )
        return filtered_parts(
            recording if self.whole else recording.moving(),
            cutoff=cutoff if self.cutoff is None else self.cutoff,
            loaded=loaded,
        )


def show_doubts(screen: Console, runs: list[Run], dynamics: Dynamics | LoopDynamics) -> list[str]:
    """Say what looks wrong with recordings."""
    from theodolite.dynamics.checks import doubts, joint_fits

    found: list[str] = []
    for run in runs:
        found += [*run.doubts, *doubts(dynamics, run, joint_fits(dynamics, run))]
    found = list(dict.fromkeys(found))
    for doubt in found:
        screen.print(f"[yellow]{doubt}[/yellow]")
    return found


def solid_from(text: str) -> tuple[float, FloatArray, FloatArray]:
    """Mass in kg, centre in m and inertia about it in kg m2, from ``--payload``."""
    import numpy as np

    from theodolite.dynamics.inertia import PLACES
    from theodolite.errors import InputError

    try:
        given = [float(item) for item in text.replace(",", " ").split()]
    except ValueError:
        given = []
    if len(given) not in (4, 10) or not np.isfinite(given).all() or given[0] <= 0:
        raise InputError(
            f"--payload {text!r}",
            allowed="4 or 10 numbers: kg above 0, three mm, perhaps six kg m2",
        )
    inertia = np.zeros((3, 3))
    for value, (i, j) in zip(given[4:], PLACES, strict=False):
        inertia[i, j] = inertia[j, i] = value
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] < 0 or moments[2] > moments[0] + moments[1] + 1e-12:
        raise InputError(
            f"--payload {text!r}: no body has this inertia",
            allowed="moments that are positive, none larger than the sum of the other two",
        )
    return given[0], 1e-3 * np.array(given[1:4]), inertia
