"""Everything public, and data as people have them: file names, lists, DataFrames, seeds.

The functions here accept what is at hand and pass it on to the core, which knows only arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.assessment.comparison import Compared, Comparison, compare_robots
from theodolite.assessment.diagnosis import Diagnosis, Suspect, diagnose
from theodolite.assessment.iso9283.attained import Attained, Test
from theodolite.assessment.iso9283.evaluation import Evaluation
from theodolite.assessment.iso9283.evaluation import evaluate as evaluate_iso9283
from theodolite.assessment.iso9283.figures import Figure
from theodolite.assessment.iso9283.plan import Plan, plan_tests
from theodolite.calibration import alignment as _alignment
from theodolite.calibration import calibrate as _calibrate
from theodolite.calibration import cross_validation as _cross_validation
from theodolite.calibration import simulation as _simulation
from theodolite.calibration.analytic import Measured, analytic
from theodolite.calibration.calibrate import HOLD_OUT
from theodolite.calibration.camera import Camera
from theodolite.calibration.catalogue import method_named
from theodolite.calibration.circle_points import Axis, robot_from_circles
from theodolite.calibration.completeness import Completed, complete, completeness
from theodolite.calibration.data import Dataset
from theodolite.calibration.distance import Distance
from theodolite.calibration.fixture import FixtureProblem, Touches
from theodolite.calibration.frame import Frame
from theodolite.calibration.inclination import Inclination
from theodolite.calibration.lens import Lens
from theodolite.calibration.line import Line
from theodolite.calibration.link import FrameLink, PositionLink
from theodolite.calibration.long_data import Pieces
from theodolite.calibration.method import Gauge, Method, Start
from theodolite.calibration.noise import Noise
from theodolite.calibration.orientation import Orientation
from theodolite.calibration.parallel import Implicit, Inverse
from theodolite.calibration.placement import locate, place
from theodolite.calibration.plane import Plane, PlaneKnown
from theodolite.calibration.point_sensor import PointSensor
from theodolite.calibration.position import Position
from theodolite.calibration.result import Estimate, Result
from theodolite.calibration.scene import KnownLens
from theodolite.calibration.simulation import EXACT, ParameterErrors
from theodolite.calibration.sources import Source as _Source
from theodolite.calibration.sources import join
from theodolite.calibration.sphere import Sphere
from theodolite.calibration.term_groups import term_names
from theodolite.calibration.tip_method import TipMethod, TipResidual
from theodolite.calibration.validate import Validation
from theodolite.calibration.validate import validate as _validate
from theodolite.compensation.compensate import Compensation, compensate, compensate_joints
from theodolite.compensation.controller import ControllerFrames
from theodolite.compensation.inverse import Inverse as InverseKinematics
from theodolite.compensation.inverse import Reach, Targets
from theodolite.compensation.inverse import inverse as inverse_kinematics
from theodolite.compensation.uncertainty import Uncertainty
from theodolite.design.constraints import Constraints
from theodolite.design.criteria import Criterion
from theodolite.design.designing import Design, accuracy_table
from theodolite.design.designing import design as design_measurements
from theodolite.design.sensitivity import Sensitivity
from theodolite.design.sensitivity import sensitivity as find_sensitivity
from theodolite.dynamics.base_parameters import find_base_parameters
from theodolite.dynamics.current_ratio import gains_from_torques
from theodolite.dynamics.drive_gains import identify_gains
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.excitation.optimise import excite
from theodolite.dynamics.filtering import filter_recording
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.inertia import RigidBody
from theodolite.dynamics.judge import judge_identification, validate_parameters
from theodolite.dynamics.loop_dynamics import LoopDynamics
from theodolite.dynamics.machine_dynamics import build_dynamics
from theodolite.dynamics.motion_torques import predict_motion, simulate_recording
from theodolite.dynamics.payload import identify_payload
from theodolite.dynamics.prediction import predict
from theodolite.dynamics.preparation import prepare_runs
from theodolite.dynamics.recording import Recording
from theodolite.dynamics.serial import Dynamics
from theodolite.dynamics.with_geometry import identify_with_geometry
from theodolite.errors import InputError, TheodoliteError, shown
from theodolite.estimation.choice import Tell
from theodolite.estimation.descent import Progress, Status
from theodolite.estimation.identifiability import Identifiability
from theodolite.estimation.loss import Loss, Shape
from theodolite.estimation.solver import Change
from theodolite.io.camera_file import CameraFile, camera_path, read_camera, write_camera
from theodolite.io.circle_table import read_circles
from theodolite.io.dh_table import read_dh_table
from theodolite.io.dynamics_file import read_dynamics, read_prior, write_dynamics
from theodolite.io.exports import Export, Format, Options, export_robot
from theodolite.io.gains_file import read_gains, write_gains
from theodolite.io.iso9283_file import read_attained, write_plan
from theodolite.io.recordings import read_recording
from theodolite.io.result_file import read_result, write_result
from theodolite.io.robot_file import read_robot, write_robot
from theodolite.io.tables import read_measurements, write_measurements
from theodolite.io.urdf import read_urdf
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.conversion import convert
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.poses import Pose
from theodolite.model.robot import Robot, Target
from theodolite.model.terms import ErrorTerm
from theodolite.model.transmission import Transmission
from theodolite.vision.board import Board
from theodolite.vision.pictures import lens_from_pictures, read_pictures
from theodolite.vision.poses import CalibratedLens
from theodolite.vision.rendering import simulate_pictures

__all__ = [
    "Attained",
    "Axis",
    "Board",
    "CalibratedLens",
    "Camera",
    "CameraFile",
    "Change",
    "Compared",
    "Comparison",
    "Compensation",
    "Completed",
    "Constraints",
    "ControllerFrames",
    "Convention",
    "Criterion",
    "Dataset",
    "Design",
    "Diagnosis",
    "Distance",
    "Dynamics",
    "ErrorTerm",
    "Estimate",
    "Estimator",
    "Evaluation",
    "Export",
    "Figure",
    "FixtureProblem",
    "Format",
    "Frame",
    "FrameLink",
    "Gauge",
    "Identifiability",
    "Implicit",
    "Inclination",
    "InputError",
    "Inverse",
    "InverseKinematics",
    "Joint",
    "KnownLens",
    "Lens",
    "Line",
    "LoopDynamics",
    "Loss",
    "Machine",
    "Measured",
    "Mechanism",
    "Method",
    "Noise",
    "Options",
    "Orientation",
    "ParameterErrors",
    "Plan",
    "Plane",
    "PlaneKnown",
    "PointSensor",
    "Pose",
    "Position",
    "PositionLink",
    "Reach",
    "Recording",
    "Result",
    "RigidBody",
    "Robot",
    "Row",
    "Sensitivity",
    "Shape",
    "Source",
    "Sphere",
    "Start",
    "Status",
    "Suspect",
    "Target",
    "Targets",
    "Test",
    "TheodoliteError",
    "TipMethod",
    "TipResidual",
    "Touches",
    "Transmission",
    "Uncertainty",
    "Validation",
    "accuracy_table",
    "analytic",
    "build_dynamics",
    "compare",
    "compare_robots",
    "compensate",
    "compensate_joints",
    "complete",
    "completeness",
    "convert",
    "design_measurements",
    "diagnose",
    "evaluate_iso9283",
    "excite",
    "export_robot",
    "filter_recording",
    "find_base_parameters",
    "find_sensitivity",
    "gains_from_torques",
    "identifiable",
    "identify",
    "identify_dynamics",
    "identify_gains",
    "identify_payload",
    "identify_with_geometry",
    "inverse_kinematics",
    "judge_identification",
    "lens_from_pictures",
    "locate",
    "perturb",
    "place",
    "plan_tests",
    "predict",
    "predict_motion",
    "prepare_runs",
    "read_attained",
    "read_camera",
    "read_circles",
    "read_dh_table",
    "read_dynamics",
    "read_gains",
    "read_measurements",
    "read_pictures",
    "read_prior",
    "read_recording",
    "read_result",
    "read_robot",
    "read_urdf",
    "residuals",
    "robot_from_circles",
    "simulate",
    "simulate_pictures",
    "simulate_recording",
    "validate",
    "validate_parameters",
    "write_camera",
    "write_dynamics",
    "write_gains",
    "write_measurements",
    "write_plan",
    "write_result",
    "write_robot",
]

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


@dataclass(frozen=True, eq=False)
class Source:
    """Measurements of one kind, to be identified together with others.

    Without ``noise`` it is as large as the residuals show. ``target`` says which of the robot's
    targets touches, for methods that measure no positions.
    """

    data: DataLike
    method: MethodLike
    noise: Noise | None = None
    name: str = ""
    target: str | None = None


#: Measurements of one kind, or several sources.
SourcesLike: TypeAlias = Dataset | str | Path | Sequence[str | Path | Source] | NamedColumns


def identify(
    robot: RobotLike,
    data: SourcesLike,
    method: MethodLike | None = None,
    *,
    noise: Noise | None = None,
    gains: bool | None = None,
    terms: str | Sequence[str] = "auto",
    rows_as_time: bool = False,
    loss: Loss | str | None = None,
    start: Start | str = Start.AUTO,
    change: Change | str = Change.BASE,
    links: bool = True,
    only: Sequence[str] = (),
    after: Result | None = None,
    hold_out: float = HOLD_OUT,
    starts: int = 0,
    rng: Random = None,
    progress: Progress | None = None,
    tell: Tell | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Result:
    """Identify what the data determine of a robot, as ``theodolite identify`` does.

    Instead of data and their method there may be several sources, each with its own. A folder of
    Parquet files with more than 200 000 rows is read in pieces.

    ``terms``: "auto", "none", or groups such as ``["gravity", "drift"]``; with ``rows_as_time``
    the order of the rows counts as time for a drift. Without ``links``, only base, tool and sensor
    are identified: hand-eye alone. With ``only``, these parameters are found anew, and the others
    are known as well as ``after``, an earlier result, knows them. ``starts`` other starts
    within the tolerances show whether the minimum is the only one. ``tell`` is called with what is
    done next, in words.
    """
    machine = _robot(robot)
    pieces = _pieces(machine, data, method)
    if pieces is None:
        recorded, way = _recorded(machine, data, method)
    else:
        recorded, way = pieces.excerpt(), _method(cast(MethodLike, method))
    _noise(noise)
    for name, value in (("gains", gains), ("rows_as_time", rows_as_time), ("links", links)):
        if not isinstance(value, bool | None):
            raise InputError(f"{name} is {shown(value)}", allowed="True or False")
    if not isinstance(hold_out, int | float | np.number):
        raise InputError(f"hold_out is {shown(hold_out)}", allowed="a number >= 0 and < 1")
    if provenance is None:
        options = {
            "gains": gains,
            "terms": terms,
            "rows_as_time": rows_as_time,
            "hold_out": hold_out,
        }
        given = [one.data if isinstance(one, Source) else one for one in _several(data)]
        provenance = _provenance(robot, given, method=way.name, **options)
    return _calibrate.identify(
        machine,
        recorded,
        way,
        noise=noise,
        gains=gains,
        terms=term_names(terms),
        rows_as_time=rows_as_time,
        pieces=pieces,
        loss=loss if loss is None or isinstance(loss, Loss) else Loss(_member(Shape, loss, "loss")),
        start=_member(Start, start, "start"),
        change=_member(Change, change, "change"),
        links=links,
        only=(only,) if isinstance(only, str) else tuple(only),
        after=after,
        hold_out=hold_out,
        starts=starts,
        rng=_generator(rng),
        progress=progress,
        tell=tell,
        provenance=provenance,
    )


def _pieces(machine: Machine, data: SourcesLike, method: MethodLike | None) -> Pieces | None:
    """Measurements in a folder that is too large for memory; None where they are anything else."""
    from theodolite.io.long_measurements import is_long, open_long_measurements

    if method is None or not isinstance(data, str | Path) or not is_long(Path(data)):
        return None
    way = _method(method)
    return Pieces(open_long_measurements(data, machine, needs=way.needs, own=way.columns))


def _recorded(
    machine: Machine, data: SourcesLike, method: MethodLike | None
) -> tuple[Dataset, Method]:
    """Measurements and their method, of one source or of several together."""
    sources = [one for one in _several(data) if isinstance(one, Source)]
    if not sources:
        if method is None:
            raise InputError(
                "no method was given",
                allowed="a method such as 'position', or several sources: [Source(data, method)]",
            )
        way = _method(method)
        return _data(cast(DataLike, data), machine, way), way
    if method is not None or len(sources) != len(_several(data)):
        raise InputError(
            "sources and other data are mixed",
            allowed="[Source(data, method), ...] and no further method",
        )
    return join([_source(source, machine) for source in sources])


def _source(source: Source, machine: Machine) -> _Source:
    """A source with its data read."""
    way = _method(source.method)
    _noise(source.noise)
    for name in ("name", "target"):
        value = getattr(source, name)
        if not isinstance(value, str | None):
            raise InputError(f"the {name} of a source is {shown(value)}", allowed="a text")
    data = _data(source.data, machine, way)
    return _Source(data, way, source.noise, source.name, source.target)


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _provenance(robot: RobotLike, data: Sequence[Any], **options: Any) -> dict[str, Any]:
    """Versions, options, and hashes of whatever was given as a file."""
    from theodolite.io.provenance import provenance

    given = [robot, *(one for part in data for one in _several(part))]
    files = [Path(one) for one in given if isinstance(one, str | Path) and Path(one).is_file()]
    return provenance(files, **options)


def identifiable(
    robot: RobotLike,
    method: MethodLike,
    *,
    data: DataLike | None = None,
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
    at: FloatArray | None = None,
) -> Dataset:
    """What a method would record of this robot, with noise on sensor and joints.

    At random configurations, or ``at`` given motor variables (n, joints), whatever ``points`` says.
    """
    _count(points, "points")
    _count(per_set, "per_set")
    _noise(noise)
    rng = _generator(rng) or np.random.default_rng(0)
    machine = _robot(robot)
    if at is not None:
        at = np.atleast_2d(np.asarray(at, dtype=np.float64))
        _check_motors(Dataset(at), machine)
    return _simulation.simulate(
        machine, _method(method), points=points, rng=rng, noise=noise, per_set=per_set, at=at
    )


def compare(
    robot: RobotLike,
    truth: RobotLike,
    gauge: Gauge = Gauge.NONE,
    rng: Random = None,
    *,
    configurations: int = 200,
) -> FloatArray:
    """Distance between the tips of two robots at fresh configurations, in metres, (n,).

    ``gauge`` names what a method cannot know, such as where a robot stands: that is fitted first.
    """
    _count(configurations, "configurations")
    rng = _generator(rng) or np.random.default_rng(0)
    return _alignment.compare(
        _robot(robot), _robot(truth), gauge, rng, configurations=configurations
    )


def perturb(
    robot: RobotLike,
    errors: ParameterErrors,
    rng: Random = None,
    *,
    only: Sequence[str] | None = None,
) -> Machine:
    """A robot whose parameters, or only the named ones, are off by random amounts."""
    if not isinstance(errors, ParameterErrors):
        raise InputError(
            f"errors are {shown(errors)}", allowed="ParameterErrors(length=3e-3, angle=6e-3)"
        )
    rng = _generator(rng) or np.random.default_rng(0)
    return _simulation.perturb(_robot(robot), errors, rng, only=only)


def residuals(robot: RobotLike, data: DataLike, method: MethodLike) -> dict[str, FloatArray]:
    """The robot's error on each observation, by quantity, SI."""
    machine, way = _robot(robot), _method(method)
    return dict(_cross_validation.residuals(machine, _data(data, machine, way), way))


def validate(
    robot: RobotLike, data: DataLike, method: MethodLike, *, nominal: RobotLike | None = None
) -> Validation:
    """How well a robot predicts measurements, as ``theodolite validate`` says."""
    machine, way = _robot(robot), _method(method)
    if isinstance(robot, str | Path) and isinstance(method, str) and "pixel" in way.noises:
        # What was identified together with this robot.
        beside = camera_path(Path(robot))
        found = read_camera(beside).found if beside.is_file() else None
        way = way if found is None else way.with_extras(found)
    other = None if nominal is None else _robot(nominal)
    return _validate(machine, _data(data, machine, way), way, nominal=other)


def _robot(robot: RobotLike) -> Machine:
    from theodolite.io.machines import machine_named

    if isinstance(robot, Robot | Mechanism):
        return robot
    if isinstance(robot, str | Path):
        return machine_named(str(robot))
    raise InputError(
        f"{shown(robot)} is not a robot",
        allowed="a Robot, a Mechanism, a file or the name of a built-in robot",
    )


def _method(method: MethodLike) -> Method:
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        return method_named(method)
    raise InputError(
        f"{shown(method)} is not a method",
        allowed="a method such as Position(), or its name",
        remedy="Methods of your own derive from theodolite.Method",
    )


def _data(data: DataLike, robot: Machine, method: Method) -> Dataset:
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
    _check_motors(found, robot)
    found.check_finite(method.needs)
    return found


def _check_motors(data: Dataset, robot: Machine) -> None:
    width, sizes = data.motors.shape[1], robot.configuration_sizes
    if width not in sizes:
        raise InputError(
            f"motors have {width} columns; '{robot.name}' has {robot.joints} joints",
            where=data.name,
            allowed=" or ".join(map(str, sizes)),
            remedy="Give one column per joint; the data may be from another robot",
        )


def _noise(noise: Noise | None) -> None:
    if noise is not None and not isinstance(noise, Noise):
        raise InputError(f"noise is {shown(noise)}", allowed="Noise(position=5e-5), metres")


def _count(value: int, name: str) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise InputError(f"{name} is {shown(value)}", allowed="a whole number, 1 or more")


def _generator(rng: Random) -> np.random.Generator | None:
    if rng is None or isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, int | np.integer) and rng >= 0:
        return np.random.default_rng(rng)
    raise InputError(f"rng is {shown(rng)}", allowed="a NumPy generator or a seed (0 or more)")


def _member(kind: type[_Kind], value: object, name: str) -> _Kind:
    """A member of an enumeration, or the one whose value is given."""
    try:
        return kind(value)
    except ValueError as error:
        raise InputError(
            f"{name} is {shown(value)}", allowed=[repr(member.value) for member in kind]
        ) from error
