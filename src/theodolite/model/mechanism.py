"""A mechanism: a linkage that moves, some of its joints following its closures.

Passive joints are solved for all samples at once (`closing.py`) and differentiated implicitly, so a
mechanism moves like any robot (`loop_motion.py`): every method that can see a tip can calibrate it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.errors import InfeasibleError, InputError
from theodolite.matrices import pseudo_inverse
from theodolite.model import closing
from theodolite.model.bodies import (
    WORLD,
    Closure,
    ClosureKind,
    MechanismJoint,
)
from theodolite.model.chain import Chain, Motion
from theodolite.model.conventions import Joint
from theodolite.model.expressions import Environment
from theodolite.model.inputs import inputs
from theodolite.model.link_axes import axes_in_tree
from theodolite.model.linkage import Linkage
from theodolite.model.loop_motion import LoopMotion
from theodolite.model.parameters import Group, Parameter

#: No parameters: where derivatives with respect to them are not needed.
NONE = np.empty(0, dtype=np.intp)
#: Configurations at which it is looked what would open redundant closures.
LOOKS = 8
#: Derivatives of a gap below this are rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Mechanism(Linkage):
    """A tree of bodies with closures. Values are SI; format: docs/reference/mechanism-file.md.

    Configurations, called ``motors`` as everywhere, have a column for each measured joint. Further
    columns, if there are any, are approximate positions of the passive joints, which choose the
    assembly branch.
    """

    def priority(self, parameter: Parameter) -> int:
        """The user's priority for a parameter, or the default one; 0 if it would open a loop."""
        if parameter.name in self.held_by_closures:
            return 0
        return self.priorities.get(parameter.name, parameter.default_priority())

    def inputs(
        self, motors: FloatArray, columns: Mapping[str, FloatArray] | None = None
    ) -> FloatArray:
        """Motors with the values of the terms' basis functions beside them."""
        return inputs(self, motors, columns)

    def without_terms(self) -> Mechanism:
        """The same machine, geometry and gains alone."""
        return replace(self, terms=()) if self.terms else self

    def term_row(self, joint: int) -> int:
        """Terms number the joints themselves."""
        return joint

    def carried_by(self, joint: int) -> list[int]:
        """Numbers of the joints whose links hang on a joint, itself among them."""
        place = {number: where for where, number in self._link_begins.items()}
        ways = {
            number: {b.name for b in self.path(WORLD, body)} for number, (body, _) in place.items()
        }
        body, index = place[joint]
        return [
            number
            for number, (other, behind) in place.items()
            if body in ways[number] and (other != body or behind >= index)
        ]

    def chain_to_joint(self, joint: int) -> tuple[Chain, int]:
        """The chain that ends with the motion of a measured joint, and the axis of that joint."""
        name, last = next(w for w, number in self._link_begins.items() if number == joint)
        *before, body = self.path(WORLD, name)
        tape = [element for on_the_way in before for element in self.elements(on_the_way)]
        tape += self.elements(replace(body, elements=body.elements[: last + 1]))
        return self._compiled(tape), body.elements[last].axis

    def link_axes(self, motors: FloatArray) -> dict[str, FloatArray]:
        """Axes ``x1`` ... of the links in the world, (3, n) each; NaN where not recorded."""
        return axes_in_tree(self, motors)

    def down(self) -> FloatArray:
        """The direction of gravity in the world, (3,): it turns with the base."""
        rigid = self.without_terms()
        base = [
            element
            for body in rigid.bodies
            for index, element in enumerate(rigid.elements(body))
            if rigid._groups[body.name, index] is Group.BASE
        ]
        fixed = rigid._compiled(base).motion(rigid.values, rigid.basis(np.zeros((1, self.joints))))
        return fixed.rotation[0] @ np.array(self.gravity)

    def loads(
        self,
        motors: FloatArray,
        wanted: set[str],
        columns: Mapping[str, FloatArray],
        joints: Environment,
    ) -> dict[str, FloatArray]:
        """No loads are known of mechanisms."""
        raise NotImplementedError

    def has_loads(self, columns: Sequence[str]) -> bool:
        """No loads are known of mechanisms."""
        return False

    def basis(self, joints: FloatArray) -> FloatArray:
        """Basis values of all joints (n, 1 + joints), and of what terms need beside them."""
        return np.concatenate([np.ones((len(joints), 1)), joints], axis=1)

    def gap(
        self, values: FloatArray, joints: FloatArray, *, columns: IntArray | None = None
    ) -> closing.Gap:
        """By how much the loops are open at given positions of all joints, with derivatives.

        With respect to all parameters, or some: closing the loops needs none of these derivatives,
        and leaving them out saves most of the time.
        """
        basis = self.basis(joints)
        if not self.closures:
            none = np.zeros((len(joints), 0))
            size = len(values) if columns is None else len(columns)
            shapes = (size, joints.shape[1] - len(self.passive), len(self.passive))
            return closing.Gap(none, *(np.zeros((len(joints), 0, size)) for size in shapes))
        columns = np.arange(len(values)) if columns is None else columns
        pieces = [
            self._closure_gap(closure, chain.motion(values, basis), values, basis, columns)
            for closure, chain in zip(self.closures, self._closure_chains, strict=True)
        ]
        gap, slopes, by_joints = (np.concatenate(p, axis=1) for p in zip(*pieces, strict=True))
        by_joints = by_joints[:, :, 1:]
        return closing.Gap(
            gap, slopes, by_joints[:, :, : self.joints], by_joints[:, :, self.joints :]
        )

    def _closure_gap(
        self,
        closure: Closure,
        motion: Motion,
        values: FloatArray,
        basis: FloatArray,
        columns: IntArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        if closure.kind is ClosureKind.ROD:
            length = self._rod_lengths[closure.name].motion(values, basis)
            return closing.rod_gap(motion, length, columns)
        if closure.kind is ClosureKind.POINT:
            by_values = motion.position_jacobian(columns)
            return motion.position, by_values, motion.position_basis_jacobian()
        return closing.frame_gap(motion, closure.kind.rows, columns)

    def leg_lengths(self, joints: FloatArray) -> FloatArray:
        """Size of every closure equation's own length: of rods theirs, else the reach, (n, m).

        Equations of turns are in radians.
        """
        units = self._gap_units
        starts = np.cumsum([0, *(len(closure.kind.rows) for closure in self.closures)])
        basis = self.basis(joints)
        sizes = [
            self._rod_lengths[closure.name].motion(self.values, basis).position[:, :1]
            if closure.length is not None
            else np.tile(units[starts[place] : starts[place + 1]], (len(joints), 1))
            for place, closure in enumerate(self.closures)
        ]
        return np.concatenate(sizes, axis=1)

    def close(
        self, values: FloatArray, active: FloatArray, guess: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Passive joints that close the loops, nearest to a guess, and the gaps that remain.

        Gaps are parts of the reach, or radians.
        """
        return closing.close(self._open(values), active, guess, self.joint_units[1])

    def _open(self, values: FloatArray) -> Callable[[FloatArray], closing.Gap]:
        return lambda joints: self.relative_gap(values, joints)

    def relative_gap(self, values: FloatArray, joints: FloatArray) -> closing.Gap:
        """Gaps as fractions of the reach and in radians, so that a robot's size does not matter."""
        at = self.gap(values, joints, columns=NONE)
        units = self._gap_units
        return closing.Gap(
            at.gap / units,
            at.by_values,
            at.by_active / units[:, None],
            at.by_passive / units[:, None],
        )

    @cached_property
    def joint_units(self) -> tuple[FloatArray, FloatArray]:
        """Scale of measured and passive joints: 1 rad, or the reach for those that slide."""
        reach = self.reach() or 1.0
        active, passive = (
            np.array([reach if joint.kind is Joint.PRISMATIC else 1.0 for joint in joints])
            for joints in (self.active, self.passive)
        )
        return active, passive

    @cached_property
    def _gap_units(self) -> FloatArray:
        reach = self.reach() or 1.0
        rows = [
            (0,) if closure.kind is ClosureKind.ROD else closure.kind.rows
            for closure in self.closures
        ]
        return np.array([reach if row < 3 else 1.0 for part in rows for row in part])

    @cached_property
    def home(self) -> tuple[FloatArray, FloatArray]:
        """Measured and passive joints of the home assembly; its loops close."""
        missing = [joint.name for joint in self.passive if joint.home is None]
        if missing:
            raise InputError(
                f"passive joint{'s' if len(missing) > 1 else ''} {', '.join(missing)} of "
                f"'{self.name}' {'have' if len(missing) > 1 else 'has'} no home, so the assembly "
                "branch is unknown",
                remedy="Add 'home' to them in the robot file, or columns of guesses to the data",
            )
        active = np.array([[self._home(joint) for joint in self.active]])
        guess = np.array([[joint.home for joint in self.passive]], dtype=np.float64)
        found, gap = self.close(self.values, active, guess)
        if gap[0] > closing.CLOSED:
            raise InputError(
                f"the loops of '{self.name}' do not close at home: they stay open by "
                f"{1e3 * gap[0] * (self.reach() or 1.0):.3g} mm",
                remedy="Check the lengths, their unit and the home positions of the joints",
            )
        return active[0], found[0]

    @staticmethod
    def _home(joint: MechanismJoint) -> float:
        return (joint.lower + joint.upper) / 2 if joint.home is None else joint.home

    def assembled(self, active: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Configurations on the branch of the home assembly, and the gaps that remain, (n,).

        The branch is followed along straight lines of the measured joints from home.
        """
        if not self.passive:
            return active.copy(), np.zeros(len(active))
        start, guess = self.home
        passive, gap = closing.follow(
            self._open(self.values), start, guess, active, self.joint_units
        )
        return np.concatenate([active, passive], axis=1), gap

    def motion(self, values: FloatArray, motors: FloatArray, target: int = 0) -> LoopMotion:
        """Where a tool is, all loops closed as well as they can be."""
        return self._moved(self.tool_chains[target], values, motors)

    def motion_between(
        self, values: FloatArray, motors: FloatArray, one: str, other: str
    ) -> LoopMotion:
        """Where one body is, seen from another."""
        return self._moved(self._between[one, other], values, motors)

    @cached_property
    def _between(self) -> Mapping[tuple[str, str], Chain]:
        return {(a, b): self.chain(a, b) for a in self.tools for b in self.tools if a != b}

    def _moved(self, chain: Chain, values: FloatArray, motors: FloatArray) -> LoopMotion:
        values = values[: len(self.parameters)]
        active = motors[:, : self.joints]
        passive: FloatArray = np.zeros((len(motors), 0))
        if self.passive:
            guess = motors[:, self.joints :]
            if not guess.shape[1]:
                guess = self.assembled(active)[0][:, self.joints :]
            passive, gap = self.close(values, active, guess)
            self.check_closed(gap)
        joints = np.concatenate([active, passive], axis=1)
        if self.bases:
            joints = motors if motors.shape[1] > self.joints else self.inputs(motors)
        # Joints that were not recorded are NaN: they may move other tools.
        tip = chain.motion(values, np.nan_to_num(self.basis(joints)))
        self._check_recorded(chain, joints)
        return LoopMotion(tip, self.gap(values, joints), passive)

    def _check_recorded(self, chain: Chain, joints: FloatArray) -> None:
        missing = np.flatnonzero(np.isnan(joints).any(axis=0))
        used = {term.basis for element in chain.elements for term in element.terms}
        for place in missing.tolist():
            if 1 + place in used:
                what = (
                    f"joint '{self.joint_names[place]}' moves what was measured"
                    if place < self.joints
                    else f"'{self.bases[place - self.joints].text}' bends what was measured"
                )
                raise InputError(
                    f"{what}, and was not recorded", remedy="Add its column to the data"
                )

    def check_closed(self, gap: FloatArray) -> None:
        """Raise where gaps remain."""
        open_ = np.flatnonzero(~(gap <= closing.CLOSED))
        if len(open_):
            raise InfeasibleError(
                f"the loops of '{self.name}' do not close in {len(open_)} of {len(gap)} "
                f"configurations; the first stays open by {gap[open_[0]]:.3g} of the reach",
                open_.tolist(),
            )

    def can_close(self, motors: FloatArray, values: FloatArray | None = None) -> BoolArray:
        """In which configurations the loops close, (n,)."""
        return self.settled(motors, values)[1]

    def settled(
        self, motors: FloatArray, values: FloatArray | None = None
    ) -> tuple[FloatArray, BoolArray]:
        """Configurations with their passive joints where the loops close, and which do."""
        values = self.values if values is None else values[: len(self.parameters)]
        active, guess = motors[:, : self.joints], motors[:, self.joints :]
        if not self.passive:
            return motors, np.ones(len(motors), dtype=bool)
        if not guess.shape[1]:
            guess = self.assembled(active)[0][:, self.joints :]
        passive, gap = self.close(values, active, guess)
        return np.concatenate([active, passive], axis=1), np.asarray(gap <= closing.CLOSED)

    def to_motors(self, basis_jacobian: FloatArray) -> FloatArray:
        """Turn a derivative w.r.t. basis values (n, rows, 1 + measured) into one w.r.t. joints."""
        return basis_jacobian[:, :, 1 : 1 + self.joints]

    def readings(self, motors: FloatArray) -> FloatArray:
        """What the measured joints read, (n, joints)."""
        return motors[:, : self.joints]

    def random_motors(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Random configurations within limits whose loops close, with their passive joints."""
        found: list[FloatArray] = []
        have = tried = 0
        while have < count:
            active = rng.uniform(self.lower, self.upper, (max(2 * (count - have), 16), self.joints))
            configurations, gap = self.assembled(active)
            tried += len(active)
            closed = (gap <= closing.CLOSED) & self._inside(configurations)
            if self.passive:
                inside = configurations[closed]
                closed[closed] = ~self.nearly_singular(inside, closing.NEARLY_SINGULAR)
            found.append(configurations[closed])
            have += int(closed.sum())
            if have < tried / 100 and tried > 400:
                raise InputError(
                    f"within its limits '{self.name}' hardly ever closes its loops",
                    remedy="Narrow the limits of the measured joints in the robot file",
                )
        return np.concatenate(found)[:count]

    def _inside(self, configurations: FloatArray) -> BoolArray:
        """Where the passive joints are within what limits they have."""
        passive = configurations[:, self.joints :]
        lower = np.array([joint.lower for joint in self.passive])
        upper = np.array([joint.upper for joint in self.passive])
        return np.asarray(((passive >= lower) & (passive <= upper)).all(axis=1))

    @cached_property
    def held_by_closures(self) -> frozenset[str]:
        """Parameters that redundant closures hold: a change of theirs would open a loop for good.

        For instance a twist of a bar in a planar loop that is closed in all six components.
        """
        if not self.redundant:
            return frozenset()
        joints = self.random_motors(LOOKS, np.random.default_rng(0))
        at = self.gap(self.values, joints)
        out_of_reach = at.by_values - at.by_passive @ (pseudo_inverse(at.by_passive) @ at.by_values)
        sizes = np.abs(out_of_reach).max(axis=(0, 1))
        return frozenset(
            p.name for p, size in zip(self.parameters, sizes, strict=True) if size > ROUNDING
        )

    def poses(self, motors: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Orientation (n, 3, 3) and position (n, 3) of the tool."""
        motion = self.motion(self.values, np.atleast_2d(np.asarray(motors, dtype=np.float64)))
        return motion.rotation, motion.position

    @property
    def configuration_sizes(self) -> tuple[int, ...]:
        """How many numbers a configuration may have: with passive joints, or values of terms."""
        further = len(self.passive) + len(self.bases)
        return tuple(dict.fromkeys((self.joints, self.joints + further)))

    def __repr__(self) -> str:
        return (
            f"Mechanism '{self.name}': {self.joints} measured and {len(self.passive)} passive "
            f"joints, {len(self.closures)} closures, {len(self.parameters)} parameters"
        )

    def nearly_singular(self, configurations: FloatArray, limit: float) -> BoolArray:
        """Where two assemblies (nearly) meet, so that the branch is ambiguous, (n,).

        Lengths count in parts of the reach, so that size makes no difference.
        """
        slopes = self.gap(self.values, configurations, columns=NONE).by_passive
        size = self.reach() or 1.0
        turns = [
            closure.kind is not ClosureKind.ROD and row > 2
            for closure in self.closures
            for row in closure.kind.rows
        ]
        rows = np.where(turns, 1.0, 1.0 / size)
        columns = [1.0 if joint.kind is Joint.REVOLUTE else size for joint in self.passive]
        return closing.singular(slopes * rows[:, None] * np.array(columns), limit)
