"""Everything public, and data as people have them: file names, lists, DataFrames, seeds.

The functions here accept what is at hand and pass it on to the core, which knows only arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from theodolite.accepting import (
    DataLike,
    MethodLike,
    NamedColumns,
    Random,
    RobotLike,
    accepting,
    check_count,
    check_motors,
    check_noise,
    to_data,
    to_generator,
    to_member,
    to_method,
    to_robot,
)
from theodolite.arrays import FloatArray
from theodolite.assessment.comparison import Compared, Comparison
from theodolite.assessment.comparison import compare_robots as _compare_robots
from theodolite.assessment.diagnosis import Diagnosis, Suspect
from theodolite.assessment.diagnosis import diagnose as _diagnose
from theodolite.assessment.iso9283.attained import Attained, Test
from theodolite.assessment.iso9283.evaluation import Evaluation
from theodolite.assessment.iso9283.evaluation import evaluate as evaluate_iso9283
from theodolite.assessment.iso9283.figures import Figure
from theodolite.assessment.iso9283.plan import Plan
from theodolite.assessment.iso9283.plan import plan_tests as _plan_tests
from theodolite.calibration import alignment as _alignment
from theodolite.calibration import calibrate as _calibrate
from theodolite.calibration import cross_validation as _cross_validation
from theodolite.calibration import simulation as _simulation
from theodolite.calibration.analytic import Measured, analytic
from theodolite.calibration.calibrate import HOLD_OUT
from theodolite.calibration.camera import Camera
from theodolite.calibration.circle_points import Axis, robot_from_circles
from theodolite.calibration.completeness import Completed
from theodolite.calibration.completeness import complete as _complete
from theodolite.calibration.completeness import completeness as _completeness
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
from theodolite.calibration.placement import locate as _locate
from theodolite.calibration.placement import place as _place
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
from theodolite.compensation.compensate import Compensation
from theodolite.compensation.compensate import compensate as _compensate
from theodolite.compensation.compensate import compensate_joints as _compensate_joints
from theodolite.compensation.controller import ControllerFrames
from theodolite.compensation.inverse import Inverse as InverseKinematics
from theodolite.compensation.inverse import Reach, Targets
from theodolite.compensation.inverse import inverse as _inverse
from theodolite.compensation.uncertainty import Uncertainty
from theodolite.design.constraints import Constraints
from theodolite.design.criteria import Criterion
from theodolite.design.designing import Design
from theodolite.design.designing import accuracy_table as _accuracy_table
from theodolite.design.designing import design as _design
from theodolite.design.sensitivity import Sensitivity
from theodolite.design.sensitivity import sensitivity as _sensitivity
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
from theodolite.dynamics.machine_dynamics import build_dynamics as _build_dynamics
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

#: These take names and files of robots, names of methods, lists and seeds, too.
accuracy_table = accepting(_accuracy_table)
build_dynamics = accepting(_build_dynamics)
compensate = accepting(_compensate)
compensate_joints = accepting(_compensate_joints)
complete = accepting(_complete)
completeness = accepting(_completeness)
design_measurements = accepting(_design)
diagnose = accepting(_diagnose)
find_sensitivity = accepting(_sensitivity)
inverse_kinematics = accepting(_inverse)
locate = accepting(_locate)
place = accepting(_place)
plan_tests = accepting(_plan_tests)


def compare_robots(
    first: RobotLike | Compared, second: RobotLike | Compared, rng: Random = None
) -> Comparison:
    """Which parameters of two robots, or of two results, differ, and how far apart the tips are."""
    one, other = (
        side if isinstance(side, Compared) else Compared(to_robot(side).name, to_robot(side))
        for side in (first, second)
    )
    return _compare_robots(one, other, to_generator(rng))


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
    machine = to_robot(robot)
    pieces = _pieces(machine, data, method)
    if pieces is None:
        recorded, way = _recorded(machine, data, method)
    else:
        recorded, way = pieces.excerpt(), to_method(cast(MethodLike, method))
    check_noise(noise)
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
        loss=loss
        if loss is None or isinstance(loss, Loss)
        else Loss(to_member(Shape, loss, "loss")),
        start=to_member(Start, start, "start"),
        change=to_member(Change, change, "change"),
        links=links,
        only=(only,) if isinstance(only, str) else tuple(only),
        after=after,
        hold_out=hold_out,
        starts=starts,
        rng=to_generator(rng),
        progress=progress,
        tell=tell,
        provenance=provenance,
    )


def _pieces(machine: Machine, data: SourcesLike, method: MethodLike | None) -> Pieces | None:
    """Measurements in a folder that is too large for memory; None where they are anything else."""
    from theodolite.io.long_measurements import is_long, open_long_measurements

    if method is None or not isinstance(data, str | Path) or not is_long(Path(data)):
        return None
    way = to_method(method)
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
        way = to_method(method)
        return to_data(cast(DataLike, data), machine, way), way
    if method is not None or len(sources) != len(_several(data)):
        raise InputError(
            "sources and other data are mixed",
            allowed="[Source(data, method), ...] and no further method",
        )
    return join([_source(source, machine) for source in sources])


def _source(source: Source, machine: Machine) -> _Source:
    """A source with its data read."""
    way = to_method(source.method)
    check_noise(source.noise)
    for name in ("name", "target"):
        value = getattr(source, name)
        if not isinstance(value, str | None):
            raise InputError(f"the {name} of a source is {shown(value)}", allowed="a text")
    data = to_data(source.data, machine, way)
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
    machine, way = to_robot(robot), to_method(method)
    recorded = None if data is None else to_data(data, machine, way)
    return _calibrate.identifiable(machine, way, data=recorded, gains=gains, rng=to_generator(rng))


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
    check_count(points, "points")
    check_count(per_set, "per_set")
    check_noise(noise)
    rng = to_generator(rng) or np.random.default_rng(0)
    machine = to_robot(robot)
    if at is not None:
        at = np.atleast_2d(np.asarray(at, dtype=np.float64))
        check_motors(Dataset(at), machine)
    return _simulation.simulate(
        machine, to_method(method), points=points, rng=rng, noise=noise, per_set=per_set, at=at
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
    check_count(configurations, "configurations")
    rng = to_generator(rng) or np.random.default_rng(0)
    return _alignment.compare(
        to_robot(robot), to_robot(truth), gauge, rng, configurations=configurations
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
    rng = to_generator(rng) or np.random.default_rng(0)
    return _simulation.perturb(to_robot(robot), errors, rng, only=only)


def residuals(robot: RobotLike, data: DataLike, method: MethodLike) -> dict[str, FloatArray]:
    """The robot's error on each observation, by quantity, SI."""
    machine, way = to_robot(robot), to_method(method)
    return dict(_cross_validation.residuals(machine, to_data(data, machine, way), way))


def validate(
    robot: RobotLike, data: DataLike, method: MethodLike, *, nominal: RobotLike | None = None
) -> Validation:
    """How well a robot predicts measurements, as ``theodolite validate`` says."""
    machine, way = to_robot(robot), to_method(method)
    if isinstance(robot, str | Path) and isinstance(method, str) and "pixel" in way.noises:
        # What was identified together with this robot.
        beside = camera_path(Path(robot))
        found = read_camera(beside).found if beside.is_file() else None
        way = way if found is None else way.with_extras(found)
    other = None if nominal is None else to_robot(nominal)
    return _validate(machine, to_data(data, machine, way), way, nominal=other)
