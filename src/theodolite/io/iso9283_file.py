"""Files of ISO 9283: plans to be run, and what was measured.

| column | meaning |
|---|---|
| ``test`` | pose, multi, distance, drift, settling, path or corner; default: pose |
| ``pose`` | name of the commanded pose, such as P1 |
| ``cycle``, ``direction``, ``block`` | numbers; ``block`` is a group of cycles at one time |
| ``time_s`` | time of a sample |
| ``x_mm y_mm z_mm`` | attained position |
| ``qw qx qy qz`` or ``rx_deg ry_deg rz_deg`` | attained orientation, as quaternion or vector |
| the same with ``c`` before the unit: ``xc_mm``, ``qwc``, ``rxc_deg`` | commanded |
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.assessment.iso9283.attained import Attained, Test
from theodolite.assessment.iso9283.plan import Plan
from theodolite.errors import InputError, shown
from theodolite.io.naming import with_unit
from theodolite.io.sheets import read_sheet
from theodolite.io.units import ANGLES, LENGTHS
from theodolite.io.writing import write_text
from theodolite.model import rotations
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine

_NUMBERS = ("cycle", "direction", "block")
_TIMES = {"s": 1.0, "ms": 1e-3}


def write_plan(plan: Plan, robot: Machine, path: Path, *, force: bool = False) -> None:
    """The rows of a plan: commanded poses, joints, and empty cells for what will be measured."""
    turned = plan.rotation is not None
    names = ["test", "pose", "cycle", "direction", "block"]
    names += [f"{axis}c_mm" for axis in "xyz"]
    names += ["qwc", "qxc", "qyc", "qzc"] if turned else []
    names += [
        f"{joint}_{'deg' if kind is Joint.REVOLUTE else 'mm'}"
        for joint, kind in zip(robot.joint_names, robot.joint_types, strict=True)
    ]
    names += [f"{axis}_mm" for axis in "xyz"]
    units = np.array([180 / np.pi if k is Joint.REVOLUTE else 1e3 for k in robot.joint_types])
    quaternion: list[float] = []
    if plan.rotation is not None:
        quaternion = rotations.to_quaternion(plan.rotation[None])[0].tolist()
    lines = [",".join(names)]
    for row in plan.rows:
        joints = (plan.motors[row.number, : robot.joints] * units).tolist()
        numbers = [*(1e3 * plan.positions[row.number]).tolist(), *quaternion, *joints]
        cells = [row.test.value, row.pose, str(row.cycle), str(row.direction), str(row.block)]
        lines.append(",".join([*cells, *(repr(float(value)) for value in numbers), "", "", ""]))
    write_text(path, "\n".join(lines) + "\n", force=force)


def read_attained(path: Path, plan: Path | None = None) -> dict[Test, Attained]:
    """What was measured, by test. Commands are in the same file, or in the plan's."""
    found = _File(path)
    commands = None if plan is None else _File(plan)
    tests = found.words("test", "pose")
    result: dict[Test, Attained] = {}
    for name in dict.fromkeys(tests):
        if name not in {test.value for test in Test}:
            row = tests.index(name)
            raise found.sheet.error(
                row, "test", f"{shown(name)} is no test", ", ".join(test.value for test in Test)
            )
        rows = np.flatnonzero([one == name for one in tests])
        result[Test(name)] = found.attained(rows, commands, Test(name))
    return result


def read_polyline(path: Path) -> FloatArray:
    """Points of a commanded path, metres, (k, 3)."""
    file = _File(path)
    points = file.triple("", LENGTHS, ("x", "y", "z"))
    if points is None:
        points = file.triple("c", LENGTHS, ("x", "y", "z"))
    if points is None or len(points) < 2:
        raise InputError("holds no path", where=str(path), allowed="x_mm y_mm z_mm, 2 rows or more")
    return points


class _File:
    """The columns of one file, by name and unit."""

    def __init__(self, path: Path) -> None:
        self.path, self.sheet = path, read_sheet(path)
        if self.sheet.names is None:
            raise InputError("has no header", where=str(path), remedy="Name the columns")
        self.places: dict[str, tuple[int, str]] = {}
        for place, name in enumerate(self.sheet.names):
            stem, unit = with_unit(name.strip())
            self.places[stem] = (place, unit)

    @property
    def rows(self) -> int:
        return len(self.sheet.lines)

    def words(self, name: str, usual: str) -> list[str]:
        """A column of words; the usual one where there is none."""
        if name not in self.places:
            return [usual] * self.rows
        cells = self.sheet.columns[self.places[name][0]]
        if not isinstance(cells, list):
            return [f"{value:g}" for value in cells]
        return [cell.strip() or usual for cell in cells]

    def whole(self, name: str) -> IntArray | None:
        if name not in self.places:
            return None
        values = self.sheet.numbers(self.places[name][0], name)
        wrong = np.flatnonzero(~(values == np.round(values)))
        if len(wrong):
            raise self.sheet.error(int(wrong[0]), name, f"{values[wrong[0]]:g}", "whole numbers")
        return values.astype(np.intp)

    def times(self) -> FloatArray | None:
        for name in ("time", "t"):
            if name in self.places:
                place, unit = self.places[name]
                if unit not in _TIMES:
                    raise InputError(
                        f"column '{name}' has no unit", where=str(self.path), allowed="time_s"
                    )
                return self.sheet.numbers(place, name) * _TIMES[unit]
        return None

    def triple(
        self, mark: str, units: Mapping[str, float], names: tuple[str, ...]
    ) -> FloatArray | None:
        """Three columns with units, such as ``x_mm y_mm z_mm``; None where there are none."""
        columns = [f"{name}{mark}" for name in names]
        there = [name in self.places for name in columns]
        if not any(there):
            return None
        if not all(there):
            missing = ", ".join(name for name, has in zip(columns, there, strict=True) if not has)
            raise InputError(f"column {missing} is missing", where=str(self.path))
        values = []
        for name in columns:
            place, unit = self.places[name]
            if unit not in units:
                raise InputError(
                    f"column '{name}' has no unit",
                    where=str(self.path),
                    allowed=[f"{name}_{unit}" for unit in units],
                )
            values.append(self.sheet.numbers(place, f"{name}_{unit}") * units[unit])
        return np.column_stack(values)

    def turned(self, mark: str) -> FloatArray | None:
        """Orientations, from quaternions or rotation vectors; NaN where cells are blank."""
        names = [f"q{axis}{mark}" for axis in "wxyz"]
        vectors = self.triple(mark, ANGLES, ("rx", "ry", "rz"))
        if all(name in self.places for name in names):
            values = np.column_stack(
                [self.sheet.numbers(self.places[name][0], name) for name in names]
            )
            sizes = np.linalg.norm(values, axis=1)
            wrong = np.flatnonzero(np.abs(sizes - 1.0) > 1e-3)
            if len(wrong):
                raise self.sheet.error(
                    int(wrong[0]), names[0], f"length {sizes[wrong[0]]:g}", "unit quaternions"
                )
            found = np.full((len(values), 3, 3), np.nan)
            ok = np.isfinite(sizes)
            found[ok] = rotations.from_quaternion(values[ok])
            return found
        if vectors is None:
            return None
        found = np.full((len(vectors), 3, 3), np.nan)
        ok = np.isfinite(vectors).all(axis=1)
        found[ok] = rotations.exp(vectors[ok])
        return found

    def attained(self, rows: IntArray, plan: _File | None, test: Test) -> Attained:
        """The rows of one test, with their commands."""
        positions = self.triple("", LENGTHS, ("x", "y", "z"))
        if positions is None:
            raise InputError(
                "holds no attained positions", where=str(self.path), allowed="x_mm y_mm z_mm"
            )
        blank = rows[~np.isfinite(positions[rows]).all(axis=1)]
        if len(blank):
            raise self.sheet.error(int(blank[0]), "x_mm", "is blank", "a measured position")
        commanded, orders = self._commanded(rows, plan, test)
        turned = self.turned("")
        complete = turned is not None and np.isfinite(turned[rows]).all()
        cycle = self.whole("cycle")
        if cycle is None:
            cycle = _counted(self.words("pose", "P1"))
        labels = self.words("pose", "P1")
        times, direction, block = self.times(), self.whole("direction"), self.whole("block")
        return Attained(
            tuple(labels[row] for row in rows),
            cycle[rows],
            positions[rows],
            commanded,
            turned[rows] if turned is not None and complete and orders is not None else None,
            orders if complete else None,
            None if direction is None else direction[rows],
            None if block is None else block[rows],
            None if times is None else times[rows],
        )

    def _commanded(
        self, rows: IntArray, plan: _File | None, test: Test
    ) -> tuple[FloatArray, FloatArray | None]:
        """Commanded positions and orientations: own columns, or those of the plan's poses."""
        own = self.triple("c", LENGTHS, ("x", "y", "z"))
        if own is not None and np.isfinite(own[rows]).all():
            if plan is not None:
                raise InputError(
                    "holds commanded poses itself",
                    where=str(self.path),
                    remedy="Leave out the plan",
                )
            turned = self.turned("c")
            return own[rows], None if turned is None else turned[rows]
        if plan is None:
            if test in (Test.PATH, Test.CORNER):
                return np.full((len(rows), 3), np.nan), None
            raise InputError(
                "holds no commanded positions",
                where=str(self.path),
                allowed="xc_mm yc_mm zc_mm",
                remedy="Or give the plan that was run",
            )
        places = plan.triple("c", LENGTHS, ("x", "y", "z"))
        if places is None:
            raise InputError("holds no commanded positions", where=str(plan.path))
        turned = plan.turned("c")
        by_name = {name: row for row, name in reversed(list(enumerate(plan.words("pose", "P1"))))}
        labels = self.words("pose", "P1")
        for row in rows:
            if labels[row] not in by_name:
                raise self.sheet.error(
                    int(row),
                    "pose",
                    f"{shown(labels[row])} is not in the plan",
                    ", ".join(list(by_name)[:8]),
                )
        chosen = np.array([by_name[labels[row]] for row in rows])
        return places[chosen], None if turned is None else turned[chosen]


def _counted(labels: list[str]) -> IntArray:
    """How often each label has come before, from 1: cycles that nobody numbered."""
    seen: dict[str, int] = {}
    found = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(seen[label])
    return np.array(found, dtype=np.intp)
