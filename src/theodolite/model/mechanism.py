"""A mechanism with loops: chains over the same parameters and joints, some of them not measured.

Everett's formulation [Everett1988, 2.3.1]: an open chain ``To`` gives the tool, closed chains
``Tc = I`` say which joint positions are possible at all. Chains share named segments, so that a
parameter of a segment appears in every chain that passes through it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.errors import InputError
from theodolite.model.chain import Chain, Motion
from theodolite.model.elements import ONE, Element, Term
from theodolite.model.parameters import Group, Parameter, Unit
from theodolite.model.rotations import left_inverse, log

#: A loop is closed when no component of its gap is larger (metres, radians).
CLOSED = 1e-12


class ClosureKind(Enum):
    """Which components of the gap a closure demands to be zero: shifts x y z, turns x y z."""

    FRAME = (0, 1, 2, 3, 4, 5)
    PLANAR = (0, 1, 5)
    POINT = (0, 1, 2)


@dataclass(frozen=True)
class SegmentElement:
    """One element of a segment: a number, a joint, or a joint with an offset."""

    rotation: bool
    axis: int
    #: Name of the joint that moves it, or None.
    joint: str | None
    sign: int
    amount: float
    #: Is the amount a parameter?
    free: bool


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Segments, the chain to the tool, closed chains, and which joints are measured."""

    name: str
    segments: Mapping[str, tuple[SegmentElement, ...]]
    tool: tuple[str, ...]
    loops: tuple[tuple[tuple[str, ...], ClosureKind], ...]
    active: tuple[str, ...]
    passive: tuple[str, ...]

    def __post_init__(self) -> None:
        known = {*self.active, *self.passive}
        for name, elements in self.segments.items():
            for element in elements:
                if element.joint is not None and element.joint not in known:
                    raise InputError(
                        f"segment {name} is moved by '{element.joint}'", allowed=sorted(known)
                    )
        used = {*self.tool, *(name for loop, _ in self.loops for name in loop)}
        missing = sorted(used - set(self.segments))
        if missing:
            raise InputError(f"there is no segment {', '.join(missing)}", allowed=self.segments)
        equations = sum(len(kind.value) for _, kind in self.loops)
        if equations < len(self.passive):
            raise InputError(
                f"{equations} closure equations cannot place {len(self.passive)} passive joints",
                remedy="Measure more joints or add a closure",
            )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The free amounts of all segments, named after them: ``A1.Tx``."""
        found: list[Parameter] = []
        for name, elements in self.segments.items():
            symbols: list[str] = []
            for element in elements:
                stem = f"{'R' if element.rotation else 'T'}{'xyz'[element.axis]}"
                repeats = sum(symbol.startswith(stem) for symbol in symbols)
                symbols.append(stem + ("" if not repeats else chr(ord("a") + repeats)))
                if element.free:
                    unit = Unit.RADIAN if element.rotation else Unit.METRE
                    offset = element.joint is not None
                    found.append(
                        Parameter(
                            f"{name}.{symbols[-1]}",
                            element.amount,
                            unit,
                            Group.ARM,
                            len(found),
                            0,
                            offset=offset,
                        )
                    )
        return tuple(found)

    def chain(self, segments: Sequence[str]) -> Chain:
        """The chain through some segments, over all parameters and joints."""
        joints = {name: 1 + index for index, name in enumerate((*self.active, *self.passive))}
        places: dict[tuple[str, int], int] = {}
        for name, elements in self.segments.items():
            for index, element in enumerate(elements):
                if element.free:
                    places[name, index] = len(places)
        tape = []
        for name in segments:
            for index, element in enumerate(self.segments[name]):
                if (name, index) in places:
                    terms = [Term(places[name, index])]
                else:
                    terms = [Term(None, ONE, element.amount)]
                if element.joint is not None:
                    terms.append(Term(None, joints[element.joint], float(element.sign)))
                tape.append(Element(element.rotation, element.axis, tuple(terms)))
        return Chain(tape, parameters=len(places), basis=1 + len(joints))


@dataclass(frozen=True, eq=False)
class Loops:
    """The compiled chains of a mechanism."""

    tool: Chain
    closures: tuple[tuple[Chain, tuple[int, ...]], ...]
    active: int
    passive: int

    @staticmethod
    def of(mechanism: Mechanism) -> Loops:
        return Loops(
            mechanism.chain(mechanism.tool),
            tuple((mechanism.chain(names), kind.value) for names, kind in mechanism.loops),
            len(mechanism.active),
            len(mechanism.passive),
        )

    def basis(self, active: FloatArray, passive: FloatArray) -> FloatArray:
        """Basis values of measured and passive joints, (n, 1 + joints)."""
        return np.concatenate([np.ones((len(active), 1)), active, passive], axis=1)

    def gap(
        self, values: FloatArray, basis: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The loops' gaps (n, m), and their derivatives by parameters and by passive joints."""

        gaps, by_values, by_passive = [], [], []
        for chain, rows in self.closures:
            motion: Motion = chain.motion(values, basis)
            turn = log(motion.rotation)
            bend = left_inverse(turn)
            gap = np.concatenate([motion.position, turn], axis=1)
            J, B = motion.twist_jacobian(), motion.twist_basis_jacobian()
            for jacobian in (J, B):
                jacobian[:, 3:] = np.einsum("nij,njk->nik", bend, jacobian[:, 3:])
            gaps.append(gap[:, rows])
            by_values.append(J[:, rows])
            by_passive.append(B[:, rows, 1 + self.active :])
        return (
            np.concatenate(gaps, axis=1),
            np.concatenate(by_values, axis=1),
            np.concatenate(by_passive, axis=1),
        )

    def closed(
        self, values: FloatArray, active: FloatArray, passive: FloatArray, *, steps: int = 60
    ) -> tuple[FloatArray, BoolArray]:
        """Passive joints that close the loops, from a guess of each; and which samples do close.

        Newton with steps halved until the gap shrinks, so that a guess stays on its branch.
        """
        passive = passive.copy()
        gap, _, G = self.gap(values, self.basis(active, passive))
        size = np.linalg.norm(gap, axis=1)
        for _ in range(steps):
            open_ = size > CLOSED / 100
            if not open_.any():
                break
            step = np.einsum("nij,nj->ni", np.linalg.pinv(G[open_], rcond=1e-10), gap[open_])
            length = np.ones(len(step))
            for _ in range(8):
                trial = passive[open_] - length[:, None] * step
                moved = self.gap(values, self.basis(active[open_], trial))[0]
                worse = np.linalg.norm(moved, axis=1) >= size[open_]
                if not worse.any():
                    break
                length[worse] /= 2
            better = np.linalg.norm(moved, axis=1) < size[open_]
            rows = np.flatnonzero(open_)[better]
            if not len(rows):
                break
            passive[rows] = trial[better]
            gap, _, G = self.gap(values, self.basis(active, passive))
            size = np.linalg.norm(gap, axis=1)
        return passive, np.asarray(np.abs(gap).max(axis=1) <= CLOSED)
