"""Everything public, and data as people have them: file names, lists, frames, seeds.

The functions here accept what is at hand and hand it on to the core, which knows arrays only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from theodolite.calibration import calibrate as _calibrate
from theodolite.calibration import cross_validation as _cross_validation
from theodolite.calibration import simulation as _simulation
from theodolite.calibration.alignment import compare
from theodolite.calibration.analytic import Measured, analytic
from theodolite.calibration.calibrate import HOLD_OUT
from theodolite.calibration.camera import Camera
from theodolite.calibration.catalogue import method_named
from theodolite.calibration.completeness import completeness
from theodolite.calibration.data import Dataset
from theodolite.calibration.fixture import FixtureProblem, Touches
from theodolite.calibration.frame import Frame
from theodolite.calibration.lens import Lens
from theodolite.calibration.link import FrameLink, PositionLink
from theodolite.calibration.method import Method, Start
from theodolite.calibration.noise import Noise
from theodolite.calibration.parallel import Implicit, Inverse
from theodolite.calibration.placement import locate, place
from theodolite.calibration.plane import Plane, PlaneKnown
from theodolite.calibration.point_sensor import PointSensor
from theodolite.calibration.position import Position
from theodolite.calibration.result import Result
from theodolite.calibration.simulation import EXACT, ParameterErrors
from theodolite.calibration.validate import Validation
from theodolite.calibration.validate import validate as _validate
from theodolite.dynamics.base_parameters import find_base_parameters
from theodolite.dynamics.drive_gains import identify_gains
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.excitation.optimise import excite
from theodolite.dynamics.filtering import filter_recording
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.inertia import RigidBody
from theodolite.dynamics.judge import judge_identification, validate_parameters
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.machine_dynamics import build_dynamics
from theodolite.dynamics.payload import identify_payload
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.preparation import prepare_runs
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.serial import Dynamics
from theodolite.errors import InputError
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.solver import Change, Progress, Status
from theodolite.io.dh_table import read_dh_table
from theodolite.io.dynamics_file import read_dynamics, write_dynamics
from theodolite.io.recordings import read_recording
from theodolite.io.robot_file import read_robot, write_robot
from theodolite.io.tables import read_measurements, write_measurements
from theodolite.io.urdf import read_urdf
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.conversion import convert
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.robot import Robot, Target
from theodolite.model.transmission import Transmission

__all__ = [
    "Camera",
    "Change",
    "Convention",
    "Dataset",
    "Dynamics",
    "Estimator",
    "FixtureProblem",
    "Frame",
    "FrameLink",
    "Implicit",
    "InputError",
    "Inverse",
    "Joint",
    "Lens",
    "LoopDynamics",
    "Loss",
    "Measured",
    "Mechanism",
    "Method",
    "Noise",
    "ParameterErrors",
    "Plane",
    "PlaneKnown",
    "PointSensor",
    "Position",
    "PositionLink",
    "Recording",
    "Result",
    "RigidBody",
    "Robot",
    "Row",
    "Shape",
    "Start",
    "Status",
    "Target",
    "Touches",
    "Transmission",
    "Validation",
    "analytic",
    "build_dynamics",
    "compare",
    "completeness",
    "convert",
    "excite",
    "filter_recording",
    "find_base_parameters",
    "identifiable",
    "identify",
    "identify_dynamics",
    "identify_gains",
    "identify_payload",
    "judge_identification",
    "locate",
    "perturb",
    "place",
    "predict",
    "prepare_runs",
    "read_dh_table",
    "read_dynamics",
    "read_measurements",
    "read_recording",
    "read_robot",
    "read_urdf",
    "residuals",
    "simulate",
    "validate",
    "validate_parameters",
    "write_dynamics",
    "write_measurements",
    "write_robot",
]

#: A machine, its file, or the name of a built-in one.
RobotLike: TypeAlias = Machine | str | Path
#: A method or its name.
MethodLike: TypeAlias = Method | str
#: Measurements: a data set, a file or several, or a table with named columns (pandas or a mapping).
DataLike: TypeAlias = Dataset | str | Path | Sequence[str | Path] | Mapping[str, Any] | Any
#: A random generator or a seed.
Random: TypeAlias = np.random.Generator | int | None


def identify(
    robot: RobotLike,
    data: DataLike,
    method: MethodLike,
    *,
    noise: Noise | None = None,
    gains: bool | None = None,
    loss: Loss | str | None = None,
    start: Start | str = Start.AUTO,
    change: Change | str = Change.BASE,
    hold_out: float = HOLD_OUT,
    rng: Random = None,
    progress: Progress | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Result:
    """Identify what the data determine of a robot: what ``theodolite identify`` does."""
    machine, way = _robot(robot), _method(method)
    return _calibrate.identify(
        machine,
        _data(data, machine, way),
        way,
        noise=noise,
        gains=gains,
        loss=Loss(_member(Shape, loss, "loss")) if isinstance(loss, str) else loss,
        start=_member(Start, start, "start"),
        change=_member(Change, change, "change"),
        hold_out=hold_out,
        rng=_generator(rng),
        progress=progress,
        provenance=provenance,
    )


def identifiable(
    robot: RobotLike,
    method: MethodLike,
    *,
    data: DataLike = None,
    gains: bool = False,
    rng: Random = None,
) -> Identifiability:
    """What a method determines of a robot, from random configurations or from given data."""
    machine, way = _robot(robot), _method(method)
    recorded = None if data is None else _data(data, machine, way)
    return _calibrate.identifiable(machine, way, data=recorded, gains=gains, rng=_generator(rng))


def simulate(
    robot: RobotLike,
    method: MethodLike,
    *,
    points: int,
    rng: Random = None,
    noise: Noise = EXACT,
    per_set: int = 4,
) -> Dataset:
    """What a method would record of this robot, with noise on sensor and joints."""
    if not isinstance(points, int | np.integer) or points < 1:
        raise InputError(f"points is {points!r}", allowed="a whole number from 1")
    rng = _generator(rng) or np.random.default_rng(0)
    return _simulation.simulate(
        _robot(robot), _method(method), points=points, rng=rng, noise=noise, per_set=per_set
    )


def perturb(
    robot: RobotLike,
    errors: ParameterErrors,
    rng: Random = None,
    *,
    only: Sequence[str] | None = None,
) -> Machine:
    """A robot whose parameters, or only the named ones, are off by random amounts."""
    rng = _generator(rng) or np.random.default_rng(0)
    return _simulation.perturb(_robot(robot), errors, rng, only=only)


def residuals(robot: RobotLike, data: DataLike, method: MethodLike) -> dict[str, Any]:
    """The robot's error on each observation, by quantity, SI."""
    machine, way = _robot(robot), _method(method)
    return dict(_cross_validation.residuals(machine, _data(data, machine, way), way))


def validate(
    robot: RobotLike, data: DataLike, method: MethodLike, *, nominal: RobotLike | None = None
) -> Validation:
    """How well a robot predicts measurements: what ``theodolite validate`` does."""
    machine, way = _robot(robot), _method(method)
    other = None if nominal is None else _robot(nominal)
    return _validate(machine, _data(data, machine, way), way, nominal=other)


def _robot(robot: RobotLike) -> Machine:
    from theodolite.io.machines import machine_named

    if isinstance(robot, Robot | Mechanism):
        return robot
    if isinstance(robot, str | Path):
        return machine_named(str(robot))
    raise InputError(
        f"a {type(robot).__name__} is no robot",
        allowed="a Robot, a Mechanism, a file or the name of a built-in robot",
    )


def _method(method: MethodLike) -> Method:
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        return method_named(method)
    raise InputError(
        f"a {type(method).__name__} is no method",
        allowed="a method such as Position(), or its name",
        remedy="Methods of your own derive from theodolite.Method",
    )


def _data(data: DataLike, robot: Machine, method: Method) -> Dataset:
    from theodolite.io.frames import from_columns

    if isinstance(data, Dataset):
        return data
    if isinstance(data, str | Path):
        data = [data]
    if isinstance(data, Sequence) and data and all(isinstance(path, str | Path) for path in data):
        return read_measurements([Path(path) for path in data], robot, needs=method.needs)
    if hasattr(data, "keys") and hasattr(data, "__getitem__"):
        return from_columns(data, robot, needs=method.needs)
    raise InputError(
        f"a {type(data).__name__} holds no measurements that can be read",
        allowed="a Dataset, file names, or a table with named columns (pandas, a dict of arrays)",
    )


def _generator(rng: Random) -> np.random.Generator | None:
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and rng >= 0:
        return np.random.default_rng(rng)
    raise InputError(f"rng is {rng!r}", allowed="a numpy generator or a seed, a number from 0")


def _member(kind: Any, value: Any, name: str) -> Any:
    """A member of an enumeration, or the one whose value is given."""
    if isinstance(value, kind):
        return value
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(
            f"{name} is {value!r}", allowed=[repr(member.value) for member in kind]
        ) from error
