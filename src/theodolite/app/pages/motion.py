"""A planned motion: its curves with the limits drawn, and the robot that plays it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import ui

from theodolite.app import charts
from theodolite.app.panel import show_message
from theodolite.app.scene import RobotScene
from theodolite.app.site import Site
from theodolite.app.work import Job
from theodolite.arrays import FloatArray
from theodolite.errors import TheodoliteError
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.report.page import Axes, Chart, Series, Style

#: Pictures a second.
RATE = 12.0
#: Points of a curve.
POINTS = 400


def show_excited(site: Site, job: Job) -> None:
    """What an exciting motion reaches, its curves, and the motion itself."""
    data = site.work.data(job)
    if not data:
        return
    ui.label(
        f"Condition number {data['condition_number']:.3g} for {len(data['base_parameters'])} base "
        f"parameters, {data['duration_s']:.3g} s."
    ).classes("text-subtitle1").mark("count")
    used = ", ".join(f"{name} {100 * float(part):.0f} %" for name, part in data["use"].items())
    ui.label(f"Of the limits it uses: {used}." if used else "")
    out = job.option("--out") or ""
    try:
        machine = site.machine(job.argument(0))
        times, positions = _read(site.workspace.path(out), machine)
    except (TheodoliteError, OSError, KeyError, ValueError) as error:
        show_message(f"{out}: {error}", bad=False)
        return
    with ui.row().classes("w-full items-start"):
        with ui.column().classes("col"):
            charts.show_chart(_curves(machine, times, positions))
        with ui.column().classes("col"):
            _player(machine, times, positions)


def _read(path: Path, machine: Machine) -> tuple[FloatArray, FloatArray]:
    with path.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    units = ["rad" if kind is Joint.REVOLUTE else "m" for kind in machine.joint_types]
    names = [f"q{number}_{unit}" for number, unit in enumerate(units, 1)]
    table = np.array([[float(row[name]) for name in ("t_s", *names)] for row in rows])
    return table[:, 0], table[:, 1:]


def _curves(machine: Machine, times: FloatArray, positions: FloatArray) -> Chart:
    step = max(1, len(times) // POINTS)
    shown: list[Axes] = []
    ends = (float(times[0]), float(times[-1]))
    for joint, (name, kind) in enumerate(
        zip(machine.joint_names, machine.joint_types, strict=True)
    ):
        unit, factor = ("deg", 180 / np.pi) if kind is Joint.REVOLUTE else ("mm", 1e3)
        curve = Series(
            tuple(times[::step].tolist()), tuple((factor * positions[::step, joint]).tolist())
        )
        limits = [
            Series(ends, (float(factor * limit),) * 2, Style.GUIDE)
            for limit in (machine.lower[joint], machine.upper[joint])
            if np.isfinite(limit)
        ]
        shown.append(Axes("time (s)", f"{name} ({unit})", (curve, *limits)))
    return Chart(tuple(shown), "Joints over time; the grey lines are their limits.", across=2)


def _player(machine: Machine, times: FloatArray, positions: FloatArray) -> None:
    scene = RobotScene(machine)
    state: dict[str, Any] = {"at": 0.0, "playing": False}
    length = float(times[-1] - times[0])

    def show() -> None:
        now = times[0] + state["at"]
        joints = [np.interp(now, times, column) for column in positions.T]
        scene.move(np.array(joints))
        clock.set_text(f"{state['at']:.1f} of {length:.1f} s")

    def tick() -> None:
        if state["playing"]:
            state["at"] = (state["at"] + 1 / RATE) % length
            show()

    def turn() -> None:
        state["playing"] = not state["playing"]
        button.set_text("Pause" if state["playing"] else "Play")

    with ui.row().classes("items-center"):
        button = ui.button("Play", icon="play_circle", on_click=turn).props("outline dense")
        clock = ui.label("")
    show()
    ui.timer(1 / RATE, tick)
