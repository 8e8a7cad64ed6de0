"""GECARO [Khalil1996]: how many parameters each method identifies.

The paper prints no counts. The expected ones are numerical ranks computed independently from
its models: KK with beta on parallel axes, general base and tool, without and with gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console

from theodolite import robots
from theodolite.calibration.calibrate import identifiable
from theodolite.calibration.catalogue import method_named
from theodolite.report.terminal_table import Table
from theodolite.reproduce.figure import NOTHING, Figure, summary

#: The six methods of the paper.
METHODS = ("frame", "position", "position-link", "frame-link", "plane-known", "plane")
#: Robot -> method -> expected rank without and with gains.
EXPECTED = {
    robot: dict(zip(METHODS, ranks, strict=True))
    for robot, ranks in {
        "puma560": ((30, 36), (27, 33), (20, 26), (17, 23), (23, 29), (23, 29)),
        "rx90": ((30, 36), (27, 33), (20, 26), (17, 23), (23, 29), (23, 29)),
        "stanford": ((28, 34), (25, 31), (19, 24), (16, 21), (22, 27), (22, 27)),
        "scara": ((20, 24), (17, 21), (10, 13), (7, 10), (13, 16), (13, 16)),
    }.items()
}


TITLE = "Identifiable parameters without/with gains (Khalil & Lemoine 1996)"
WHY = "the paper prints no counts: these are numerical ranks of its models, computed independently"


@dataclass(frozen=True)
class Count:
    """One cell of the table."""

    robot: str
    method: str
    expected: tuple[int, int]
    found: tuple[int, int]

    @property
    def agrees(self) -> bool:
        return self.expected == self.found

    def data(self) -> dict[str, Any]:
        return {
            "robot": self.robot,
            "method": self.method,
            "expected": list(self.expected),
            "found": list(self.found),
            "agrees": self.agrees,
        }


def figures() -> list[Figure]:
    """The counts as figures; the paper itself prints none."""
    return [
        Figure(
            f"{count.robot}, {count.method}",
            NOTHING,
            "/".join(map(str, count.expected)),
            "/".join(map(str, count.found)),
            why=WHY,
        )
        for count in counts()
    ]


def counts(seed: int = 0) -> list[Count]:
    """Every robot and method, from random configurations."""
    table = []
    for name, expected in EXPECTED.items():
        robot = robots.load(name)
        for key, ranks in expected.items():
            method = method_named(key)
            # Finding configurations in one plane or at one place takes long: both use the same.
            rng = np.random.default_rng(seed)
            data = method.observe(robot, method.points_for(robot), rng, per_set=2)
            without, with_gains = (
                identifiable(robot, method, data=data, gains=gains).rank for gains in (False, True)
            )
            table.append(Count(name, key, ranks, (without, with_gains)))
    return table


def show(console: Console, found: Sequence[Figure]) -> None:
    """Robots down, methods across: ours, and the expected count where it differs."""
    shown = Table(title=TITLE, title_justify="left")
    shown.add_column("robot")
    for method in METHODS:
        # A narrow terminal breaks long names where they have a hyphen.
        shown.add_column(method.replace("-", "-\n"), justify="right")
    cells = [
        figure.ours if figure.agrees else f"[red]{figure.ours} (expected {figure.expected})[/red]"
        for figure in found
    ]
    for number, robot in enumerate(EXPECTED):
        shown.add_row(robot, *cells[number * len(METHODS) : (number + 1) * len(METHODS)])
    console.print(shown)
    console.print(f"{summary(found)}; {WHY}")
