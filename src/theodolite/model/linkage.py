"""The structure of a mechanism: a tree of bodies with closures, its parameters and its chains.

Everett's open chain ``To`` [Everett1988, 2.3.1] is the path from the world to the tool; each of his
closed chains ``Tc = I`` is the path between the two ends of a closure. A parameter of a body
appears in every path that passes through it, and a named constant wherever it is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from theodolite.arrays import FloatArray, frozen
from theodolite.errors import InputError
from theodolite.model.bodies import WORLD, Body, BodyElement, Closure, MechanismJoint
from theodolite.model.chain import Chain
from theodolite.model.conveniences import Conveniences
from theodolite.model.conventions import Joint
from theodolite.model.elements import ONE, Element, Term
from theodolite.model.expressions import Expression
from theodolite.model.forces import Shaft, Spring, TorqueCurve
from theodolite.model.parameters import GAIN_COLUMN, Group, Parameter, Unit
from theodolite.model.poses import roll_pitch_yaw
from theodolite.model.term_elements import (
    FRAME,
    check_term,
    frame_elements,
    term_parameters,
    terms_by_place,
)
from theodolite.model.terms import JOINT, ErrorTerm, distinct

#: Where gravity pulls in the frame of a base that stands upright.
UPRIGHT = (0.0, 0.0, -1.0)


@dataclass(frozen=True, eq=False)
class Linkage(Conveniences):
    """What a mechanism consists of: bodies, joints, closures and their parameters."""

    name: str
    bodies: tuple[Body, ...]
    tool: str
    closures: tuple[Closure, ...]
    active: tuple[MechanismJoint, ...]
    passive: tuple[MechanismJoint, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    #: Priorities by parameter name that replace the default rules; 0 means never identify.
    priorities: Mapping[str, int] = field(default_factory=dict)
    #: Tolerances by parameter name, SI, that replace the default ones.
    tolerances: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    #: Bodies that are tools as well, for machines with several: two arms on one torso.
    further_tools: tuple[str, ...] = ()
    #: What acts inside besides the motors; geometry knows nothing of it.
    shafts: tuple[Shaft, ...] = ()
    springs: tuple[Spring, ...] = ()
    curves: tuple[TorqueCurve, ...] = ()
    #: Further error terms, of machines without loops; rows are numbers of joints, 0 is the base.
    terms: tuple[ErrorTerm, ...] = ()
    #: Where gravity pulls in the frame of the base, before any joint.
    gravity: tuple[float, float, float] = UPRIGHT

    def __post_init__(self) -> None:
        seen = {WORLD}
        for body in self.bodies:
            if body.name in seen:
                raise InputError(f"there are two bodies '{body.name}'")
            if body.parent not in seen:
                raise InputError(
                    f"body '{body.name}' stands on '{body.parent}', which is not above it",
                    allowed=sorted(seen),
                )
            seen.add(body.name)
        for what, name in [
            *(("the tool is", name) for name in self.tools),
            *((f"closure '{c.name}' ends at", end) for c in self.closures for end in c.ends),
        ]:
            if name not in seen:
                raise InputError(f"{what} '{name}', which is not a body", allowed=sorted(seen))
        self._check_closures()
        self._check_joints()
        self._check_forces(seen)
        if not self.active:
            raise InputError("no joint is measured", remedy="Say which joints are, in 'joints'")
        if self.equations < len(self.passive):
            raise InputError(
                f"{self.equations} closure equations cannot place {len(self.passive)} passive "
                "joints",
                remedy="Measure more joints or add a closure",
            )
        self.parameters  # noqa: B018  the units of named constants are checked on the way

    def _check_closures(self) -> None:
        names = [closure.name for closure in self.closures]
        for closure in self.closures:
            if names.count(closure.name) > 1:
                raise InputError(f"there are two closures '{closure.name}'")
            if closure.ends[0] == closure.ends[1]:
                raise InputError(f"closure '{closure.name}' holds '{closure.ends[0]}' to itself")
        for joint in self.passive:
            if not any(self.involves(closure, joint.name) for closure in self.closures):
                raise InputError(
                    f"no closure places the passive joint '{joint.name}'",
                    remedy="Measure it, or add a closure whose loop it is in",
                )

    def involves(self, closure: Closure, joint: str) -> bool:
        """Does a joint move a closure?"""
        if closure.length is not None and closure.length.joint == joint:
            return True
        return any(e.joint == joint for body in self.path(*closure.ends) for e in body.elements)

    def _check_joints(self) -> None:
        names = [joint.name for joint in (*self.active, *self.passive)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"there are two joints '{name}'")
        places = [(f"body '{b.name}'", element) for b in self.bodies for element in b.elements]
        places += [(f"closure '{c.name}'", c.length) for c in self.closures if c.length is not None]
        used = {element.joint for _, element in places}
        for place, element in places:
            if element.joint is not None and element.joint not in names:
                raise InputError(
                    f"{place} is moved by '{element.joint}', which is not a joint", allowed=names
                )
            for constant, _ in element.constants:
                if constant not in self.constants:
                    raise InputError(
                        f"{place} uses '{constant}', which is not a constant",
                        allowed=sorted(self.constants),
                    )
        named = {name for _, element in places for name, _ in element.constants}
        for name in self.constants:
            if name in names:
                raise InputError(f"'{name}' is a joint and a constant", remedy="Rename one")
            if name not in named:
                raise InputError(f"the constant '{name}' is used nowhere")
        for name in names:
            if name not in used:
                raise InputError(f"joint '{name}' moves nothing", remedy="Use it or leave it out")

    def _check_forces(self, bodies: set[str]) -> None:
        joints = [joint.name for joint in (*self.active, *self.passive)]
        moving = [*joints, *(shaft.name for shaft in self.shafts)]
        names = [*moving, *(spring.name for spring in self.springs)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"there are two joints, shafts or springs '{name}'")
        for shaft in self.shafts:
            for joint, _ in shaft.turns:
                if joint not in joints:
                    raise InputError(
                        f"shaft '{shaft.name}' turns with '{joint}', which is not a joint",
                        allowed=joints,
                    )
        for spring in self.springs:
            for end in spring.ends:
                if end not in bodies:
                    raise InputError(
                        f"spring '{spring.name}' ends at '{end}', which is not a body",
                        allowed=sorted(bodies),
                    )
            if not any(e.joint for body in self.path(*spring.ends) for e in body.elements):
                raise InputError(f"no joint moves the spring '{spring.name}'")
        for curve in self.curves:
            if curve.on not in moving:
                raise InputError(
                    f"there is a torque on '{curve.on}', which is no joint or shaft",
                    allowed=moving,
                )

    @property
    def joints(self) -> int:
        """How many joints are measured."""
        return len(self.active)

    @property
    def joint_types(self) -> tuple[Joint, ...]:
        return tuple(joint.kind for joint in self.active)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.active)

    @property
    def lower(self) -> FloatArray:
        return frozen([joint.lower for joint in self.active])

    @property
    def upper(self) -> FloatArray:
        return frozen([joint.upper for joint in self.active])

    @property
    def tools(self) -> tuple[str, ...]:
        """Everything that can be measured, the tool first."""
        return (self.tool, *self.further_tools)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the tools where there are several; a single one needs none."""
        return self.tools if self.further_tools else ("",)

    def with_first_tool(self, name: str) -> Self:
        """The same machine with another of its tools as the first."""
        others = tuple(tool for tool in self.tools if tool != name)
        return replace(self, tool=name, further_tools=others)

    def standing_on(self, elements: tuple[BodyElement, ...]) -> Self:
        """The same machine on a stand that is placed in the world by some elements."""
        name = "stand"
        while name in {body.name for body in self.bodies}:
            name += "_"
        bodies = tuple(
            replace(body, parent=name) if body.parent == WORLD else body for body in self.bodies
        )

        def moved(end: str) -> str:
            return name if end == WORLD else end

        closures = tuple(
            replace(c, ends=(moved(c.ends[0]), moved(c.ends[1]))) for c in self.closures
        )
        springs = tuple(replace(s, ends=(moved(s.ends[0]), moved(s.ends[1]))) for s in self.springs)
        stand = Body(name, WORLD, elements)
        return replace(self, bodies=(stand, *bodies), closures=closures, springs=springs)

    @property
    def equations(self) -> int:
        """How many equations the closures give for each configuration."""
        return sum(len(closure.kind.rows) for closure in self.closures)

    @property
    def redundant(self) -> bool:
        """Are there more closure equations than passive joints, as in a planar loop in space?"""
        return self.equations > len(self.passive)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Free amounts (``A1.Tx``), named constants, lengths of rods, and gains (``t1.K``)."""
        reach = self.reach()
        return tuple(parameter.with_tolerance(self.tolerances, reach) for parameter in self._listed)

    @cached_property
    def _listed(self) -> tuple[Parameter, ...]:
        """The parameters in their order, without tolerances."""
        found = [
            Parameter(
                self._symbols[body.name, index],
                element.amount,
                Unit.RADIAN if element.rotation else Unit.METRE,
                self._groups[body.name, index],
                place,
                index,
                offset=element.joint is not None,
            )
            for place, body in enumerate(self.bodies)
            for index, element in enumerate(body.elements)
            if element.free
        ]
        place = len(self.bodies)
        found += [
            Parameter(
                name,
                value,
                self._constant_unit(name),
                self._constant_group(name),
                place,
                0,
                offset=self._shifts_a_joint(name),
            )
            for name, value in self.constants.items()
        ]
        found += [
            Parameter(
                f"{closure.name}.length",
                closure.length.amount,
                Unit.METRE,
                Group.ARM,
                place,
                1,
                offset=closure.length.joint is not None,
            )
            for closure in self.closures
            if closure.length is not None and closure.length.free
        ]
        found += [
            Parameter(f"{joint.name}.K", joint.gain, Unit.ONE, Group.ARM, place, GAIN_COLUMN)
            for joint in self.active
        ]
        return (*found, *term_parameters(self))

    def _constant_unit(self, name: str) -> Unit:
        turned = {
            element.rotation
            for body in self.bodies
            for element in body.elements
            if name in dict(element.constants)
        } | {
            False
            for closure in self.closures
            if closure.length is not None and name in dict(closure.length.constants)
        }
        if len(turned) > 1:
            raise InputError(f"the constant '{name}' is used both as a length and as an angle")
        return Unit.RADIAN if turned == {True} else Unit.METRE

    def _constant_group(self, name: str) -> Group:
        """Where a constant is used; the arm's, unless only base or only tool have it."""
        groups = {
            self._groups[body.name, index]
            for body in self.bodies
            for index, element in enumerate(body.elements)
            if name in dict(element.constants)
        }
        return groups.pop() if len(groups) == 1 else Group.ARM

    def _shifts_a_joint(self, name: str) -> bool:
        uses = [
            element
            for body in self.bodies
            for element in body.elements
            if name in dict(element.constants)
        ]
        return bool(uses) and all(element.joint is not None for element in uses)

    @cached_property
    def _symbols(self) -> dict[tuple[str, int], str]:
        """Names of the elements: ``A1.Tx``, and ``A1.Txb`` for the second of its kind."""
        names = {}
        for body in self.bodies:
            stems: list[str] = []
            for index, element in enumerate(body.elements):
                stem = f"{'R' if element.rotation else 'T'}{'xyz'[element.axis]}"
                repeats = stems.count(stem)
                stems.append(stem)
                letter = "" if not repeats else chr(ord("a") + repeats)
                names[body.name, index] = f"{body.name}.{stem}{letter}"
        return names

    @cached_property
    def _groups(self) -> dict[tuple[str, int], Group]:
        """Base: on the way to the tool before any joint. Tool: after all joints, in no loop."""
        groups = {
            (body.name, index): Group.ARM
            for body in self.bodies
            for index in range(len(body.elements))
        }
        looped = {body.name for c in self.closures for side in self._path(*c.ends) for body in side}
        common = [{body.name for body in self._path(WORLD, tool)[1]} for tool in self.tools]
        for tool in self.tools:
            way = [
                (body.name, index, element.joint is not None)
                for body in self._path(WORLD, tool)[1]
                for index, element in enumerate(body.elements)
            ]
            moving = [place for place, (*_, moves) in enumerate(way) if moves]
            first, last = (moving[0], moving[-1]) if moving else (len(way), len(way))
            for place, (body, index, _) in enumerate(way):
                # Where one arm is mounted relative to another is no matter of the base.
                if place < first and all(body in bodies for bodies in common):
                    groups[body, index] = Group.BASE
                elif place > last and body not in looped:
                    groups[body, index] = Group.TOOL
        return groups

    @cached_property
    def values(self) -> FloatArray:
        return frozen([parameter.value for parameter in self.parameters])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {parameter.name: index for index, parameter in enumerate(self.parameters)}

    def _path(self, one: str, other: str) -> tuple[list[Body], list[Body]]:
        """Bodies from one body up to the common ancestor, and from there down to the other."""
        bodies = {body.name: body for body in self.bodies}

        def ancestors(name: str) -> list[Body]:
            found = []
            while name != WORLD:
                found.append(bodies[name])
                name = bodies[name].parent
            return found

        up, down = ancestors(one), ancestors(other)
        while up and down and up[-1] is down[-1]:
            up.pop()
            down.pop()
        return up, down[::-1]

    def path(self, one: str, other: str) -> list[Body]:
        """Bodies that are passed from one body to another."""
        up, down = self._path(one, other)
        return [*up, *down]

    def arms_between(self, one: str, other: str) -> tuple[list[str], list[str]]:
        """Names of the bodies from one body up to where it meets the other, and down from there."""
        up, down = self._path(one, other)
        return [body.name for body in up], [body.name for body in down]

    def chain(self, one: str, other: str) -> Chain:
        """The chain from one body to another, over all parameters and joints."""
        up, down = self._path(one, other)
        tape = [element for body in up for element in self.elements(body, -1)]
        tape += [element for body in down for element in self.elements(body)]
        # What terms do to the base.
        if one == WORLD:
            tape = [*self._bent_after(0, 1), *tape]
        elif other == WORLD:
            tape = [*tape, *self._bent_after(0, -1)]
        return self._compiled(tape)

    def elements(self, body: Body, way: int = 1) -> list[Element]:
        """The elements of one body, over all parameters and joints; way -1: back through it."""
        found = [self._elements_at(body, index, way) for index in range(len(body.elements))]
        return [element for place in found[::way] for element in place]

    def _elements_at(self, body: Body, index: int, way: int) -> list[Element]:
        """An element of a body, with what terms add after the first one that a joint moves."""
        element = self._element(body.elements[index], self._symbols[body.name, index], way)
        number = self._link_begins.get((body.name, index))
        if number is None:
            return [element]
        after = self._bent_after(number, way)
        return [element, *after] if way > 0 else [*after, element]

    def _bent_after(self, number: int, way: int) -> list[Element]:
        """Displacements and turns that terms give to a link, or to the base."""
        forward = frame_elements(self, number) if self.terms else []
        return [
            replace(e, terms=tuple(replace(t, coefficient=way * t.coefficient) for t in e.terms))
            for e in forward[::way]
        ]

    @cached_property
    def _link_begins(self) -> dict[tuple[str, int], int]:
        """Where the link of each measured joint begins: body and element, with its number."""
        numbers = {joint.name: number for number, joint in enumerate(self.active, start=1)}
        found: dict[tuple[str, int], int] = {}
        for body in self.bodies:
            for index, element in enumerate(body.elements):
                number = numbers.pop(element.joint or "", None)
                if number is not None:
                    found[body.name, index] = number
        return found

    @property
    def takes_terms(self) -> bool:
        """Can it bear further terms? Not where a change of one joint moves others."""
        return not self.closures

    @property
    def term_rows(self) -> range:
        """The base and the measured joints, as terms number them."""
        return range(len(self.active) + 1)

    def term_places(self, row: int) -> dict[str, bool]:
        """What terms can be added to, a joint and its link, and whether that turns something."""
        if row == 0:
            return dict(FRAME)
        return {JOINT: self.active[row - 1].kind is Joint.REVOLUTE, **FRAME}

    def terms_on(self, row: int, on: str) -> list[Term]:
        """The summands that further terms add to a joint, or to the frame of a link."""
        return self._terms_by_place.get((row, on), [])

    def with_terms(self, terms: Iterable[ErrorTerm]) -> Self:
        """The same machine with other further terms."""
        terms = tuple(terms)
        if terms and not self.takes_terms:
            raise InputError(
                f"'{self.name}' has loops: error terms are not supported for machines with loops",
                remedy="Leave the terms out",
            )
        for term in terms:
            check_term(self, term)
            if term.expression.loads:
                raise InputError(
                    f"term '{term.name}': loads are known of tables only",
                    remedy="Take moment(...) with an unknown weight",
                )
        names = [term.name for term in terms]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"there are two parameters '{name}'")
        return replace(self, terms=terms)

    @cached_property
    def _terms_by_place(self) -> dict[tuple[int, str], list[Term]]:
        return terms_by_place(self)

    @cached_property
    def bases(self) -> tuple[Expression, ...]:
        """The basis functions of the further terms, each once."""
        return distinct(self.terms)

    def _compiled(self, tape: list[Element]) -> Chain:
        joints = len(self.active) + len(self.passive)
        return Chain(tape, parameters=len(self.parameters), basis=1 + joints + len(self.bases))

    def _element(self, element: BodyElement, name: str, way: int) -> Element:
        terms = []
        if element.free:
            terms.append(Term(self._places[name], ONE, float(way)))
        elif element.amount or not (element.joint or element.constants):
            terms.append(Term(None, ONE, way * element.amount))
        terms += [
            Term(self._places[name], ONE, float(way * sign)) for name, sign in element.constants
        ]
        if element.joint is not None:
            names = [joint.name for joint in (*self.active, *self.passive)]
            place = names.index(element.joint)
            gain = self._places[f"{element.joint}.K"] if place < len(self.active) else None
            factor = float(way * element.sign)
            terms.append(Term(gain, 1 + place, factor))
            if self.terms:
                terms += [replace(t, coefficient=factor) for t in self.terms_on(1 + place, JOINT)]
        return Element(element.rotation, element.axis, tuple(terms))

    @cached_property
    def tool_chains(self) -> tuple[Chain, ...]:
        return tuple(self.chain(WORLD, tool) for tool in self.tools)

    @property
    def tool_chain(self) -> Chain:
        return self.tool_chains[0]

    @cached_property
    def _closure_chains(self) -> tuple[Chain, ...]:
        return tuple(self.chain(*closure.ends) for closure in self.closures)

    @cached_property
    def _rod_lengths(self) -> dict[str, Chain]:
        return {
            closure.name: self._compiled(
                [self._element(closure.length, f"{closure.name}.length", 1)]
            )
            for closure in self.closures
            if closure.length is not None
        }

    def rod_length(self, closure: Closure) -> Chain:
        """A shift along x by the length of a rod."""
        return self._rod_lengths[closure.name]

    def reach(self) -> float:
        """About the longest distance from the first joint to the tool, in metres.

        In a chain it is an upper bound; where its base stands is no matter of its size. Slides on
        the way to a tool add up. Of those in legs, which hold it together, the longest counts.
        """
        strokes = {
            joint.name: max(abs(joint.lower), abs(joint.upper))
            for joint in self.active
            if joint.kind is Joint.PRISMATIC
        }
        # A tool that stands on a passive slide has no lengths of its own.
        single = [
            abs(parameter.value)
            for parameter in self._listed
            if parameter.unit is Unit.METRE and not parameter.term and self._sizes(parameter.group)
        ]
        return float(max(*(self._way(tool, strokes) for tool in self.tools), 0.0, *single))

    def _sizes(self, group: Group) -> bool:
        """Do its lengths say how large the machine is? Of a base only where legs stand on it."""
        return group is not Group.BASE or bool(self.closures)

    def _way(self, tool: str, strokes: Mapping[str, float]) -> float:
        """How long the way to a tool is at most."""
        elements = [
            element
            for body in self._path(WORLD, tool)[1]
            for index, element in enumerate(body.elements)
            if not element.rotation and self._sizes(self._groups[body.name, index])
        ]
        lengths = [
            abs(element.amount) + sum(abs(self.constants[name]) for name, _ in element.constants)
            for element in elements
        ]
        passed = {element.joint for element in elements if element.joint is not None}
        along = [stroke for name, stroke in strokes.items() if name in passed]
        beside = [stroke for name, stroke in strokes.items() if name not in passed]
        return sum(lengths) + sum(along) + max(beside, default=0.0)

    def with_values(self, values: FloatArray | Mapping[str, float]) -> Self:
        """The same mechanism with other parameter values, all of them or some by name."""
        if not isinstance(values, Mapping):
            names = [parameter.name for parameter in self.parameters]
            values = dict(zip(names, map(float, values), strict=True))
        unknown = set(values) - set(self._places)
        if unknown:
            raise InputError(
                f"'{self.name}' has no parameter {', '.join(sorted(unknown))}",
                allowed=list(self._places),
            )
        bodies = tuple(
            replace(
                body,
                elements=tuple(
                    replace(element, amount=values[name])
                    if element.free and (name := self._symbols[body.name, index]) in values
                    else element
                    for index, element in enumerate(body.elements)
                ),
            )
            for body in self.bodies
        )
        return replace(
            self,
            bodies=bodies,
            constants={name: values.get(name, value) for name, value in self.constants.items()},
            closures=tuple(
                replace(closure, length=replace(closure.length, amount=values[name]))
                if closure.length is not None and (name := f"{closure.name}.length") in values
                else closure
                for closure in self.closures
            ),
            active=tuple(
                replace(joint, gain=values.get(f"{joint.name}.K", joint.gain))
                for joint in self.active
            ),
            terms=tuple(
                replace(term, value=values.get(term.name, term.value)) for term in self.terms
            ),
        )

    def with_tool_turned(self, rotation: FloatArray) -> Self:
        """The same mechanism with its tool frame rotated about its origin."""
        turns = zip((2, 1, 0), reversed(roll_pitch_yaw(rotation)), strict=True)
        elements = tuple(BodyElement(True, axis, amount=angle) for axis, angle in turns)
        name = f"{self.tool}-turned"
        return replace(self, bodies=(*self.bodies, Body(name, self.tool, elements)), tool=name)

    def with_priorities(self, priorities: Mapping[str, int]) -> Self:
        return replace(self, priorities={**self.priorities, **priorities})

    def with_tolerances(self, tolerances: Mapping[str, float]) -> Self:
        return replace(self, tolerances={**self.tolerances, **tolerances})

    def describe(self) -> str:
        """The way to the tool and every loop, as products of elements."""
        names = [parameter.name for parameter in self.parameters]
        basis = ["1", *(joint.name for joint in (*self.active, *self.passive))]
        basis += [expression.text for expression in self.bases]

        def product(chain: Chain) -> str:
            return " ".join(element.describe(names, basis) for element in chain.elements)

        loops = [
            f"{closure.name} ({closure.kind.value}): {product(chain)}"
            for closure, chain in zip(self.closures, self._closure_chains, strict=True)
        ]
        return "; ".join([f"tool: {product(self.tool_chain)}", *loops])
