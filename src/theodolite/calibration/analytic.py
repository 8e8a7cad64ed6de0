"""Which errors of a serial robot are redundant, from its structure alone: no configurations.

Put six generalized errors in the frame of every body. A twist x of body k-1 reaches body k as
Ad(A_k(q)^-1) x. Let Z_k be the twists of body k that no measurement ever shows. Then

    Z_(k-1) = { x : Ad(A_k(q)^-1) x in Z_k for all q }
    V_(k-1) = { x : [Ad(A_k(q)^-1) - Ad(A_k(q')^-1)] x in Z_k for all q, q' }

and every x in V_(k-1) is redundant: it does what the constant twist Ad(A_k^-1) x does one body
further. With Z_n = {0} for measured poses, and the turns about the tip for positions, these are
all redundancies. Eqs. 7-10 and 12-13 of [Meggiolaro2000] are special cases; their Table 1 misses
coaxial last joints, this does not.

For any other model the errors are products ``S phi`` of the parameters' screws, so what it can
express, and what in it is redundant, follows from S and the same combinations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.estimation.identifiability import Identifiability, analyse
from theodolite.model.chain import Skeleton
from theodolite.model.parameters import Parameter
from theodolite.model.robot import Robot
from theodolite.model.twists import adjoint

#: Singular values below this part of the largest are zero: what enters is exact to rounding.
ZERO = 1e-9


class Measured(Enum):
    """What is seen of the tool."""

    POSE = "pose"
    POSITION = "position"


@dataclass(frozen=True, eq=False)
class Combination:
    """Errors that together change nothing: their coefficients, and why."""

    #: Twists of all bodies, (6 bodies,).
    coefficients: FloatArray
    reason: str


def combinations(skeleton: Skeleton, measured: Measured, *, base: bool = True) -> list[Combination]:
    """All redundancies among six generalized errors per body.

    Without ``base`` the first body, which carries the robot, is taken as known.
    """
    bodies = len(skeleton.links)
    tool = np.zeros((6, 0)) if measured is Measured.POSE else np.eye(6)[:, 3:]
    hidden = adjoint(*skeleton.links[-1]) @ tool
    found = [
        Combination(
            _placed(bodies, (bodies - 1, twist)),
            "a turn about the measured point moves nothing that is measured",
        )
        for twist in hidden.T
    ]
    for joint in range(bodies - 1, 0, -1):
        if joint == 1 and not base:
            break
        rotation, axis = skeleton.joints[joint - 1]
        link = adjoint(*skeleton.links[joint - 1])
        passing, unseen = _pass(rotation, axis, joint, _orthonormal(hidden))
        for before, after, reason in passing:
            vector = _placed(bodies, (joint - 1, link @ before), (joint, -after))
            found.append(Combination(vector, reason))
        hidden = link @ unseen
    return found


def _placed(bodies: int, *twists: tuple[int, FloatArray]) -> FloatArray:
    vector = np.zeros(6 * bodies)
    for body, twist in twists:
        vector[6 * body : 6 * body + 6] += twist
    return vector


#: Twists before a joint, the constant twists after it that do the same, and why.
Passing = list[tuple[FloatArray, FloatArray, str]]


def _pass(rotation: bool, axis: int, joint: int, hidden: FloatArray) -> tuple[Passing, FloatArray]:
    """What passes a joint, and what is unseen before it, in the joint's frame.

    ``hidden`` is an orthonormal basis of what is unseen behind it.
    """
    seen = np.eye(6) - hidden @ hidden.T
    i, j = (axis + 1) % 3, (axis + 2) % 3
    if rotation:
        return _pass_hinge(axis, i, j, joint, seen)
    return _pass_slide(i, j, joint, seen)


def _pass_hinge(
    axis: int, i: int, j: int, joint: int, seen: FloatArray
) -> tuple[Passing, FloatArray]:
    """A twist turns as x_par + cos q x_perp + sin q J x_perp, and the three are independent."""
    along, across = np.eye(6)[:, [axis, 3 + axis]], np.eye(6)[:, [i, j, 3 + i, 3 + j]]
    quarter = np.zeros((6, 6))
    for start in (0, 3):
        quarter[start + j, start + i], quarter[start + i, start + j] = -1.0, 1.0
    free = across @ _null(np.concatenate([seen @ across, seen @ quarter @ across]))
    shift = f"a shift along the axis of joint {joint} acts the same before and after it"
    turn = f"a turn about the axis of joint {joint} is an offset of the joint"
    nothing = f"beyond joint {joint} nothing shows this, at any position of the joint"
    passing: Passing = [
        (twist, twist, why) for twist, why in zip(along.T, (shift, turn), strict=True)
    ]
    passing += [(twist, np.zeros(6), nothing) for twist in free.T]
    return passing, np.concatenate([along @ _null(seen @ along), free], axis=1)


def _pass_slide(i: int, j: int, joint: int, seen: FloatArray) -> tuple[Passing, FloatArray]:
    """A twist becomes x - d N x, N x = (axis x omega, 0)."""
    slide = np.zeros((6, 6))
    slide[j, 3 + i], slide[i, 3 + j] = 1.0, -1.0
    shift = f"joint {joint} slides, so a shift acts the same before and after it"
    turn = f"a turn about the sliding axis of joint {joint} acts the same before and after it"
    passing: Passing = [
        (twist, twist, shift if np.linalg.norm(twist[3:]) < ZERO else turn)
        for twist in _null(seen @ slide).T
    ]
    return passing, _null(np.concatenate([seen, seen @ slide]))


def _null(matrix: FloatArray) -> FloatArray:
    """An orthonormal basis of the vectors that the matrix takes to zero, simple where it can be."""
    _, values, rows = np.linalg.svd(matrix)
    scale = max(values.max(initial=0.0), 1.0)
    rank = int(np.count_nonzero(values > ZERO * scale))
    return _simple(rows[rank:].T)


def _simple(basis: FloatArray) -> FloatArray:
    """The same space with as many unit vectors in its basis as it contains."""
    units = [k for k in range(len(basis)) if abs(np.linalg.norm(basis[k]) - 1.0) < ZERO]
    simple = np.eye(len(basis))[:, units]
    rest = basis - simple @ (simple.T @ basis)
    left, values, _ = np.linalg.svd(rest, full_matrices=False)
    return np.concatenate([simple, left[:, values > 0.5]], axis=1)


def _orthonormal(basis: FloatArray) -> FloatArray:
    left, values, _ = np.linalg.svd(basis, full_matrices=False)
    return left[:, values > ZERO * values.max(initial=1.0)]


@dataclass(frozen=True, eq=False)
class Structure:
    """What can exist: the redundancies, and the space of errors that are not redundant."""

    combinations: tuple[Combination, ...]
    #: Orthonormal basis of the essential errors, (6 bodies, rank).
    essential: FloatArray

    @staticmethod
    def of(skeleton: Skeleton, measured: Measured, *, base: bool = True) -> Structure:
        found = combinations(skeleton, measured, base=base)
        size = 6 * len(skeleton.links)
        # Without a base, the errors of the first body are no errors at all.
        known = [] if base else list(np.eye(size)[:6])
        redundant = np.array([*known, *(item.coefficients for item in found)]).reshape(-1, size).T
        left, values, _ = np.linalg.svd(redundant)
        rank = int(np.count_nonzero(values > ZERO * values.max(initial=1.0)))
        return Structure(tuple(found), left[:, rank:])

    @property
    def rank(self) -> int:
        """How many parameters exist at all."""
        return self.essential.shape[1]


def candidates(robot: Robot, *, base: bool = True) -> list[int]:
    """Indices of the geometric parameters: no gains, nothing of priority 0."""
    skeleton = robot.chains[0].skeleton(robot.values)
    return [
        index
        for index, parameter in enumerate(robot.parameters)
        if not parameter.gain
        and robot.priority(parameter) > 0
        and (base or np.abs(skeleton.screws[6:, index]).max() > 0)
    ]


def with_base_known(robot: Robot) -> Robot:
    """The robot whose base is no unknown: what stands before the first joint has priority 0."""
    chosen = set(candidates(robot, base=False))
    names = [p.name for i, p in enumerate(robot.parameters) if i not in chosen and not p.gain]
    return robot.with_priorities(dict.fromkeys(names, 0))


def analytic(robot: Robot, measured: Measured, *, base: bool = True) -> Identifiability:
    """Identifiable parameters of any model by the analytic rule."""
    skeleton = robot.chains[0].skeleton(robot.values).in_units_of(robot.reach() or 1.0)
    structure = Structure.of(skeleton, measured, base=base)
    chosen = candidates(robot, base=base)
    matrix = structure.essential.T @ skeleton.screws[:, chosen]
    parameters: list[Parameter] = [robot.parameters[index] for index in chosen]
    priorities = [robot.priority(parameter) for parameter in parameters]
    return analyse(matrix, parameters, priorities, structure.rank)
