"""The grouping rules in closed form: base parameters of trees without any samples.

Torques show nothing of what leaves the total energy constant. Take a last link j. Whatever its
parameters x do must be undone by links before it, which do not depend on its joint: so its energy
must not depend on q_j and q_j'. Then x acts as if it were fixed to the link before at q_j = 0, and
may be counted there instead. With V_j the x of that kind, all that regroups is, link by link,

    { x at j, -T_j(0) x at the link before j : x in V_j }

Twists xi of link i, in its frame, enter its energy by their products, gravity by its direction and
the height of the origin. Let L_i and K_i be the spans of xi and xi xi' over all motions, A_i that
of (R'g, g.p, 1). One joint further, xi_j = Ad(q) xi_i + s q', so x is in V_j if for all q

    kinetic   <x, Ad k Ad'> the same for every q, k in K_i;   <x, Ad l s'> = 0, l in L_i;
              <x, s s'> + Ia_j = 0
    potential <x, B(q) a> the same for every q, a in A_i

These are trigonometric polynomials of degree two in the angle of a turn, and polynomials of degree
two in a displacement, so five angles, or three places, stand for all.

For a revolute joint between general links V_j is three-dimensional: masses on the axis, which
belong to either link; this is YY_j, MZ_j, M_j of [Gautier & Khalil 1990]. For a prismatic one it is
six-dimensional: inertias without mass. Near the base more is hidden: that follows from the same
conditions, with the small spans there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.drives import ROTORS, Drive, Drives, State, holds
from theodolite.dynamics.filtering import Run
from theodolite.dynamics.inertia import INERTIAL, PLACES, change_of_frame
from theodolite.dynamics.link_motion import Link
from theodolite.dynamics.torque import TorqueProblem
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.estimation.identifiability import Identifiability, analyse_null_space
from theodolite.estimation.threads import single_thread
from theodolite.model.rotations import about
from theodolite.model.twists import adjoint

#: Singular values below this part of the largest are zero: what enters is exact to rounding.
ZERO = 1e-12
#: Directions weaker than this part of all are rounding.
NOISE = 1e-15
#: Angles and places that stand for all; uneven, so that none is special.
ANGLES = 0.1 + 2 * np.pi * np.arange(5) / 5
LENGTHS = np.array([-1.1, 0.0, 0.9])


def group_parameters(dynamics: Tree, drives: Drives = ROTORS) -> Identifiability:
    """Base parameters of a serial or tree robot by the rules, no samples needed."""
    nothing = State(*(np.zeros((0, dynamics.motors)),) * 3)
    problem = TorqueProblem(dynamics, Run.of(nothing), drives=drives)
    with single_thread():
        null = _unit_null_space(dynamics, drives)
        found = analyse_null_space(null, problem.parameters, problem.priorities)
    units = parameter_units(dynamics, drives)
    return replace(
        found,
        R=found.R / units,
        given_relations=found.relations * units[found.base][:, None] / units[found.regrouped],
    )


def null_space(dynamics: Tree, drives: Drives = ROTORS) -> FloatArray:
    """Combinations of parameters that no torque shows, (columns, d)."""
    return parameter_units(dynamics, drives)[:, None] * _unit_null_space(dynamics, drives)


def _unit_null_space(dynamics: Tree, drives: Drives) -> FloatArray:
    """The same with the robot's length as the unit of length.

    Kilograms and kg m2 stand side by side in these vectors: in metres, which of them is large would
    depend on the robot's size.
    """
    _check(dynamics)
    columns = dynamics.columns(drives)
    place = {name: index for index, name in enumerate(columns)}
    spans: list[_Spans] = []
    vectors = []
    for link in _of_unit_length(dynamics):
        before = _Spans.world(dynamics.gravity) if link.parent < 0 else spans[link.parent]
        spans.append(before.carried(link))
        hidden = _hidden(before, link, with_rotor=holds(drives, Drive.ROTOR))
        back = change_of_frame(*_pose(link, 0.0))
        for x in hidden.T:
            vector = np.zeros(len(columns))
            first = place["XX", str(link.name)]
            vector[first : first + 10] = x[:10]
            if holds(drives, Drive.ROTOR):
                motor = dynamics.motor_names[link.joint]
                vector[place[Drive.ROTOR.value, motor]] = x[10]
            if link.parent >= 0:
                first = place["XX", str(dynamics.links[link.parent].name)]
                vector[first : first + 10] -= back @ x[:10]
            vectors.append(vector)
    return np.array(vectors).T.reshape(len(columns), len(vectors))


def _of_unit_length(dynamics: Tree) -> list[Link]:
    """The links of the same robot at length 1."""
    size = dynamics.length
    return [
        replace(
            link,
            position=link.position / size,
            after_position=link.after_position / size,
            offset=link.offset if link.revolute else link.offset / size,
        )
        for link in dynamics.links
    ]


def parameter_units(dynamics: Tree, drives: Drives) -> FloatArray:
    """What each parameter is measured in where the robot's length is the unit, (columns,).

    The rotor of a hinge is an inertia, that of a slide a mass; no friction is in any relation.
    """
    slides = dict(zip(dynamics.motor_names, dynamics.slides, strict=True))
    powers = {"M": 0, **dict.fromkeys(INERTIAL[:6], 2), **dict.fromkeys(INERTIAL[6:9], 1)}
    return np.array(
        [
            dynamics.length ** powers.get(symbol, 0 if slides.get(suffix) else 2)
            for symbol, suffix in dynamics.columns(drives)
        ]
    )


def _check(dynamics: Tree) -> None:
    """The rules are about links that each have a joint and a motor of their own."""
    joints = [link.joint for link in dynamics.links]
    if not dynamics.direct_drives or joints != list(range(dynamics.motors)):
        raise InputError(
            "the closed-form rules are for trees whose motors move one joint each",
            remedy="Analyse samples of loops and coupled drives, by QR or SVD",
        )


@dataclass(frozen=True, eq=False)
class _Spans:
    """What the motions of a link span, in its frame: orthogonal directions."""

    #: Twists (v, w), (6, l).
    twists: FloatArray
    #: Their products as matrices, (k, 6, 6).
    products: FloatArray
    #: Direction of gravity, height of the origin against it, and one, (5, a).
    places: FloatArray

    @staticmethod
    def world(gravity: FloatArray) -> _Spans:
        places = np.array([[*gravity, 0.0, 1.0]]).T
        return _Spans(np.zeros((6, 0)), np.zeros((0, 6, 6)), places)

    def carried(self, link: Link) -> _Spans:
        """Those of a link whose parent this is."""
        screw = _screw(link)
        twists, products, places = [screw[:, None]], [np.outer(screw, screw)[None]], []
        for amount in _amounts(link):
            carry = adjoint(*_pose(link, amount))
            back = np.linalg.inv(carry)
            twists.append(back @ self.twists)
            products.append(back @ self.products @ back.T)
            products.append(_mixed(back @ self.twists, screw))
            places.append(_gravity_carried(link, amount) @ self.places)
        flat = np.concatenate(products).reshape(-1, 36).T
        return _Spans(
            _span(np.concatenate(twists, axis=1)),
            _span(flat).T.reshape(-1, 6, 6),
            _span(np.concatenate(places, axis=1)),
        )


def _hidden(before: _Spans, link: Link, *, with_rotor: bool) -> FloatArray:
    """V_j: parameters of a link whose energy does not depend on its joint, (10 or 11, d)."""
    screw = _screw(link)
    spin = np.append(_kinetic(np.outer(screw, screw)[None])[0], 0.5)
    conditions = [spin[None]]
    energies, weights = [], []
    for amount in _amounts(link):
        back = np.linalg.inv(adjoint(*_pose(link, amount)))
        energies.append(_kinetic(back @ before.products @ back.T))
        weights.append((_gravity_carried(link, amount) @ before.places).T)
        conditions.append(_padded(_kinetic(_mixed(back @ before.twists, screw))))
    for first, second in pairwise(energies):
        conditions.append(_padded(second - first))
    potentials = [_potential(part) for part in weights]
    for first, second in pairwise(potentials):
        conditions.append(_padded(second - first))
    matrix = np.concatenate(conditions)
    if not with_rotor:
        matrix = matrix[:, :10]
    return _null(matrix)


def _mixed(twists: FloatArray, screw: FloatArray) -> FloatArray:
    """Products of twists (6, l) with the joint's own, both ways, (l, 6, 6)."""
    products = twists.T[:, :, None] * screw
    return products + products.transpose(0, 2, 1)


def _kinetic(products: FloatArray) -> FloatArray:
    """Kinetic energy of the ten parameters for products of twists (k, 6, 6), (k, 10)."""
    rows = np.zeros((len(products), 10))
    v, w = slice(0, 3), slice(3, 6)
    for column, (i, j) in enumerate(PLACES):
        rows[:, column] = products[:, 3 + i, 3 + j] * (0.5 if i == j else 1.0)
    cross = products[:, v, w]
    for axis, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        # (v x w)_axis
        rows[:, 6 + axis] = cross[:, j, k] - cross[:, k, j]
    rows[:, 9] = 0.5 * np.trace(products[:, v, v], axis1=1, axis2=2)
    return rows


def _potential(places: FloatArray) -> FloatArray:
    """Potential energy of the ten parameters for (R'g, g.p, 1), (k, 10)."""
    rows = np.zeros((len(places), 10))
    rows[:, 6:9] = -places[:, :3]
    rows[:, 9] = -places[:, 3]
    return rows


def _padded(rows: FloatArray) -> FloatArray:
    """With a zero for the rotor."""
    return np.concatenate([rows, np.zeros((len(rows), 1))], axis=1)


def _amounts(link: Link) -> FloatArray:
    return ANGLES if link.revolute else LENGTHS


def _pose(link: Link, amount: float) -> tuple[FloatArray, FloatArray]:
    """Where a link's frame is in that of the link before, its joint at an amount."""
    total = link.offset + link.sign * amount
    rotation, position = link.rotation, link.position
    if link.revolute:
        rotation = rotation @ about(link.axis, total)
    else:
        position = position + rotation[:, link.axis] * total
    return rotation @ link.after_rotation, position + rotation @ link.after_position


def _screw(link: Link) -> FloatArray:
    """The twist (v, w) of its joint in the link's own frame."""
    axis = np.eye(3)[link.axis] * link.sign
    back = link.after_rotation.T
    if not link.revolute:
        return np.concatenate([back @ axis, np.zeros(3)])
    return np.concatenate([back @ np.cross(axis, link.after_position), back @ axis])


def _gravity_carried(link: Link, amount: float) -> FloatArray:
    """(R'g, g.p, 1) one joint further, (5, 5)."""
    rotation, position = _pose(link, amount)
    carry = np.eye(5)
    carry[:3, :3] = rotation.T
    carry[3, :3] = position
    return carry


def _span(vectors: FloatArray) -> FloatArray:
    """The directions of columns, each as long as it is strong: weak ones carry no more rounding."""
    if not vectors.shape[1]:
        return vectors
    U, s, _ = np.linalg.svd(vectors / np.linalg.norm(vectors), full_matrices=False)
    return U[:, s > NOISE] * s[s > NOISE]


def _null(matrix: FloatArray) -> FloatArray:
    """What a matrix takes to zero, (columns, d)."""
    _, s, Vt = np.linalg.svd(matrix)
    rank = int(np.count_nonzero(s > ZERO * s[0]))
    return Vt[rank:].T


#: The earlier name.
grouped = group_parameters
