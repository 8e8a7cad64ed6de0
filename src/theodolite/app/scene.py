"""A robot in space: links as tubes, joints as drums along their axes, the tool as a frame.

Everything is drawn at the size of the robot, so that a robot of a centimetre and one of ten metres
look alike; the mesh of the floor says how large it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui import ui

from theodolite.app.site import Site
from theodolite.arrays import FloatArray
from theodolite.errors import InputError
from theodolite.model.machine import Machine
from theodolite.report.skeleton import Drawn, Skeleton

#: Where names stand.
ABOVE = np.array([0.0, 0.0, 0.07])
LINK, BASE, JOINT, SLIDE, TARGET = "#4a90d9", "#9aa0a6", "#f39c12", "#27ae60", "#c0392b"
#: Sizes as a part of the reach.
TUBE, DRUM, DRUM_LENGTH, TRIAD, BALL = 0.022, 0.04, 0.11, 0.16, 0.022
#: Of a light and of a dark scene: the ground, and the lines of the floor.
GROUND, GRID = ("#f4f6f8", "#1f2226"), ("#d5dade", "#3a4047")
#: A square of the floor as it is drawn, and how wide the floor is.
SQUARE, FLOOR = 0.25, 4


#: More would slow a browser down.
MOST_POINTS, MOST_NEEDLES = 5000, 300


class RobotScene:
    """The scene of one robot."""

    def __init__(
        self, machine: Machine, *, height: str = "26rem", names: bool = True, dark: bool = False
    ) -> None:
        self.skeleton = Skeleton(machine)
        self.machine = machine
        self.readings = self.skeleton.middle()
        drawn = self.skeleton.place(self.readings)
        # What is drawn has a size of one or two, and squares of the floor are round numbers.
        spacing = _round(SQUARE * _size(drawn, machine))
        self.scale = SQUARE / spacing
        self.scene = ui.scene(grid=False, background_color=GROUND[dark], fps=15)
        self.scene.classes("w-full").style(f"height: {height}")
        self.scene.props["aria-label"] = f"{machine.name} in three dimensions"
        corners = self.scale * _moving(drawn)
        middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
        away = 1.25 * max(float(np.ptp(corners, axis=0).max()), 1.0)
        self.scene.move_camera(
            x=float(middle[0]) + 0.6 * away,
            y=float(middle[1]) - 0.8 * away,
            z=float(middle[2]) + 0.35 * away,
            look_at_x=float(middle[0]),
            look_at_y=float(middle[1]),
            look_at_z=float(middle[2]),
            duration=0,
        )
        self._moving: list[Any] = []
        with self.scene:
            self._floor(min(0.0, float(corners[:, 2].min())), GRID[dark])
            self._build(drawn, names=names)
        self.draw(drawn)
        ui.label(f"A square of the floor is {1e3 * spacing:g} mm wide.").classes("text-caption")

    def _floor(self, height: float, colour: str) -> None:
        """Lines below the robot: they hide nothing, and say how large it is."""
        half = FLOOR / 2
        for place in np.linspace(-half, half, int(FLOOR / SQUARE) + 1).tolist():
            for start, end in (((place, -half), (place, half)), ((-half, place), (half, place))):
                self.scene.line([*start, height], [*end, height]).material(colour)

    def _build(self, drawn: Drawn, *, names: bool) -> None:
        self._links = [
            self.scene.cylinder(TUBE, TUBE, 1.0).material(BASE if fixed else LINK)
            for fixed in drawn.fixed
        ]
        self._joints = [
            self.scene.cylinder(DRUM, DRUM, DRUM_LENGTH).material(SLIDE if slide else JOINT)
            for slide in drawn.slides
        ]
        self._labels = []
        if names and len(drawn.joints) == self.machine.joints:
            self._labels = [
                self.scene.text(name, "font-size: 11px; color: #333; background: #fffa")
                for name in self.machine.joint_names
            ]
        self._targets = [self.scene.sphere(BALL).material(TARGET) for _ in drawn.targets]
        self._triad = [
            self.scene.cylinder(0.006, 0.006, TRIAD).material(colour)
            for colour in ("#e74c3c", "#2ecc71", "#3498db")
        ]

    def move(self, readings: FloatArray) -> Drawn | None:
        """Move the robot; nothing happens where its loops cannot close."""
        try:
            drawn = self.skeleton.place(np.asarray(readings, dtype=np.float64))
        except InputError:
            return None
        if drawn.gap * self.scale > 1e-6:
            return None
        self.readings = np.asarray(readings, dtype=np.float64)
        self.draw(drawn)
        return drawn

    def draw(self, drawn: Drawn) -> None:
        """Put every part where it is."""
        for shown, (start, end) in zip(self._links, self.scale * drawn.links, strict=True):
            _stretch(shown, start, end)
        for place, (shown, axis) in enumerate(zip(self._joints, drawn.axes, strict=True)):
            at = self.scale * drawn.joints[place]
            shown.move(*map(float, at)).rotate_R(_turn(axis))
            if self._labels:
                self._labels[place].move(*map(float, at + ABOVE))
        for ball, at in zip(self._targets, self.scale * drawn.targets, strict=True):
            ball.move(*map(float, at))
        for axis, shown in enumerate(self._triad):
            start = self.scale * drawn.tool
            _place(
                shown, start + TRIAD / 2 * drawn.orientation[:, axis], drawn.orientation[:, axis]
            )

    def cloud(self, places: FloatArray, colour: str = "#8e44ad") -> None:
        """Points in the world, metres."""
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        some = self.scale * places[:: max(1, len(places) // MOST_POINTS)]
        with self.scene:
            self.scene.point_cloud(some.tolist(), [[red, green, blue]] * len(some), 0.03)

    def arrows(self, places: FloatArray, errors: FloatArray) -> float:
        """Errors as needles from where they were measured; the factor of their length."""
        largest = float(np.linalg.norm(errors, axis=1).max(initial=0.0))
        factor = _round(0.15 / self.scale / largest) if largest > 0 else 1.0
        step = max(1, len(places) // MOST_NEEDLES)
        self.cloud(places, "#333333")
        with self.scene:
            for at, error in zip(places[::step], errors[::step], strict=True):
                start = self.scale * at
                end = start + self.scale * factor * error
                self.scene.line(start.tolist(), end.tolist()).material(TARGET)
        return factor


def in_space(site: Site, title: str, build: Callable[[], None]) -> None:
    """A scene that is made only where somebody looks: it keeps a processor busy."""
    wanted = bool(site.look("space", True))
    made = False

    def make() -> None:
        nonlocal made
        if not made:
            made = True
            with part:
                build()

    def turned(event: Any) -> None:
        site.keep_look("space", bool(event.value))
        if event.value:
            make()

    part = ui.expansion(title, value=wanted, on_value_change=turned)
    part.classes("w-full").props("dense")
    if wanted:
        make()


def _size(drawn: Drawn, machine: Machine) -> float:
    ends = _moving(drawn)
    spread = float(np.ptp(ends, axis=0).max()) if len(ends) else 0.0
    return spread or machine.reach() or 1.0


def _moving(drawn: Drawn) -> FloatArray:
    """Ends of the links that move: the base may stand far from the world's origin."""
    links = drawn.links if drawn.fixed.all() else drawn.links[~drawn.fixed]
    # A robot without any length is drawn where it stands.
    return np.asarray(links.reshape(-1, 3)) if len(links) else drawn.tool[None]


def _round(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not larger."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(step for step in (1, 2, 5) if step * power <= value * 1.0001) * power)


def _stretch(shown: Any, start: FloatArray, end: FloatArray) -> None:
    """A cylinder of length 1 between two points."""
    length = float(np.linalg.norm(end - start))
    _place(shown, (start + end) / 2, end - start)
    shown.scale(1.0, max(length, 1e-6), 1.0)


def _place(shown: Any, middle: FloatArray, direction: FloatArray) -> None:
    shown.move(*map(float, middle)).rotate_R(_turn(direction))


def _turn(direction: FloatArray) -> list[list[float]]:
    """A rotation whose y axis, along which cylinders stand, has a direction."""
    length = float(np.linalg.norm(direction))
    y = direction / length if length > 0 else np.array([0.0, 1.0, 0.0])
    other = np.eye(3)[int(np.argmin(np.abs(y)))]
    z = np.cross(y, other)
    z /= np.linalg.norm(z)
    return np.column_stack([np.cross(y, z), y, z]).tolist()
