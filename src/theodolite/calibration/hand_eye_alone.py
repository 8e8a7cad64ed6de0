"""Hand-eye by itself: where camera and target are on a robot that is taken as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.calibration.base_and_tool import base_and_tool
from theodolite.calibration.scene import HAND
from theodolite.model import rotations
from theodolite.model.machine import Machine
from theodolite.model.poses import Poses, roll_pitch_yaw
from theodolite.model.robot import Robot

if TYPE_CHECKING:
    from theodolite.calibration.result import Result


@dataclass(frozen=True)
class LinksFixed:
    """Hand-eye with the links as they are, against hand-eye with the links identified as well."""

    #: How far what is on the flange moves, m and rad.
    distance: float
    angle: float
    #: Root mean square of the pixel errors of each, px.
    alone: float
    whole: float
    #: How far off the links put the tip in the pictures' configurations, rms, m.
    links: float
    #: A doubt about lengths that all change together once the links are identified, or nothing.
    scale: str = ""

    def sentence(self) -> str:
        return (
            f"With the links identified as well, {self.whole:.3g} px are left instead of "
            f"{self.alone:.3g}, and what is on the flange moves by {1e3 * self.distance:.3g} mm "
            f"and {1e3 * self.angle:.3g} mrad: the links put it {1e3 * self.links:.3g} mm off (rms "
            "over these pictures). The intervals of hand-eye alone do not include that."
        )


def hand_eye_poses(robot: Machine, nominal: Machine, mount: str) -> dict[str, dict[str, Any]]:
    """Camera and target on the robot, for people and programs; nothing for mechanisms.

    Flange and first axis are where the nominal robot has them.
    """
    if not (isinstance(robot, Robot) and isinstance(nominal, Robot)):
        return {}
    base, tool = base_and_tool(robot, nominal)
    names = ("camera_in_flange", "target_in_base")
    if mount != HAND:
        names = ("target_in_flange", "camera_in_base")
    return {name: _numbers(pose) for name, pose in zip(names, (tool, base.inverse), strict=True)}


def _numbers(pose: Poses) -> dict[str, Any]:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation[0], pose.position[0]
    angles = roll_pitch_yaw(pose.rotation[0])
    return {
        "position_mm": (1e3 * pose.position[0]).tolist(),
        "roll_pitch_yaw_deg": np.degrees(angles).tolist(),
        "matrix_m": matrix.tolist(),
    }


def compare(alone: Result, whole: Result, motors: FloatArray) -> LinksFixed | None:
    """What fixed links cost; None without pictures, and for mechanisms."""
    if not (isinstance(alone.robot, Robot) and isinstance(whole.robot, Robot)):
        return None
    if "pixel" not in alone.after:
        return None
    one = base_and_tool(alone.robot)[1]
    other = base_and_tool(whole.robot, alone.robot)[1]
    distance = float(np.linalg.norm(one.position - other.position))
    angle = float(np.linalg.norm(rotations.log(one.rotation.transpose(0, 2, 1) @ other.rotation)))
    tips = [r.motion(r.values, motors).position for r in (alone.robot, whole.robot)]
    links = float(np.sqrt(np.mean(np.sum((tips[0] - tips[1]) ** 2, axis=1))))
    rms = [float(np.sqrt(0.5)) * result.after["pixel"].rms for result in (alone, whole)]
    return LinksFixed(distance, angle, rms[0], rms[1], links, whole.common_scale())
