"""Dynamics of serial robots: their frames as links of a tree, their transmission as coupled drives.

``q = Coa G(K) Com qm + Offset`` [Khalil1996, eq. 2], so the torques of the motors are
``(Coa G(K) Com)'`` times those of the joints; rotors and friction turn with the motors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import STRIBECK_SPEED, State
from theodolite.dynamics.inertia import moving, solid
from theodolite.dynamics.link_motion import Link
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.model.chain import Chain
from theodolite.model.elements import Element
from theodolite.model.robot import Robot

GRAVITY = 9.81


class Dynamics(Tree):
    """The regressors of a serial robot."""

    def __init__(
        self,
        robot: Robot,
        *,
        gravity: FloatArray | None = None,
        stribeck_speed: float = STRIBECK_SPEED,
    ) -> None:
        """``gravity`` in the world; without it, the robot stands upright on its first axis."""
        self.robot = robot
        links = tuple(_serial_links(robot))
        if gravity is None:
            gravity = -GRAVITY * links[0].rotation[:, links[0].axis]
        names = [str(link.name) for link in links]
        super().__init__(links, names, len(links), gravity, stribeck_speed=stribeck_speed)
        transmission = robot.transmission
        coupling = transmission.coa @ np.diag(transmission.gains) @ transmission.com
        #: Joints by motors; None where each motor moves its own joint one to one.
        self.coupling = None if np.array_equal(coupling, np.eye(len(links))) else coupling

    def followed(self, state: State) -> tuple[State, FloatArray | None]:
        if self.coupling is None:
            return state, None
        joints = State(*(part @ self.coupling.T for part in (state.q, state.qd, state.qdd)))
        return joints, np.broadcast_to(self.coupling, (len(state), *self.coupling.shape))

    def random_positions(self, count: int, rng: np.random.Generator) -> FloatArray:
        positions = super().random_positions(count, rng)
        if self.coupling is None:
            return positions
        return np.linalg.solve(self.coupling, positions.T).T

    def flange_to_link(self) -> FloatArray:
        """How ten parameters in the flange's frame become those in the last link's, (10, 10)."""
        last = self.robot.joint_rows[-1]
        rows = range(last + 1, len(self.robot.frames))
        elements = [element for row in rows for element in self.robot.elements(row)]
        return moving(*_transform(self.robot, elements))

    def payload(self, mass: float, centre: FloatArray, inertia: FloatArray) -> FloatArray:
        """Ten parameters in the last link's frame of a solid given in the flange's."""
        return self.flange_to_link() @ solid(mass, centre, inertia)


def _serial_links(robot: Robot) -> Iterator[Link]:
    skeleton = robot.chains[0].skeleton(robot.values)
    before_rotation: FloatArray = np.eye(3)
    before_position: FloatArray = np.zeros(3)
    for number, row in enumerate(robot.joint_rows):
        rotation, position = skeleton.links[number]
        revolute, axis = skeleton.joints[number]
        after_rotation, after_position = _after(robot, row)
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


def _after(robot: Robot, row: int) -> tuple[FloatArray, FloatArray]:
    """What stands in a row after its joint: the way to the link's own frame."""
    elements = robot.elements(row)
    place = next(index for index, element in enumerate(elements) if element.varies)
    return _transform(robot, elements[place + 1 :])


def _transform(robot: Robot, elements: list[Element]) -> tuple[FloatArray, FloatArray]:
    """Orientation and position of constant elements."""
    rest = Chain(elements, parameters=len(robot.parameters), basis=1 + robot.joints)
    motion = rest.motion(robot.values, robot.basis(np.zeros((1, robot.joints))))
    return motion.rotation[0], motion.position[0]


def _sign(robot: Robot, row: int) -> float:
    """Does the element turn with its joint, or against it?"""
    element = next(element for element in robot.elements(row) if element.varies)
    joint = robot.joint_rows.index(row)
    for term in element.terms:
        if term.basis != 0:
            coupling = float(robot.transmission.coa[joint, term.basis - 1])
            return float(np.sign(term.coefficient / coupling))
    raise InputError(f"joint {joint + 1} of robot '{robot.name}' is moved by no motor")
