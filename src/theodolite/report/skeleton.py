"""A machine as lines and joints in space, for whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from theodolite.arrays import BoolArray, FloatArray
from theodolite.model.bodies import WORLD, ClosureKind
from theodolite.model.chain import Chain
from theodolite.model.elements import Element
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.robot import Robot

#: A body that slides in so many directions with respect to another is not joined to it.
FLOATING = 2
#: Shorter links, as a part of the reach, are not drawn.
SHORTEST = 1e-4

#: Some elements of a chain, and position and orientation after them.
_Part: TypeAlias = tuple[Element, ...]
_Places: TypeAlias = dict[_Part, tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A machine in one configuration; metres in the world."""

    #: Both ends of each link, (links, 2, 3).
    links: FloatArray
    #: Which links lead from the world to the first joint.
    fixed: BoolArray
    #: Where each joint is, (joints, 3), and the direction of its axis, (joints, 3).
    joints: FloatArray
    axes: FloatArray
    slides: BoolArray
    #: Position (3,) and orientation (3, 3) of the tool, and where its targets are, (targets, 3).
    tool: FloatArray
    orientation: FloatArray
    targets: FloatArray
    #: How far apart loops stay that do not close, metres.
    gap: float


class Skeleton:
    """The parts of a machine, ready to be placed for any configuration."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        #: Bodies that rods hold together, as what leads to either.
        self._rods: list[tuple[_Part, _Part]] = []
        # Tables are drawn as they are read, a step at a time; bodies by straight lines.
        if isinstance(machine, Mechanism):
            names = [machine.tool, *(b.name for b in machine.bodies if b.name != machine.tool)]
            tapes = [self._way(machine, name) for name in names]
            ends = {self._way(machine, body.name) for body in machine.bodies}
            self._rods = [
                (self._way(machine, closure.ends[0]), self._way(machine, closure.ends[1]))
                for closure in machine.closures
                if closure.kind is ClosureKind.ROD
            ]
        else:
            assert isinstance(machine, Robot)
            tapes = [tuple(chain.elements) for chain in machine.chains]
            ends = {tape[:end] for tape in tapes for end in range(1, len(tape) + 1)}
        #: Parts of platforms, which no joint holds but rods and legs do.
        self._free = self._floating(machine) if isinstance(machine, Mechanism) else set()
        #: Where links end, each with where it begins; branches share their beginning.
        self._links: dict[_Part, _Part] = {}
        for tape in tapes:
            start: _Part = ()
            for end, element in enumerate(tape, start=1):
                if element.varies and tape[: end - 1]:
                    start = self._join(start, tape[: end - 1])
                if element.varies or tape[:end] in ends:
                    start = self._join(start, tape[:end])
        width = machine.basis(self.motors(self.middle())[0]).shape[1]
        self._chains = {
            part: Chain(list(part), parameters=len(machine.parameters), basis=width)
            for part in self._links
        }

    def _floating(self, machine: Mechanism) -> set[_Part]:
        found: set[_Part] = set()
        for body in machine.bodies:
            own = machine.elements(body)
            if sum(e.varies and not e.rotation for e in own) >= FLOATING:
                way = self._way(machine, body.name)
                found |= {way[:end] for end in range(len(way) - len(own) + 1, len(way) + 1)}
        return found

    def _join(self, start: _Part, end: _Part) -> _Part:
        """A link between two places; where the next one begins."""
        if end != start:
            self._links.setdefault(end, start)
        return end

    @staticmethod
    def _way(machine: Mechanism, name: str) -> _Part:
        """All elements from the world to a body."""
        return tuple(e for body in machine.path(WORLD, name) for e in machine.elements(body))

    def middle(self) -> FloatArray:
        """Joint readings to begin with: the middle of each range, or home."""
        machine = self.machine
        if isinstance(machine, Mechanism):
            return np.asarray(machine.home[0])
        return np.asarray((machine.lower + machine.upper) / 2)

    def motors(self, readings: FloatArray) -> tuple[FloatArray, float]:
        """The configuration with these joint readings, one row, and how far its loops are open."""
        machine = self.machine
        rows = np.atleast_2d(readings)
        if isinstance(machine, Mechanism):
            motors, gap = machine.assembled(rows)
            return motors, float(gap[0]) * (machine.reach() or 1.0)
        assert isinstance(machine, Robot)
        return machine.transmission.motors(rows + machine.transmission.offset), 0.0

    def place(self, readings: FloatArray) -> Drawn:
        """Where everything is."""
        return self.place_motors(*self.motors(readings))

    def place_motors(self, motors: FloatArray, gap: float = 0.0) -> Drawn:
        """The same for one row of motor variables, with the passive joints of a mechanism."""
        machine = self.machine
        basis = machine.basis(motors)
        at: _Places = {(): (np.zeros(3), np.eye(3))}
        for part, chain in self._chains.items():
            moved = chain.motion(machine.values, basis)
            at[part] = moved.position[0], moved.rotation[0]
        return self._drawn(at, motors, gap)

    def _drawn(self, at: _Places, motors: FloatArray, gap: float) -> Drawn:
        machine = self.machine
        shortest = SHORTEST * (machine.reach() or 1.0)
        links, fixed, joints, axes, slides = [], [], [], [], []
        for part, begin in self._links.items():
            if part in self._free:
                continue
            element = part[-1]
            start, end = at[begin][0], at[part][0]
            slide = element.varies and not element.rotation
            # What slides is a link even where it happens to have no length.
            if slide or np.linalg.norm(end - start) > shortest:
                links.append((start, end))
                fixed.append(not any(one.varies for one in part))
            if element.varies:
                before = at[part[:-1]]
                joints.append(before[0])
                axes.append(before[1][:, element.axis])
                slides.append(not element.rotation)
        for one, other in self._rods:
            links.append((at[one][0], at[other][0]))
            fixed.append(False)
        tips = [machine.motion(machine.values, motors, t) for t in range(len(machine.target_names))]
        return Drawn(
            np.array(links).reshape(-1, 2, 3),
            np.array(fixed, dtype=bool),
            np.array(joints).reshape(-1, 3),
            np.array(axes).reshape(-1, 3),
            np.array(slides, dtype=bool),
            tips[0].position[0],
            tips[0].rotation[0],
            np.array([tip.position[0] for tip in tips]),
            gap,
        )
