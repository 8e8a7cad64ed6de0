"""The methods by name. A new one is a class and a line here."""

from __future__ import annotations

from typing import Any

from theodolite.calibration.camera import Camera
from theodolite.calibration.data import Dataset
from theodolite.calibration.distance import Distance
from theodolite.calibration.frame import Frame
from theodolite.calibration.inclination import Inclination
from theodolite.calibration.line import Line
from theodolite.calibration.link import FrameLink, PositionLink
from theodolite.calibration.method import Method
from theodolite.calibration.orientation import Orientation
from theodolite.calibration.parallel import Implicit, Inverse
from theodolite.calibration.plane import Plane, PlaneKnown
from theodolite.calibration.point_sensor import PointSensor
from theodolite.calibration.position import Position
from theodolite.calibration.sphere import Sphere
from theodolite.errors import InputError

CLASSES: tuple[type[Method], ...] = (
    Frame,
    Position,
    PositionLink,
    FrameLink,
    PlaneKnown,
    Plane,
    PointSensor,
    Implicit,
    Inverse,
    Camera,
    Distance,
    Orientation,
    Inclination,
    Line,
    Sphere,
)
METHODS = tuple(method.name for method in CLASSES)

#: Columns that only some of them know.
METHOD_COLUMNS = tuple(column for method in CLASSES for column in method.columns)

#: Methods that a recording shows to be meant by what it holds, the most telling first.
TELLING: tuple[type[Method], ...] = (
    *(Camera, PointSensor, Frame, Position, PlaneKnown, Distance, Inclination, Orientation),
    PositionLink,
)


def method_named(name: str, **options: Any) -> Method:
    """A method by its name, with options of its own; those that are None are left out."""
    if name not in METHODS:
        raise InputError(f"there is no method '{name}'", allowed=METHODS)
    method = CLASSES[METHODS.index(name)]
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in method.options:
            takers = [cls.name for cls in CLASSES if option in cls.options]
            raise InputError(f"the method '{name}' has no {option}", allowed=takers)
    return method(**given)


def options_of(name: str) -> frozenset[str]:
    """The options that a method has; none where there is no such method."""
    return CLASSES[METHODS.index(name)].options if name in METHODS else frozenset()


#: Methods that need joint values and nothing else.
TOUCHES = ("position-link", "frame-link", "plane", "line", "sphere")


def method_for(data: Dataset) -> str:
    """The method that uses all that a recording holds; refused where it does not say."""
    name = told_method(data)
    if name is None:
        raise InputError(
            "only joint values were recorded, which fits several methods",
            where=data.name,
            allowed=TOUCHES,
            remedy="Say which method",
        )
    return name


def told_method(data: Dataset) -> str | None:
    """The method that a recording shows to be meant; None: something was touched."""
    for method in TELLING:
        columns = all(name in data.columns for name in method.columns)
        if columns and all(getattr(data, need) is not None for need in method().needs):
            return method.name
    return None
