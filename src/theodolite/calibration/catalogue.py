"""The methods by name."""

from __future__ import annotations

from theodolite.arrays import FloatArray
from theodolite.calibration.camera import Camera
from theodolite.calibration.data import Dataset
from theodolite.calibration.frame import Frame
from theodolite.calibration.link import FrameLink, PositionLink
from theodolite.calibration.method import Method
from theodolite.calibration.parallel import Implicit, Inverse
from theodolite.calibration.plane import Plane, PlaneKnown
from theodolite.calibration.point_sensor import PointSensor
from theodolite.calibration.position import Position
from theodolite.errors import InputError

METHODS = (
    "frame",
    "position",
    "position-link",
    "frame-link",
    "plane-known",
    "plane",
    "point-sensor",
    "implicit",
    "inverse",
    "camera",
)

#: What the data must hold for each method.
NEEDS: dict[str, tuple[str, ...]] = {
    "frame": ("positions", "rotations"),
    "position": ("positions",),
    "position-link": ("sets",),
    "frame-link": ("sets",),
    "plane-known": ("planes",),
    "plane": (),
    "point-sensor": ("fixture",),
    "implicit": ("positions",),
    "inverse": ("positions",),
    "camera": ("pixels", "points"),
}


def method_named(name: str, *, plane: FloatArray | None = None) -> Method:
    """A method by its name; ``plane`` is the unit normal and distance of plane methods."""
    if name not in METHODS:
        raise InputError(f"there is no method '{name}'", allowed=METHODS)
    if plane is not None and not name.startswith("plane"):
        raise InputError(f"the method '{name}' has no plane", allowed="plane-known, plane")
    methods: dict[str, Method] = {
        "frame": Frame(),
        "position": Position(),
        "position-link": PositionLink(),
        "frame-link": FrameLink(),
        "plane-known": PlaneKnown(plane),
        "plane": Plane(plane),
        "point-sensor": PointSensor(),
        "implicit": Implicit(),
        "inverse": Inverse(),
        "camera": Camera(),
    }
    return methods[name]


def method_for(data: Dataset) -> str:
    """The method that uses all that a recording holds."""
    if data.pixels is not None:
        return "camera"
    if data.fixture is not None:
        return "point-sensor"
    if data.positions is not None:
        return "position" if data.rotations is None else "frame"
    if data.sets is not None:
        return "position-link"
    return "plane" if data.planes is None else "plane-known"
