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
    "Dataset": "theodolite.measure.dataset",
    "Noise": "theodolite.measure.noise",
    "Position": "theodolite.measure.position",
    "Frame": "theodolite.measure.frame",
    "PositionLink": "theodolite.measure.link",
    "FrameLink": "theodolite.measure.link",
    "PlaneKnown": "theodolite.measure.plane",
    "Plane": "theodolite.measure.plane",
    "Implicit": "theodolite.measure.parallel",
    "Inverse": "theodolite.measure.parallel",
    "Camera": "theodolite.measure.camera",
    "Lens": "theodolite.measure.lens",
    "PointSensor": "theodolite.measure.point_sensor",
    "FixtureProblem": "theodolite.measure.fixture",
    "Touches": "theodolite.measure.fixture",
    "ParameterErrors": "theodolite.measure.simulate",
    "perturbed": "theodolite.measure.simulate",
    "simulate": "theodolite.measure.simulate",
    "located": "theodolite.measure.locate",
    "Loss": "theodolite.identification.loss",
    "Result": "theodolite.identification.result",
    "Status": "theodolite.identification.solver",
    "identifiable": "theodolite.identification.identify",
    "analytic": "theodolite.identification.analytic",
    "Measured": "theodolite.identification.analytic",
    "completeness": "theodolite.identification.completeness",
    "converted": "theodolite.model.conversion",
    "identify": "theodolite.identification.identify",
    "Dynamics": "theodolite.model.dynamics",
    "LoopDynamics": "theodolite.model.loop_dynamics",
    "Recording": "theodolite.measure.recording",
    "filtered": "theodolite.measure.filtering",
    "identify_dynamics": "theodolite.inertial.identify",
    "prediction": "theodolite.inertial.prediction",
    "excite": "theodolite.design.excite",
    "read_recording": "theodolite.io.recordings",
    "deviations": "theodolite.identification.judging",
    "distances": "theodolite.validation.alignment",
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
