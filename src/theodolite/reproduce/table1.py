"""The paper's own elimination of redundant errors [Meggiolaro2000], from DH parameters.

Errors are named as ours, e(i)x e(i)y e(i)z and turns ry rz rx, which are the paper's 1 2 3 and
4 5 6. Eqs. 9-10 are printed for theta = 0 and hold in general with the whole rotation of the link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theodolite.calibration.analytic import Measured
from theodolite.errors import InputError
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.robot import Robot

_NAMES = ("x", "y", "z", "ry", "rz", "rx")


@dataclass(frozen=True)
class Relation:
    """The column of one error as a combination of others'; of none if it has no effect."""

    error: str
    equals: dict[str, float]
    equation: str


def relations(robot: Robot, measured: Measured, *, base: bool = True) -> list[Relation]:
    """Eqs. 7-10 link by link, and eqs. 12-13 where only positions are measured."""
    _check_table(robot)
    rows = robot.frames
    found = []
    for link, row in enumerate(rows, start=1):
        if link > 1 or base:
            found += _of_link(link, row)
    if measured is Measured.POSITION:
        found += _of_position(rows, base=base)
    return found


def error_model(robot: Robot) -> Robot:
    """E_0 A_1 E_1 ... A_n E_n [eq. 17]: six errors in the base and in every DH frame.

    The joint may stand first in A_i, since it commutes with Rz(theta) Tz(d).
    """
    _check_table(robot)
    rows = [Row(Convention.GENERALIZED, Joint.FIXED)]
    for row in robot.frames:
        a, d, theta = row.amount("a"), row.amount("d"), row.amount("theta")
        position = (a * float(np.cos(theta)), a * float(np.sin(theta)), d)
        nominal = (*position, row.amount("alpha"), 0.0, theta)
        rows.append(Row(Convention.GENERALIZED, row.joint, nominal=nominal))
    return replace(robot, frames=tuple(rows))


def _check_table(robot: Robot) -> None:
    rows = robot.frames
    if any(row.convention is not Convention.DH or row.joint is Joint.FIXED for row in rows):
        raise InputError(
            f"robot '{robot.name}' is not a table of DH rows, one per joint",
            remedy="Build it from DH rows, without base and tool frames",
        )


def _error(link: int, index: int) -> str:
    return f"e{link}{_NAMES[index - 1]}"


def _of_link(link: int, row: Row) -> list[Relation]:
    a, alpha, theta = row.amount("a"), row.amount("alpha"), row.amount("theta")
    c, s = float(np.cos(alpha)), float(np.sin(alpha))
    y, z, ry, rz = (_error(link, index) for index in (2, 3, 4, 5))
    found = [
        Relation(_error(link - 1, 3), {y: s, z: c}, "7"),
        Relation(_error(link - 1, 5), {y: a * c, z: -a * s, ry: s, rz: c}, "8"),
    ]
    if row.joint is Joint.PRISMATIC:
        ct, st = float(np.cos(theta)), float(np.sin(theta))
        x = _error(link, 1)
        found.append(Relation(_error(link - 1, 1), {x: ct, y: -st * c, z: st * s}, "9, general"))
        found.append(Relation(_error(link - 1, 2), {x: st, y: ct * c, z: -ct * s}, "10, general"))
    return found


def _of_position(rows: tuple[Row, ...], *, base: bool) -> list[Relation]:
    last = len(rows)
    found = [Relation(_error(last, index), {}, "12") for index in (4, 5, 6)]
    for link in range(last, 0 if base else 1, -1):
        row = rows[link - 1]
        if row.joint is not Joint.REVOLUTE or row.amount("a") != 0.0:
            break
        d = row.amount("d")
        x, y = _error(link - 1, 1), _error(link - 1, 2)
        found.append(Relation(_error(link - 1, 4), {x: d} if d else {}, "13"))
        found.append(Relation(_error(link - 1, 6), {y: -d} if d else {}, "13"))
        if d != 0.0:
            break
    return found


def independent(robot: Robot, measured: Measured, *, base: bool = True) -> int:
    """The paper's count as its Table 1 has it: I = N - D, with D = 2 r + 4 p + k.

    It counts too few where q of k is the number of all joints and the base is known, and too many
    where the last joints are coaxial: `analytic` does neither.
    """
    _check_table(robot)
    rows = robot.frames
    counted = rows if base else rows[1:]
    slides = sum(row.joint is Joint.PRISMATIC for row in counted)
    dependent = 2 * (len(counted) - slides) + 4 * slides + _printed_k(rows, measured)
    return 6 * (len(rows) + (1 if base else 0)) - dependent


def _printed_k(rows: tuple[Row, ...], measured: Measured) -> int:
    """k below Table 1: 0 for poses, else 3 + 2 q for the last q joints.

    They are revolute, with a = 0 in all of them and d = 0 in all but the first of them.
    """
    if measured is Measured.POSE:
        return 0
    last = 0
    for row in reversed(rows):
        if row.joint is not Joint.REVOLUTE or row.amount("a") != 0.0:
            break
        last += 1
        if row.amount("d") != 0.0:
            break
    return 3 + 2 * last


def combined_errors(found: Sequence[Relation]) -> dict[str, dict[str, float]]:
    """The combined errors of eqs. 29-32: for each error, the redundant ones that join it.

    ``{"e2y": {"e1z": sin alpha, "e1rz": a cos alpha}, ...}`` reads, as in the paper,
    ``e2y* = e2y + sin(alpha) e1z* + a cos(alpha) e1rz*``: what joins has itself been joined by
    the redundant errors of the link before. `analytic` gives the sums worked out.
    """
    combined: dict[str, dict[str, float]] = {}
    for relation in found:
        for name, value in relation.equals.items():
            if value:
                combined.setdefault(name, {})[relation.error] = value
    return combined


def joined(found: Sequence[Relation], errors: Mapping[str, float]) -> dict[str, float]:
    """Eqs. 29-32 worked out: the independent errors, with what the redundant ones add to them."""
    sums = dict(errors)
    for relation in found:
        value = sums.pop(relation.error)
        for name, factor in relation.equals.items():
            sums[name] += factor * value
    return sums
