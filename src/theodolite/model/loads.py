"""Known loads of joints: weights of links, a payload, a wrench at the tool, spring balancers.

``load(z2)`` in a basis function is the moment, in N m, about axis z of joint 2 of all that is known
to act beyond it:

    a . sum_k (c_k - o) x m_k g   +   a . ((p - o) x f + t)   +   balancer

with the axis a through the origin o of the joint, masses m_k at c_k in the links from there on, and
a force f and a moment t at the tool, p. Along the axis of a joint that slides it is a force, in N.
The coefficient of such a term is a compliance, rad/(N m).

A payload and a wrench come from columns of the data, in the frame of the tool; what is not told is
zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.model.conventions import Joint
from theodolite.model.expressions import Environment, Expression, load_name, parse
from theodolite.model.gravity import GRAVITY

if TYPE_CHECKING:
    from theodolite.model.robot import Robot

PAYLOAD = "payload_kg"
#: Columns of a payload's centre, a force and a moment, with the metres of one unit where they vary.
_CENTRES = {"payload_{}_m": 1.0, "payload_{}_mm": 1e-3}
_FORCES = {"force_{}_n": 1.0}
_TORQUES = {"torque_{}_nm": 1.0}
#: Any of these columns.
LOAD = re.compile(r"payload_kg|payload_[xyz]_mm?|force_[xyz]_n|torque_[xyz]_nm")


@dataclass(frozen=True)
class LinkMass:
    """The weight of a link, as it acts on the joints before it."""

    #: Number of the row that holds the link's joint, as in the names of its parameters.
    row: int
    #: kg.
    mass: float
    #: First moments in the frame of that row, kg m: mass times centre.
    moment: tuple[float, float, float]


@dataclass(frozen=True)
class Balancer:
    """A spring that helps a joint: its torque as a function of the joints."""

    row: int
    #: An expression in the joints, N m, or N for a joint that slides.
    torque: str

    @cached_property
    def expression(self) -> Expression:
        return parse(self.torque)


def check_loads(robot: Robot) -> None:
    """Refuse weights and balancers on rows that have no joint."""
    rows = [row + robot.first_number for row in robot.joint_rows]
    for kind, entries in (("mass", robot.masses), ("balancer", robot.balancers)):
        for entry in entries:
            if entry.row not in rows:
                raise InputError(
                    f"robot '{robot.name}' has a {kind} in row {entry.row}, which has no joint",
                    allowed=[str(row) for row in rows],
                )
    for balancer in robot.balancers:
        unknown = balancer.expression.names - set(robot.joint_names)
        if unknown or balancer.expression.moments or balancer.expression.loads:
            raise InputError(
                f"balancer '{balancer.torque}' depends on more than the joints",
                allowed=f"{robot.joint_names[0]} to {robot.joint_names[-1]}",
            )


def moved_masses(robot: Robot, other: Robot) -> tuple[LinkMass, ...]:
    """Weights of a robot's links in the frames of another table of the same robot."""
    if not robot.masses:
        return ()
    zero = np.zeros((1, robot.joints))
    found = []
    for mass in robot.masses:
        link = robot.joint_rows.index(mass.row - robot.first_number)
        R, p = _link_pose(robot, link, zero)
        R_other, p_other = _link_pose(other, link, zero)
        x, y, z = R_other.T @ (R @ np.array(mass.moment) + mass.mass * (p - p_other))
        row = other.joint_rows[link] + other.first_number
        found.append(LinkMass(row, mass.mass, (float(x), float(y), float(z))))
    return tuple(found)


def _link_pose(robot: Robot, link: int, motors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orientation and position of the frame of a joint's row, in one configuration."""
    rigid = robot.without_terms().with_targets(())
    frames, origins = rigid.motion(rigid.values, motors).bodies()
    rotation, position = rigid.after_joint(link)
    turned = frames[link + 1, :, :, 0].T
    return turned @ rotation, origins[link + 1, :, 0] + turned @ position


def has_loads(robot: Robot, columns: Sequence[str]) -> bool:
    """Is anything known of what the joints carry?"""
    return bool(robot.masses or robot.balancers) or any(map(LOAD.fullmatch, columns))


def loads(
    robot: Robot,
    motors: FloatArray,
    wanted: set[str],
    columns: Mapping[str, FloatArray],
    joints: Environment,
    down: FloatArray,
) -> dict[str, FloatArray]:
    """Loads about axes such as ``z2`` (n,), by the names under which expressions ask for them."""
    rigid = robot.without_terms().with_targets(())
    motion = rigid.motion(rigid.values, motors)
    frames, origins = motion.bodies()
    pull = GRAVITY * down
    # Force, and moment about the world's origin, of what acts on each link, (links, 3, n).
    force, moment = np.zeros((2, robot.joints, 3, len(motors)))
    for mass in robot.masses:
        link = rigid.joint_rows.index(mass.row - rigid.first_number)
        rotation, position = rigid.after_joint(link)
        # The row's own frame stands still in the body that its joint moves.
        first = rotation @ np.array(mass.moment) + mass.mass * position
        about = np.einsum("ain,a->in", frames[link + 1], first) + mass.mass * origins[link + 1]
        force[link] += mass.mass * pull[:, None]
        moment[link] += np.cross(about, pull, axisa=0, axisc=0)
    at_tool, about_world = _at_tool(columns, motion.rotation, motion.position, pull)
    force[-1] += at_tool
    moment[-1] += about_world
    # What acts on a link acts on all joints before it.
    force = np.cumsum(force[::-1], axis=0)[::-1]
    moment = np.cumsum(moment[::-1], axis=0)[::-1]
    found = {}
    for name in wanted:
        link = int(name[1:]) - 1
        axis = (rigid.skeleton.joints[link][1] + "zxy".index(name[0])) % 3
        direction, origin = frames[link + 1, axis], origins[link + 1]
        slides = name[0] == "z" and robot.joint_types[link] is Joint.PRISMATIC
        acting = force[link] if slides else moment[link] - np.cross(origin, force[link], axis=0)
        found[load_name(name)] = np.einsum("in,in->n", direction, acting)
    for balancer in robot.balancers:
        number = robot.joint_rows.index(balancer.row - robot.first_number) + 1
        if (name := load_name(f"z{number}")) in found:
            found[name] = found[name] + balancer.expression(joints)
    return found


def _at_tool(
    columns: Mapping[str, FloatArray], rotation: FloatArray, position: FloatArray, pull: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Force, and moment about the world's origin, of payload and wrench, (3, n) each."""
    n = len(position)
    mass = columns.get(PAYLOAD, np.zeros(n))
    weight = mass * pull[:, None]
    centre = _in_world(columns, _CENTRES, rotation, n) + position.T
    force = _in_world(columns, _FORCES, rotation, n)
    torque = _in_world(columns, _TORQUES, rotation, n)
    about = np.cross(centre, weight, axis=0) + np.cross(position.T, force, axis=0) + torque
    return weight + force, about


def _in_world(
    columns: Mapping[str, FloatArray], names: Mapping[str, float], rotation: FloatArray, n: int
) -> FloatArray:
    """A vector that columns give in the frame of the tool, turned into the world, (3, n)."""
    vector = np.zeros((n, 3))
    for place, axis in enumerate("xyz"):
        for name, unit in names.items():
            if (column := name.format(axis)) in columns:
                vector[:, place] = unit * columns[column]
    return np.einsum("nij,nj->in", rotation, vector)
