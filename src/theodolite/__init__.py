"""Theodolite: robot calibration and identification.

Names load when first used, so that ``import theodolite`` costs little more than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Public name -> module that holds it.
_PUBLIC = {
    "Robot": "theodolite.model.robot",
    "Target": "theodolite.model.robot",
    "Mechanism": "theodolite.model.mechanism",
    "Row": "theodolite.model.conventions",
    "Convention": "theodolite.model.conventions",
    "Joint": "theodolite.model.conventions",
    "Transmission": "theodolite.model.transmission",
    "Dataset": "theodolite.calibration.data",
    "Noise": "theodolite.calibration.noise",
    "Position": "theodolite.calibration.position",
    "Frame": "theodolite.calibration.frame",
    "PositionLink": "theodolite.calibration.link",
    "FrameLink": "theodolite.calibration.link",
    "PlaneKnown": "theodolite.calibration.plane",
    "Plane": "theodolite.calibration.plane",
    "Implicit": "theodolite.calibration.parallel",
    "Inverse": "theodolite.calibration.parallel",
    "Camera": "theodolite.calibration.camera",
    "Lens": "theodolite.calibration.lens",
    "PointSensor": "theodolite.calibration.point_sensor",
    "FixtureProblem": "theodolite.calibration.fixture",
    "Touches": "theodolite.calibration.fixture",
    "ParameterErrors": "theodolite.calibration.simulation",
    "perturbed": "theodolite.calibration.simulation",
    "simulate": "theodolite.calibration.simulation",
    "located": "theodolite.calibration.placement",
    "Loss": "theodolite.estimation.loss",
    "Result": "theodolite.calibration.result",
    "Status": "theodolite.estimation.solver",
    "identifiable": "theodolite.calibration.calibrate",
    "analytic": "theodolite.calibration.analytic",
    "Measured": "theodolite.calibration.analytic",
    "completeness": "theodolite.calibration.completeness",
    "converted": "theodolite.model.conversion",
    "identify": "theodolite.calibration.calibrate",
    "Dynamics": "theodolite.dynamics.serial",
    "LoopDynamics": "theodolite.dynamics.loop_dynamics",
    "Recording": "theodolite.dynamics.recording",
    "RigidBody": "theodolite.dynamics.inertia",
    "Estimator": "theodolite.dynamics.estimators",
    "build_dynamics": "theodolite.dynamics.machine_dynamics",
    "find_base_parameters": "theodolite.dynamics.base_parameters",
    "prepare_runs": "theodolite.dynamics.preparation",
    "filter_recording": "theodolite.dynamics.filtering",
    "filtered": "theodolite.dynamics.filtering",
    "identify_dynamics": "theodolite.dynamics.identify",
    "judge_identification": "theodolite.dynamics.judge",
    "validate_parameters": "theodolite.dynamics.judge",
    "identify_payload": "theodolite.dynamics.payload",
    "identify_gains": "theodolite.dynamics.drive_gains",
    "predict": "theodolite.dynamics.prediction",
    "prediction": "theodolite.dynamics.prediction",
    "excite": "theodolite.dynamics.excitation.optimise",
    "read_recording": "theodolite.io.recordings",
    "read_dynamics": "theodolite.io.dynamics_file",
    "write_dynamics": "theodolite.io.dynamics_file",
    "deviations": "theodolite.calibration.cross_validation",
    "distances": "theodolite.calibration.alignment",
    "read_robot": "theodolite.io.robot_file",
    "write_robot": "theodolite.io.robot_file",
    "read_urdf": "theodolite.io.urdf",
    "read_dh_table": "theodolite.io.dh_table",
    "read_measurements": "theodolite.io.tables",
    "write_measurements": "theodolite.io.tables",
}

__all__ = [*_PUBLIC, "robots"]

if TYPE_CHECKING:
    from theodolite import robots as robots


def __getattr__(name: str) -> Any:
    if name == "robots":
        return import_module("theodolite.robots")
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
