"""A mapping for a file that nobody has described: from names, and from what fits the robot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.io.hypotheses import GOOD, Reading, Trial, Tried, best, directions
from theodolite.io.mapping import Mapping, Term
from theodolite.io.naming import LABELS, column_name, with_unit
from theodolite.io.number_table import written_names
from theodolite.io.roles import Roles, roles
from theodolite.io.sheets import Sheet, read_sheet
from theodolite.io.units import ANGLES, LARGEST_NUMBER, LENGTHS
from theodolite.model.conventions import Joint
from theodolite.model.robot import Robot

#: Readings whose misfits differ by less than this factor are equally good.
ALIKE = 1.25
#: Smaller misfits, as parts of the spread, are those of noise and rounding: no measure of fit.
FINEST = 1e-4
#: A reading that is so many times better than all that differ from it is beyond doubt.
CLEAR = 3.0
#: How far the scale may be from a unit's: nominal robots are truer to size.
SCALE = 0.05
#: Columns that keep their names beside joints and positions.
_KEPT = (*LABELS, "qw", "qx", "qy", "qz")


class Certainty(Enum):
    """How sure a proposal is."""

    SURE = "sure: it fits, and nothing else does"
    LIKELY = "likely: it fits, but something else does too"
    NAMES = "by names only: there are too few positions to check it"
    NONE = "no interpretation of these columns fits the robot"


@dataclass(frozen=True)
class Proposal:
    """What the columns seem to be."""

    mapping: Mapping
    certainty: Certainty
    #: What is unusual, in sentences; empty where the file can be read as it stands.
    findings: tuple[str, ...]
    #: What the data do not tell.
    undecided: tuple[str, ...]
    #: Rms distance from the nominal robot, with base and target fitted; metres.
    rms: float | None = None

    @property
    def usable(self) -> bool:
        return self.certainty is not Certainty.NONE


def propose(path: Path, robot: Robot, *, named: Sequence[str] | None = None) -> Proposal:
    """The mapping that fits a robot best; InputError where no columns could be its joints."""
    sheet = read_sheet(path, named=named)
    names = written_names(sheet)
    columns = dict(_numbers(sheet, names))
    units = {p: with_unit(column_name(names[p], sheet.units[p]))[1] for p in columns}
    found = roles({place: names[place] for place in columns}, robot.joints)
    tried = [_Try(robot, columns, units, candidate) for candidate in found]
    ready = [each for each in tried if each.trial.decidable]
    if not ready and found and found[0].by_name:
        return _by_names(tried[0], names)
    if not ready:
        raise InputError(
            f"has no {robot.joints} columns that could be the joints of '{robot.name}'",
            where=str(path),
            remedy="Name them in a mapping: q1_deg=...,q2_deg=...",
        )
    if len(ready) > 1:
        # The candidates in brief: what fits best in any direction.
        ready.sort(key=lambda each: each.brief())
    winner = ready[0]
    return _proposal(winner, winner.search(), names, columns)


def _numbers(sheet: Sheet, names: Sequence[str]) -> Iterator[tuple[int, FloatArray]]:
    """The columns with numbers, by place."""
    for place in range(len(sheet.columns)):
        try:
            values = sheet.numbers(place, names[place], largest=LARGEST_NUMBER)
        except InputError:
            continue
        if np.isfinite(values).any():
            yield place, values


class _Try:
    """One way to cut a file into joints and positions."""

    def __init__(
        self, robot: Robot, columns: dict[int, FloatArray], units: dict[int, str], roles: Roles
    ) -> None:
        self.robot, self.roles = robot, roles
        joints = np.column_stack([columns[place] for place in roles.joints])
        points = np.stack(
            [np.column_stack([columns[place] for place in point]) for point in roles.points], axis=1
        )
        whole = np.isfinite(joints).all(axis=1) & np.isfinite(points).all(axis=(1, 2))
        self.joints, self.points = joints[whole], points[whole]
        self.revolute = np.array([kind is Joint.REVOLUTE for kind in robot.joint_types])
        self.length = next((units[p] for p in roles.points[0] if units[p] in LENGTHS), None)
        turning = [units[p] for p, turns in zip(roles.joints, self.revolute, strict=True) if turns]
        sliding = [units[p] for p, t in zip(roles.joints, self.revolute, strict=True) if not t]
        self.angle = next((unit for unit in turning if unit in ANGLES), None)
        self.slide = next((unit for unit in sliding if unit in LENGTHS), None)
        count = robot.joints
        self.plain = Reading(
            tuple(range(count)),
            (1,) * count,
            (0,) * count,
            self.angle or ("deg" if self._turned() > 2 * np.pi else "rad"),
            self.slide or "mm",
        )
        if len(self.joints):
            self.trial = Trial(robot, self.joints, self.points)
        else:
            self.trial = Trial(robot, np.zeros((1, count)), np.zeros((1, 1, 3)))

    def _turned(self) -> float:
        """The largest reading of a revolute joint, as it stands."""
        return float(np.abs(self.joints[:, self.revolute]).max(initial=0.0))

    def units(self) -> list[tuple[str, str]]:
        """Units to try: those in the names first; radians never reach as far as degrees."""
        angles = dict.fromkeys((self.plain.angle, "deg", "rad"))
        if self._turned() > 8 * np.pi:
            angles.pop("rad" if self.plain.angle != "rad" else "", None)
        slides = (self.plain.slide,) if self.revolute.all() else (self.plain.slide, "mm", "m")
        return [(angle, slide) for angle in angles for slide in dict.fromkeys(slides)]

    def brief(self) -> float:
        """How well the best direction fits."""
        readings = directions(self.plain, self.units(), self.revolute)
        return self.trial.placed(self.trial.promising(readings))[0].misfit

    def search(self) -> list[Tried]:
        return best(self.trial, self.plain, self.units())


def _proposal(
    winner: _Try, found: list[Tried], names: Sequence[str], columns: dict[int, FloatArray]
) -> Proposal:
    """The simplest of the readings that fit best, what it means and what else would do."""
    # A nominal robot is off by itself: what is unusual has to fit clearly better to be believed.
    alike = [each for each in found if each.misfit <= CLEAR * max(found[0].misfit, FINEST)]
    chosen = min(alike, key=lambda each: (each.reading.changes(winner.plain), each.misfit))
    unit = _unit(chosen.scale)
    mapping = _mapping(winner, chosen.reading, unit or winner.length or "mm", names, columns)
    rms = chosen.misfit * winner.trial.spread / chosen.scale if chosen.scale > 0 else None
    if chosen.misfit > GOOD:
        return Proposal(mapping, Certainty.NONE, (), (), rms)
    misfit = max(chosen.misfit, FINEST)
    same = [
        joint
        for joint in range(len(chosen.reading.signs))
        if _misfit(winner.trial, chosen.reading.flipped(joint)) <= ALIKE * misfit
    ]
    undecided = [f"the direction of joint {joint + 1} changes nothing" for joint in same]
    # Symmetric arms always have a mirror image; it matters only where something is unusual.
    unusual = chosen.reading.changes(winner.plain) > 0
    rivals = [
        each
        for each in found
        if each.misfit <= CLEAR * misfit and not _differs_only_in(each, chosen, same)
    ]
    better = [each for each in rivals if ALIKE * each.misfit < chosen.misfit]
    rivals = rivals if unusual else better
    undecided += [
        f"{_words(each.reading, winner.plain) or 'as the names say'} fits "
        f"{'slightly better' if each in better else 'equally well'}"
        for each in rivals[:2]
    ]
    certainty = Certainty.LIKELY if rivals or same else Certainty.SURE
    findings = tuple(_findings(winner, chosen, unit, names))
    return Proposal(mapping, certainty, findings, tuple(undecided), rms)


def _misfit(trial: Trial, reading: Reading) -> float:
    """Of one reading in its own hand."""
    return next(t.misfit for t in trial.placed([reading]) if t.reading == reading)


def _by_names(only: _Try, names: Sequence[str]) -> Proposal:
    mapping = _mapping(only, only.plain, only.length or "mm", names, {})
    return Proposal(mapping, Certainty.NAMES, (), ())


def _unit(scale: float) -> str | None:
    """The unit in which a metre of the robot has this length."""
    unit = min(LENGTHS, key=lambda name: abs(np.log(scale * LENGTHS[name])) if scale > 0 else 1.0)
    return unit if abs(scale * LENGTHS[unit] - 1.0) < SCALE else None


def _differs_only_in(one: Tried, other: Tried, joints: Sequence[int]) -> bool:
    """Are two readings the same but for the directions of joints that change nothing?"""
    signs = list(one.reading.signs)
    for joint in joints:
        signs[joint] = other.reading.signs[joint]
    return replace(one.reading, signs=tuple(signs)) == other.reading


def _findings(winner: _Try, chosen: Tried, unit: str | None, names: Sequence[str]) -> Iterator[str]:
    """What is unusual about the file, each in a sentence."""
    reading, plain = chosen.reading, winner.plain
    if not winner.roles.by_name:
        first = names[winner.roles.joints[0]]
        yield f"column names say nothing; joints starting at column '{first}' fit best"
    if winner.angle is not None and reading.angle != winner.angle:
        yield f"joints are in {reading.angle}, not in {winner.angle} as their names say"
    if winner.slide is not None and reading.slide != winner.slide:
        yield f"slides are in {reading.slide}, not in {winner.slide} as their names say"
    if unit is None:
        size = chosen.scale * LENGTHS[winner.length or "mm"]
        yield f"positions are {size:.3g} times as large as the robot's"
    elif winner.length is not None and unit != winner.length:
        yield f"positions are in {unit}, not in {winner.length} as their names say"
    words = _words(replace(reading, angle=plain.angle, slide=plain.slide), plain)
    if words:
        yield words


def _words(reading: Reading, plain: Reading) -> str:
    """How a reading differs from the plain one."""
    parts = []
    if reading.angle != plain.angle:
        parts.append(f"joints in {reading.angle}")
    if reading.mirrored:
        parts.append("left-handed coordinates")
    reversed_joints = [str(n) for n, sign in enumerate(reading.signs, 1) if sign < 0]
    if reversed_joints:
        *others, last = reversed_joints
        named = f"joints {', '.join(others)} and {last}" if others else f"joint {last}"
        parts.append(f"{named} reversed")
    moved = [
        n for n, (a, b) in enumerate(zip(reading.order, plain.order, strict=True), 1) if a != b
    ]
    if len(moved) == 2:
        parts.append(f"joints {moved[0]} and {moved[1]} exchanged")
    elif moved:
        parts.append(f"joints in the order {' '.join(str(n + 1) for n in reading.order)}")
    for joint, quarter in enumerate(reading.quarters, 1):
        if quarter:
            parts.append(f"joint {joint} counts from {_degrees(quarter):+g} deg")
    return "; ".join(parts)


def _degrees(quarters: int) -> float:
    return {0: 0.0, 1: 90.0, 2: 180.0, 3: -90.0}[quarters]


def _mapping(
    winner: _Try,
    reading: Reading,
    unit: str,
    names: Sequence[str],
    columns: dict[int, FloatArray],
) -> Mapping:
    """The mapping that a reading stands for."""

    def named(place: int) -> str:
        """The column's name, or its number where another one has that name."""
        return names[place] if list(names).count(names[place]) == 1 else f"#{place + 1}"

    terms: dict[str, Term] = {}
    for joint, turns in enumerate(winner.revolute):
        own = reading.angle if turns else reading.slide
        zero = np.radians(_degrees(reading.quarters[joint])) / ANGLES[own] if turns else 0.0
        column = named(winner.roles.joints[reading.order[joint]])
        terms[f"q{joint + 1}_{own}"] = Term(column, float(reading.signs[joint]), float(zero))
    for target, point in zip(winner.roles.targets, winner.roles.points, strict=True):
        for letter, place in zip("xyz", point, strict=True):
            name = f"{target}_{letter}_{unit}" if target else f"{letter}_{unit}"
            sign = -1.0 if reading.mirrored and letter == "z" else 1.0
            terms[name] = Term(named(place), sign)
    for place in columns:
        if names[place] in _KEPT:
            terms[names[place]] = Term(named(place))
    return Mapping(terms)
