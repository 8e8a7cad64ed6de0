"""A serial robot as links between joints about z, placed as another description has them.

With joints J about or along z that move by what a controller shows, the tip is at

    T = L_0 J_1(s_1) L_1 J_2(s_2) ... L_n

The frame of a joint may sit anywhere on its axis: with G that commutes with the joint (turns about
z and shifts along it; of a slide, any shift), L_(i-1) G and G^-1 L_i describe the same robot. It is
chosen so that every frame is as near as possible to where the other description has it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.model.conventions import PARALLEL_SINE, Joint
from theodolite.model.conversion import joint_links
from theodolite.model.robot import Robot

#: How much a frame on one of two parallel axes resists moving, against misfits of the link.
STAY = 0.1


def reading_links(robot: Robot) -> list[FloatArray]:
    """Links (4, 4) of a robot without gains and terms, between joints that show what is read.

    Where motors drive several joints at once, the joints themselves are meant.
    """
    links, offsets = joint_links(robot)
    coupling = robot.transmission.coa @ robot.transmission.com
    signs = np.sign(np.diag(coupling)) if _apart(coupling) else np.ones(robot.joints)
    for number, kind in enumerate(robot.joint_types):
        moved = along_z(kind, float(offsets[number]))
        turned = np.diag([1.0, signs[number], signs[number], 1.0])
        links[number] = links[number] @ moved @ turned
        links[number + 1] = turned @ links[number + 1]
    return links


def reads_joints(robot: Robot) -> bool:
    """Does the controller show joints, each moved by one motor?"""
    return _apart(robot.transmission.coa @ robot.transmission.com)


def _apart(coupling: FloatArray) -> bool:
    return not (coupling - np.diag(np.diag(coupling))).any()


def along_z(kind: Joint, amount: float) -> FloatArray:
    """A joint's motion."""
    T = np.eye(4)
    if kind is Joint.PRISMATIC:
        T[2, 3] = amount
    else:
        c, s = np.cos(amount), np.sin(amount)
        T[:2, :2] = [[c, -s], [s, c]]
    return T


def placed_like(
    links: Sequence[FloatArray],
    others: Sequence[FloatArray],
    kinds: Sequence[Joint],
    *,
    keep_base: bool = False,
    keep_tool: bool = False,
) -> list[FloatArray]:
    """The same robot with the frames of its joints near those of other links.

    With ``keep_base`` and ``keep_tool`` the first and the last link become the others': the arm
    stays what it is between its first axis and its last.
    """
    first = _between(links[1], others[1], kinds[0], kinds[1]) if len(kinds) > 1 else np.eye(4)
    placed: list[FloatArray] = []
    carried: FloatArray = np.eye(4)
    for number, kind in enumerate(kinds):
        link = carried @ links[number]
        free = first if keep_base and number == 0 else _nearest(link, others[number], kind)
        placed.append(np.array(others[0]) if keep_base and number == 0 else link @ free)
        carried = np.linalg.inv(free)
    placed.append(np.array(others[-1]) if keep_tool else carried @ links[-1])
    return placed


def _nearest(link: FloatArray, other: FloatArray, kind: Joint) -> FloatArray:
    """What commutes with a joint and brings its frame nearest to another."""
    A = other[:3, :3].T @ link[:3, :3]
    free = along_z(Joint.REVOLUTE, float(np.arctan2(A[0, 1] - A[1, 0], A[0, 0] + A[1, 1])))
    way = link[:3, :3].T @ (other[:3, 3] - link[:3, 3])
    free[:3, 3] = way if kind is Joint.PRISMATIC else [0.0, 0.0, way[2]]
    return free


def _between(link: FloatArray, other: FloatArray, before: Joint, after: Joint) -> FloatArray:
    """What moves the frame of the joint before a link, so that the link becomes like another.

    Both ends are free. A turn counts as much as what it moves at the length of the link.
    """
    from scipy.optimize import least_squares

    length = float(np.linalg.norm(other[:3, 3])) or 1.0
    # Frames on parallel axes could slide along each other, and far to mend a small tilt.
    parallel = float(np.hypot(link[0, 2], link[1, 2])) < PARALLEL_SINE
    stay = STAY if parallel else 0.0

    def freedom(kind: Joint, amounts: FloatArray) -> FloatArray:
        free = along_z(Joint.REVOLUTE, float(amounts[0]))
        free[:3, 3] = length * amounts[1:] * ([1, 1, 1] if kind is Joint.PRISMATIC else [0, 0, 1])
        return free

    def off(amounts: FloatArray) -> FloatArray:
        moved = np.linalg.inv(freedom(before, amounts[:4])) @ link @ freedom(after, amounts[4:])
        away = (moved - other)[:3]
        return np.concatenate([away[:, :3].ravel(), away[:, 3] / length, stay * amounts])

    starts = [np.array([turn, 0, 0, 0, -turn, 0, 0, 0]) for turn in (0.0, 1.6, -1.6, 3.1)]
    found = [least_squares(off, start, xtol=1e-14, ftol=1e-14, gtol=1e-14) for start in starts]
    best = min(found, key=lambda one: float(one.cost))
    return freedom(before, best.x[:4])
