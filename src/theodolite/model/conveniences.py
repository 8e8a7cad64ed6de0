"""What people do with a robot or mechanism at hand: ask where it is, draw it, save it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from theodolite import edges
from theodolite.arrays import FloatArray
from theodolite.errors import InputError, shown
from theodolite.model.parameters import Group, Unit
from theodolite.model.poses import Pose

if TYPE_CHECKING:
    from theodolite.model.machine import Machine


class Conveniences:
    """Methods that robots and mechanisms share, and nothing else has."""

    @property
    def _machine(self) -> Machine:
        return cast("Machine", self)

    @property
    def configuration_sizes(self) -> tuple[int, ...]:
        """How many numbers a configuration may have."""
        return (self._machine.joints,)

    def with_tolerances_of(
        self, length: float | None = None, angle: float | None = None
    ) -> Machine:
        """The same machine, with one tolerance for all lengths and one for all angles, m and rad.

        But for where it stands, which is not known from its drawings.
        """
        machine = self._machine
        given = {Unit.METRE: length, Unit.RADIAN: angle}
        for name, value in (("length", length), ("angle", angle)):
            if value is not None and not 0.0 < value < float("inf"):
                raise InputError(f"a tolerance of {name} of {shown(value)}", allowed="above 0")
        told = {
            parameter.name: tolerance
            for parameter in machine.parameters
            if parameter.group is not Group.BASE
            and not parameter.places
            and not parameter.term
            and (tolerance := given.get(parameter.unit)) is not None
        }
        return machine.with_tolerances(told)

    def fk(self, q: ArrayLike, *, target: str | int = 0) -> Pose:
        """Position (m) and rotation of a target for one configuration q, or for rows of them.

        Serial robots: q are the motor variables, radians and metres, which the columns ``q1`` ...
        of measurement files hold. With direct drives these are the joint variables.

        Mechanisms: q are the measured joints in the order of `joint_names`. Approximate
        positions of the passive joints may follow; without them, the branch of the home assembly is
        meant.
        """
        machine = self._machine
        motors, single = configurations(q, machine)
        motion = machine.motion(machine.values, motors, _target(target, machine.target_names))
        if single:
            return Pose(motion.position[0], motion.rotation[0])
        return Pose(motion.position, motion.rotation)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a robot file (.toml), which reads back to the last bit."""
        edges.save_robot(self._machine, path, force=force)

    def plot(self, q: ArrayLike | None = None) -> Any:
        """A matplotlib figure in configuration q; by default midway between limits, or at home."""
        return edges.plot_robot(self._machine, q)

    def to_dict(self) -> dict[str, Any]:
        """Name, joints with their limits, targets and parameters as plain data, SI."""
        return edges.robot_dict(self._machine)

    def to_frame(self) -> Any:
        """The parameters as a pandas DataFrame, SI."""
        return edges.frame(self.to_dict()["parameters"])

    def _repr_html_(self) -> str:
        return edges.html(self._machine)


def configurations(q: ArrayLike, machine: Machine) -> tuple[FloatArray, bool]:
    """Configurations (n, width) of a machine, and whether only one was given."""
    sizes = machine.configuration_sizes
    try:
        array = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0, 0))
    if array.ndim not in (1, 2) or array.shape[-1] not in sizes:
        size = " x ".join(map(str, array.shape)) if array.size and array.ndim else shown(q)
        wanted = " or ".join(map(str, sizes))
        size = f"has {size} values" if array.size and array.ndim == 1 else f"is {size}"
        raise InputError(
            f"q {size}; '{machine.name}' has {machine.joints} joints",
            allowed=f"{wanted} numbers (rad, m), or rows of {wanted}",
        )
    rows = np.atleast_2d(array)
    wrong = ~np.isfinite(rows).all(axis=1)
    if wrong.any():
        raise InputError(
            f"q, row {int(np.argmax(wrong)) + 1}: NaN or infinity", allowed="finite numbers"
        )
    return rows, array.ndim == 1


def _target(target: str | int, names: tuple[str, ...]) -> int:
    """Which of a machine's targets is meant, by name or number."""
    if isinstance(target, int) and 0 <= target < len(names):
        return target
    if target in names:
        return names.index(str(target))
    raise InputError(f"there is no target {target!r}", allowed=[repr(name) for name in names])


def check_machine(robot: object) -> None:
    """Refuse what is not a robot, such as the name of one."""
    if not isinstance(robot, Conveniences):
        raise InputError(
            f"{shown(robot)} is not a robot",
            remedy="Load it: robots.load('puma560') or read_robot('file.toml')",
        )
