"""Dynamics of serial robots: their frames as links of a tree, their transmission as coupled drives.

``q = Coa G(K) Com qm + Offset`` [Khalil1996, eq. 2], so the torques of the motors are
``(Coa G(K) Com)'`` times those of the joints; rotors and friction turn with the motors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import STRIBECK_SPEED, State
from theodolite.dynamics.inertia import RigidBody, change_of_frame
from theodolite.dynamics.link_motion import Link
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.model.gravity import GRAVITY, down
from theodolite.model.robot import Robot


class Dynamics(Tree):
    """The regressors of a serial robot."""

    def __init__(
        self,
        robot: Robot,
        *,
        gravity: FloatArray | None = None,
        stribeck_speed: float = STRIBECK_SPEED,
    ) -> None:
        """``gravity`` in the world, m/s2; see `default_gravity`."""
        if not isinstance(robot, Robot):
            raise InputError(
                f"'{robot.name}' is a mechanism with loops", remedy="Use build_dynamics"
            )
        robot = robot.without_terms()
        self.robot = robot
        links = tuple(_serial_links(robot))
        gravity = default_gravity(robot) if gravity is None else np.asarray(gravity)
        names = [str(link.name) for link in links]
        super().__init__(
            links, names, len(links), gravity, stribeck_speed=stribeck_speed, name=robot.name
        )
        transmission = robot.transmission
        coupling = transmission.coa @ np.diag(transmission.gains) @ transmission.com
        #: Joints by motors; None where each motor moves its own joint one to one.
        self.coupling = None if np.array_equal(coupling, np.eye(len(links))) else coupling

    @property
    def reach(self) -> float:
        return self.robot.reach() or 1.0

    @property
    def direct_drives(self) -> bool:
        return self.coupling is None

    def joint_state(self, state: State) -> tuple[State, FloatArray | None]:
        if self.coupling is None:
            return state, None
        joints = State(*(part @ self.coupling.T for part in (state.q, state.qd, state.qdd)))
        return joints, np.broadcast_to(self.coupling, (len(state), *self.coupling.shape))

    def motor_limits(self) -> tuple[FloatArray, FloatArray]:
        """Bounds of each motor that keep all joints within their limits."""
        lower, upper = np.asarray(self.robot.lower), np.asarray(self.robot.upper)
        if self.coupling is None:
            return lower, upper
        half = (upper - lower) / 2
        middle = np.linalg.solve(self.coupling, (upper + lower) / 2)
        # The corners of a box about the middle reach |F| h at the joints.
        wanted = np.abs(np.linalg.inv(self.coupling) @ half)
        reach = wanted * float((half / (np.abs(self.coupling) @ wanted)).min())
        return middle - reach, middle + reach

    def speed_limits(self) -> FloatArray | None:
        return self.robot.speeds if self.coupling is None else None

    def effort_limits(self) -> FloatArray | None:
        return self.robot.efforts if self.coupling is None else None

    def random_positions(self, count: int, rng: np.random.Generator) -> FloatArray:
        positions = super().random_positions(count, rng)
        if self.coupling is None:
            return positions
        return np.linalg.solve(self.coupling, positions.T).T

    def flange_to_link(self) -> FloatArray:
        """How ten parameters in the flange's frame become those in the last link's, (10, 10)."""
        rows = range(self.robot.joint_rows[-1] + 1, len(self.robot.frames))
        return change_of_frame(*_rows_transform(self.robot, rows))

    def payload_parameters(self, body: RigidBody) -> FloatArray:
        """Ten parameters, in the last link's frame, of a body given in the flange's frame."""
        return self.flange_to_link() @ body.parameters


def default_gravity(robot: Robot) -> FloatArray:
    """Gravity in the world where nobody says otherwise, m/s2."""
    return GRAVITY * down(robot)


def _serial_links(robot: Robot) -> Iterator[Link]:
    skeleton = robot.skeleton
    before_rotation: FloatArray = np.eye(3)
    before_position: FloatArray = np.zeros(3)
    for number, row in enumerate(robot.joint_rows):
        rotation, position = skeleton.links[number]
        revolute, axis = skeleton.joints[number]
        after_rotation, after_position = robot.after_joint(number)
        # The chain's link starts at the joint before; ours at the frame of the link before.
        yield Link(
            number - 1,
            before_rotation.T @ rotation,
            before_rotation.T @ (position - before_position),
            number,
            bool(revolute),
            axis,
            float(skeleton.offsets[number]),
            _sign(robot, row),
            after_rotation,
            after_position,
            str(row + robot.first_number),
        )
        before_rotation, before_position = after_rotation, after_position


def _rows_transform(robot: Robot, rows: range) -> tuple[FloatArray, FloatArray]:
    """Orientation and position of whole rows without joints."""
    return robot.fixed_transform([element for row in rows for element in robot.elements(row)])


def _sign(robot: Robot, row: int) -> float:
    """1 where the element turns with its joint, -1 where it turns against it."""
    element = next(element for element in robot.elements(row) if element.varies)
    joint = robot.joint_rows.index(row)
    for term in element.terms:
        if term.basis != 0:
            coupling = float(robot.transmission.coa[joint, term.basis - 1])
            return float(np.sign(term.coefficient / coupling))
    raise InputError(f"joint {joint + 1} of robot '{robot.name}' is moved by no motor")
