"""Meggiolaro & Dubowsky's counts of independent errors [Meggiolaro2000]."""

from __future__ import annotations

import numpy as np

from theodolite.calibration.analytic import Measured, analytic
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.robot import Robot
from theodolite.reproduce.figure import Figure
from theodolite.reproduce.table1 import error_model

TITLE = "Independent generalized errors (Meggiolaro & Dubowsky 2000)"

_RIGHT = float(np.pi / 2)


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


def count(robot: Robot, measured: Measured, *, base: bool = True) -> str:
    """Independent generalized errors by the analytic rule."""
    model = error_model(robot)
    return str(analytic(model, measured, base=base).rank)


def scara_with_dh_errors(*, hayati: bool) -> str:
    """Four errors per link and four of the base, as generalized errors; with Hayati's turn or not.

    The DH parameters of link i are e(i-1)z e(i-1)rz e(i)x e(i)rx; Hayati adds e(i)ry.
    """
    model = error_model(scara())
    kept = {"e0x", "e0y", "e0ry", "e0rx"}
    for link in range(1, model.joints + 1):
        kept |= {f"e{link - 1}z", f"e{link - 1}rz", f"e{link}x", f"e{link}rx"}
        kept |= {f"e{link}ry"} if hayati else set()
    left_out = {p.name: 0 for p in model.parameters if p.name not in kept}
    return str(analytic(model.with_priorities(left_out), Measured.POSE).rank)


def figures() -> list[Figure]:
    """Every count of the paper, and those it does not print."""
    pose, position = Measured.POSE, Measured.POSITION
    general, wrist = puma(0.1, 0.05625), puma(0.0, 0.0)
    return [
        Figure("PUMA and base, pose", "-", "30", count(general, pose)),
        Figure("PUMA only, pose", "-", "26", count(general, pose, base=False)),
        Figure("PUMA and base, position, a6 != 0", "27", "27", count(general, position)),
        Figure("PUMA only, position, a6 != 0", "-", "23", count(general, position, base=False)),
        Figure(
            "PUMA and base, position, a6 = 0, d6 != 0",
            "27",
            "25",
            count(puma(0.0, 0.05625), position),
        ),
        Figure("PUMA and base, position, a6 = d6 = 0", "27", "21", count(wrist, position)),
        Figure("PUMA only, position, a6 = d6 = 0", "-", "17", count(wrist, position, base=False)),
        Figure("SCARA and base, pose", "20", "20", count(scara(), pose)),
        Figure("SCARA and base, position", "-", "15", count(scara(), position)),
        Figure("SCARA only, pose", "-", "16", count(scara(), pose, base=False)),
        Figure("SCARA, DH errors, pose", "15", "15", scara_with_dh_errors(hayati=False)),
        Figure("SCARA, with Hayati's, pose", "19", "19", scara_with_dh_errors(hayati=True)),
    ]
