"""Options and arguments that several verbs share, and how they become objects."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from theodolite.arrays import FloatArray
    from theodolite.calibration.data import Dataset
    from theodolite.calibration.method import Method
    from theodolite.calibration.noise import Noise
    from theodolite.io.mapping import Mapping
    from theodolite.model.machine import Machine
    from theodolite.model.poses import Poses
    from theodolite.model.robot import Robot


def robot_names() -> list[str]:
    """What the shell completes, and forms offer."""
    from theodolite.robots import NAMES

    return list(NAMES)


def method_names() -> list[str]:
    from theodolite.calibration.catalogue import METHODS

    return list(METHODS)


def one_of(*names: str) -> Callable[[], list[str]]:
    """Names for the shell to complete, and for forms to offer."""
    return lambda: list(names)


RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A robot file, or the name of a built-in robot.",
        autocompletion=robot_names,
    ),
]
DataArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA...", help="Measurements in CSV; for link methods also one file per set."
    ),
]
METHOD = typer.Option(
    "--method",
    "-m",
    metavar="METHOD",
    help="frame, position, orientation, inclination, camera, point-sensor; without a sensor: "
    "position-link, frame-link, plane, plane-known, line, sphere, distance; for parallel robots "
    "also implicit, inverse.",
    autocompletion=method_names,
)
MethodOption = Annotated[str, METHOD]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random numbers.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite existing outputs.")]
PlaneOption = Annotated[
    str | None,
    typer.Option(
        "--plane",
        metavar="a,b,c",
        help="The plane a x + b y + c z + 1 = 0, in 1/m, or nx,ny,nz,h_mm: n . P = h.",
    ),
]
LineOption = Annotated[
    str | None,
    typer.Option(
        "--line",
        metavar="x,y,z,ux,uy,uz",
        help="The line that is touched: a point, mm, and a direction. Default: unknown.",
    ),
]
RadiusOption = Annotated[
    float | None,
    typer.Option("--radius-mm", min=0.0, help="Radius of the sphere, mm. Default: unknown."),
]
BetweenOption = Annotated[
    str | None,
    typer.Option(
        "--between",
        metavar="A,B",
        help="Two tools of the machine whose distance was measured (distance).",
    ),
]
ToolTurnOption = Annotated[
    str | None,
    typer.Option(
        "--tool-turn",
        metavar="ROLL,PITCH,YAW",
        help="Orientation of the tool in the fixture of a single-point sensor, deg.",
    ),
]
PrioritiesOption = Annotated[
    Path | None,
    typer.Option("--priorities", metavar="F", help="A priority matrix, one row per frame."),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option("--columns", metavar="A,B,...", help="Column names of files without a header."),
]
IgnoreOption = Annotated[
    str, typer.Option("--ignore", metavar="A,B,...", help="Columns to leave out.")
]
Member = TypeVar("Member", bound=Enum)
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="F", help="Write a report: one HTML file, or JSON for programs."
    ),
]
IgnoreLimitsOption = Annotated[
    bool, typer.Option("--ignore-limits", help="Use rows beyond the joint limits.")
]


def console(*, json: bool) -> Console:
    """Where people read: standard output, or nowhere when a program does."""
    from rich.console import Console

    return Console(quiet=json, soft_wrap=True, highlight=False)


def wrote(screen: Console, path: Path, what: str = "") -> None:
    """Say what was written where; names may hold anything, also what terminals obey."""
    from theodolite.errors import printable

    text = f"wrote {path}: {what}" if what else f"wrote {path}"
    screen.print(printable(text), markup=False)


def print_json(data: dict[str, Any]) -> None:
    from json import dumps

    typer.echo(dumps(_finite(data), indent=2, allow_nan=False))


def _finite(data: Any) -> Any:
    """The same data with null for what JSON cannot say: infinity and not-a-number."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not abs(data) < float("inf"):
        return None
    return data


#: Set in the environment, progress is said line by line: for programs that show it.
PROGRESS = "THEODOLITE_PROGRESS"


class ProgressLines:
    """Progress as lines on standard error, in place of a spinner."""

    #: Seconds between two lines at least.
    PAUSE = 0.1

    def __init__(self, message: str) -> None:
        self._message = message
        self._next = 0.0

    def __enter__(self) -> ProgressLines:
        self.update(self._message)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, message: str) -> None:
        from time import monotonic

        if monotonic() >= self._next:
            self._next = monotonic() + self.PAUSE
            typer.echo(f"progress: {message}", err=True)


def working(message: str) -> Any:
    """A spinner on a terminal, lines where a program asks for them, nothing elsewhere."""
    import os

    if os.environ.get(PROGRESS):
        return ProgressLines(message)
    return _Spinner(message)


class _Spinner:
    """A spinner whose words are shown as they are: names may hold anything."""

    def __init__(self, message: str) -> None:
        from rich.console import Console
        from rich.markup import escape

        self._escape = escape
        self._status = Console(stderr=True).status(escape(message))

    def __enter__(self) -> _Spinner:
        self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._status.stop()

    def update(self, message: str) -> None:
        self._status.update(self._escape(message))


def robot_named(text: str, *, tip: str | None = None, any_tip: bool = False) -> Machine:
    """A robot from a file (robot file or URDF) or from the built-in ones."""
    from theodolite.io.machines import machine_named

    return machine_named(text, tip=tip, any_tip=any_tip)


def serial(robot: Machine, what: str) -> Robot:
    """The robot, if it is a serial one; ``what`` says what is asked of it."""
    from theodolite.errors import InputError
    from theodolite.model.robot import Robot

    if not isinstance(robot, Robot):
        raise InputError(f"'{robot.name}' is a mechanism with loops; {what}")
    return robot


def with_priorities(robot: Machine, path: Path | None) -> Machine:
    from theodolite.io.priorities import read_priorities

    if path is None:
        return robot
    asked = "its priorities are set by name in its robot file, under [priorities]"
    return robot.with_priorities(read_priorities(serial(robot, asked), path))


#: No mark is found more exactly, px.
SMALLEST_NOISE = 1e-6


def method_from(
    name: str,
    *,
    plane: str | None = None,
    line: str | None = None,
    radius_mm: float | None = None,
    between: str | None = None,
    tool_turn: str | None = None,
    lens: list[str] | None = None,
    mount: str | None = None,
    keep_lens: bool = False,
    board_tolerance: float = 0.0,
    one_of_several: bool = False,
) -> Method:
    """A method with its own options, as the command line gives them.

    One of several sources takes what is its own. Pictures have a lens, whatever the method.
    """
    from theodolite.calibration.catalogue import method_named, options_of
    from theodolite.cli.pictures import lenses_from

    given = {
        "plane": None if plane is None else parse_plane(plane),
        "line": None if line is None else parse_line(line),
        "radius": None if radius_mm is None else radius_mm * 1e-3,
        "between": None if between is None else tuple(between.split(",")),
        "tool_turn": None if tool_turn is None else parse_turn(tool_turn),
        "lens": lenses_from(lens),
        "mount": mount,
        "keep_lens": keep_lens or None,
        "board_tolerance": 1e-2 * board_tolerance or None,
    }
    own = options_of(name)
    pictures = {"lens", "mount", "keep_lens", "board_tolerance"}
    asked = own if one_of_several else {*given, *own} - (pictures - own)
    return method_named(name, **{option: given[option] for option in given if option in asked})


def numbers(text: str, largest: float) -> FloatArray:
    """The numbers in a text; none where one is not finite or too large."""
    import numpy as np

    try:
        values = np.array([float(item) for item in text.replace(",", " ").split()])
    except ValueError:
        return np.empty(0)
    return values if (np.abs(values) <= largest).all() else np.empty(0)


def pose_from(text: str, option: str) -> Poses:
    """A pose from ``x,y,z,roll,pitch,yaw`` in mm and degrees."""
    import numpy as np

    from theodolite.errors import InputError
    from theodolite.model.poses import Poses, rotation_matrix

    values = numbers(text, 1e6)
    if len(values) != 6:
        allowed = "x,y,z in mm and roll,pitch,yaw in deg: R = Rz(yaw) Ry(pitch) Rx(roll)"
        raise InputError(f"{option}: {text!r} is not a pose", allowed=allowed)
    return Poses.one(rotation_matrix(*np.radians(values[3:])), 1e-3 * values[:3])


def parse_turn(text: str, option: str = "--tool-turn") -> FloatArray:
    """A rotation (3, 3) from ``roll,pitch,yaw`` in degrees."""
    import numpy as np

    from theodolite.errors import InputError
    from theodolite.model.poses import rotation_matrix

    angles = numbers(text, 360.0)
    if len(angles) != 3:
        allowed = "roll,pitch,yaw in deg, each from -360 to 360: R = Rz(yaw) Ry(pitch) Rx(roll)"
        raise InputError(f"{option}: {text!r} is not a rotation", allowed=allowed)
    return rotation_matrix(*np.radians(angles))


def parse_line(text: str) -> FloatArray:
    """A point in metres and a direction from ``x_mm,y_mm,z_mm,ux,uy,uz``."""
    import numpy as np

    from theodolite.errors import InputError

    values = numbers(text, 1e9)
    if len(values) != 6 or not 1e-6 < float(np.linalg.norm(values[3:])) < 1e6:
        allowed = "x_mm,y_mm,z_mm,ux,uy,uz: a point, and a direction of any length"
        raise InputError(f"--line: {text!r} is not a line", allowed=allowed)
    return np.concatenate([values[:3] * 1e-3, values[3:]])


def parse_plane(text: str) -> FloatArray:
    """Unit normal and distance from ``a,b,c`` or ``nx,ny,nz,h_mm``."""
    import numpy as np

    from theodolite.errors import InputError

    values = numbers(text, 1e9)
    allowed = "a,b,c in 1/m (a x + b y + c z + 1 = 0) or nx,ny,nz,h_mm (n . P = h)"
    size = float(np.linalg.norm(values[:3]))
    if len(values) not in (3, 4) or not 1e-6 < size < 1e6:
        raise InputError(f"--plane: {text!r} is not a plane", allowed=allowed)
    if len(values) == 3:
        return np.append(-values / size, 1.0 / size)
    return np.append(values[:3] / size, values[3] * 1e-3 / size)


def data_from(
    paths: list[Path],
    robot: Machine,
    *,
    needs: tuple[str, ...] = (),
    columns: str | None = None,
    ignore: str = "",
    ignore_limits: bool = False,
    mapping: Mapping | None = None,
    own: tuple[str, ...] = (),
) -> Dataset:
    """Measurements, checked for what the method needs; what is worth saying goes to stderr."""
    from theodolite.io.naming import name_list
    from theodolite.io.tables import read_measurements

    return read_measurements(
        paths,
        robot,
        needs=needs,
        columns=None if columns is None else name_list(columns),
        ignore=name_list(ignore),
        check_limits=not ignore_limits,
        mapping=mapping,
        own=own,
        note=lambda sentence: typer.echo(f"note: {sentence}", err=True),
    )


def noise_from(
    method: Method,
    mm: float | None,
    mrad: float | None,
    px: float | None = None,
    joint_deg: float = 0.0,
    slide_mm: float = 0.0,
) -> Noise | None:
    """Known noise as the options say; None where it is to be estimated."""
    import numpy as np

    from theodolite.errors import InputError

    if px is not None and 0.0 < px < SMALLEST_NOISE:
        raise InputError(f"--noise-px {px:g}", allowed=f"{SMALLEST_NOISE:g} px or more")
    return method.known_noise(
        {
            "position": None if mm is None else mm * 1e-3,
            "orientation": None if mrad is None else mrad * 1e-3,
            "pixel": px,
        },
        joint=float(np.radians(joint_deg)),
        slide=slide_mm * 1e-3,
    )


def member_of(kind: type[Member], text: str, option: str) -> Member:
    """A member of an enumeration by its name on the command line."""
    from theodolite.errors import InputError

    try:
        return kind(text)
    except ValueError as error:
        raise InputError(f"{option} {text}", allowed=[each.value for each in kind]) from error


def generator(seed: int) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(seed)
