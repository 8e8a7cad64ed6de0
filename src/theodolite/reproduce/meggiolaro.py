"""Meggiolaro & Dubowsky's counts of independent errors [Meggiolaro2000].

Errata: Table 1 is right for every PUMA wrist with the wrist's own k, but miscounts a robot whose
joints all meet in the measured point, and coaxial last joints. Eq. 14's theta line holds only where
a = 0: taken literally it leaves 13 DH errors of a SCARA, not the 15 that the paper prints.
"""

from __future__ import annotations

import numpy as np

from theodolite.calibration.analytic import Measured, analytic
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.robot import Robot
from theodolite.reproduce.figure import Figure
from theodolite.reproduce.table1 import error_model, independent

TITLE = "Independent generalized errors (Meggiolaro & Dubowsky 2000)"

_RIGHT = float(np.pi / 2)

OF_TABLE_1 = "the paper prints no number for this robot: table 1, evaluated with this robot's own k"
ALL_JOINTS_MEET = (
    "table 1 with q = n and the base known: it counts joint 1 among the redundant ones, although "
    "the base before it is not an unknown"
)
COAXIAL = (
    "table 1 stops at d3 != 0, but the tip lies on the common axis of joints 2 and 3, so their "
    "errors are as redundant as at a wrist"
)
EQUATION_14 = (
    "eqs. 14 and 15 taken literally join 3 d, 3 theta and 1 a: 20 - 7 = 13, against the 15 that "
    "the paper prints. The theta line needs a_i = 0; a SCARA keeps theta1 and theta2"
)


def dh_robot(name: str, table: list[tuple[int, float, float, float]]) -> Robot:
    """A robot from (sigma, d, a, alpha), without base and tool frames."""
    rows = [
        Row(Convention.DH, Joint(sigma), {"d": d, "a": a, "alpha": alpha})
        for sigma, d, a, alpha in table
    ]
    return Robot.of(name, rows)


def puma(a6: float, d6: float) -> Robot:
    """PUMA 560 by DH parameters, with a chosen last link."""
    return dh_robot(
        "puma",
        [
            (0, 0.0, 0.0, _RIGHT),
            (0, 0.0, 0.4318, 0.0),
            (0, 0.15005, 0.0203, -_RIGHT),
            (0, 0.4318, 0.0, _RIGHT),
            (0, 0.0, 0.0, -_RIGHT),
            (0, d6, a6, 0.0),
        ],
    )


def scara() -> Robot:
    """A SCARA, RRPR, all axes parallel."""
    return dh_robot(
        "scara",
        [
            (0, 0.0, 0.325, 0.0),
            (0, 0.0, 0.275, float(np.pi)),
            (1, 0.0, 0.0, 0.0),
            (0, 0.1, 0.0, 0.0),
        ],
    )


def wrist() -> Robot:
    """Three joints that meet in the measured point."""
    return dh_robot("wrist", [(0, 0.2, 0.0, _RIGHT), (0, 0.0, 0.0, -_RIGHT), (0, 0.0, 0.0, 0.0)])


def coaxial() -> Robot:
    """An arm whose last two joints turn about one axis, on which the tip lies."""
    return dh_robot("coaxial", [(0, 0.2, 0.3, 1.0), (0, 0.1, 0.0, 0.0), (0, 0.25, 0.0, 0.0)])


def count(robot: Robot, measured: Measured, *, base: bool = True) -> str:
    """Independent generalized errors by the analytic rule."""
    model = error_model(robot)
    return str(analytic(model, measured, base=base).rank)


def scara_with_dh_errors(*, hayati: bool) -> str:
    """How many of the SCARA's DH errors are independent, with Hayati's turn or without."""
    return str(rank_of(dh_errors(hayati=hayati)))


def dh_errors(*, hayati: bool) -> set[str]:
    """Four errors per link of the SCARA and four of its base, as generalized errors.

    The DH parameters of link i are e(i-1)z e(i-1)rz e(i)x e(i)rx; Hayati adds e(i)ry.
    """
    kept = {"e0x", "e0y", "e0ry", "e0rx"}
    for link in range(1, scara().joints + 1):
        kept |= {f"e{link - 1}z", f"e{link - 1}rz", f"e{link}x", f"e{link}rx"}
        kept |= {f"e{link}ry"} if hayati else set()
    return kept


def rank_of(errors: set[str]) -> int:
    """How many of some errors of the SCARA are independent, in pose."""
    model = error_model(scara())
    left_out = {p.name: 0 for p in model.parameters if p.name not in errors}
    return analytic(model.with_priorities(left_out), Measured.POSE).rank


def by_equation_14() -> int:
    """DH errors of the SCARA less those that eqs. 14 and 15 join, whatever a_i is."""
    rows = scara().frames
    joints = len(rows)
    parallel = sum(abs(np.sin(row.amount("alpha"))) < 1e-12 for row in rows[: joints - 1])
    slides = sum(row.joint is Joint.PRISMATIC for row in rows[1:])
    return 4 * (joints + 1) - 2 * parallel - slides


def theta_lines() -> list[str]:
    """Whether theta_i and theta_(i+1) of the SCARA are one unknown, for i = 1, 2, 3."""
    pairs = ({f"e{link - 1}rz", f"e{link}rz"} for link in range(1, scara().joints))
    return ["yes" if rank_of(pair) == 1 else "no" for pair in pairs]


def figures() -> list[Figure]:
    """Every count of the paper, and those that its Table 1 gives."""
    pose, position = Measured.POSE, Measured.POSITION
    general, centre = puma(0.1, 0.05625), puma(0.0, 0.0)
    on_axis = "PUMA and base, position, a6 = 0, d6 != 0"
    found = []
    for what, robot, measured, base, expected, why in (
        ("PUMA and base, pose", general, pose, True, "30", OF_TABLE_1),
        ("PUMA only, pose", general, pose, False, "26", OF_TABLE_1),
        ("PUMA and base, position, a6 != 0", general, position, True, "27", ""),
        ("PUMA only, position, a6 != 0", general, position, False, "23", OF_TABLE_1),
        (on_axis, puma(0.0, 0.05625), position, True, "25", OF_TABLE_1),
        ("PUMA and base, position, a6 = d6 = 0", centre, position, True, "21", OF_TABLE_1),
        ("PUMA only, position, a6 = d6 = 0", centre, position, False, "17", OF_TABLE_1),
        ("SCARA and base, pose", scara(), pose, True, "20", ""),
        ("SCARA and base, position", scara(), position, True, "15", OF_TABLE_1),
        ("SCARA only, pose", scara(), pose, False, "16", OF_TABLE_1),
        ("wrist only, position of its centre", wrist(), position, False, "7", ALL_JOINTS_MEET),
        ("coaxial last joints and base, position", coaxial(), position, True, "11", COAXIAL),
    ):
        printed = str(independent(robot, measured, base=base))
        ours = count(robot, measured, base=base)
        found.append(Figure(what, printed, expected, ours, why=why))
    plain, with_hayati = (scara_with_dh_errors(hayati=hayati) for hayati in (False, True))
    lines = "theta line of eq. 14 holds for joints 1-2, 2-3, 3-4 of a SCARA"
    return [
        *found,
        Figure("SCARA, 20 DH errors, pose", "15", "15", plain),
        Figure("the same by eqs. 14 and 15", str(by_equation_14()), "15", plain, why=EQUATION_14),
        Figure(lines, "yes yes yes", "no no yes", " ".join(theta_lines()), why=EQUATION_14),
        Figure("SCARA, 24 errors with Hayati's, pose", "19", "19", with_hayati),
    ]
