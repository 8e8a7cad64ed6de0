"""Circle points: a robot from measurements in which one joint moves at a time.

A target on the hand runs along a circle about the axis of the joint that turns, or along a line if
the joint slides. With the joint's reading q known, both are linear:

    P = a + b cos q + d sin q      the axis is along b x d, through a
    P = a + q d                    the axis is along d

An axis depends on the joints before it alone, so those stand still, always in the same place, while
the joints after it may stand anywhere. The robot gets one pose row per joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.model.conventions import Convention, Joint, Row
from theodolite.model.poses import roll_pitch_yaw
from theodolite.model.robot import Robot
from theodolite.model.transmission import Transmission

#: A joint stands still if it moves by less than this part of all that it moves.
STILL = 1e-5
#: Positions that determine a circle, or a line, and its noise.
ENOUGH = {Joint.REVOLUTE: 4, Joint.PRISMATIC: 3}
#: Sine of the angle below which two directions are the same.
PARALLEL = 1e-6


@dataclass(frozen=True, eq=False)
class Axis:
    """Where a joint's axis is, with every joint before it at home."""

    joint: Joint
    #: Unit vector, and a point, (3,) each.
    direction: FloatArray
    point: FloatArray
    #: Standard deviations: of the direction, radians, and of the point, metres.
    direction_error: float
    point_error: float
    #: Root mean square of what the circle or line leaves, metres, and of how many positions.
    rms: float
    count: int
    #: Radius of the circle; 0 for lines.
    radius: float = 0.0


def robot_from_circles(
    motors: FloatArray,
    positions: FloatArray,
    kinds: Sequence[Joint],
    *,
    name: str = "measured",
    where: str = "data",
) -> tuple[Robot, tuple[Axis, ...]]:
    """A robot in pose rows from readings (n, joints) and positions (n, 3), and its axes."""
    runs = [_run(motors, joint, where) for joint in range(len(kinds))]
    home = _home(motors, runs, where)
    fits = [
        _fit(motors[rows, joint], positions[rows], kind, joint, where)
        for joint, (rows, kind) in enumerate(zip(runs, kinds, strict=True))
    ]
    axes = tuple(axis for axis, _ in fits)
    frames = _frames(axes)
    tip = fits[-1][1](home[-1])
    rows = [Row(Convention.POSE, Joint.FIXED)]
    before: FloatArray = np.eye(4)
    for kind, frame in zip(kinds, frames, strict=True):
        rows.append(Row(Convention.POSE, kind, nominal=_pose(np.linalg.solve(before, frame))))
        before = frame
    tool = np.eye(4)
    tool[:3, 3] = before[:3, :3].T @ (tip - before[:3, 3])
    rows.append(Row(Convention.POSE, Joint.FIXED, nominal=_pose(tool)))
    # Its limits are not known: half a turn beyond what was seen, or as much again.
    low, high = motors.min(axis=0), motors.max(axis=0)
    beyond = np.where([kind is Joint.REVOLUTE for kind in kinds], np.pi, high - low)
    return Robot.of(
        name,
        rows,
        transmission=Transmission.of(len(kinds), offset=-home),
        lower=low - beyond,
        upper=high + beyond,
        source="Axes from circles and lines of single joints.",
    ), axes


def _run(motors: FloatArray, joint: int, where: str) -> IntArray:
    """The longest run of rows in which one joint moves and no other does."""
    spread = np.ptp(motors, axis=0)
    if spread[joint] <= 0.0:
        raise InputError(
            f"joint {joint + 1} never moves",
            where=where,
            remedy="Move every joint by itself, the others standing still",
        )
    others = np.delete(motors, joint, axis=1)
    unit = np.delete(np.where(spread > 0.0, spread, 1.0), joint) * STILL
    labels = np.unique(np.round(others / unit), axis=0, return_inverse=True)[1].ravel()
    ranges = [np.ptp(motors[labels == label, joint]) for label in range(labels.max() + 1)]
    return np.flatnonzero(labels == int(np.argmax(ranges)))


def _home(motors: FloatArray, runs: Sequence[IntArray], where: str) -> FloatArray:
    """Where each joint stands while later ones move; the last has no later one."""
    spread = np.ptp(motors, axis=0)
    home = np.array([motors[rows, joint].mean() for joint, rows in enumerate(runs)])
    for joint in range(len(runs) - 1):
        places = [float(motors[rows, joint].mean()) for rows in runs[joint + 1 :]]
        if np.ptp(places) > STILL * spread[joint]:
            raise InputError(
                f"joint {joint + 1} stands in different places while later joints move",
                where=where,
                remedy="Leave each joint at the same reading while those after it move",
            )
        home[joint] = places[0]
    return home


def _fit(
    readings: FloatArray, positions: FloatArray, kind: Joint, joint: int, where: str
) -> tuple[Axis, Path]:
    """The axis of one joint, and the path of the target when it moves."""
    if len(np.unique(readings)) < ENOUGH[kind]:
        raise InputError(
            f"joint {joint + 1} moves alone through {len(np.unique(readings))} readings",
            where=where,
            allowed=f"at least {ENOUGH[kind]}, over as large a range as possible",
        )
    basis = _basis(readings, kind)
    coefficients, *_ = np.linalg.lstsq(basis, positions, rcond=None)
    left = positions - basis @ coefficients
    degrees = max(3 * (len(positions) - basis.shape[1]), 1)
    sigma = float(np.sqrt(np.sum(left**2) / degrees))
    spread = sigma * np.sqrt(np.diag(np.linalg.inv(basis.T @ basis)))
    start, *along = coefficients
    if kind is Joint.PRISMATIC:
        direction = along[0]
        tilt = spread[1] / np.linalg.norm(direction)
        radius = 0.0
    else:
        direction = np.cross(along[0], along[1])
        sizes = np.linalg.norm(along, axis=1)
        # An error of b across the circle tilts its plane by that over the radius, and so does d's.
        tilt = float(np.hypot(*(spread[1:] / np.where(sizes > 0.0, sizes, np.inf))))
        radius = float(np.sqrt(np.linalg.norm(direction)))
    length = float(np.linalg.norm(direction))
    if length <= 0.0:
        raise InputError(
            f"the target does not move when joint {joint + 1} does",
            where=where,
            remedy="Mount it off the axis",
        )
    rms = float(np.sqrt(np.mean(np.sum(left**2, axis=1))))
    axis = Axis(
        kind,
        direction / length,
        start,
        float(tilt),
        float(spread[0]),
        rms,
        len(positions),
        radius,
    )
    return axis, Path(coefficients, kind)


@dataclass(frozen=True, eq=False)
class Path:
    """Where the target is at a reading of the joint that moves."""

    coefficients: FloatArray
    kind: Joint

    def __call__(self, reading: float) -> FloatArray:
        return np.asarray(_basis(np.array([reading]), self.kind)[0] @ self.coefficients)


def _basis(readings: FloatArray, kind: Joint) -> FloatArray:
    one = np.ones(len(readings))
    if kind is Joint.PRISMATIC:
        return np.column_stack([one, readings])
    return np.column_stack([one, np.cos(readings), np.sin(readings)])


def _frames(axes: Sequence[Axis]) -> list[FloatArray]:
    """A frame (4, 4) on each axis: z along it, the origin nearest to that of the one before.

    Not on common normals: those of nearly parallel axes are far away.
    """
    found: list[FloatArray] = []
    direction: FloatArray = np.array([0.0, 0.0, 1.0])
    point: FloatArray = axes[0].point
    x: FloatArray = np.array([1.0, 0.0, 0.0])
    for axis in axes:
        z = axis.direction
        origin = axis.point + ((point - axis.point) @ z) * z
        # As little turned as possible against the frame before.
        x = x - (x @ z) * z
        if np.linalg.norm(x) < PARALLEL:
            x = np.cross(direction, z)
        x = x / np.linalg.norm(x)
        frame = np.eye(4)
        frame[:3, :3] = np.column_stack([x, np.cross(z, x), z])
        frame[:3, 3] = origin
        found.append(frame)
        direction, point = z, origin
    return found


def _pose(frame: FloatArray) -> tuple[float, float, float, float, float, float]:
    x, y, z = (float(value) for value in frame[:3, 3])
    return (x, y, z, *roll_pitch_yaw(frame[:3, :3]))
