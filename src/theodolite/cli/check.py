"""``theodolite check``: say what files hold, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from theodolite.cli.options import JsonOption, console, print_json, robot_named

NAME = "check"


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Robots, and measurements of the robot named before them."
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Say what a file holds, and what is wrong with it."""
    from theodolite.errors import InputError
    from theodolite.report.text import show_robot

    screen = console(json=json)
    robot = None
    found: list[dict[str, Any]] = []
    for file in files:
        if Path(file).suffix.lower() != ".csv":
            robot = robot_named(file)
            show_robot(screen, robot)
            found.append(
                {
                    "file": file,
                    "kind": "robot",
                    "name": robot.name,
                    "joints": robot.joints,
                    "parameters": [parameter.name for parameter in robot.parameters],
                    "chain": robot.describe(),
                }
            )
            continue
        if robot is None:
            raise InputError(
                "measurements are checked against their robot",
                where=file,
                remedy="Name the robot first: theodolite check ROBOT DATA",
            )
        found.append(_check_data(screen, Path(file), robot))
    if json:
        print_json({"files": found})


def _check_data(screen: Any, path: Path, robot: Any) -> dict[str, Any]:
    import numpy as np

    from theodolite.calibration.catalogue import method_for
    from theodolite.io.tables import read_measurements

    data = read_measurements([path], robot)
    holds = [
        name
        for name in ("positions", "rotations", "sets", "planes")
        if getattr(data, name) is not None
    ]
    readings = robot.readings(data.motors)
    moved = np.ptp(readings, axis=0) / (robot.upper - robot.lower)
    still = [f"q{joint + 1}" for joint in np.flatnonzero(moved == 0.0)]
    method = method_for(data)
    screen.print(
        f"{path}: {len(data)} configurations of {robot.name} with "
        f"{', '.join(holds) or 'joints only'}; method {method}",
        markup=False,
    )
    parts = ", ".join(f"q{joint + 1} {100 * part:.0f} %" for joint, part in enumerate(moved))
    screen.print(f"  part of each joint's range that is used: {parts}")
    if still:
        screen.print(f"  [yellow]never moved: {', '.join(still)}[/yellow]")
    return {
        "file": str(path),
        "kind": "measurements",
        "rows": len(data),
        "holds": holds,
        "method": method,
        "range_used": moved.tolist(),
        "never_moved": still,
    }
