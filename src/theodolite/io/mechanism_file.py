"""Mechanisms in robot files: joints, bodies, closures. Format: docs/reference/mechanism-file.md."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from theodolite.errors import InputError, shown
from theodolite.io.product import format_elements, parse_elements
from theodolite.io.terms import TermReader, format_gravity, format_terms
from theodolite.io.toml import (
    FORMAT,
    MOST_BODIES,
    format_tolerances,
    toml_float,
    toml_key,
    toml_rows,
    toml_string,
    toml_vector,
    toml_words,
)
from theodolite.model.bodies import Body, BodyElement, Closure, ClosureKind, MechanismJoint
from theodolite.model.conventions import Joint
from theodolite.model.forces import Shaft, Spring, TorqueCurve
from theodolite.model.linkage import UPRIGHT
from theodolite.model.mechanism import Mechanism

_TOP = ["format", "name", "source", "units", "joints", "bodies", "closures", "tool", "tools"]
_TOP += ["constants", "priorities", "tolerances", "shafts", "springs", "torques"]
_TOP += ["terms", "gravity"]
_NAME = re.compile(r"[A-Za-z]\w*")
#: Joints that would be taken for other columns of a measurement file.
_RESERVED = re.compile(r"(x|y|z|rx|ry|rz|set|qw|qx|qy|qz|plane_.*)$")


class MechanismReader(TermReader):
    """One robot file with bodies on its way to becoming a mechanism."""

    def mechanism(self) -> Mechanism:
        self.check_keys(self.content, _TOP, "")
        if self.content.get("format") != FORMAT:
            raise self.error(
                f"the format is {shown(self.content.get('format'))}", allowed=repr(FORMAT)
            )
        self.read_units()
        joints = self._table("joints")
        names = [self._name(entry, f"joints, row {n}") for n, entry in enumerate(joints, 1)]
        for number, name in enumerate(names, 1):
            if _RESERVED.match(name):
                raise self.error(
                    f"joints, row {number}: a joint called '{name}' would be taken for a "
                    "measurement",
                    remedy="Rename it, for instance to t1",
                )
        constants = self.content.get("constants", {})
        if not isinstance(constants, dict):
            raise self.error("constants is not a table of names and values")
        self._constants = list(constants)
        bodies = tuple(
            self._body(entry, names, number)
            for number, entry in enumerate(self._table("bodies"), 1)
        )
        closures = tuple(
            self._closure(entry, names, number)
            for number, entry in enumerate(self._table("closures", needed=False), 1)
        )
        tools = self._tools(bodies)
        turns = self._kinds([e for b in bodies for e in b.elements])
        turns |= self._kinds([c.length for c in closures if c.length is not None])
        found = [
            (self._joint(entry, turns.get(name, True), number), bool(entry.get("passive", False)))
            for number, (entry, name) in enumerate(zip(joints, names, strict=True), 1)
        ]
        angles = {name for b in bodies for e in b.elements if e.rotation for name, _ in e.constants}
        try:
            mechanism = Mechanism(
                self.words("name", "mechanism"),
                bodies,
                tool=tools[0],
                further_tools=tools[1:],
                closures=closures,
                active=tuple(joint for joint, passive in found if not passive),
                passive=tuple(joint for joint, passive in found if passive),
                constants={
                    name: self.quantity(value, f"constants, {name}", turns=name in angles)
                    for name, value in constants.items()
                },
                source=self.words("source", ""),
                shafts=tuple(
                    self._shaft(entry, number)
                    for number, entry in enumerate(self._table("shafts", needed=False), 1)
                ),
                springs=tuple(
                    self._spring(entry, number)
                    for number, entry in enumerate(self._table("springs", needed=False), 1)
                ),
                curves=tuple(
                    self._curve(entry, turns, number)
                    for number, entry in enumerate(self._table("torques", needed=False), 1)
                ),
            )
        except InputError as error:
            raise error if error.where else error.at(self.where) from None
        mechanism = self._with_terms(mechanism)
        mechanism = mechanism.with_tolerances(self.tolerances(mechanism.parameters))
        return mechanism.with_priorities(
            self.priorities([parameter.name for parameter in mechanism.parameters])
        )

    def _with_terms(self, mechanism: Mechanism) -> Mechanism:
        gravity = self.read_gravity() or mechanism.gravity
        numbers = {name: number for number, name in enumerate(mechanism.joint_names, start=1)}

        def row_of(entry: dict[str, Any], place: str) -> int:
            joint = entry.get("joint")
            if joint is not None and joint not in numbers:
                raise self.error(
                    f"{place}: {shown(joint)} is not a measured joint", allowed=list(numbers)
                )
            return 0 if joint is None else numbers[joint]

        terms = self.read_terms(mechanism, "joint", row_of)
        with self.naming("terms"):
            return replace(mechanism, gravity=gravity).with_terms(terms)

    def _tools(self, bodies: tuple[Body, ...]) -> tuple[str, ...]:
        """The tool, or the tools: a machine may have several arms."""
        if "tools" not in self.content:
            return (str(self.content.get("tool", bodies[-1].name)),)
        tools = self.content["tools"]
        if (
            "tool" in self.content
            or not isinstance(tools, list)
            or not tools
            or len(set(map(str, tools))) < len(tools)
        ):
            raise self.error(
                f"tools are {shown(tools)}",
                allowed='tool = "hand", or tools = ["left", "right"] with names of bodies',
            )
        return tuple(map(str, tools))

    def _table(self, key: str, *, needed: bool = True) -> list[dict[str, Any]]:
        entries = self.content.get(key)
        if not needed and entries in (None, []):
            return []
        if not isinstance(entries, list) or not entries:
            raise self.error(f"has no {key}", remedy=f"Add '{key} = [ ... ]', one row for each")
        if len(entries) > MOST_BODIES:
            raise self.error(f"has {len(entries)} {key}", allowed=f"up to {MOST_BODIES}")
        for number, entry in enumerate(entries, 1):
            if not isinstance(entry, dict):
                raise self.error(f"{key}, row {number} is not a table of values")
        return entries

    def _name(self, entry: dict[str, Any], place: str) -> str:
        name = entry.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self.error(
                f"{place}: the name {shown(name)}", allowed="letters and digits, as in t1"
            )
        return name

    def _joint(self, entry: dict[str, Any], turns: bool, number: int) -> MechanismJoint:
        place = f"joints, row {number}"
        self.check_keys(entry, ["name", "passive", "home", "min", "max", "K", "friction"], place)
        if not isinstance(entry.get("passive", False), bool):
            raise self.error(
                f"{place}: passive is {shown(entry['passive'])}", allowed="true, false"
            )
        passive = bool(entry.get("passive", False))
        numbers = {
            key: self.quantity(entry[key], f"{place}, {key}", turns=turns)
            for key in ("home", "min", "max")
            if key in entry
        }
        if not passive and not {"min", "max"} <= set(numbers):
            raise self.error(
                f"{place}: '{entry['name']}' is measured but has no limits",
                remedy="Add min and max, or passive = true",
            )
        lower, upper = numbers.get("min", -np.inf), numbers.get("max", np.inf)
        if lower >= upper:
            raise self.error(f"{place}: min is not below max")
        return MechanismJoint(
            entry["name"],
            Joint.REVOLUTE if turns else Joint.PRISMATIC,
            numbers.get("home"),
            lower,
            upper,
            self.number(entry.get("K", 1.0), f"{place}, K"),
            self._friction(entry, place) if passive else self._no_friction(entry, place),
        )

    def _friction(self, entry: dict[str, Any], place: str) -> tuple[str, ...]:
        """Names of friction terms; which there are is known where they are used."""
        names = entry.get("friction", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.error(
                f"{place}: friction is {shown(names)}", allowed='as in ["viscous", "coulomb"]'
            )
        return tuple(names)

    def _no_friction(self, entry: dict[str, Any], place: str) -> tuple[str, ...]:
        if "friction" in entry:
            raise self.error(
                f"{place}: '{entry['name']}' is measured",
                remedy="Its friction is chosen when its dynamics are identified",
            )
        return ()

    def _shaft(self, entry: dict[str, Any], number: int) -> Shaft:
        place = f"shafts, row {number}"
        self.check_keys(entry, ["name", "turns", "friction"], place)
        turns = entry.get("turns")
        if not isinstance(turns, dict) or not turns:
            raise self.error(
                f"{place}: turns is {shown(turns)}",
                allowed="joints with factors, as in { q2 = 1, q3 = -0.5 }",
            )
        factors = tuple(
            (str(joint), self.number(factor, f"{place}, turns, {joint}"))
            for joint, factor in turns.items()
        )
        return Shaft(self._name(entry, place), factors, self._friction(entry, place))

    def _spring(self, entry: dict[str, Any], number: int) -> Spring:
        place = f"springs, row {number}"
        self.check_keys(entry, ["name", "ends", "free_length", "stiffness"], place)
        ends = entry.get("ends")
        if not isinstance(ends, list) or len(ends) != 2 or ends[0] == ends[1]:
            raise self.error(f"{place}: ends are {shown(ends)}", allowed="the names of two bodies")
        length = stiffness = None
        if "free_length" in entry:
            length = self.quantity(entry["free_length"], f"{place}, free_length", turns=False)
        if "stiffness" in entry:
            stiffness = self.number(entry["stiffness"], f"{place}, stiffness")
            if length is None:
                raise self.error(
                    f"{place}: a spring of known stiffness needs its free_length",
                    remedy="Give it, or leave out both to identify them",
                )
        for value, what in ((length, "free_length"), (stiffness, "stiffness")):
            if value is not None and value < 0:
                raise self.error(f"{place}: {what} is negative")
        return Spring(self._name(entry, place), (str(ends[0]), str(ends[1])), length, stiffness)

    def _curve(self, entry: dict[str, Any], turns: dict[str, bool], number: int) -> TorqueCurve:
        place = f"torques, row {number}"
        self.check_keys(entry, ["on", "polynomial", "table"], place)
        on = str(entry.get("on"))
        given = entry.get("polynomial", entry.get("table"))
        if (
            ("polynomial" in entry) == ("table" in entry)
            or not isinstance(given, list)
            or not given
        ):
            raise self.error(
                f"{place}: the torque is not given",
                allowed="polynomial = [Nm, Nm/rad, Nm/rad2 ...] or table = [[position, Nm], ...]",
            )
        if "polynomial" in entry:
            return TorqueCurve(
                on, tuple(self.number(value, f"{place}, polynomial") for value in given)
            )
        points = []
        for row in given:
            if not isinstance(row, list) or len(row) != 2:
                raise self.error(f"{place}: {shown(row)}", allowed="[position, Nm]")
            at = self.quantity(row[0], f"{place}, table", turns=turns.get(on, True))
            points.append((at, self.number(row[1], f"{place}, table")))
        if any(b[0] <= a[0] for a, b in pairwise(points)):
            raise self.error(f"{place}: the positions of the table do not increase")
        return TorqueCurve(on, points=tuple(points))

    def _kinds(self, elements: list[BodyElement]) -> dict[str, bool]:
        """Which joints turn."""
        turns: dict[str, bool] = {}
        for element in elements:
            if element.joint is None:
                continue
            if turns.setdefault(element.joint, element.rotation) != element.rotation:
                raise self.error(f"joint '{element.joint}' is used both to turn and to slide")
        return turns

    def _body(self, entry: dict[str, Any], joints: list[str], number: int) -> Body:
        place = f"bodies, row {number}"
        self.check_keys(entry, ["name", "on", "product"], place)
        text = entry.get("product")
        try:
            elements = parse_elements(
                text if isinstance(text, str) else "", joints, self._constants
            )
        except ValueError as error:
            raise self.error(
                f"{place}: {error}",
                allowed="Tx(100) Rz(t1) Ry(-t1+5) Rx(=90) Tz(L) ... with joints "
                f"{', '.join(joints)}",
            ) from error
        scaled = tuple(self._in_si(element, place) for element in elements)
        return Body(self._name(entry, place), str(entry.get("on", "world")), scaled)

    def _in_si(self, element: BodyElement, place: str) -> BodyElement:
        return replace(element, amount=self.quantity(element.amount, place, turns=element.rotation))

    def _closure(self, entry: dict[str, Any], joints: list[str], number: int) -> Closure:
        place = f"closures, row {number}"
        self.check_keys(entry, ["name", "kind", "ends", "length"], place)
        try:
            kind = ClosureKind(entry.get("kind"))
        except ValueError as error:
            raise self.error(
                f"{place}: no kind {shown(entry.get('kind'))}",
                allowed=[kind.value for kind in ClosureKind],
            ) from error
        ends = entry.get("ends")
        if not isinstance(ends, list) or len(ends) != 2:
            raise self.error(f"{place}: ends are {shown(ends)}", allowed="the names of two bodies")
        name = self._name({"name": entry.get("name", f"loop{number}")}, place)
        length = entry.get("length")
        if kind is not ClosureKind.ROD:
            if length is not None:
                raise self.error(f"{place}: only a rod has a length")
            return Closure(name, kind, (str(ends[0]), str(ends[1])))
        text = length if isinstance(length, str) else repr(self.number(length, f"{place}, length"))
        try:
            element, *more = parse_elements(f"Tx({text})", joints, self._constants)
            if more:
                raise ValueError("a rod's length follows one joint")
        except ValueError as error:
            raise self.error(
                f"{place}, length: {error}", allowed='300, "=300", "L", "q1+L", "q1+300"'
            ) from error
        return Closure(name, kind, (str(ends[0]), str(ends[1])), self._in_si(element, place))


def format_mechanism(mechanism: Mechanism) -> str:
    """The text of a mechanism's file, in SI."""
    lines = [
        f"format = {toml_string(FORMAT)}",
        f"name = {toml_words(mechanism.name)}",
        f"source = {toml_words(mechanism.source)}",
        'units = { length = "m", angle = "rad" }',
        _tools_text(mechanism),
        "",
        "joints = [",
    ]
    lines += [f"  {{ {_joint_text(joint)} }}," for joint in mechanism.active]
    lines += [f"  {{ {_joint_text(joint)}, passive = true }}," for joint in mechanism.passive]
    lines += ["]", "", "bodies = ["]
    lines += [
        f"  {{ name = {toml_string(body.name)}, on = {toml_string(body.parent)}, "
        f"product = {toml_string(format_elements(body.elements))} }},"
        for body in mechanism.bodies
    ]
    lines += ["]", "", "closures = ["]
    lines += [f"  {{ {_closure_text(closure)} }}," for closure in mechanism.closures]
    lines.append("]")
    lines += _forces_text(mechanism)
    if mechanism.gravity != UPRIGHT:
        lines += ["", format_gravity(mechanism.gravity)]
    lines += format_terms(mechanism.terms, partial(_joint_of_term, mechanism))
    if mechanism.constants:
        lines += ["", "[constants]"]
        lines += [
            f"{toml_key(name)} = {toml_float(value)}" for name, value in mechanism.constants.items()
        ]
    if mechanism.priorities:
        lines += ["", "[priorities]"]
        lines += [f"{toml_key(name)} = {value}" for name, value in mechanism.priorities.items()]
    lines += format_tolerances(mechanism.tolerances)
    return "\n".join(lines) + "\n"


def _joint_of_term(mechanism: Mechanism, row: int) -> str:
    return f"joint = {toml_string(mechanism.joint_names[row - 1])}, " if row else ""


def _tools_text(mechanism: Mechanism) -> str:
    if not mechanism.further_tools:
        return f"tool = {toml_string(mechanism.tool)}"
    return f"tools = [{', '.join(map(toml_string, mechanism.tools))}]"


def _joint_text(joint: MechanismJoint) -> str:
    entry = [f"name = {toml_string(joint.name)}"]
    if joint.home is not None:
        entry.append(f"home = {toml_float(joint.home)}")
    limits = (("min", joint.lower), ("max", joint.upper))
    entry += [f"{key} = {toml_float(value)}" for key, value in limits if np.isfinite(value)]
    if joint.gain != 1.0:
        entry.append(f"K = {toml_float(joint.gain)}")
    if joint.friction:
        entry.append(f"friction = {_strings(joint.friction)}")
    return ", ".join(entry)


def _forces_text(mechanism: Mechanism) -> list[str]:
    """Shafts, springs and known torques, where there are any."""
    lines: list[str] = []
    if mechanism.shafts:
        lines += ["", "shafts = ["]
        for shaft in mechanism.shafts:
            turns = ", ".join(f"{toml_key(n)} = {toml_float(f)}" for n, f in shaft.turns)
            lines.append(
                f"  {{ name = {toml_string(shaft.name)}, turns = {{ {turns} }}, "
                f"friction = {_strings(shaft.friction)} }},"
            )
        lines.append("]")
    if mechanism.springs:
        lines += ["", "springs = ["]
        for spring in mechanism.springs:
            entry = [f"name = {toml_string(spring.name)}", f"ends = {_strings(spring.ends)}"]
            if spring.free_length is not None:
                entry.append(f"free_length = {toml_float(spring.free_length)}")
            if spring.stiffness is not None:
                entry.append(f"stiffness = {toml_float(spring.stiffness)}")
            lines.append(f"  {{ {', '.join(entry)} }},")
        lines.append("]")
    if mechanism.curves:
        lines += ["", "torques = ["]
        for curve in mechanism.curves:
            what = (
                f"table = {toml_rows(np.array(curve.points))}"
                if curve.points
                else f"polynomial = {toml_vector(curve.polynomial)}"
            )
            lines.append(f"  {{ on = {toml_string(curve.on)}, {what} }},")
        lines.append("]")
    return lines


def _strings(names: tuple[str, ...]) -> str:
    return f"[{', '.join(map(toml_string, names))}]"


def _closure_text(closure: Closure) -> str:
    ends = ", ".join(map(toml_string, closure.ends))
    entry = [
        f"name = {toml_string(closure.name)}",
        f"kind = {toml_string(closure.kind.value)}",
        f"ends = [{ends}]",
    ]
    if closure.length is not None:
        inside = format_elements((closure.length,)).removeprefix("Tx(").removesuffix(")")
        entry.append(f"length = {toml_string(inside)}")
    return ", ".join(entry)
