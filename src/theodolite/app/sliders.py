"""A robot in space that is moved by a slider for each joint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui import ui

from theodolite.app.panel import show_message
from theodolite.app.scene import RobotScene
from theodolite.errors import TheodoliteError
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.model.poses import roll_pitch_yaw
from theodolite.report.skeleton import Drawn


def show_robot(machine: Machine, *, dark: bool = False) -> None:
    """The robot in space with a slider for each joint."""
    try:
        scene = RobotScene(machine, dark=dark)
    except TheodoliteError as error:
        show_message(str(error))
        return
    where = ui.label().classes("font-mono text-caption").mark("pose")
    readings = scene.readings.copy()

    def tell(drawn: Drawn) -> None:
        at = 1e3 * drawn.tool
        turned = np.degrees(roll_pitch_yaw(drawn.orientation))
        where.set_text(
            f"x {at[0]:.2f}  y {at[1]:.2f}  z {at[2]:.2f} mm   "
            f"roll {turned[0]:.2f}  pitch {turned[1]:.2f}  yaw {turned[2]:.2f} deg"
        )

    tell(scene.skeleton.place(readings))
    for number, (name, kind) in enumerate(
        zip(machine.joint_names, machine.joint_types, strict=True)
    ):
        unit, factor = ("deg", np.pi / 180) if kind is Joint.REVOLUTE else ("mm", 1e-3)
        low, high = machine.lower[number] / factor, machine.upper[number] / factor
        if not np.isfinite([low, high]).all():
            low, high = -180.0, 180.0
        _slider(
            name,
            unit,
            low,
            high,
            readings[number] / factor,
            _mover(scene, readings, number, factor, tell),
        )


def _mover(
    scene: RobotScene, readings: Any, number: int, factor: float, tell: Callable[[Drawn], None]
) -> Callable[[float], bool]:
    def move(value: float) -> bool:
        before = readings[number]
        readings[number] = value * factor
        drawn = scene.move(readings)
        if drawn is None:
            readings[number] = before
            return False
        tell(drawn)
        return True

    return move


def _slider(
    name: str, unit: str, low: float, high: float, value: float, move: Callable[[float], bool]
) -> None:
    with ui.row().classes("no-wrap items-center w-full gap-2"):
        ui.label(name).classes("w-10")
        slider = ui.slider(min=low, max=high, step=(high - low) / 400, value=value)
        slider.props["aria-label"] = f"joint {name} ({unit})"
        shown = ui.label(f"{value:.1f} {unit}").classes("w-24")

        def moved(event: Any) -> None:
            closed = move(float(event.value))
            words = f"{event.value:.1f} {unit}" if closed else "cannot close"
            shown.set_text(words)

        slider.on_value_change(moved)
