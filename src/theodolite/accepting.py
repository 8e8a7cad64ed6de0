"""What people pass in, made into what the core takes: names, files, lists, DataFrames, seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np

from theodolite.calibration.catalogue import method_named
from theodolite.calibration.data import Dataset
from theodolite.calibration.method import Method
from theodolite.calibration.noise import Noise
from theodolite.compensation.inverse import Targets
from theodolite.errors import InputError, shown
from theodolite.io.tables import read_measurements
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.robot import Robot

#: A machine, its file, or the name of a built-in one.
RobotLike: TypeAlias = Machine | str | Path
#: A method or its name.
MethodLike: TypeAlias = Method | str


class NamedColumns(Protocol):
    """A table with named columns: a pandas DataFrame, a dict of arrays."""

    def keys(self) -> Iterable[Any]: ...

    def __getitem__(self, name: Any, /) -> Any: ...


#: Measurements: a data set, a file or several, or a table with named columns.
DataLike: TypeAlias = Dataset | str | Path | Sequence[str | Path] | NamedColumns
#: A random generator or a seed.
Random: TypeAlias = np.random.Generator | int | None

_Kind = TypeVar("_Kind", bound=Enum)
_P = ParamSpec("_P")
_R = TypeVar("_R")


def to_robot(robot: RobotLike) -> Machine:
    from theodolite.io.machines import machine_named

    if isinstance(robot, Robot | Mechanism):
        return robot
    if isinstance(robot, str | Path):
        return machine_named(str(robot))
    raise InputError(
        f"{shown(robot)} is not a robot",
        allowed="a Robot, a Mechanism, a file or the name of a built-in robot",
    )


def to_method(method: MethodLike) -> Method:
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        return method_named(method)
    raise InputError(
        f"{shown(method)} is not a method",
        allowed="a method such as Position(), or its name",
        remedy="Methods of your own derive from theodolite.Method",
    )


def to_data(data: DataLike, robot: Machine, method: Method) -> Dataset:
    from theodolite.io.frames import from_columns
    from theodolite.io.tables import checked

    if isinstance(data, Dataset):
        found = checked(data, robot, method.needs)
    elif isinstance(data, str | Path):
        found = read_measurements([Path(data)], robot, needs=method.needs, own=method.columns)
    elif isinstance(data, Sequence) and data and all(isinstance(p, str | Path) for p in data):
        paths = [Path(path) for path in data]
        found = read_measurements(paths, robot, needs=method.needs, own=method.columns)
    elif hasattr(data, "keys") and hasattr(data, "__getitem__"):
        found = from_columns(data, robot, needs=method.needs, own=method.columns)
    else:
        raise InputError(
            f"a {type(data).__name__} holds no measurements that can be read",
            allowed="a Dataset, file names, or named columns (pandas, a dict of arrays)",
        )
    check_motors(found, robot)
    found.check_finite(method.needs)
    return found


def check_motors(data: Dataset, robot: Machine) -> None:
    width, sizes = data.motors.shape[1], robot.configuration_sizes
    if width not in sizes:
        raise InputError(
            f"motors have {width} columns; '{robot.name}' has {robot.joints} joints",
            where=data.name,
            allowed=" or ".join(map(str, sizes)),
            remedy="Give one column per joint; the data may be from another robot",
        )


def check_noise(noise: Noise | None) -> None:
    if noise is not None and not isinstance(noise, Noise):
        raise InputError(f"noise is {shown(noise)}", allowed="Noise(position=5e-5), metres")


def check_count(value: int, name: str) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise InputError(f"{name} is {shown(value)}", allowed="a whole number, 1 or more")


def to_generator(rng: Random) -> np.random.Generator | None:
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and rng >= 0:
        return np.random.default_rng(rng)
    raise InputError(f"rng is {shown(rng)}", allowed="a NumPy generator or a seed (0 or more)")


def to_member(kind: type[_Kind], value: object, name: str) -> _Kind:
    """A member of an enumeration, or the one whose value is given."""
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(
            f"{name} is {shown(value)}", allowed=[repr(member.value) for member in kind]
        ) from error


def accepting(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The same function for robots, methods and data by name or file, for lists and for seeds.

    What its annotations ask for is made of what is passed, or refused with what is allowed.
    """
    kinds = {name: str(kind) for name, kind in function.__annotations__.items()}

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        bound = signature(function).bind(*args, **kwargs)
        given = bound.arguments
        for name, value in given.items():
            given[name] = _made(value, kinds.get(name, ""), name, given)
        return function(*bound.args, **bound.kwargs)

    return call


def _made(value: Any, kind: str, name: str, given: dict[str, Any]) -> Any:
    """One argument as its annotation asks for it."""
    wanted = kind.removesuffix(" | None")
    if value is None and wanted != kind:
        return None
    if wanted == "Dataset":
        method = to_method(given.get("method", "position"))
        return to_data(value, to_robot(given["robot"]), method)
    if wanted == "FloatArray":
        return _numbers(value, name)
    make = _MAKERS.get(wanted)
    return value if make is None else make(value)


def _serial(robot: RobotLike) -> Robot:
    machine = to_robot(robot)
    if not isinstance(machine, Robot):
        raise InputError(f"'{machine.name}' has loops", allowed="serial robots")
    return machine


def _stated(noise: Noise) -> Noise:
    check_noise(noise)
    return noise


def _targets(value: Any) -> Targets:
    return value if isinstance(value, Targets) else Targets(_numbers(value, "targets"))


def _numbers(value: Any, name: str) -> Any:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is {shown(value)}", allowed="an array of numbers") from error


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "Machine": to_robot,
    "Robot": _serial,
    "Method": to_method,
    "np.random.Generator": to_generator,
    "Noise": _stated,
    "Targets": _targets,
}
