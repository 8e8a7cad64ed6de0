"""What ``predict`` and ``simulate`` share: parameters, and a motion to move along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from theodolite.cli.dynamics.options import RecordingReader, load_dynamics, parse_body

if TYPE_CHECKING:
    from theodolite.arrays import FloatArray
    from theodolite.dynamics.drives import State
    from theodolite.dynamics.machine_dynamics import MachineDynamics
    from theodolite.dynamics.parameters import DynamicParameters
    from theodolite.io.bags import BagChoice

ParametersArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PARAMETERS", help="What 'dynamics identify --out' wrote, or a URDF with inertias."
    ),
]
MotionArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MOTION",
        help="A motion: what 'dynamics excite' wrote, or any recording. Without velocities and "
        "accelerations, positions are low-passed and differentiated.",
    ),
]


def read_motion(
    robot: str,
    parameters: Path,
    motion: Path,
    *,
    payload: str | None,
    gravity: str | None,
    tip: str | None,
    cutoff: float | None,
    columns: str | None,
    ignore: str,
    skip_bad: bool,
    bag: BagChoice | None = None,
) -> tuple[MachineDynamics, DynamicParameters, FloatArray, State, FloatArray | None]:
    """Dynamics, parameters, times and states of the motion, and ten parameters of a payload."""
    from theodolite.dynamics.machine_dynamics import require_serial
    from theodolite.dynamics.motions import prepare_motion
    from theodolite.io.dynamics_file import read_prior

    body = None if payload is None else parse_body(payload)
    identified = read_prior(parameters, tip=tip)
    dynamics = load_dynamics(robot, gravity, tip, parameters=identified, any_tip=body is None)
    identified.check_frames(dynamics)
    carried = None
    if body is not None:
        serial = require_serial(dynamics, "payloads are supported only for serial robots")
        carried = serial.payload_parameters(body)
    reader = RecordingReader(dynamics, columns, ignore, None, skip_bad, bag)
    recorded = reader.read(motion, motion=True)
    times, state = prepare_motion(recorded, cutoff=identified.cutoff if cutoff is None else cutoff)
    return dynamics, identified, times, state, carried
