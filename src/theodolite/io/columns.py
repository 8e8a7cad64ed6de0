"""What the columns of a measurement file mean for a robot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theodolite.arrays import BoolArray, FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.io.naming import LABELS, in_small_letters
from theodolite.io.number_table import Table
from theodolite.io.units import ANGLES, LENGTHS, joint_units
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.loads import LOAD
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism
from theodolite.model.terms import DIRECTION, TIMES, columns_needed

_JOINT = re.compile(r"q(\d{1,9})(?:_(\w+))?$")
_POINT = re.compile(r"(?:(\w+?)_)?([xyz])(?:_(\w+))?$")
_TURN = re.compile(r"r([xyz])(?:_(\w+))?$")
QUATERNION = ("qw", "qx", "qy", "qz")
_PLANE = re.compile(r"plane_(n[xyz]|h)(?:_(\w+))?$")
_MARK = re.compile(r"point_([xyz])(?:_(\w+))?$")
_FIXTURE = re.compile(r"fixture_([xyz])(?:_(\w+))?$")
_ALLOWED = (
    "q1_deg ..., x_mm y_mm z_mm, p1_x_mm ..., qw qx qy qz, rx_deg ry_deg rz_deg, set, session, "
    "picture, camera, board, "
    "plane_nx plane_ny plane_nz plane_h_mm, fixture_x_mm fixture_y_mm fixture_z_mm, "
    "u_px v_px point_x_mm point_y_mm point_z_mm, distance_mm, gx gy gz, "
    "time_s, row, direction1 ..., temperature_c, payload_kg, payload_x_mm ..., force_x_n ..., "
    "torque_x_nm ..."
)
#: What a row was measured under, which further error terms may use.
_CONDITION = re.compile(rf"{'|'.join(TIMES)}|{DIRECTION.pattern}|temperature\w*_c|{LOAD.pattern}")
#: Labels of sets beyond this are no longer told apart as numbers.
LARGEST_LABEL = 9e15
#: How far a quaternion may be from unit length.
UNIT_QUATERNION = 1e-3


def is_joint(column: str, joint: str) -> bool:
    """Does a column give a joint, in whatever unit?"""
    return column == joint or column.rpartition("_")[0] == joint


class Columns:
    """The meaning of a table's columns for one robot."""

    def __init__(self, table: Table, robot: Machine) -> None:
        self.table, self.robot = table, robot
        self.joint: dict[str, FloatArray] = {}
        self._kinds = dict(zip(robot.joint_names, robot.joint_types, strict=True))
        if isinstance(robot, Mechanism):
            self._kinds |= {joint.name: joint.kind for joint in robot.passive}
        self.point: dict[str, dict[str, FloatArray]] = {}
        self.turn: dict[str, FloatArray] = {}
        self.fixture: dict[str, FloatArray] = {}
        self.mark: dict[str, FloatArray] = {}
        self.other: dict[str, FloatArray] = {}
        #: What each row was measured under, by the names that further terms use.
        self.conditions: dict[str, FloatArray] = {}
        self._needed = columns_needed(robot.bases)
        #: Columns that are seen together or not at all.
        self._together: dict[str, list[str]] = {}
        self.table = replace(table, columns=tuple(map(self._meant, table.columns)))
        self._check_joints()
        for number, name in enumerate(self.table.columns):
            self._sort(name, table.values[:, number])
        if self.turn and any(name in self.other for name in QUATERNION):
            raise self._error("orientations are given twice, as quaternions and rotation vectors")

    def _put(
        self, place: dict[Any, FloatArray], key: Any, name: str, values: FloatArray, seen: str = ""
    ) -> None:
        """Keep a column; ``seen`` names what it belongs to, if that may be out of sight."""
        if key in place:
            raise self._error(f"column '{name}' holds the same quantity as another column")
        if seen:
            self._together.setdefault(seen, []).append(name)
        elif np.isnan(values).any():
            raise self.table.blank(int(np.argmax(np.isnan(values))), name)
        place[key] = values

    def unseen(self) -> BoolArray:
        """Rows without any target, or without an orientation; half a point is an error."""
        size = len(self.table.values)
        rows, no_target = np.zeros(size, dtype=bool), np.full(size, bool(self.point))
        for what, names in self._together.items():
            places = [self.table.columns.index(name) for name in names]
            missing = np.isnan(self.table.values[:, places])
            half = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
            if len(half):
                raise self.table.blank(int(half[0]), names[int(np.argmax(missing[half[0]]))])
            if what.startswith("point "):
                no_target &= missing[:, 0]
            else:
                rows |= missing[:, 0]
        return rows | no_target

    def _joint(self, column: str) -> str | None:
        return next((joint for joint in self._kinds if is_joint(column, joint)), None)

    def _meant(self, name: str) -> str:
        """The name in small letters, where only a mechanism's joint could be written otherwise."""
        small = in_small_letters(name)
        keep = self._joint(name) or small in self.table.columns or name in self._needed
        return name if keep else small

    def _check_joints(self) -> None:
        """Another number of joints is the surest sign of another robot: say it first."""
        for name in self.table.columns:
            match = None if isinstance(self.robot, Mechanism) else _JOINT.match(name)
            if match and not 1 <= int(match.group(1)) <= self.robot.joints:
                raise self._error(
                    f"column '{name}': robot '{self.robot.name}' has {self.robot.joints} joints",
                    remedy="The file may be from another robot",
                )

    def _sort(self, name: str, values: FloatArray) -> None:
        if name in QUATERNION:
            self._put(self.other, name, name, values, "orientation")
        elif name in LABELS:
            self._put(self.other, name, name, values)
        elif name in self._needed or _CONDITION.fullmatch(name):
            self._condition(name, values)
        elif (joint := self._joint(name)) is not None:
            units = joint_units(self._kinds[joint])
            unit = name.removeprefix(joint).lstrip("_") or None
            self._put(self.joint, joint, name, values * self._factor(name, unit, units))
        elif match := _PLANE.match(name):
            units = LENGTHS if match.group(1) == "h" else {"": 1.0}
            values = values * self._factor(name, match.group(2), units)
            self._put(self.other, match.group(1), name, values)
        elif name in ("u_px", "v_px"):
            self._put(self.other, name[0], name, values)
        elif match := _MARK.match(name):
            values = values * self._factor(name, match.group(2), LENGTHS)
            self._put(self.mark, match.group(1), name, values)
        elif match := _FIXTURE.match(name):
            values = values * self._factor(name, match.group(2), LENGTHS)
            self._put(self.fixture, match.group(1), name, values, "fixture")
        elif match := _TURN.match(name):
            values = values * self._factor(name, match.group(2), ANGLES)
            self._put(self.turn, match.group(1), name, values, "orientation")
        elif match := _POINT.match(name):
            target = match.group(1) or ""
            values = values * self._factor(name, match.group(3), LENGTHS)
            point = self.point.setdefault(target, {})
            self._put(point, match.group(2), name, values, f"point {target}")
        else:
            raise self._error(
                f"unknown column '{name}'",
                allowed=_ALLOWED,
                remedy=f"Ignore '{name}', or let 'theodolite check' propose a mapping",
            )

    def _condition(self, name: str, values: FloatArray) -> None:
        """Keep a column for further terms; time does not run backwards."""
        self._put(self.conditions, name, name, values)
        if match := DIRECTION.fullmatch(name):
            if int(match.group(1)) > self.robot.joints:
                raise self._error(
                    f"column '{name}': robot '{self.robot.name}' has {self.robot.joints} joints"
                )
            wrong = np.flatnonzero(~np.isin(values, (-1.0, 0.0, 1.0)))
            if len(wrong):
                line = int(self.table.lines[wrong[0]])
                raise self._error(
                    f"line {line}, column '{name}': {values[wrong[0]]:.6g}",
                    allowed="-1, 0 or 1: the sign of the joint's last motion",
                )
        back = np.flatnonzero(np.diff(values) < 0)
        if name in TIMES and len(back):
            raise self._error(
                f"line {int(self.table.lines[back[0] + 1])}, column '{name}': "
                f"{values[back[0] + 1]:.9g} after {values[back[0]]:.9g}",
                allowed="times that never decrease",
                remedy="Sort the rows as they were measured, or leave the column out",
            )

    def _factor(self, name: str, unit: str | None, units: dict[str, float]) -> float:
        if (unit or "") not in units:
            what = f"has the unit '{unit}'" if unit else "does not say its unit"
            stem = name.removesuffix(f"_{unit}") if unit else name
            allowed = [f"{stem}_{unit}" if unit else stem for unit in units]
            raise self._error(f"column '{name}' {what}", allowed=allowed)
        return units[unit or ""]

    def motors(self) -> FloatArray:
        """The measured joints, (n, joints)."""
        missing = [name for name in self.robot.joint_names if name not in self.joint]
        several = isinstance(self.robot, Mechanism) and len(self.robot.tools) > 1
        if several and len(self.joint) > 0:
            # Other arms may not have been recorded; whether they matter is found out later.
            blank = np.full(len(self.table.values), np.nan)
            joints = [self.joint.get(name, blank) for name in self.robot.joint_names]
            return np.column_stack(joints)
        if missing:
            unit = "deg" if self._kinds[missing[0]] is Joint.REVOLUTE else "mm"
            raise self._error(
                f"column {missing[0]}_{unit} is missing",
                allowed=f"one column for each of the {self.robot.joints} joints",
                remedy="The file may be from another robot; a mapping must name every column that "
                "is to be read",
            )
        return np.column_stack([self.joint[name] for name in self.robot.joint_names])

    def passive(self) -> FloatArray | None:
        """About where the passive joints are, (n, passive); None where the file does not say."""
        if not isinstance(self.robot, Mechanism):
            return None
        names = [joint.name for joint in self.robot.passive]
        given = [name for name in names if name in self.joint]
        if not given:
            return None
        if len(given) < len(names):
            missing = [name for name in names if name not in given]
            raise self._error(
                f"there are guesses of {', '.join(given)} but not of {', '.join(missing)}",
                remedy="Give the guesses of all passive joints or of none",
            )
        return np.column_stack([self.joint[name] for name in names])

    def targets(self) -> tuple[str, ...]:
        return tuple(self.point) or ("",)

    def positions(self) -> FloatArray | None:
        if not self.point:
            return None
        for target, axes in self.point.items():
            prefix = f"{target}_" if target else ""
            self._complete([f"{prefix}{axis}_mm" for axis in "xyz" if axis not in axes])
        return np.stack(
            [np.column_stack([axes[axis] for axis in "xyz"]) for axes in self.point.values()],
            axis=1,
        )

    def pixels(self) -> FloatArray | None:
        """Where points of a target were seen, (n, 2)."""
        if not any(name in self.other for name in "uv"):
            return None
        self._complete([f"{name}_px" for name in "uv" if name not in self.other])
        return np.column_stack([self.other["u"], self.other["v"]])

    def marks(self) -> FloatArray | None:
        """Which points of the target these were, (n, 3)."""
        if not self.mark:
            return None
        self._complete([f"point_{axis}_mm" for axis in "xyz" if axis not in self.mark])
        return np.column_stack([self.mark[axis] for axis in "xyz"])

    def touched(self) -> FloatArray | None:
        """Places in the fixture of the targets that touched, (n, 3)."""
        if not self.fixture:
            return None
        self._complete([f"fixture_{axis}_mm" for axis in "xyz" if axis not in self.fixture])
        return np.column_stack([self.fixture[axis] for axis in "xyz"])

    def rotations(self) -> FloatArray | None:
        for name in self._together.get("orientation", ()):
            missing = np.isnan(self.table.values[:, self.table.columns.index(name)])
            if missing.any():
                raise self.table.blank(int(np.argmax(missing)), name)
        if self.turn:
            self._complete([f"r{axis}_deg" for axis in "xyz" if axis not in self.turn])
            return rotations.exp(np.column_stack([self.turn[axis] for axis in "xyz"]))
        if not any(name in self.other for name in QUATERNION):
            return None
        self._complete([name for name in QUATERNION if name not in self.other])
        quaternions = np.column_stack([self.other[name] for name in QUATERNION])
        sizes = np.linalg.norm(quaternions, axis=1)
        wrong = np.flatnonzero(np.abs(sizes - 1.0) > UNIT_QUATERNION)
        if len(wrong):
            raise self._error(
                f"line {int(self.table.lines[wrong[0]])}, columns qw qx qy qz: the quaternion has "
                f"length {sizes[wrong[0]]:.6g}",
                allowed="unit quaternions",
            )
        return rotations.from_quaternion(quaternions)

    def labels(self, name: str) -> IntArray | None:
        """Sets or sessions."""
        if name not in self.other:
            return None
        labels = self.other[name]
        broken = np.flatnonzero((labels != np.round(labels)) | (np.abs(labels) >= LARGEST_LABEL))
        if len(broken):
            raise self._error(
                f"line {int(self.table.lines[broken[0]])}, column '{name}': {labels[broken[0]]}",
                allowed="whole numbers below 9e15",
            )
        return labels.astype(np.intp)

    def planes(self) -> FloatArray | None:
        names = ("nx", "ny", "nz", "h")
        if not any(name in self.other for name in names):
            return None
        self._complete([f"plane_{name}" for name in names if name not in self.other])
        planes = np.column_stack([self.other[name] for name in names])
        sizes = np.linalg.norm(planes[:, :3], axis=1)
        wrong = np.flatnonzero(np.abs(sizes - 1.0) > UNIT_QUATERNION)
        if len(wrong):
            raise self._error(
                f"line {int(self.table.lines[wrong[0]])}, columns plane_nx plane_ny plane_nz: the "
                f"normal has length {sizes[wrong[0]]:.6g}",
                allowed="unit normals",
            )
        planes[:, :3] /= sizes[:, None]
        return planes

    def _complete(self, missing: list[str]) -> None:
        if missing:
            plural = "columns" if len(missing) > 1 else "column"
            raise self._error(f"{plural} {', '.join(missing)} missing")

    def _error(
        self, what: str, *, allowed: str | Sequence[str] | None = None, remedy: str | None = None
    ) -> InputError:
        return InputError(what, where=str(self.table.path), allowed=allowed, remedy=remedy)
