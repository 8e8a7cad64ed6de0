"""A serial robot: a table of frames, a transmission, limits and target points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from theodolite.arrays import BoolArray, FloatArray, frozen
from theodolite.errors import InputError
from theodolite.model.chain import Chain, Motion, Skeleton
from theodolite.model.conveniences import Conveniences
from theodolite.model.conventions import Convention, Joint, Piece, Row, Slot, piece_symbols
from theodolite.model.elements import ONE, Element, Term
from theodolite.model.expressions import Environment, Expression
from theodolite.model.gravity import down
from theodolite.model.inputs import inputs
from theodolite.model.link_axes import axes_in_table
from theodolite.model.loads import Balancer, LinkMass, check_loads, has_loads, loads
from theodolite.model.parameters import GAIN_COLUMN, Group, Parameter, Unit
from theodolite.model.poses import roll_pitch_yaw
from theodolite.model.term_elements import (
    check_term,
    frame_elements,
    places_in_table,
    term_parameters,
    terms_by_place,
)
from theodolite.model.terms import JOINT, ErrorTerm, distinct
from theodolite.model.transmission import Transmission

#: Elements of a pose row's nominal frame: translations, then yaw, pitch, roll.
_NOMINAL = ((False, 0, 0), (False, 1, 1), (False, 2, 2), (True, 2, 5), (True, 1, 4), (True, 0, 3))


@dataclass(frozen=True)
class Target:
    """A point fixed to the last frame, such as a reflector."""

    name: str
    position: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Robot(Conveniences):
    """A serial robot of any number of joints. Values are SI; see docs/reference/robot-file.md."""

    name: str
    frames: tuple[Row, ...]
    transmission: Transmission
    #: Limits of the joints as they read, that is without Offset.
    lower: FloatArray
    upper: FloatArray
    targets: tuple[Target, ...] = ()
    #: Priorities by parameter name that replace the default rules; 0 means never identify.
    priorities: Mapping[str, int] = field(default_factory=dict)
    #: Tolerances by parameter name, SI, that replace the default ones.
    tolerances: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    #: Further error terms beyond geometry and gains.
    terms: tuple[ErrorTerm, ...] = ()
    #: Where gravity pulls in the frame before the first joint; None: see `gravity.down`.
    gravity: tuple[float, float, float] | None = None
    #: Highest speeds, rad/s or m/s, and torques, N m or N, of the joints, where they are known.
    speeds: FloatArray | None = None
    efforts: FloatArray | None = None
    #: Known weights of links, and springs that help joints, for terms with ``load``.
    masses: tuple[LinkMass, ...] = ()
    balancers: tuple[Balancer, ...] = ()

    @staticmethod
    def of(
        name: str,
        frames: Iterable[Row],
        *,
        transmission: Transmission | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        targets: Iterable[Target] = (),
        priorities: Mapping[str, int] | None = None,
        tolerances: Mapping[str, float] | None = None,
        source: str = "",
        terms: Iterable[ErrorTerm] = (),
        gravity: tuple[float, float, float] | None = None,
        speeds: ArrayLike | None = None,
        efforts: ArrayLike | None = None,
        masses: Iterable[LinkMass] = (),
        balancers: Iterable[Balancer] = (),
    ) -> Robot:
        """A robot with direct drives and joints that move half a turn (or 1 m) unless given."""
        rows = tuple(frames)
        moving = [frame for frame in rows if frame.joint is not Joint.FIXED]
        if not moving:
            raise InputError(
                f"robot '{name}' has no joints", remedy="Give at least one row sigma 0 or 1"
            )
        reach = [np.pi if frame.joint is Joint.REVOLUTE else 1.0 for frame in moving]
        robot = Robot(
            name=name,
            frames=rows,
            transmission=transmission or Transmission.of(len(moving)),
            lower=frozen([-r for r in reach] if lower is None else lower),
            upper=frozen(reach if upper is None else upper),
            targets=tuple(targets),
            priorities=dict(priorities or {}),
            tolerances=dict(tolerances or {}),
            source=source,
            gravity=gravity,
            speeds=None if speeds is None else frozen(speeds),
            efforts=None if efforts is None else frozen(efforts),
            masses=tuple(masses),
            balancers=tuple(balancers),
        )
        robot._check_names()
        check_loads(robot)
        return robot.with_terms(terms)

    def _check_names(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(
                f"robot '{self.name}' has two parameters {', '.join(twice)}",
                remedy="Rename the target whose coordinates they are, or take out the second term",
            )

    @cached_property
    def joint_rows(self) -> tuple[int, ...]:
        """Indices of the rows that hold a joint."""
        return tuple(i for i, frame in enumerate(self.frames) if frame.joint is not Joint.FIXED)

    @property
    def joints(self) -> int:
        return len(self.joint_rows)

    @property
    def joint_types(self) -> tuple[Joint, ...]:
        return tuple(self.frames[row].joint for row in self.joint_rows)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(f"q{number}" for number in range(1, self.joints + 1))

    @property
    def first_number(self) -> int:
        """Number of the first row: 0 where it is a base frame, so that joints start at 1."""
        return 0 if self.frames[0].joint is Joint.FIXED else 1

    @property
    def configuration_sizes(self) -> tuple[int, ...]:
        """Motors alone, or with the values of the terms' basis functions beside them."""
        return (self.joints, self.joints + len(self.bases)) if self.bases else (self.joints,)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the targets; the tool's own origin has none."""
        return tuple(target.name for target in self.targets) or ("",)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters: of the rows in order, then gains, then targets, then further terms."""
        rows = [
            parameter
            for index in range(len(self.frames))
            for parameter in self._row_parameters(index)
        ]
        gains = [
            Parameter(
                f"K{row + self.first_number}",
                float(gain),
                Unit.ONE,
                Group.ARM,
                row + self.first_number,
                GAIN_COLUMN,
            )
            for row, gain in zip(self.joint_rows, self.transmission.gains, strict=True)
        ]
        last = len(self.frames) + self.first_number
        points = [
            Parameter(f"{target.name}{axis}", value, Unit.METRE, Group.TOOL, last + number, column)
            for number, target in enumerate(self.targets)
            for column, (axis, value) in enumerate(zip("xyz", target.position, strict=True))
        ]
        reach = self.reach()
        return tuple(
            parameter.with_tolerance(self.tolerances, reach)
            for parameter in (*rows, *gains, *points, *term_parameters(self))
        )

    @cached_property
    def values(self) -> FloatArray:
        """Values of the parameters, in their order."""
        return frozen([parameter.value for parameter in self.parameters])

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """One chain per target, from the world to that target."""
        common = [element for index in range(len(self.frames)) for element in self.elements(index)]
        if self.first_number:
            # Row 0 is the base, whether the table has one or not.
            common = [*frame_elements(self, 0), *common]
        size = {"parameters": len(self.parameters), "basis": 1 + self.joints + len(self.bases)}
        if not self.targets:
            return (Chain(common, **size),)
        return tuple(
            Chain([*common, *self._target_elements(target)], **size) for target in self.targets
        )

    def basis(self, motors: FloatArray) -> FloatArray:
        """Basis values (n, 1 + joints + functions): one, ``Com qm``, then those of the terms."""
        if self.bases and motors.shape[1] == self.joints:
            motors = self.inputs(motors)
        coupled = motors[:, : self.joints] @ self.transmission.com.T
        return np.concatenate(
            [np.ones((len(motors), 1)), coupled, motors[:, self.joints :]], axis=1
        )

    def motion(self, values: FloatArray, motors: FloatArray, target: int = 0) -> Motion:
        """Where a target is; of ``values`` only those of the robot's parameters are used."""
        return self.chains[target].motion(values[: len(self.parameters)], self.basis(motors))

    def random_motors(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Motor variables of configurations uniform within the joint limits, (count, joints)."""
        return self.motors_at(rng.uniform(self.lower, self.upper, (count, self.joints)))

    def motors_at(self, readings: FloatArray) -> FloatArray:
        """Motor variables at which the joints read so (n, joints)."""
        return self.transmission.motors(readings + self.transmission.offset)

    def can_close(self, motors: FloatArray, values: FloatArray | None = None) -> BoolArray:
        """A serial robot has no loops that could stay open."""
        return np.ones(len(motors), dtype=bool)

    def settled(
        self, motors: FloatArray, values: FloatArray | None = None
    ) -> tuple[FloatArray, BoolArray]:
        """Configurations as they are: a serial robot has no passive joints."""
        return motors, np.ones(len(motors), dtype=bool)

    def to_motors(self, basis_jacobian: FloatArray) -> FloatArray:
        """Turn a derivative w.r.t. basis values (n, rows, basis) into one w.r.t. motor variables.

        Further terms are small, and what a joint's error does to them is smaller still.
        """
        return basis_jacobian[:, :, 1 : 1 + self.joints] @ self.transmission.com

    def readings(self, motors: FloatArray) -> FloatArray:
        """What the joints read (n, joints): joint variables without Offset."""
        return self.transmission.joints(motors[:, : self.joints]) - self.transmission.offset

    def poses(self, motors: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Orientation (n, 3, 3) and position (n, 3) of the first target."""
        motion = self.motion(self.values, np.atleast_2d(np.asarray(motors, dtype=np.float64)))
        return motion.rotation, motion.position

    def __repr__(self) -> str:
        kinds = "".join("R" if kind is Joint.REVOLUTE else "P" for kind in self.joint_types)
        return (
            f"Robot '{self.name}': {self.joints} joints ({kinds}), "
            f"{len(self.parameters)} parameters, {len(self.targets)} targets"
        )

    def reach(self) -> float:
        """An upper bound of the distance from the first joint to the tip, in metres."""
        return self._reach

    @cached_property
    def _reach(self) -> float:
        first = self.joint_rows[0]
        lengths = [
            abs(frame.amount(slot.symbol))
            for frame in self.frames[first:]
            for slot in frame.slots
            if not slot.rotation
        ]
        nominal = [abs(value) for frame in self.frames[first + 1 :] for value in frame.nominal[:3]]
        points = [abs(value) for target in self.targets for value in target.position]
        strokes = [
            max(abs(low), abs(high))
            for kind, low, high in zip(self.joint_types, self.lower, self.upper, strict=True)
            if kind is Joint.PRISMATIC
        ]
        return float(sum(lengths) + sum(nominal) + sum(points) + sum(strokes))

    def priority(self, parameter: Parameter) -> int:
        """The user's priority for a parameter, or the default one.

        Where there are targets, their coordinates say where the tool is, and its frame comes last.
        """
        frame_of_tool = parameter.group is Group.TOOL and not self._is_target(parameter)
        default = 1 if self.targets and frame_of_tool else parameter.default_priority()
        return self.priorities.get(parameter.name, default)

    def _is_target(self, parameter: Parameter) -> bool:
        return parameter.frame >= len(self.frames) + self.first_number

    def with_values(self, values: FloatArray | Mapping[str, float]) -> Robot:
        """The same robot with other parameter values, all of them or some by name."""
        if not isinstance(values, Mapping):
            names = [parameter.name for parameter in self.parameters]
            values = dict(zip(names, map(float, values), strict=True))
        unknown = set(values) - {parameter.name for parameter in self.parameters}
        if unknown:
            raise InputError(
                f"robot '{self.name}' has no parameter {', '.join(sorted(unknown))}",
                allowed=[parameter.name for parameter in self.parameters],
            )
        frames = []
        for index, frame in enumerate(self.frames):
            amounts = dict(frame.values)
            for slot in self._parameter_slots(index):
                name = self._name(index, slot.symbol)
                if name in values:
                    amounts[slot.symbol] = values[name]
            frames.append(replace(frame, values=amounts))
        gains = [
            values.get(f"K{row + self.first_number}", gain)
            for row, gain in zip(self.joint_rows, self.transmission.gains, strict=True)
        ]
        targets = [
            Target(
                target.name,
                tuple(  # type: ignore[arg-type]  # three axes give three values
                    values.get(f"{target.name}{axis}", value)
                    for axis, value in zip("xyz", target.position, strict=True)
                ),
            )
            for target in self.targets
        ]
        changed = replace(
            self,
            frames=tuple(frames),
            transmission=replace(self.transmission, gains=frozen(gains)),
            targets=tuple(targets),
            terms=tuple(
                replace(term, value=values.get(term.name, term.value)) for term in self.terms
            ),
        )
        slots = map(self._parameter_slots, range(len(frames)))
        if tuple(slots) == tuple(map(changed._parameter_slots, range(len(frames)))):
            # Chains take the values of parameters; these are the same chains.
            changed.__dict__["chains"] = self.chains
        return changed

    def with_tool_turned(self, rotation: FloatArray) -> Robot:
        """The same robot with its tool frame rotated about its origin; its points stay in place."""
        roll, pitch, yaw = roll_pitch_yaw(rotation)
        pieces = tuple(Piece(True, axis, 0, free=False) for axis in (2, 1, 0))
        amounts = dict(zip(piece_symbols(pieces), (yaw, pitch, roll), strict=True))
        row = Row(Convention.PRODUCT, Joint.FIXED, amounts, pieces=pieces)
        targets = [
            Target(target.name, tuple(np.array(target.position) @ rotation))
            for target in self.targets
        ]
        return replace(self, frames=(*self.frames, row), targets=tuple(targets))

    def with_targets(self, targets: Iterable[Target]) -> Robot:
        return replace(self, targets=tuple(targets))

    def with_priorities(self, priorities: Mapping[str, int]) -> Robot:
        return replace(self, priorities={**self.priorities, **priorities})

    def with_tolerances(self, tolerances: Mapping[str, float]) -> Robot:
        return replace(self, tolerances={**self.tolerances, **tolerances})

    @cached_property
    def bases(self) -> tuple[Expression, ...]:
        """The basis functions of the further terms, each once."""
        return distinct(self.terms)

    def inputs(
        self, motors: FloatArray, columns: Mapping[str, FloatArray] | None = None
    ) -> FloatArray:
        """Motors with the values of the terms' basis functions beside them."""
        return inputs(self, motors, columns)

    def with_terms(self, terms: Iterable[ErrorTerm]) -> Robot:
        """The same robot with other further terms."""
        terms = tuple(terms)
        for term in terms:
            check_term(self, term)
        robot = replace(self, terms=terms)
        robot._check_names()
        return robot

    #: A table can bear further terms.
    takes_terms: ClassVar[bool] = True

    @property
    def term_rows(self) -> range:
        """Numbers of the rows that terms can be added to; row 0 is the base in any case."""
        return range(len(self.frames) + self.first_number)

    def term_places(self, row: int) -> dict[str, bool]:
        """What terms can be added to in a row, and whether that turns something."""
        return places_in_table(self, row)

    def term_row(self, joint: int) -> int:
        """The row that holds a joint, both as they are numbered in terms."""
        return self.joint_rows[joint - 1] + self.first_number

    def carried_by(self, joint: int) -> range:
        """Numbers of the links that hang on a joint, its own first."""
        return range(joint, self.joints + 1)

    def link_axes(self, motors: FloatArray) -> dict[str, FloatArray]:
        """Axes ``x1`` ... of the links in the world, (3, n) each."""
        return axes_in_table(self, motors)

    def down(self) -> FloatArray:
        """The direction of gravity in the world, (3,)."""
        return down(self)

    def loads(
        self,
        motors: FloatArray,
        wanted: set[str],
        columns: Mapping[str, FloatArray],
        joints: Environment,
    ) -> dict[str, FloatArray]:
        """Loads about axes such as ``z2``, (n,) each, by what expressions call them."""
        return loads(self, motors, wanted, columns, joints, self.down())

    def has_loads(self, columns: Sequence[str]) -> bool:
        """Is anything known of what the joints carry, from the file or from columns?"""
        return has_loads(self, columns)

    def with_loads(
        self, masses: Iterable[LinkMass], balancers: Iterable[Balancer] | None = None
    ) -> Robot:
        """The same robot with other known weights of its links, and springs if they are given."""
        springs = self.balancers if balancers is None else tuple(balancers)
        robot = replace(self, masses=tuple(masses), balancers=springs)
        check_loads(robot)
        return robot

    def after_joint(self, joint: int) -> tuple[FloatArray, FloatArray]:
        """From a joint's axis to the frame of its row: orientation and position, constant."""
        elements = self.elements(self.joint_rows[joint])
        place = next(index for index, element in enumerate(elements) if element.varies)
        return self.fixed_transform(elements[place + 1 :])

    def fixed_transform(self, elements: Sequence[Element]) -> tuple[FloatArray, FloatArray]:
        """Orientation and position of constant elements of the tape."""
        chain = Chain(elements, parameters=len(self.parameters), basis=1 + self.joints)
        motion = chain.motion(self.values, self.basis(np.zeros((1, self.joints))))
        return motion.rotation[0], motion.position[0]

    @cached_property
    def skeleton(self) -> Skeleton:
        """Geometry and gains alone, without what moves."""
        rigid = self.without_terms()
        return rigid.chains[0].skeleton(rigid.values)

    @cached_property
    def _rigid(self) -> Robot:
        return replace(self, terms=()) if self.terms else self

    def without_terms(self) -> Robot:
        """The same robot, geometry and gains alone."""
        return self._rigid

    def describe(self) -> str:
        """The chain as one writes it: ``Rz(theta0) Tz(r0) Rx(alpha1) ...``."""
        names = [parameter.name for parameter in self.parameters]
        basis = ["1", *(f"q{joint + 1}" for joint in range(self.joints))]
        basis += [expression.text for expression in self.bases]
        return " ".join(element.describe(names, basis) for element in self.chains[0].elements)

    def _name(self, index: int, symbol: str) -> str:
        number = index + self.first_number
        if self.frames[index].convention.has_nominal:
            return f"e{number}{symbol}"
        return f"{symbol}{number}"

    def _parameter_slots(self, index: int) -> tuple[Slot, ...]:
        before = self.frames[index - 1] if index else None
        return self.frames[index].parameter_slots(before)

    def _row_parameters(self, index: int) -> list[Parameter]:
        frame = self.frames[index]
        return [
            Parameter(
                self._name(index, slot.symbol),
                frame.amount(slot.symbol),
                slot.unit,
                self._group(index, slot.symbol),
                index + self.first_number,
                slot.column,
                offset=frame.is_offset(slot),
                places=self._places(index, slot),
            )
            for slot in self._parameter_slots(index)
        ]

    def _places(self, index: int, slot: Slot) -> bool:
        """Is the slot about the axis of the first joint or of the last?"""
        frame = self.frames[index]
        if index not in (self.joint_rows[0], self.joint_rows[-1]):
            return False
        if frame.convention.has_nominal:
            return slot.axis == 2
        moving = [other.axis for other in frame.slots if other.moved_by is frame.joint]
        own_axis = bool(moving) and slot.axis == moving[0]
        return own_axis and (frame.convention is not Convention.PRODUCT or frame.is_offset(slot))

    def _group(self, index: int, symbol: str) -> Group:
        first, last = self.joint_rows[0], self.joint_rows[-1]
        if index > last:
            return Group.TOOL
        if index < first:
            return Group.BASE
        if index == first:
            # What stands before the first joint's motion places the base.
            frame = self.frames[index]
            symbols = frame.symbols
            moving = [slot.symbol for slot in frame.slots if slot.moved_by is frame.joint]
            motion = symbols.index(moving[0]) if moving else len(symbols)
            if symbols.index(symbol) < motion and symbol != "theta":
                return Group.BASE
        return Group.ARM

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {parameter.name: i for i, parameter in enumerate(self.parameters)}

    def elements(self, index: int) -> list[Element]:
        """The elements of one row, over all parameters and joints."""
        frame, number = self.frames[index], index + self.first_number
        free = {slot.symbol for slot in self._parameter_slots(index)}
        elements = [
            Element(rotation, axis, (Term(None, ONE, frame.nominal[place]),))
            for rotation, axis, place in _NOMINAL
            if frame.nominal[place] != 0.0
        ]
        for slot in frame.slots:
            terms = []
            if slot.symbol in free:
                terms.append(Term(self._indices[self._name(index, slot.symbol)]))
            elif frame.amount(slot.symbol) != 0.0:
                terms.append(Term(None, ONE, frame.amount(slot.symbol)))
            if slot.moved_by is not None and slot.moved_by is frame.joint:
                terms.extend(self._joint_terms(index, slot.sign))
            terms.extend(self.terms_on(number, slot.symbol))
            if terms:
                elements.append(Element(slot.rotation, slot.axis, tuple(terms)))
        if frame.convention.has_nominal and frame.joint is not Joint.FIXED:
            joint = Element(
                frame.joint is Joint.REVOLUTE, 2, tuple(self._joint_terms(index, sign=1))
            )
            after = frame.convention is Convention.POSE
            elements = [*elements, joint] if after else [joint, *elements]
        return [*elements, *frame_elements(self, number, frame.symbols)]

    def _joint_terms(self, index: int, sign: int) -> list[Term]:
        joint = self.joint_rows.index(index)
        transmission = self.transmission
        terms = [
            Term(self._indices[f"K{row + self.first_number}"], 1 + motor, sign * float(coupling))
            for motor, (row, coupling) in enumerate(
                zip(self.joint_rows, transmission.coa[joint], strict=True)
            )
            if coupling != 0.0
        ]
        terms += self.terms_on(index + self.first_number, JOINT, sign)
        offset = float(transmission.offset[joint])
        return terms + ([Term(None, ONE, sign * offset)] if offset else [])

    @cached_property
    def _terms_by_place(self) -> dict[tuple[int, str], list[Term]]:
        return terms_by_place(self)

    def terms_on(self, row: int, on: str, sign: int = 1) -> list[Term]:
        """The summands that further terms add to one element of a row."""
        found = self._terms_by_place.get((row, on), []) if self.terms else []
        return [replace(term, coefficient=float(sign)) for term in found]

    def _target_elements(self, target: Target) -> list[Element]:
        return [
            Element(False, axis, (Term(self._indices[f"{target.name}{letter}"]),))
            for axis, letter in enumerate("xyz")
        ]
