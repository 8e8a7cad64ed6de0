"""Options that the verbs of dynamics share, and how they become robots and recordings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.options import robot_named

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.measure.filtering import Run
    from theodolite.model.drives import Drive
    from theodolite.model.dynamics import Dynamics
    from theodolite.model.loop_dynamics import LoopDynamics

GravityOption = Annotated[
    str | None,
    typer.Option(metavar="x,y,z", help="Gravity in the world, m/s2. Default: along joint 1."),
]
TipOption = Annotated[
    str | None, typer.Option(metavar="LINK", help="Last link, where a URDF has several chains.")
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
RotorsOption = Annotated[bool, typer.Option("--rotors/--no-rotors", help="Rotor inertias.")]
StribeckOption = Annotated[float, typer.Option(help="Speed of the Stribeck term, rad/s.")]
DEFAULT_FRICTION = "viscous,coulomb,offset"


def dynamics_of(
    robot: str, gravity: str | None, tip: str | None = None, stribeck: float = 0.1
) -> Dynamics | LoopDynamics:
    """The robot's dynamics, whatever kind it is."""
    from theodolite.errors import InputError
    from theodolite.model.dynamics import Dynamics
    from theodolite.model.loop_dynamics import LoopDynamics
    from theodolite.model.mechanism import Mechanism

    if stribeck <= 0:
        raise InputError(f"a Stribeck speed of {stribeck:g}", allowed="more than 0 rad/s")
    subject = robot_named(robot, tip=tip, any_tip=True)
    vector = None
    if gravity is not None:
        vector = number_list(gravity, "--gravity", 3, "three numbers, as in 0,0,-9.81")
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
    from theodolite.errors import InputError
    from theodolite.model.drives import Drive

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

    def run(self, path: Path, *, loaded: bool = False, currents: bool = False) -> Run:
        """Even samples of one recording; with ``currents``, currents in place of torques."""
        import numpy as np

        from theodolite.io.recordings import read_recording
        from theodolite.measure.filtering import filtered

        motors = self.dynamics.motors
        factors: FloatArray | None = None
        if currents:
            factors = np.ones(motors)
        elif self.drive_gains is not None:
            factors = number_list(
                self.drive_gains, "--drive-gains", motors, f"{motors} numbers, Nm/A"
            )
        recording = read_recording(
            path,
            self.dynamics.robot,
            columns=None if self.columns is None else _names(self.columns),
            ignore=_names(self.ignore),
            drive_gains=factors,
        )
        return filtered(
            recording if self.whole else recording.moving(), cutoff=self.cutoff, loaded=loaded
        )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
