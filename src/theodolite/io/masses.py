"""Known weights of a robot's links, from a URDF or from dynamics that were identified."""

from __future__ import annotations

from pathlib import Path

from theodolite.dynamics.serial import Dynamics
from theodolite.errors import InputError
from theodolite.io.dynamics_file import read_prior
from theodolite.model.loads import LinkMass
from theodolite.model.robot import Robot

_SYMBOLS = ("MX", "MY", "MZ", "M")


def read_masses(path: Path | str, robot: Robot) -> tuple[LinkMass, ...]:
    """Masses and first moments of the links of a robot, in the frames of its rows."""
    path = Path(path)
    known = read_prior(path)
    if known.frames != Dynamics(robot).frames:
        raise InputError(
            f"belongs to '{known.robot}', whose frames are not those of '{robot.name}'",
            where=str(path),
            remedy="Use the robot file that was made from it",
        )
    found = []
    for row in robot.joint_rows:
        number = row + robot.first_number
        x, y, z, mass = (known.values.get(f"{symbol}{number}", 0.0) for symbol in _SYMBOLS)
        found.append(LinkMass(number, mass, (x, y, z)))
    if not any(link.mass or any(link.moment) for link in found):
        raise InputError("holds no masses of links", where=str(path))
    return tuple(found)
