"""Is a model complete, is it redundant, and how many parameters are there at all?

[Everett1988, 2.4]: a model is complete if it can express every geometric deviation of the machine.
The deviations are six errors per body less the analytic redundancies; what the model can express
are the combinations of its parameters' screws. One is compared with the other, before anything is
measured.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.analytic import (
    ZERO,
    Measured,
    Structure,
    analytic,
    candidates,
    combinations,
)
from theodolite.errors import InputError
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.scaling import unit_columns
from theodolite.model.chain import Skeleton
from theodolite.model.conveniences import check_machine
from theodolite.model.conventions import PARALLEL_SINE, Convention, Joint
from theodolite.model.conversion import convert
from theodolite.model.parameters import Parameter
from theodolite.model.robot import Robot
from theodolite.model.twists import adjoint

#: Rotations first: of two ways to say what is missing, the one about angles is clearer.
_DIRECTIONS = (
    (3, "a rotation about x"),
    (4, "a rotation about y"),
    (5, "a rotation about z"),
    (0, "a shift along x"),
    (1, "a shift along y"),
    (2, "a shift along z"),
)


#: Beyond this condition number a millimetre of the machine is a metre of the model: it grows with
#: the inverse square of the sine between axes, and two axes at that angle count as parallel.
ON_PAPER = 0.5 / PARALLEL_SINE**2


@dataclass(frozen=True)
class Completeness:
    """What a model can and cannot express."""

    measured: Measured
    revolute: int
    prismatic: int
    #: How many parameters exist, whatever the model.
    exist: int
    #: How many of them this model can express.
    expressed: int
    candidates: int
    #: In words, what cannot be expressed; one sentence per missing parameter.
    missing: tuple[str, ...]
    #: Parameters that no other can stand in for.
    essential: tuple[str, ...]
    #: Parameters that others can stand in for.
    redundant: tuple[str, ...]
    relations: tuple[str, ...]
    #: In words, every combination of six errors per body that changes nothing.
    combinations: tuple[str, ...]
    #: Complete and minimal sets of generalized errors, by Everett's three ways of choosing.
    suggested: dict[str, tuple[str, ...]]
    #: Of the essential errors that the model expresses.
    condition_number: float
    #: Is the base among the unknowns?
    base: bool

    @property
    def only_on_paper(self) -> bool:
        """Does the model express something only by changes larger than the machine?"""
        return self.condition_number > ON_PAPER

    @property
    def complete(self) -> bool:
        return self.expressed == self.exist

    @property
    def minimal(self) -> bool:
        return self.candidates == self.expressed

    @property
    def formula(self) -> int:
        """4 R + 2 P + 6 [Everett1988, eq. 73]: the count for measured poses."""
        return 4 * self.revolute + 2 * self.prismatic + 6


def completeness(
    robot: Robot, measured: Measured = Measured.POSE, *, base: bool = True
) -> Completeness:
    """What the robot's model can express, from its structure alone.

    About the tool; targets are not part of it. Without ``base``, where the robot stands is taken as
    known.
    """
    check_machine(robot)
    robot = robot.without_terms().with_targets(())
    skeleton = robot.skeleton.in_units_of(robot.reach() or 1.0)
    structure = Structure.of(skeleton, measured, base=base)
    known = analytic(robot, measured, base=base)
    matrix = structure.essential.T @ skeleton.screws[:, candidates(robot, base=base)]
    redundant = _redundant(matrix, known)
    names = [parameter.name for parameter in known.parameters]
    prismatic = sum(kind is Joint.PRISMATIC for kind in robot.joint_types)
    return Completeness(
        measured,
        robot.joints - prismatic,
        prismatic,
        structure.rank,
        known.rank,
        len(names),
        tuple(_missing(skeleton, structure, matrix[:, known.base])),
        tuple(name for name, other in zip(names, redundant, strict=True) if not other),
        tuple(name for name, other in zip(names, redundant, strict=True) if other),
        tuple(known.sentences()),
        tuple(explained(robot, measured, base=base)),
        {form: suggestion(robot, measured, form, base=base) for form in FORMS},
        known.condition_number,
        base,
    )


@lru_cache(maxsize=64)
def missing_errors(robot: Robot, measured: Measured) -> tuple[str, ...]:
    """In words, what the robot's model cannot express: all of ``Completeness.missing``.

    Many calibrations of one nominal robot ask for it.
    """
    robot = robot.without_terms().with_targets(())
    skeleton = robot.skeleton.in_units_of(robot.reach() or 1.0)
    structure = Structure.of(skeleton, measured)
    chosen = [index for index, parameter in enumerate(robot.parameters) if not parameter.gain]
    free = robot.with_priorities({robot.parameters[index].name: 1 for index in chosen})
    known = analytic(free, measured)
    matrix = structure.essential.T @ skeleton.screws[:, chosen]
    return tuple(_missing(skeleton, structure, matrix[:, known.base]))


def explained(robot: Robot, measured: Measured, *, base: bool = True) -> list[str]:
    """Each redundant combination of generalized errors, and why it is one."""
    model = convert(robot, Convention.GENERALIZED)
    skeleton = model.skeleton
    errors = [index for index, parameter in enumerate(model.parameters) if not parameter.gain]
    names = [model.parameters[index].name for index in errors]
    sentences = []
    for combination in combinations(skeleton, measured, base=base):
        values = np.linalg.solve(skeleton.screws[:, errors], combination.coefficients)
        values /= values[np.argmax(np.abs(values))]
        parts = [
            (value, name) for value, name in zip(values, names, strict=True) if abs(value) > ZERO
        ]
        first = min(range(len(parts)), key=lambda place: _by_frame(parts[place][1]))
        value, name = parts.pop(first)
        others = " ".join(
            f"{'-' if other / value > 0 else '+'} {_number(abs(other / value))}{second}"
            for other, second in parts
        ).removeprefix("+ ")
        effect = f"has the same effect as {others}" if others else "has no effect"
        sentences.append(f"{name} {effect}: {combination.reason}")
    return sentences


def _number(value: float) -> str:
    return "" if abs(value - 1.0) < ZERO else f"{value:.6g} "


def _redundant(matrix: FloatArray, known: Identifiability) -> list[bool]:
    """Which parameters take part in a combination that changes nothing."""
    norms = np.linalg.norm(matrix, axis=0)
    scaled = matrix / np.where(norms > ZERO, norms, 1.0)
    null = np.linalg.svd(scaled)[2][known.rank :]
    return [bool(part > ZERO**0.5) for part in np.linalg.norm(null, axis=0)]


def _missing(skeleton: Skeleton, structure: Structure, matrix: FloatArray) -> list[str]:
    """The errors that would complete the model, as sentences."""
    bodies = len(skeleton.links)
    sentences, columns = [], []
    for body in range(bodies):
        frame = adjoint(*skeleton.links[body])
        for direction, words in _DIRECTIONS:
            twist = np.zeros(6 * bodies)
            twist[6 * body : 6 * body + 6] = frame[:, direction]
            columns.append(structure.essential.T @ twist)
            sentences.append(f"{words} {_place(body, bodies)} cannot be expressed")
    rest = np.array(columns).T
    # The base columns are independent, so they span exactly what the model expresses.
    spanned = np.linalg.qr(unit_columns(matrix)[0])[0]
    rest = rest - spanned @ (spanned.T @ rest)
    found = []
    for _ in range(structure.rank - spanned.shape[1]):
        sizes = np.linalg.norm(rest, axis=0)
        # The first of the clearest: ties are broken by the order of the words.
        best = int(np.argmax(sizes > 0.999 * sizes.max()))
        found.append(sentences[best])
        direction_left = rest[:, best] / sizes[best]
        rest = rest - np.outer(direction_left, direction_left @ rest)
    return found


def _place(body: int, bodies: int) -> str:
    if body == 0:
        return "before joint 1"
    if body == bodies - 1:
        return f"after joint {body}"
    return f"between joints {body} and {body + 1}"


#: Everett's three examples: how a complete and minimal set may be chosen.
FORMS = ("perpendicular", "shifted", "polar")


def suggestion(
    robot: Robot, measured: Measured, form: str, *, base: bool = True
) -> tuple[str, ...]:
    """A complete and minimal set of generalized errors e0x ... enrz.

    - perpendicular: two turns and two shifts across each revolute axis, two turns across each
      slide, the rest at the tool [Everett1988, figure 10];
    - shifted: parameters along an axis are moved from behind the joint to before it [figure 11];
    - polar: a turn about the axis stands for a shift behind it [figure 12].
    """
    model = convert(robot, Convention.GENERALIZED)
    joints = model.joint_types

    def wanted(parameter: Parameter) -> int:
        body, symbol = parameter.frame, parameter.name.lstrip("e0123456789")
        if body == len(joints):
            return 2
        slides = joints[body] is Joint.PRISMATIC
        if symbol in ("rx", "ry"):
            return 6
        if symbol in ("x", "y"):
            return 1 if slides else 5
        if form == "shifted":
            return 4
        return 5 if form == "polar" and symbol == "rz" and not slides else 1

    chosen = {p.name: wanted(p) for p in model.parameters if not p.gain}
    known = analytic(model.with_priorities(chosen), measured, base=base)
    return tuple(sorted(known.identifiable, key=_by_frame))


def _by_frame(name: str) -> tuple[int, str]:
    """e2y before e10x."""
    symbol = name.lstrip("e0123456789")
    return int(name[1 : len(name) - len(symbol)]), symbol


@dataclass(frozen=True, eq=False)
class Completed:
    """A robot in a convention that expresses every error of it, where there is one."""

    robot: Robot
    #: The convention it is in now; None where it was kept, and what the one before cannot express.
    convention: Convention | None = None
    lacking: str = ""
    #: What is still missing.
    missing: tuple[str, ...] = ()


def completeness_of_arm(robot: Robot) -> Completeness:
    """What the model can express, about its tool; targets are no part of it."""
    return completeness(robot.with_targets(()))


def complete(robot: Robot) -> Completed:
    """The same robot in a complete convention, if its own is not: Hayati, KK or pose rows."""
    found = completeness_of_arm(robot)
    if found.complete and not found.only_on_paper:
        return Completed(robot)
    lacking = (
        "; ".join(found.missing)
        or "small changes of nearly parallel axes take metres in the parameters"
    )
    for convention in (Convention.HAYATI, Convention.KK, Convention.POSE):
        try:
            other = convert(robot, convention)
        except InputError:
            continue
        better = completeness_of_arm(other)
        if better.complete and not better.only_on_paper:
            source = f"{robot.source}, as {convention.value}"
            return Completed(replace(other, source=source), convention, lacking)
    return Completed(robot, missing=found.missing)
