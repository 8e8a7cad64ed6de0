"""The robot file: TOML, readable and writable by hand. Format: docs/reference/robot-file.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.edges import file_path
from theodolite.errors import InputError, shown
from theodolite.io.mechanism_file import MechanismReader, format_mechanism
from theodolite.io.priorities import from_matrix
from theodolite.io.product import format_product, parse_product
from theodolite.io.reading import WRITTEN_BY_HAND, read_text
from theodolite.io.terms import TermReader, format_gravity, format_terms
from theodolite.io.toml import (
    FORMAT,
    MOST_FRAMES,
    format_tolerances,
    parse_toml,
    toml_float,
    toml_key,
    toml_rows,
    toml_string,
    toml_vector,
    toml_words,
)
from theodolite.io.writing import write_text
from theodolite.model.conveniences import check_machine
from theodolite.model.conventions import Convention, Joint, Row, piece_symbols
from theodolite.model.loads import Balancer, LinkMass
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.robot import Robot, Target
from theodolite.model.transmission import Transmission

#: Names that can stand in a column of a measurement file.
_TARGET_NAME = re.compile(r"(?!q\d)[A-Za-z][A-Za-z0-9]*")
_VECTORS = ["Offset", "Qmin", "Qmax"]
_TOP = ["format", "name", "source", "units", "convention", "frames", *_VECTORS, "Com", "Coa"]
_TOP += ["priorities", "tolerances", "targets", "terms", "gravity", "Vmax", "Tmax"]
_TOP += ["masses", "balancers"]


def read_robot(path: Path | str) -> Machine:
    """A robot from its file."""
    path = file_path(path)
    return parse_robot(read_text(path, limit=WRITTEN_BY_HAND), str(path))


def parse_robot(text: str, where: str) -> Machine:
    """A robot from the text of its file; ``where`` names it in errors."""
    content = parse_toml(text, where)
    if "bodies" in content:
        return MechanismReader(content, where).mechanism()
    return _Reader(content, where).robot()


class _Reader(TermReader):
    """One robot file on its way to becoming a robot."""

    def robot(self) -> Robot:
        self.check_keys(self.content, _TOP, "")
        if self.content.get("format") != FORMAT:
            raise self.error(
                f"the format is {shown(self.content.get('format'))}", allowed=repr(FORMAT)
            )
        self.read_units()
        self.convention = self._convention(self.content.get("convention", "kk"), "convention")
        entries = self.content.get("frames")
        if not isinstance(entries, list) or not entries:
            raise self.error("has no frames", remedy="Add 'frames = [ ... ]', one row per frame")
        if len(entries) > MOST_FRAMES:
            raise self.error(f"has {len(entries)} frames", allowed=f"up to {MOST_FRAMES}")
        rows = tuple(self._row(entry, number) for number, entry in enumerate(entries, start=1))
        self.joints = [row.joint for row in rows if row.joint is not Joint.FIXED]
        self.kinds = [row.joint for row in rows]
        if not self.joints:
            raise self.error(
                "the robot has no joints", remedy="Give at least one row sigma = 0 or 1"
            )
        for key in ("Qmin", "Qmax"):
            if key not in self.content:
                raise self.error(f"has no {key}", remedy="Add it; the file may have been cut short")
        robot = Robot.of(
            self.words("name", "robot"),
            rows,
            transmission=self._transmission(entries),
            lower=self._by_joint("Qmin"),
            upper=self._by_joint("Qmax"),
            targets=self._targets(),
            source=self.words("source", ""),
            gravity=self.read_gravity(),
            speeds=self._by_joint("Vmax"),
            efforts=self._by_joint("Tmax", torques=True),
        )
        with self.naming("masses, balancers"):
            robot = robot.with_loads(self._masses(), self._balancers())
        for name, limits in (("Vmax", robot.speeds), ("Tmax", robot.efforts)):
            if limits is not None and not (limits > 0).all():
                raise self.error(f"{name} is not above 0 for joint {int(np.argmin(limits)) + 1}")
        if (robot.lower >= robot.upper).any():
            joint = int(np.argmax(robot.lower >= robot.upper)) + 1
            raise self.error(f"Qmin is not below Qmax for joint {joint}")
        robot = self._with_terms(robot)
        robot = robot.with_tolerances(self.tolerances(robot.parameters))
        return robot.with_priorities(self._priorities(robot))

    def _row(self, entry: Any, number: int) -> Row:
        place = f"frames, row {number}"
        if not isinstance(entry, dict):
            raise self.error(f"{place} is not a table of values")
        convention = self._convention(entry.get("convention", self.convention.value), place)
        allowed = ["convention", "sigma", "K"]
        if convention is Convention.PRODUCT:
            allowed += ["product"]
        else:
            allowed += Row(convention, Joint.FIXED).symbols
        if convention.has_nominal:
            allowed += ["xyz", "rpy"]
        self.check_keys(entry, allowed, place)
        if type(entry.get("sigma")) is not int or entry["sigma"] not in (0, 1, 2):
            raise self.error(
                f"{place}: sigma is {shown(entry.get('sigma'))}",
                allowed="0 (revolute), 1 (prismatic), 2 (fixed)",
            )
        joint = Joint(entry["sigma"])
        if convention is Convention.HAYATI and joint is not Joint.REVOLUTE:
            raise self.error(
                f"{place}: a hayati row is only for a revolute joint", remedy="Use kk or dh there"
            )
        if convention is Convention.PRODUCT:
            return self._product(entry.get("product"), joint, place)
        values = {
            slot.symbol: self.quantity(
                entry[slot.symbol], f"{place}, {slot.symbol}", turns=slot.rotation
            )
            for slot in Row(convention, joint).slots
            if slot.symbol in entry
        }
        nominal = (
            *self._triple(entry.get("xyz", [0, 0, 0]), f"{place}, xyz", turns=False),
            *self._triple(entry.get("rpy", [0, 0, 0]), f"{place}, rpy", turns=True),
        )
        return Row(convention, joint, values, nominal)

    def _product(self, text: Any, joint: Joint, place: str) -> Row:
        try:
            pieces, amounts = parse_product(text if isinstance(text, str) else "")
        except ValueError as error:
            raise self.error(
                f"{place}: {error}", allowed="Tx(100) Rz(q) Ry(-q+5) Rx(=90) ..."
            ) from error
        moving = [piece for piece in pieces if piece.sign]
        wanted = 0 if joint is Joint.FIXED else 1
        if len(moving) != wanted or any(p.rotation != (joint is Joint.REVOLUTE) for p in moving):
            kinds = {Joint.FIXED: "no q", Joint.REVOLUTE: "one R.(q)", Joint.PRISMATIC: "one T.(q)"}
            raise self.error(f"{place}: the product does not fit sigma", allowed=kinds[joint])
        values = {
            symbol: self.quantity(amount, f"{place}, {symbol}", turns=piece.rotation)
            for symbol, amount, piece in zip(piece_symbols(pieces), amounts, pieces, strict=True)
        }
        return Row(Convention.PRODUCT, joint, values, pieces=pieces)

    def _transmission(self, entries: list[dict[str, Any]]) -> Transmission:
        count = len(self.joints)
        gains = []
        for number, (entry, kind) in enumerate(zip(entries, self.kinds, strict=True), start=1):
            if kind is Joint.FIXED:
                if "K" in entry:
                    raise self.error(f"frames, row {number}: a fixed frame has no gain K")
                continue
            gains.append(self.number(entry.get("K", 1.0), f"frames, row {number}, K"))
        coa = self._matrix("Coa", [count, len(self.kinds)])
        if coa is not None and len(coa) != count:
            # As in the paper: one row per frame, motors in the first columns.
            moving = [kind is not Joint.FIXED for kind in self.kinds]
            coa = coa[moving][:, :count]
        transmission = Transmission.of(
            count,
            com=self._matrix("Com", [count]),
            gains=gains,
            coa=coa,
            offset=self._by_joint("Offset"),
        )
        matrix = transmission.coa * transmission.gains @ transmission.com
        if np.linalg.matrix_rank(matrix) < count:
            raise self.error(
                "Coa G(K) Com is singular: some joint is not driven by any motor",
                remedy="Check Coa, Com and the gains K",
            )
        return transmission

    def _by_joint(self, key: str, *, torques: bool = False) -> FloatArray | None:
        """A vector with one entry per joint, or one per frame as in the paper.

        Angles and lengths, or rates of these, in the file's units; or ``torques``, N m and N.
        """
        if key not in self.content:
            return None
        values = self.content[key]
        allowed = f"one number per joint ({len(self.joints)}) or per frame ({len(self.kinds)})"
        if not isinstance(values, list) or len(values) not in (len(self.joints), len(self.kinds)):
            raise self.error(f"{key} has the wrong length", allowed=allowed)
        if len(values) != len(self.joints):
            values = [v for v, k in zip(values, self.kinds, strict=True) if k is not Joint.FIXED]
        return np.array(
            [
                self.number(value, f"{key}, entry {number}")
                if torques
                else self.quantity(value, f"{key}, entry {number}", turns=kind is Joint.REVOLUTE)
                for number, (value, kind) in enumerate(zip(values, self.joints, strict=True), 1)
            ]
        )

    def _matrix(self, key: str, sizes: list[int]) -> FloatArray | None:
        if key not in self.content:
            return None
        rows = self.content[key]
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise self.error(f"{key} is not a matrix of numbers")
        numbers = [
            [self.number(item, f"{key}, row {number}") for item in row]
            for number, row in enumerate(rows, start=1)
        ]
        try:
            matrix = np.array(numbers, dtype=np.float64, ndmin=2)
        except ValueError as error:
            raise self.error(f"the rows of {key} are not equally long") from error
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) not in sizes:
            shapes = " or ".join(f"{size} x {size}" for size in sizes)
            raise self.error(f"{key} is {' x '.join(map(str, matrix.shape))}", allowed=shapes)
        return matrix

    def _targets(self) -> list[Target]:
        targets = []
        entries = self.content.get("targets", [])
        if not isinstance(entries, list):
            raise self.error("targets is not a list of points")
        for number, entry in enumerate(entries, start=1):
            place = f"targets, row {number}"
            if not isinstance(entry, dict) or "name" not in entry:
                raise self.error(f"{place} has no name")
            self.check_keys(entry, ["name", "xyz"], place)
            if not _TARGET_NAME.fullmatch(str(entry["name"])):
                raise self.error(
                    f"{place}: the name {shown(entry['name'])}",
                    allowed="letters and digits, a letter first, and not like q1",
                )
            point = self._triple(entry.get("xyz"), f"{place}, xyz", turns=False)
            targets.append(Target(str(entry["name"]), point))
        return targets

    def _masses(self) -> list[LinkMass]:
        """Weights of links, kg, with first moments in kg m whatever the file's units."""
        found = []
        for place, entry in self._entries("masses", ["row", "kg", "moment_kgm"]):
            given = entry.get("moment_kgm")
            if not isinstance(given, list) or len(given) != 3:
                raise self.error(f"{place}: moment_kgm is not three numbers")
            x, y, z = (self.number(item, f"{place}, moment_kgm") for item in given)
            mass = self.number(entry.get("kg"), f"{place}, kg")
            found.append(LinkMass(self._whole(entry, "row", place), mass, (x, y, z)))
        return found

    def _balancers(self) -> list[Balancer]:
        found = []
        for place, entry in self._entries("balancers", ["row", "torque"]):
            if not isinstance(entry.get("torque"), str):
                raise self.error(f"{place} has no torque", allowed='torque = "-900*sin(q2)", N m')
            found.append(Balancer(self._whole(entry, "row", place), entry["torque"]))
        return found

    def _entries(self, key: str, keys: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The entries of a list of tables, with what each is called in errors."""
        entries = self.content.get(key, [])
        if not isinstance(entries, list):
            raise self.error(f"{key} is not a list")
        if len(entries) > MOST_FRAMES:
            raise self.error(f"{key} has {len(entries)} rows", allowed=f"up to {MOST_FRAMES}")
        for number, entry in enumerate(entries, start=1):
            place = f"{key}, row {number}"
            if not isinstance(entry, dict):
                raise self.error(f"{place} is not a table of values")
            self.check_keys(entry, keys, place)
            yield place, entry

    def _whole(self, entry: dict[str, Any], key: str, place: str) -> int:
        if type(entry.get(key)) is not int:
            raise self.error(f"{place}: {key} is not a whole number")
        return int(entry[key])

    def _with_terms(self, robot: Robot) -> Robot:
        terms = self.read_terms(robot, "row", lambda entry, place: self._whole(entry, "row", place))
        with self.naming("terms"):
            return robot.with_terms(terms)

    def _priorities(self, robot: Robot) -> Mapping[str, int]:
        given = self.content.get("priorities", {})
        if isinstance(given, list):
            return from_matrix(robot, given, self.where)
        return self.priorities([parameter.name for parameter in robot.parameters])

    def _convention(self, name: Any, place: str) -> Convention:
        try:
            return Convention(name)
        except ValueError as error:
            allowed = [convention.value for convention in Convention]
            raise self.error(f"{place}: no convention {shown(name)}", allowed=allowed) from error

    def _triple(self, value: Any, place: str, *, turns: bool) -> tuple[float, float, float]:
        if not isinstance(value, list) or len(value) != 3:
            raise self.error(f"{place} is not three numbers")
        x, y, z = (self.quantity(item, place, turns=turns) for item in value)
        return x, y, z


def check_robot_path(path: Path | None) -> None:
    """Refuse the name of another format, which would hold a robot file nobody expects."""
    if path is not None and path.suffix.lower() in (".urdf", ".xml", ".csv", ".json"):
        raise InputError(
            f"a robot is written as a robot file, not as '{path.suffix}'",
            where=str(path),
            allowed=".toml",
        )


def write_robot(robot: Machine, path: Path | str, *, force: bool = False) -> None:
    """Write a robot in SI units, so that it reads back identically to the last bit."""
    check_machine(robot)
    path = file_path(path)
    check_robot_path(path)
    write_text(path, format_robot(robot), force=force)


def format_robot(robot: Machine) -> str:
    """The text of a robot's file."""
    if isinstance(robot, Mechanism):
        return format_mechanism(robot)
    lines = [
        f"format = {toml_string(FORMAT)}",
        f"name = {toml_words(robot.name)}",
        f"source = {toml_words(robot.source)}",
        'units = { length = "m", angle = "rad" }',
        "",
        "frames = [",
    ]
    gains = dict(zip(robot.joint_rows, robot.transmission.gains, strict=True))
    for index, row in enumerate(robot.frames):
        entry = [f"convention = {toml_string(row.convention.value)}", f"sigma = {int(row.joint)}"]
        if any(row.nominal):
            entry.append(f"xyz = {toml_vector(row.nominal[:3])}")
            entry.append(f"rpy = {toml_vector(row.nominal[3:])}")
        if row.convention is Convention.PRODUCT:
            entry.append(f"product = {toml_string(format_product(row))}")
        else:
            entry += [
                f"{symbol} = {toml_float(row.values[symbol])}"
                for symbol in row.symbols
                if symbol in row.values
            ]
        if index in gains:
            entry.append(f"K = {toml_float(gains[index])}")
        lines.append(f"  {{ {', '.join(entry)} }},")
    lines += ["]", ""]
    lines.append(f"Offset = {toml_vector(robot.transmission.offset)}")
    lines.append(f"Qmin = {toml_vector(robot.lower)}")
    lines.append(f"Qmax = {toml_vector(robot.upper)}")
    for name, limits in (("Vmax", robot.speeds), ("Tmax", robot.efforts)):
        if limits is not None:
            lines.append(f"{name} = {toml_vector(limits)}")
    for name, matrix in (("Com", robot.transmission.com), ("Coa", robot.transmission.coa)):
        if not np.array_equal(matrix, np.eye(robot.joints)):
            lines.append(f"{name} = {toml_rows(matrix)}")
    if robot.targets:
        lines += ["", "targets = ["]
        lines += [
            f"  {{ name = {toml_string(target.name)}, xyz = {toml_vector(target.position)} }},"
            for target in robot.targets
        ]
        lines.append("]")
    if robot.gravity is not None:
        lines.append(format_gravity(robot.gravity))
    if robot.masses:
        lines += ["", "masses = ["]
        lines += [
            f"  {{ row = {mass.row}, kg = {toml_float(mass.mass)}, "
            f"moment_kgm = {toml_vector(mass.moment)} }},"
            for mass in robot.masses
        ]
        lines.append("]")
    if robot.balancers:
        lines += ["", "balancers = ["]
        lines += [
            f"  {{ row = {spring.row}, torque = {toml_string(spring.torque)} }},"
            for spring in robot.balancers
        ]
        lines.append("]")
    lines += format_terms(robot.terms, lambda row: f"row = {row}, ")
    if robot.priorities:
        lines += ["", "[priorities]"]
        lines += [f"{toml_key(name)} = {value}" for name, value in robot.priorities.items()]
    lines += format_tolerances(robot.tolerances)
    return "\n".join(lines) + "\n"
