"""Options that the verbs of dynamics share, and how they become objects."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from theodolite.cli.options import robot_named
from theodolite.io.machines import is_urdf
from theodolite.io.naming import name_list

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.dynamics.drives import Drive, Drives
    from theodolite.dynamics.inertia import RigidBody
    from theodolite.dynamics.machine_dynamics import MachineDynamics
    from theodolite.dynamics.parameters import DynamicParameters
    from theodolite.dynamics.recording import Recording
    from theodolite.io.bags import BagChoice

GravityOption = Annotated[
    str | None,
    typer.Option(
        metavar="x,y,z",
        help="Gravity in the world, m/s2. Default: opposite to the first joint axis; "
        "along -z for URDF files and mechanisms.",
    ),
]
TipOption = Annotated[
    str | None,
    typer.Option(
        metavar="LINK",
        help="Last link, where a URDF has several. A payload is given in its frame.",
    ),
]
GainsOption = Annotated[
    str | None,
    typer.Option(
        metavar="K,K,...|FILE",
        help="Drive gains, Nm/A, if currents were recorded: numbers, or what 'dynamics gains "
        "--out' wrote.",
    ),
]
CutoffOption = Annotated[
    float | None,
    typer.Option(
        metavar="HZ",
        help="Cut-off frequency of the low-pass filter, Hz. Default: chosen from the data.",
    ),
]
KeepRestOption = Annotated[
    bool,
    typer.Option(
        "--keep-rest/--no-keep-rest",
        "--whole/--no-whole",
        help="Keep the standstill before and after the movement.",
    ),
]
SkipBadOption = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Leave out damaged rows: cut short, not numbers, times out of order."
    ),
]
FrictionOption = Annotated[
    str,
    typer.Option(
        metavar="TERM,...",
        help="Friction terms: viscous, coulomb, offset, load, quadratic, stribeck, asymmetric, "
        "ripple, temperature, spring, curve; or none. For single joints: 'viscous,coulomb; 3: "
        "viscous'.",
    ),
]
PayloadOption = Annotated[
    str | None,
    typer.Option(
        metavar="m,x,y,z[,...]",
        help="A known payload: its mass, kg, and centre of mass in the frame of the tip, mm; "
        "optionally XX,XY,XZ,YY,YZ,ZZ about that centre, kg m2. For gains, the mass alone is "
        "enough.",
    ),
]
RotorsOption = Annotated[
    bool, typer.Option("--rotors/--no-rotors", help="Include the inertias of the rotors.")
]
StribeckOption = Annotated[
    float,
    typer.Option(
        metavar="V",
        help="Speed at which the Stribeck term has fallen to 1/e, rad/s; for slides, 0.1 m times "
        "that.",
    ),
]
GoodOption = Annotated[
    float,
    typer.Option(metavar="PERCENT", help="Torque error up to which the model is good, percent."),
]
UsableOption = Annotated[
    float,
    typer.Option(
        metavar="PERCENT",
        help="Torque error up to which the model is usable, percent; beyond it the exit code is 1.",
    ),
]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Plot measured and predicted torques.")
]
ChosenFrictionOption = Annotated[
    str,
    typer.Option(
        "--friction",
        metavar="TERM,...",
        help="auto chooses by torques that are left out. Or terms: viscous, coulomb, offset, load, "
        "quadratic, stribeck, asymmetric, ripple, temperature, spring, curve; or none. For "
        "single joints: "
        "'viscous,coulomb; 3: viscous'.",
    ),
]
TransitionOption = Annotated[
    str | None,
    typer.Option(
        metavar="V[,V,...]",
        help="Speeds over which friction reverses, tanh(q'/V), rad/s; of slides, m/s. Default: at "
        "once, or what --friction auto finds.",
    ),
]
PreslidingOption = Annotated[
    str | None,
    typer.Option(
        "--presliding-distance",
        metavar="D[,D,...]",
        help="Distances over which friction reverses wherever a joint stops, rad; of slides, m. "
        "Default: none, or what --friction auto finds.",
    ),
]
DEFAULT_FRICTION = "viscous,coulomb,offset"
AUTO = "auto"
#: As in ``theodolite.dynamics``, which is not imported before it is needed.
DEFAULT_STRIBECK = 0.1
DEFAULT_GOOD, DEFAULT_USABLE = 6.0, 15.0

Member = TypeVar("Member", bound=Enum)


def load_dynamics(
    robot: str,
    gravity: str | None,
    tip: str | None = None,
    stribeck_speed: float | None = None,
    *,
    parameters: DynamicParameters | None = None,
    any_tip: bool = True,
) -> MachineDynamics:
    """The dynamics of any robot; with ``any_tip``, also of a URDF with several tips.

    Gravity and Stribeck speed are by default those of identified ``parameters``.
    """
    from theodolite.dynamics.machine_dynamics import build_dynamics
    from theodolite.errors import InputError

    if tip is not None and not is_urdf(robot):
        raise InputError(f"--tip {tip} is for URDF files, not for '{robot}'")
    return build_dynamics(
        robot_named(robot, tip=tip, any_tip=any_tip),
        gravity=None if gravity is None else parse_numbers(gravity, "--gravity", "0,0,-9.81"),
        stribeck_speed=stribeck_speed,
        parameters=parameters,
    )


def parse_numbers(text: str, option: str, example: str) -> FloatArray:
    """Numbers between commas; ``example`` is shown where there are none."""
    import numpy as np

    from theodolite.errors import InputError

    try:
        values = np.array([float(item) for item in text.replace(",", " ").split()])
    except ValueError:
        values = np.empty(0)
    if not len(values) or not np.isfinite(values).all():
        raise InputError(f"{option} {text!r}", allowed=f"numbers, as in {example}")
    return values


def parse_drives(friction: str, *, rotors: bool, dynamics: MachineDynamics | None = None) -> Drives:
    """Rotors, and friction terms by their names, of all motors or of single joints.

    ``dynamics`` is needed for single joints: motors that are not named keep what all have.
    """
    from theodolite.errors import InputError

    parts = [part for part in friction.split(";") if part.strip()]
    if not parts:
        raise InputError("--friction is blank", allowed="terms such as viscous,coulomb, or none")
    common, *single = parts
    if ":" in common:
        common, single = DEFAULT_FRICTION, [common, *single]
    usual = _parse_terms(common, rotors=rotors)
    if not single:
        return usual
    if dynamics is None:
        raise InputError(f"--friction {friction}", allowed="the same terms for all motors")
    drives = dict.fromkeys(dynamics.motor_names, usual)
    for part in single:
        name, _, terms = part.partition(":")
        name = name.strip()
        drives[name] = _parse_terms(terms, rotors=rotors and name in dynamics.motor_names)
    dynamics.check_drives(drives)
    return drives


def _parse_terms(text: str, *, rotors: bool) -> tuple[Drive, ...]:
    """Terms between commas."""
    from theodolite.dynamics.drives import FRICTION_NAMES
    from theodolite.dynamics.friction_choice import friction_drives
    from theodolite.errors import InputError

    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    chosen = [] if names == ["none"] else names
    for name in chosen:
        if name not in FRICTION_NAMES:
            raise InputError(f"--friction {name}", allowed=[*FRICTION_NAMES, "none"])
    return friction_drives(chosen, rotors=rotors)


def choose_drives(friction: str, *, rotors: bool, dynamics: MachineDynamics) -> Drives | None:
    """The same; None where they are to be chosen from the data."""
    from theodolite.errors import InputError

    if friction.strip().lower() == AUTO:
        return None
    if friction.split(";")[0].strip().lower() == AUTO:
        raise InputError(
            f"--friction {friction!r}: auto chooses for all joints",
            remedy="Give auto alone, or the terms of all joints and of single ones",
        )
    return parse_drives(friction, rotors=rotors, dynamics=dynamics)


def parse_reversal(
    speeds: str | None, distances: str | None, dynamics: MachineDynamics
) -> MachineDynamics:
    """Dynamics whose friction reverses over speeds or distances, one for all or one a motor."""
    import numpy as np

    if speeds is not None:
        given = parse_numbers(speeds, "--transition-speed", "0.01")
        levers = dynamics.speed_levers[: dynamics.motors]
        dynamics = dynamics.with_shape(given[0] * levers if len(given) == 1 else np.asarray(given))
    if distances is not None:
        given = parse_numbers(distances, "--presliding-distance", "0.001")
        each = np.resize(given, dynamics.motors if len(given) == 1 else len(given))
        dynamics = dynamics.with_shape(presliding_distances=each)
    return dynamics


def parse_body(text: str) -> RigidBody:
    """A body from ``m,x,y,z`` in kg and mm, and perhaps six inertias in kg m2."""
    import numpy as np

    from theodolite.dynamics.inertia import PLACES, RigidBody
    from theodolite.errors import InputError

    allowed = "4 or 10 numbers: kg, three in mm, optionally six in kg m2"
    try:
        numbers = parse_numbers(text, "--payload", "2.8,0,0,60")
    except InputError as error:
        raise InputError(error.what, allowed=allowed) from error
    if len(numbers) not in (4, 10):
        raise InputError(f"--payload {text!r}", allowed=allowed)
    inertia = np.zeros((3, 3))
    for value, (i, j) in zip(numbers[4:], PLACES, strict=False):
        inertia[i, j] = inertia[j, i] = value
    try:
        return RigidBody(float(numbers[0]), 1e-3 * numbers[1:4], inertia)
    except InputError as error:
        raise error.at(f"--payload {text!r}") from error


@dataclass(frozen=True)
class RecordingReader:
    """Reads recordings of one robot as the options say."""

    dynamics: MachineDynamics
    columns: str | None = None
    ignore: str = ""
    drive_gains: str | None = None
    skip_bad: bool = False
    bag: BagChoice | None = None

    @property
    def gains(self) -> tuple[FloatArray | None, FloatArray | None]:
        """Drive gains and their covariance, from numbers or from a file."""
        from theodolite.io.gains_file import read_gains

        if self.drive_gains is None:
            return None, None
        if self.drive_gains.lower().endswith(".json"):
            return read_gains(self.drive_gains)
        return parse_numbers(self.drive_gains, "--drive-gains", "14.9,13.3 or gains.json"), None

    def gain_errors(self) -> FloatArray | None:
        """Relative covariance of the gains, where it is known."""
        import numpy as np

        gains, covariance = self.gains
        if gains is None or covariance is None:
            return None
        return np.asarray(covariance / np.outer(gains, gains))

    def read(self, path: Path, *, currents: bool = False, motion: bool = False) -> Recording:
        """One recording; with ``currents``, these in place of torques; a ``motion`` needs none."""
        from theodolite.io.recordings import read_recording

        with self.naming_topics():
            return read_recording(
                path,
                self.dynamics.robot,
                columns=None if self.columns is None else name_list(self.columns),
                ignore=name_list(self.ignore),
                drive_gains=self.gains[0],
                currents=currents,
                motion=motion,
                skip_bad=self.skip_bad,
                bag=self.bag,
            )

    @contextlib.contextmanager
    def naming_topics(self) -> Iterator[None]:
        """Says with which option a topic of a bag is chosen."""
        from theodolite.errors import InputError
        from theodolite.io.bags import TopicError

        try:
            yield
        except TopicError as error:
            raise InputError(
                error.what, where=error.where, allowed=error.allowed,
                remedy="Choose one with --topic; --joint-names says how it calls the joints",
            ) from error  # fmt: skip
