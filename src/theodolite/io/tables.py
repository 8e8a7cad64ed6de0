"""Measurements in CSV: one row per configuration, units in the column names.

| columns | what |
|---|---|
| ``q1_deg`` ... | motor variables, one per joint |
| ``x_mm y_mm z_mm`` | position of the tool; ``p1_x_mm`` ... of a target ``p1`` |
| ``qw qx qy qz`` | orientation as a quaternion |
| ``rx_deg ry_deg rz_deg`` | or as a rotation vector |
| ``set`` | which configurations reach the same place |
| ``plane_nx plane_ny plane_nz plane_h_mm`` | the plane touched: n . P = h |
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.errors import InputError
from theodolite.io.units import ANGLES, LENGTHS, joint_units
from theodolite.io.writing import read_text, write_text
from theodolite.measure import rotations
from theodolite.measure.dataset import Dataset
from theodolite.model.conventions import Joint
from theodolite.model.robot import Robot

_JOINT = re.compile(r"q(\d+)(?:_(\w+))?$")
_POINT = re.compile(r"(?:(\w+?)_)?([xyz])(?:_(\w+))?$")
_TURN = re.compile(r"r([xyz])(?:_(\w+))?$")
_QUATERNION = ("qw", "qx", "qy", "qz")
_PLANE = re.compile(r"plane_(n[xyz]|h)(?:_(\w+))?$")
_ALLOWED = (
    "q1_deg ..., x_mm y_mm z_mm, p1_x_mm ..., qw qx qy qz, rx_deg ry_deg rz_deg, set, "
    "plane_nx plane_ny plane_nz plane_h_mm"
)
#: How far a quaternion may be from unit length.
UNIT_QUATERNION = 1e-3
#: How far a reading may be beyond its limit before it is refused (radians, metres).
LIMIT_MARGIN = 1e-6


def read_measurements(
    paths: Sequence[Path],
    robot: Robot,
    *,
    needs: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    check_limits: bool = True,
) -> Dataset:
    """The measurements in one or more files.

    ``needs`` names what the method cannot do without: positions, rotations or sets. ``columns``
    names the columns of files without a header. Several files without a ``set`` column are one
    set each.
    """
    tables = [_Table.read(path, columns, ignore) for path in paths]
    parts = [table.dataset(robot, check_limits=check_limits) for table in tables]
    if len(parts) > 1 and all(part.sets is None for part in parts):
        parts = [
            replace(part, sets=np.full(len(part), number)) for number, part in enumerate(parts)
        ]
    data = _joined(parts, paths)
    _check_needs(data, robot, needs)
    return data


def _joined(parts: list[Dataset], paths: Sequence[Path]) -> Dataset:
    first = parts[0]
    fields: dict[str, Any] = {}
    for field in ("motors", "positions", "rotations", "sets", "planes", "lines"):
        arrays = [getattr(part, field) for part in parts]
        present = [array is not None for array in arrays]
        if any(present) and not all(present):
            odd = paths[present.index(present[0] is False)]
            raise InputError(f"has other columns than {paths[0]}", where=str(odd))
        if all(present):
            fields[field] = np.concatenate(arrays)
    if any(part.targets != first.targets for part in parts):
        raise InputError("the files measure different targets", where=first.name)
    return replace(first, name=", ".join(part.name for part in parts), **fields)


def _check_needs(data: Dataset, robot: Robot, needs: Sequence[str]) -> None:
    remedies = {
        "positions": "Add columns x_mm y_mm z_mm",
        "rotations": "Add columns qw qx qy qz, or use the method 'position'",
        "sets": "Add a column 'set', or give one file per set",
        "planes": "Add columns plane_nx plane_ny plane_nz plane_h_mm, or give --plane a,b,c",
    }
    for need in needs:
        if getattr(data, need) is None:
            raise InputError(f"has no {need}", where=data.name, remedy=remedies[need])
    if "sets" in needs and data.sets is not None:
        labels, counts = np.unique(data.sets, return_counts=True)
        if (counts < 2).any():
            lonely = labels[counts < 2][0]
            row = int(np.flatnonzero(data.sets == lonely)[0])
            line = data.lines[row] if data.lines is not None else row
            raise InputError(
                f"line {line}, column 'set': set {lonely} has only one configuration",
                where=data.name,
                allowed="two or more configurations per set",
                remedy="Remove the row or give its set another configuration",
            )


@dataclass(frozen=True)
class _Table:
    """A file's numbers, before their meaning."""

    path: Path
    columns: tuple[str, ...]
    values: FloatArray
    #: Line of the file for each row.
    lines: FloatArray

    @staticmethod
    def read(path: Path, columns: Sequence[str] | None, ignore: Sequence[str]) -> _Table:
        lines = read_text(path).splitlines()
        start = 0
        if columns is None:
            while start < len(lines) and not lines[start].strip():
                start += 1
            if start == len(lines):
                raise InputError("is empty", where=str(path))
            columns = [name.strip() for name in next(csv.reader([lines[start]]))]
            if all(_is_number(name) for name in columns):
                raise InputError(
                    "has no header",
                    where=str(path),
                    remedy="Add a first line of column names, or give them with --columns",
                )
            start += 1
        names = tuple(columns)
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"column '{name}' appears twice", where=str(path))
        keep = [number for number, name in enumerate(names) if name not in ignore]
        values, numbers = _numbers(lines[start:], start + 1, names, keep, path)
        if not len(values):
            raise InputError("has no rows", where=str(path))
        return _Table(path, tuple(names[number] for number in keep), values, numbers)

    def dataset(self, robot: Robot, *, check_limits: bool) -> Dataset:
        found = _Columns(self, robot)
        data = Dataset(
            found.motors(),
            positions=found.positions(),
            targets=found.targets(),
            rotations=found.rotations(),
            sets=found.sets(),
            planes=found.planes(),
            lines=self.lines.astype(np.intp),
            name=str(self.path),
        )
        if check_limits:
            self._check_limits(data, robot)
        return data

    def _check_limits(self, data: Dataset, robot: Robot) -> None:
        readings = robot.readings(data.motors)
        outside = (readings < robot.lower - LIMIT_MARGIN) | (readings > robot.upper + LIMIT_MARGIN)
        if not outside.any():
            return
        row, joint = np.argwhere(outside)[0]
        revolute = robot.joint_types[joint] is Joint.REVOLUTE
        unit, factor = ("deg", ANGLES["deg"]) if revolute else ("mm", LENGTHS["mm"])
        column = next(name for name in self.columns if _is_joint(name, joint + 1))
        raise InputError(
            f"line {int(self.lines[row])}, column '{column}': joint {joint + 1} at "
            f"{readings[row, joint] / factor:.6g} {unit} is out of its limits "
            f"({int(outside.any(axis=1).sum())} of {len(data)} rows are)",
            where=str(self.path),
            allowed=f"{robot.lower[joint] / factor:.6g} to "
            f"{robot.upper[joint] / factor:.6g} {unit}",
            remedy="Check the unit in the column's name and that the data are of this robot; "
            "--ignore-limits uses them as they are",
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_joint(name: str, number: int) -> bool:
    match = _JOINT.match(name)
    return match is not None and int(match.group(1)) == number


def _numbers(
    lines: list[str], first: int, names: tuple[str, ...], keep: list[int], path: Path
) -> tuple[FloatArray, FloatArray]:
    """The numbers of some columns, and the line of each row."""
    rows = [(first + i, line) for i, line in enumerate(lines) if line.strip()]
    numbers = np.array([number for number, _ in rows])
    if not rows:
        return np.empty((0, len(keep))), numbers
    try:
        values: FloatArray = np.loadtxt(
            [line for _, line in rows], delimiter=",", usecols=keep, ndmin=2, comments=None
        )
        whole = all(line.count(",") == len(names) - 1 for _, line in rows)
    except ValueError:
        whole = False
    if not whole:
        values = _located_numbers(rows, names, keep, path)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"line {numbers[row]}, column '{names[keep[column]]}': {values[row, column]}",
            where=str(path),
            allowed="finite numbers",
            remedy="Remove the row",
        )
    return values, numbers


def _located_numbers(
    rows: list[tuple[int, str]], names: tuple[str, ...], keep: list[int], path: Path
) -> FloatArray:
    """Slowly, so that what is wrong can be said with its place."""
    values = []
    for number, line in rows:
        cells = next(csv.reader([line]))
        if len(cells) != len(names):
            raise InputError(
                f"line {number} has {len(cells)} cells, the header {len(names)}",
                where=str(path),
                remedy="The file may be cut short; complete or remove the line",
            )
        for column in keep:
            if not _is_number(cells[column]):
                raise InputError(
                    f"line {number}, column '{names[column]}': {cells[column]!r} is not a number",
                    where=str(path),
                    remedy="Correct or remove the row",
                )
        values.append([float(cells[column]) for column in keep])
    return np.array(values)


class _Columns:
    """The meaning of a table's columns for one robot."""

    def __init__(self, table: _Table, robot: Robot) -> None:
        self.table, self.robot = table, robot
        self.joint: dict[int, FloatArray] = {}
        self.point: dict[str, dict[str, FloatArray]] = {}
        self.turn: dict[str, FloatArray] = {}
        self.other: dict[str, FloatArray] = {}
        self._check_joints()
        for number, name in enumerate(table.columns):
            self._sort(name, table.values[:, number])

    def _check_joints(self) -> None:
        """Another number of joints is the surest sign of another robot: say it first."""
        for name in self.table.columns:
            match = _JOINT.match(name)
            if match and not 1 <= int(match.group(1)) <= self.robot.joints:
                raise self._error(
                    f"column '{name}': robot '{self.robot.name}' has {self.robot.joints} joints",
                    remedy="The file may be of another robot",
                )

    def _sort(self, name: str, values: FloatArray) -> None:
        if name in _QUATERNION or name == "set":
            self.other[name] = values
        elif match := _JOINT.match(name):
            number = int(match.group(1))
            units = joint_units(self.robot.joint_types[number - 1])
            self.joint[number] = values * self._factor(name, match.group(2), units)
        elif match := _PLANE.match(name):
            units = LENGTHS if match.group(1) == "h" else {"": 1.0}
            self.other[match.group(1)] = values * self._factor(name, match.group(2), units)
        elif match := _TURN.match(name):
            self.turn[match.group(1)] = values * self._factor(name, match.group(2), ANGLES)
        elif match := _POINT.match(name):
            target = match.group(1) or ""
            factor = self._factor(name, match.group(3), LENGTHS)
            self.point.setdefault(target, {})[match.group(2)] = values * factor
        else:
            raise self._error(
                f"unknown column '{name}'", allowed=_ALLOWED, remedy=f"Add --ignore {name}"
            )

    def _factor(self, name: str, unit: str | None, units: dict[str, float]) -> float:
        if (unit or "") not in units:
            what = f"has the unit '{unit}'" if unit else "does not say its unit"
            stem = name.removesuffix(f"_{unit}") if unit else name
            allowed = [f"{stem}_{unit}" if unit else stem for unit in units]
            raise self._error(f"column '{name}' {what}", allowed=allowed)
        return units[unit or ""]

    def motors(self) -> FloatArray:
        missing = [n for n in range(1, self.robot.joints + 1) if n not in self.joint]
        if missing:
            kind = self.robot.joint_types[missing[0] - 1]
            unit = "deg" if kind is Joint.REVOLUTE else "mm"
            raise self._error(
                f"column q{missing[0]}_{unit} is missing",
                allowed=f"one column for each of the {self.robot.joints} joints",
                remedy="The file may be of another robot",
            )
        return np.column_stack([self.joint[n] for n in range(1, self.robot.joints + 1)])

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

    def rotations(self) -> FloatArray | None:
        if self.turn:
            self._complete([f"r{axis}_deg" for axis in "xyz" if axis not in self.turn])
            return rotations.exp(np.column_stack([self.turn[axis] for axis in "xyz"]))
        if not any(name in self.other for name in _QUATERNION):
            return None
        self._complete([name for name in _QUATERNION if name not in self.other])
        quaternions = np.column_stack([self.other[name] for name in _QUATERNION])
        sizes = np.linalg.norm(quaternions, axis=1)
        wrong = np.flatnonzero(np.abs(sizes - 1.0) > UNIT_QUATERNION)
        if len(wrong):
            raise self._error(
                f"line {int(self.table.lines[wrong[0]])}, columns qw qx qy qz: the quaternion has "
                f"length {sizes[wrong[0]]:.6g}",
                allowed="unit quaternions",
            )
        from scipy.spatial.transform import Rotation

        matrices: FloatArray = Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_matrix()
        return matrices

    def sets(self) -> IntArray | None:
        if "set" not in self.other:
            return None
        labels = self.other["set"]
        broken = np.flatnonzero(labels != np.round(labels))
        if len(broken):
            raise self._error(
                f"line {int(self.table.lines[broken[0]])}, column 'set': {labels[broken[0]]}",
                allowed="whole numbers",
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


def write_measurements(data: Dataset, robot: Robot, path: Path, *, force: bool = False) -> None:
    """Write measurements in degrees and millimetres, with all their digits."""
    names: list[str] = []
    columns: list[Any] = []
    if data.sets is not None:
        names.append("set")
        columns.append(data.sets)
    for number, kind in enumerate(robot.joint_types):
        unit, factor = ("deg", ANGLES["deg"]) if kind is Joint.REVOLUTE else ("mm", 1e-3)
        names.append(f"q{number + 1}_{unit}")
        columns.append(data.motors[:, number] / factor)
    if data.positions is not None:
        for index, target in enumerate(data.targets):
            for axis, letter in enumerate("xyz"):
                names.append(f"{target}_{letter}_mm" if target else f"{letter}_mm")
                columns.append(data.positions[:, index, axis] / 1e-3)
    if data.rotations is not None:
        from scipy.spatial.transform import Rotation

        quaternions = Rotation.from_matrix(data.rotations).as_quat()[:, [3, 0, 1, 2]]
        names += _QUATERNION
        columns += list(quaternions.T)
    if data.planes is not None:
        names += ["plane_nx", "plane_ny", "plane_nz", "plane_h_mm"]
        columns += [*data.planes[:, :3].T, data.planes[:, 3] / 1e-3]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    text = [",".join(names), *(",".join(map(repr, row)) for row in rows)]
    write_text(path, "\n".join(text) + "\n", force=force)
