"""Measurements in CSV: one row per configuration, units in the column names.

| columns | what |
|---|---|
| ``q1_deg`` ... | motor variables, one per joint; mechanisms: the names of their joints |
| ``x_mm y_mm z_mm`` | position of the tool; ``p1_x_mm`` ... of a target ``p1`` |
| ``qw qx qy qz`` | orientation as a quaternion |
| ``rx_deg ry_deg rz_deg`` | or as a rotation vector |
| ``set`` | which configurations reach the same place |
| ``session`` | from where the row was seen, where the sensor was moved |
| ``fixture_x_mm fixture_y_mm fixture_z_mm`` | target that touched the pointer; blank: none |
| ``u_px v_px``, ``point_x_mm ...`` | where a point of a target was seen |
| ``picture`` | the file of the picture, or its number; ``set`` will do |
| ``camera``, ``board`` | which of several, by number |
| ``plane_nx plane_ny plane_nz plane_h_mm`` | the plane touched: n . P = h |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from theodolite.arrays import BoolArray, IntArray
from theodolite.calibration.assembly import with_passive_joints
from theodolite.calibration.catalogue import METHOD_COLUMNS
from theodolite.calibration.data import Dataset
from theodolite.errors import InputError, printable
from theodolite.io.columns import QUATERNION, Columns, is_joint
from theodolite.io.mapping_file import MappingLike, to_mapping
from theodolite.io.number_table import Table
from theodolite.io.number_table import read_table as read_table
from theodolite.io.own_columns import own_columns
from theodolite.io.units import ANGLES, LARGEST_NUMBER, LENGTHS
from theodolite.io.writing import write_text
from theodolite.model import rotations
from theodolite.model.conveniences import check_machine
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine
from theodolite.model.mechanism import Mechanism

_FIELDS = (
    *("motors", "positions", "rotations", "sets", "sessions", "planes"),
    *("fixture", "pixels", "points", "cameras", "boards", "lines"),
)
#: How far a reading may be beyond its limit, as part of the range: gains and noise move it there.
LIMIT_MARGIN = 0.02


def read_measurements(
    paths: Path | str | Sequence[Path | str],
    robot: Machine,
    *,
    needs: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    check_limits: bool = True,
    mapping: MappingLike | None = None,
    note: Callable[[str], object] | None = None,
    own: Sequence[str] = (),
) -> Dataset:
    """The measurements in one or more files.

    ``needs`` names what the method cannot do without: positions, rotations or sets; ``own`` names
    columns that only the method knows, such as ``length_m``, in this or another unit. ``columns``
    names the columns of files without a header; with a ``mapping``, such as "q2_deg=-J2,x_mm=X",
    only the columns that it names are read. Several files without a ``set`` column are one set
    each. ``note`` is called with each thing that people should know, such as rows left out because
    nothing was seen in them.
    """
    check_machine(robot)
    given = [paths] if isinstance(paths, str | Path) else paths
    files = [Path(path) for path in given]
    if not files:
        raise InputError("no measurement files were given")
    parts, renamed = [], to_mapping(mapping)
    for path in files:
        table = read_table(path, columns, ignore, renamed, blanks=True, largest=LARGEST_NUMBER)
        part, notes = dataset_of(table, robot, check_limits=check_limits, own=own)
        parts.append(part)
        if note is not None:
            for sentence in notes:
                note(sentence)
    if len(parts) > 1 and ("sets" in needs or any(part.pixels is not None for part in parts)):
        parts = _apart(parts)
    return checked(_joined(parts, files), robot, needs)


def _apart(parts: list[Dataset]) -> list[Dataset]:
    """Sets that stay apart: equal labels in two files are two sets, a file without is one."""
    labelled = []
    used = 0
    for part in parts:
        labels = np.zeros(len(part), dtype=np.intp) if part.sets is None else part.sets
        numbers = np.unique(labels, return_inverse=True)[1]
        if part.pictures:
            numbers = labels
        labelled.append(replace(part, sets=used + numbers))
        used += int(numbers.max()) + 1
    return labelled


def _joined(parts: list[Dataset], paths: Sequence[Path]) -> Dataset:
    first = parts[0]
    for part in parts:
        if part.targets != first.targets:
            raise InputError(
                f"measures different targets from {first.name}: {_named(part.targets)} instead of "
                f"{_named(first.targets)}",
                where=part.name,
                remedy="Put them into one file with a column for each target, blank where it was "
                "not seen",
            )
    fields: dict[str, Any] = {}
    for field in _FIELDS:
        arrays = [getattr(part, field) for part in parts]
        present = [array is not None for array in arrays]
        if any(present) and not all(present):
            odd = paths[present.index(present[0] is False)]
            raise InputError(f"has different columns from {paths[0]}", where=str(odd))
        if all(present):
            fields[field] = np.concatenate(arrays)
    more = f" and {len(parts) - 1} more files" if len(parts) > 1 else ""
    if more:
        fields["file"] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        fields["files"] = tuple(part.name for part in parts)
    for part in parts:
        odd_ones = sorted(set(part.columns) ^ set(first.columns))
        if odd_ones:
            raise InputError(
                f"the column '{odd_ones[0]}' is in only one of this file and {first.name}",
                where=part.name,
                remedy="Give it in all files or in none",
            )
    fields["pictures"] = tuple(name for part in parts for name in part.pictures)
    own = {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns}
    return replace(first, name=f"{first.name}{more}", columns=own, **fields)


def _named(targets: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" if name else "the tool" for name in targets)


def checked(data: Dataset, robot: Machine, needs: Sequence[str]) -> Dataset:
    """The data, if they hold what a method needs."""
    remedies = {
        "positions": "Add columns x_mm y_mm z_mm",
        "rotations": "Add columns qw qx qy qz, or use the method 'position'",
        "sets": "Add a column 'set', or give one file per set",
        "fixture": "Add columns fixture_x_mm fixture_y_mm fixture_z_mm, or use 'position'",
        "pixels": "Add columns u_px v_px, or give pictures and their board",
        "points": "Add columns point_x_mm point_y_mm point_z_mm",
        "planes": "Add columns plane_nx plane_ny plane_nz plane_h_mm, or state the plane",
    }
    for need in needs:
        if getattr(data, need) is None:
            raise InputError(f"has no {need}", where=data.name, remedy=remedies[need])
    if "sets" in needs and data.sets is not None:
        labels, counts = np.unique(data.sets, return_counts=True)
        if (counts < 2).any():
            lonely = labels[counts < 2][0]
            row = int(np.flatnonzero(data.sets == lonely)[0])
            raise InputError(
                f"line {data.line(row)}, column 'set': set {lonely} has only one configuration",
                where=data.name,
                allowed="two or more configurations per set",
                remedy="Remove the row or give its set another configuration",
            )
    return data


def dataset_of(
    table: Table, robot: Machine, *, check_limits: bool, own: Sequence[str] = ()
) -> tuple[Dataset, list[str]]:
    """What the columns of a table mean, and what has to be said about it."""
    table, mine = own_columns(table, own, also=METHOD_COLUMNS)
    found = Columns(table, robot)
    notes: list[str] = []
    # Where a pointer is touched, the method knows which rows may be blank.
    kept = np.ones(len(table.lines), dtype=bool)
    if not found.fixture and (unseen := found.unseen()).any():
        kept = ~unseen
        table, notes = _seen(table, unseen)
        found = Columns(table, robot)
    data = Dataset(
        found.motors(),
        positions=found.positions(),
        targets=found.targets(),
        rotations=found.rotations(),
        sets=_pictured(found) if "picture" in found.other else found.labels("set"),
        pictures=_picture_names(found),
        sessions=found.labels("session"),
        cameras=found.labels("camera"),
        boards=found.labels("board"),
        planes=found.planes(),
        fixture=found.touched(),
        pixels=found.pixels(),
        points=found.marks(),
        lines=table.lines,
        name=str(table.path),
        columns={**{name: values[kept] for name, values in mine.items()}, **found.conditions},
    )
    if check_limits:
        _check_limits(found.table, data, robot)
    if isinstance(robot, Mechanism):
        motors = with_passive_joints(
            robot,
            data.motors,
            found.passive(),
            None if data.positions is None else data.positions[:, 0],
            lines=table.lines,
            where=str(table.path),
        )
        data = replace(data, motors=motors)
    return data, notes


def _pictured(found: Columns) -> IntArray:
    """The number of each row's picture, in order of appearance."""
    labels = found.other["picture"]
    order = {label: number for number, label in enumerate(dict.fromkeys(labels.tolist()))}
    return np.array([order[label] for label in labels.tolist()], dtype=np.intp)


def _picture_names(found: Columns) -> tuple[str, ...]:
    """Names of the pictures, in order of appearance."""
    if "picture" not in found.other:
        return ()
    labels = dict.fromkeys(found.other["picture"].tolist())
    words = found.table.words.get("picture", ())
    # Words were counted in order of appearance; numbers stand for themselves.
    return tuple(words[int(label)] if words else f"{label:g}" for label in labels)


def _seen(table: Table, unseen: BoolArray) -> tuple[Table, list[str]]:
    """The rows in which all that is measured was seen."""
    if unseen.all():
        raise InputError("there is no row in which anything was seen", where=str(table.path))
    lines = table.lines[unseen]
    note = printable(
        f"{table.path}: {len(lines)} of {len(unseen)} rows are left out, since nothing was seen "
        f"in them; the first is line {lines[0]}"
    )
    return replace(table, values=table.values[~unseen], lines=table.lines[~unseen]), [note]


def _check_limits(table: Table, data: Dataset, robot: Machine) -> None:
    readings = robot.readings(data.motors)
    margin = LIMIT_MARGIN * (robot.upper - robot.lower)
    outside = (readings < robot.lower - margin) | (readings > robot.upper + margin)
    if not outside.any():
        return
    row, joint = np.argwhere(outside)[0]
    revolute = robot.joint_types[joint] is Joint.REVOLUTE
    unit, factor = ("deg", ANGLES["deg"]) if revolute else ("mm", LENGTHS["mm"])
    column = next(name for name in table.columns if is_joint(name, robot.joint_names[joint]))
    raise InputError(
        f"line {np.asarray(data.lines)[row]}, column '{column}': joint {joint + 1} at "
        f"{readings[row, joint] / factor:.6g} {unit} is outside its limits "
        f"({int(outside.any(axis=1).sum())} of {len(data)} rows are)",
        where=str(table.path),
        allowed=f"{robot.lower[joint] / factor:.6g} to {robot.upper[joint] / factor:.6g} {unit}",
        remedy="Check the column's unit and that the data are from this robot, or ignore the "
        "limits",
    )


#: What a table of text may be called.
TEXT_TABLES = (".csv", ".txt", ".tsv", ".dat", "")


def write_measurements(
    data: Dataset, robot: Machine, path: Path | str, *, force: bool = False
) -> None:
    """Write measurements in degrees and millimetres, with all their digits."""
    check_machine(robot)
    check_text_table(Path(path))
    table = named_columns(data, robot)
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    text = [",".join(table), *(",".join(map(_cell, row)) for row in rows)]
    write_text(Path(path), "\n".join(text) + "\n", force=force)


def check_text_table(path: Path) -> None:
    """Refuse a name by which what is written would be taken for something else."""
    if path.suffix.lower() not in TEXT_TABLES:
        raise InputError(
            "measurements are written as text", where=str(path), allowed=TEXT_TABLES[:-1]
        )


def named_columns(data: Dataset, robot: Machine) -> dict[str, Any]:
    """Measurements as the columns of their files, in degrees and millimetres."""
    names: list[str] = []
    columns: list[Any] = []
    for name, labels in (
        ("set", None if data.pictures else data.sets),
        ("session", data.sessions),
        ("camera", data.cameras),
        ("board", data.boards),
    ):
        if labels is not None:
            names.append(name)
            columns.append(labels)
    if data.pictures and data.sets is not None:
        names.append("picture")
        columns.append(np.array(data.pictures)[data.sets])
    joints = list(zip(robot.joint_names, robot.joint_types, strict=True))
    if isinstance(robot, Mechanism) and data.motors.shape[1] > robot.joints:
        # The passive joints say which assembly it was.
        joints += [(joint.name, joint.kind) for joint in robot.passive]
    for number, (name, kind) in enumerate(joints):
        unit, factor = ("deg", ANGLES["deg"]) if kind is Joint.REVOLUTE else ("mm", 1e-3)
        names.append(f"{name}_{unit}")
        columns.append(data.motors[:, number] / factor)
    if data.positions is not None:
        for index, target in enumerate(data.targets):
            for axis, letter in enumerate("xyz"):
                names.append(f"{target}_{letter}_mm" if target else f"{letter}_mm")
                columns.append(data.positions[:, index, axis] / 1e-3)
    if data.rotations is not None:
        quaternions = rotations.to_quaternion(data.rotations)
        names += QUATERNION
        columns += list(quaternions.T)
    if data.planes is not None:
        names += ["plane_nx", "plane_ny", "plane_nz", "plane_h_mm"]
        columns += [*data.planes[:, :3].T, data.planes[:, 3] / 1e-3]
    if data.pixels is not None and data.points is not None:
        names += ["u_px", "v_px", "point_x_mm", "point_y_mm", "point_z_mm"]
        columns += [*data.pixels.T, *(data.points.T / 1e-3)]
    if data.fixture is not None:
        names += ["fixture_x_mm", "fixture_y_mm", "fixture_z_mm"]
        columns += list(data.fixture.T / 1e-3)
    names += data.columns
    columns += data.columns.values()
    return dict(zip(names, columns, strict=True))


def _cell(value: float | str) -> str:
    """A number with all its digits; blank where there is none. Words as they are."""
    if isinstance(value, str):
        return value
    return "" if value != value else repr(value)
