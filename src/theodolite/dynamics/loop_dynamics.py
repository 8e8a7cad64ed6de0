"""Dynamics of mechanisms with loops: the tree's regressor, projected by the closures' Jacobian.

Passive joints follow the measured ones, ``a' = P q'`` with ``P = -G_a^+ G_q``, and the closures'
forces do no work on such motions. So the torques of the motors are

    tau = (W_q + P' W_a) X

of the tree in which every loop is cut [Gautier1991, graph-structured robots]. This is the explicit
form. In the implicit one the closures' forces lambda are further unknowns of every sample,

    [tau; 0] = [W_q; W_a] X + [G_q G_a]' lambda

and eliminating them gives the same torques (`implicit_torques`). The accelerations of the passive
joints need the change of G along the motion, a central difference of the exact derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.dynamics.drives import SHAFT_NAMES, STRIBECK_SPEED, Axis, Drive, State
from theodolite.dynamics.link_motion import Link
from theodolite.dynamics.tree import Tree
from theodolite.errors import InputError
from theodolite.matrices import pseudo_inverse
from theodolite.model.bodies import WORLD, Body
from theodolite.model.chain import Chain
from theodolite.model.conventions import Joint
from theodolite.model.elements import Element
from theodolite.model.forces import Shaft, Spring
from theodolite.model.gravity import GRAVITY
from theodolite.model.mechanism import NONE, Mechanism

#: Seconds along the motion over which the change of the closures' derivative is taken.
STEP = 1e-5
#: Configurations that are tried for whether loops close.
TRIED = 200


class LoopDynamics(Tree):
    """The regressors of a mechanism: its motors' torques, its passive joints following."""

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        gravity: FloatArray | None = None,
        stribeck_speed: float = STRIBECK_SPEED,
    ) -> None:
        """``gravity`` in the world, downwards along z unless given."""
        self.mechanism = self.robot = mechanism
        down = np.array([0.0, 0.0, -GRAVITY])
        super().__init__(
            tuple(_links(mechanism)),
            [joint.name for joint in mechanism.active],
            len(mechanism.active) + len(mechanism.passive),
            down if gravity is None else np.asarray(gravity),
            stribeck_speed=stribeck_speed,
            passive=[
                *(joint.name for joint in mechanism.passive),
                *(shaft.name for shaft in mechanism.shafts),
                *(spring.name for spring in mechanism.springs if not spring.known),
            ],
            name=mechanism.name,
        )
        self._lengths = {s.name: mechanism.chain(*s.ends) for s in mechanism.springs}
        self._shafts = {shaft.name: self._turns(shaft) for shaft in mechanism.shafts}
        self._assembled: tuple[State, tuple[State, FloatArray]] | None = None
        rubbing = {joint.name: joint.friction for joint in mechanism.passive}
        rubbing |= {shaft.name: shaft.friction for shaft in mechanism.shafts}
        for number in range(self.motors, len(self.axes)):
            name = self.axes[number]
            spring = next((s for s in mechanism.springs if s.name == name), None)
            self.own_terms[number] = (
                shaft_terms(rubbing[name], name) if spring is None else _spring_terms(spring)
            )

    def _turns(self, shaft: Shaft) -> FloatArray:
        """Factors of all joints, (joints,)."""
        factors = np.zeros(self.joints)
        for joint, factor in shaft.turns:
            factors[self.axes.index(joint)] += factor
        return factors

    @property
    def slides(self) -> BoolArray:
        return np.array([kind is Joint.PRISMATIC for kind in self.mechanism.joint_types])

    @property
    def reach(self) -> float:
        return self.mechanism.reach() or 1.0

    def position_range(self) -> tuple[FloatArray, FloatArray]:
        """The largest box around the home assembly, within the limits, whose loops all close."""
        mechanism = self.mechanism
        lower, upper = self.motor_limits()
        home = np.clip(mechanism.home[0], lower, upper)
        # Corners first: where they close, what is between them usually does as well.
        share = np.random.default_rng(0).uniform(-1, 1, (TRIED, len(home)))
        share[: TRIED // 2] = np.sign(share[: TRIED // 2])
        for part in np.linspace(1.0, 0.05, 20):
            low, high = home + part * (lower - home), home + part * (upper - home)
            tried = np.where(share < 0, home + share * (home - low), home + share * (high - home))
            if mechanism.can_close(tried).all():
                return low, high
        raise InputError(
            f"the loops of '{mechanism.name}' do not close around its home",
            remedy="Narrow the limits of its joints",
        )

    def random_positions(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self.mechanism.random_motors(count, rng)

    @property
    def direct_drives(self) -> bool:
        return False

    def motor_limits(self) -> tuple[FloatArray, FloatArray]:
        return np.asarray(self.mechanism.lower), np.asarray(self.mechanism.upper)

    def assemble(self, state: State) -> State:
        """The same state with the passive joints of the home assembly's branch after the motors.

        They are followed there from home, which is slow; nearby states may start from them.
        """
        if state.q.shape[1] > self.motors:
            return state
        return replace(state, q=self.mechanism.assembled(state.q)[0])

    def axis(self, state: State, joints: State, number: int) -> Axis:
        if number < self.joints:
            return super().axis(state, joints, number)
        q, lever = self._coordinate(joints, self.axes[number])
        transition = float(self.transition_speeds[number])
        qd = (lever * joints.qd).sum(axis=1)
        # The change of the lever has no part in what a rotor, which turns with a shaft, takes.
        return Axis(q, qd, (lever * joints.qdd).sum(axis=1), transition, self.stribeck_speed)

    def lever(self, joints: State, F: FloatArray | None, number: int) -> FloatArray:
        if number < self.joints:
            return super().lever(joints, F, number)
        assert F is not None
        return np.einsum("nj,njm->nm", self._coordinate(joints, self.axes[number])[1], F)

    def _coordinate(self, joints: State, name: str) -> tuple[FloatArray, FloatArray]:
        """Where a joint, shaft or spring is, (n,), and its derivative by all joints."""
        n = len(joints)
        if name in self._shafts:
            factors = self._shafts[name]
            return joints.q @ factors, np.broadcast_to(factors, (n, self.joints))
        if name not in self._lengths:
            place = self.axes.index(name)
            return joints.q[:, place], np.broadcast_to(np.eye(self.joints)[place], (n, self.joints))
        spring = next(s for s in self.mechanism.springs if s.name == name)
        motion = self._lengths[name].motion(self.mechanism.values, self.mechanism.basis(joints.q))
        length = np.linalg.norm(motion.position, axis=1)
        direction = motion.position / np.maximum(length, np.finfo(float).tiny)[:, None]
        lever = np.einsum("ni,nij->nj", direction, motion.position_basis_jacobian()[:, :, 1:])
        return length - (spring.free_length or 0.0), lever

    def known_torques(self, state: State) -> FloatArray | None:
        """Of springs that are known whole, and of torque curves."""
        springs = [spring for spring in self.mechanism.springs if spring.known]
        if not springs and not self.mechanism.curves:
            return None
        joints, F = self.joint_state(state)
        torques = np.zeros((len(state), self.motors))
        pieces = [(spring.name, _pull(spring)) for spring in springs]
        pieces += [(curve.on, curve.torque) for curve in self.mechanism.curves]
        for name, force in pieces:
            q, lever = self._coordinate(joints, name)
            torques += np.einsum("n,nj,njm->nm", force(q), lever, F)
        return torques.T

    def joint_state(self, state: State) -> tuple[State, FloatArray]:
        """The same as `_follow`; of the state that was asked for last, it is remembered."""
        if self._assembled is None or self._assembled[0] is not state:
            self._assembled = (state, self._follow(state))
        return self._assembled[1]

    def _follow(self, state: State) -> tuple[State, FloatArray]:
        """All joints from the measured ones, and their derivative F, (n, joints, motors).

        Further columns of ``state.q`` are guesses of the passive joints; without them, the branch
        is that of the home assembly.
        """
        mechanism = self.mechanism
        assembled = self.assemble(state).q
        measured, guess = assembled[:, : self.motors], assembled[:, self.motors :]
        passive, gap = mechanism.close(mechanism.values, measured, guess)
        mechanism.check_closed(gap)
        q = np.concatenate([measured, passive], axis=1)
        F = self._joint_jacobian(q)
        qd = np.einsum("nij,nj->ni", F, state.qd)
        # u'' = F q'' + F' q', with the change of F along the motion.
        ahead, behind = (self._joint_jacobian(q + side * STEP * qd) for side in (1.0, -1.0))
        drift = np.einsum("nij,nj->ni", (ahead - behind) / (2 * STEP), state.qd)
        return State(q, qd, np.einsum("nij,nj->ni", F, state.qdd) + drift), F

    def _joint_jacobian(self, q: FloatArray) -> FloatArray:
        """F with u' = F q', from the closures at all joints q."""
        gap = self.mechanism.gap(self.mechanism.values, q, columns=NONE)
        passive = np.asarray(-pseudo_inverse(gap.by_passive) @ gap.by_active)
        motors = np.broadcast_to(np.eye(self.motors), (len(q), self.motors, self.motors))
        return np.concatenate([motors, passive], axis=1)

    def implicit_torques(self, state: State, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Motors' torques (n, motors) and the closures' forces (n, rows): the implicit form.

        ``values`` are those of the links' parameters, without drives. Of redundant closures the
        smallest forces are given; the torques do not depend on that.
        """
        joints, _ = self.joint_state(state)
        cut = Tree(self.links, [""] * self.joints, self.joints, self.gravity)
        torques = np.tensordot(values, cut.regressor(joints, ()), axes=1).T
        gap = self.mechanism.gap(self.mechanism.values, joints.q, columns=NONE)
        forces = -np.einsum(
            "nrp,np->nr",
            pseudo_inverse(gap.by_passive.transpose(0, 2, 1)),
            torques[:, self.motors :],
        )
        shares = np.einsum("nrm,nr->nm", gap.by_active, forces)
        return torques[:, : self.motors] + shares, forces


def shaft_terms(names: Sequence[str], where: str) -> tuple[Drive, ...]:
    """Terms by the names that files give them."""
    for name in names:
        if name not in SHAFT_NAMES:
            raise InputError(f"'{where}' has no friction '{name}'", allowed=list(SHAFT_NAMES))
    wanted = {drive for name in names for drive in SHAFT_NAMES[name]}
    if Drive.LOAD in wanted:
        raise InputError(
            f"'{where}' has friction under load, which is known of motors only",
            remedy="Leave that term out",
        )
    return tuple(drive for drive in Drive if drive in wanted)


def _spring_terms(spring: Spring) -> tuple[Drive, ...]:
    """Without a free length, what the spring pulls at no length is unknown as well."""
    return (Drive.ELASTIC,) if spring.free_length is not None else (Drive.ELASTIC, Drive.PRELOAD)


def _pull(spring: Spring) -> Callable[[FloatArray], FloatArray]:
    """The force of a known spring by its extension."""
    stiffness = spring.stiffness or 0.0
    return lambda extension: stiffness * extension


def _links(mechanism: Mechanism) -> Iterator[Link]:
    """One link for each joint of each body; the last one of a body carries its mass."""
    ends: dict[str, tuple[int, FloatArray, FloatArray]] = {WORLD: (-1, np.eye(3), np.zeros(3))}
    count = 0
    for body in mechanism.bodies:
        parent, rotation, position = ends[body.parent]
        pieces = _pieces(mechanism, body)
        start_rotation, start_position = pieces[0][1]
        rotation, position = rotation @ start_rotation, position + rotation @ start_position
        moving = pieces[1:]
        for number, (element, after) in enumerate(moving):
            assert element is not None
            last = number == len(moving) - 1
            constant = [t for t in element.terms if t.basis == 0]
            motor = next(t for t in element.terms if t.basis != 0)
            offset = sum(
                t.coefficient * (1.0 if t.parameter is None else mechanism.values[t.parameter])
                for t in constant
            )
            gain = 1.0 if motor.parameter is None else float(mechanism.values[motor.parameter])
            yield Link(
                parent,
                rotation,
                position,
                motor.basis - 1,
                element.rotation,
                element.axis,
                float(offset),
                motor.coefficient * gain,
                *after,
                f"_{body.name}" if last else None,
            )
            parent, rotation, position = count, np.eye(3), np.zeros(3)
            count += 1
        ends[body.name] = (parent, rotation, position)


def _pieces(
    mechanism: Mechanism, body: Body
) -> list[tuple[Element | None, tuple[FloatArray, FloatArray]]]:
    """The elements that move, each with the constant transform after it; first, that before all."""
    pieces: list[tuple[Element | None, list[Element]]] = [(None, [])]
    for element in mechanism.elements(body):
        if element.varies:
            pieces.append((element, []))
        else:
            pieces[-1][1].append(element)
    basis = np.zeros((1, 1 + len(mechanism.active) + len(mechanism.passive)))
    basis[0, 0] = 1.0
    transforms: list[tuple[Element | None, tuple[FloatArray, FloatArray]]] = []
    for moving, rest in pieces:
        chain = Chain(rest, parameters=len(mechanism.parameters), basis=basis.shape[1])
        motion = chain.motion(mechanism.values, basis)
        transforms.append((moving, (motion.rotation[0], motion.position[0])))
    return transforms
