"""Targets of a program in CSV: poses, positions or joints; and what to command instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray, IntArray
from theodolite.calibration.data import Dataset
from theodolite.compensation.compensate import Compensation
from theodolite.compensation.inverse import Targets
from theodolite.errors import InputError
from theodolite.io.columns import Columns, is_joint
from theodolite.io.naming import with_unit
from theodolite.io.number_table import Table, read_table
from theodolite.io.tables import dataset_of, named_columns
from theodolite.io.units import LARGEST_NUMBER
from theodolite.io.writing import write_text
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine

#: Columns of targets, without their units.
_OF_TARGETS = ("x", "y", "z", "qw", "qx", "qy", "qz", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class Program:
    """What is wanted: targets, joints near them, or joints alone."""

    targets: Targets | None
    motors: FloatArray | None
    lines: IntArray
    #: Columns that say nothing of targets, such as times: they come back beside the commands.
    others: Mapping[str, FloatArray] = field(default_factory=dict)


def read_targets(path: Path, robot: Machine, *, columns: Sequence[str] | None = None) -> Program:
    """Poses (``x_mm y_mm z_mm qw qx qy qz``), positions or joints (``q1_deg ...``)."""
    table = read_table(path, columns, largest=LARGEST_NUMBER)
    joints = any(is_joint(name, joint) for name in table.columns for joint in robot.joint_names)
    if joints:
        data, _ = dataset_of(table, robot, check_limits=False)
        positions, turned = data.positions, data.rotations
    else:
        # Nothing is read of the joints, and no loop has to close with them.
        found = Columns(_with_joints(table, robot), robot)
        positions, turned = found.positions(), found.rotations()
    if positions is None and not joints:
        raise InputError(
            "holds no targets",
            where=str(path),
            allowed="x_mm y_mm z_mm, with qw qx qy qz or rx_deg ry_deg rz_deg, or q1_deg ...",
        )
    if positions is not None and positions.shape[1] > 1:
        raise InputError("holds several points in a row", where=str(path), allowed="one target")
    targets = None if positions is None else Targets(positions[:, 0], turned)
    others = {
        name: table.values[:, place]
        for place, name in enumerate(table.columns)
        if with_unit(name)[0] not in (*_OF_TARGETS, *robot.joint_names)
    }
    return Program(targets, data.motors if joints else None, table.lines, others)


def _with_joints(table: Table, robot: Machine) -> Table:
    """The table with joints at zero, where a program has none: its columns mean the same then."""
    names = [
        f"{name}_{'deg' if kind is Joint.REVOLUTE else 'mm'}"
        for name, kind in zip(robot.joint_names, robot.joint_types, strict=True)
    ]
    zeros = np.zeros((len(table.lines), len(names)))
    return replace(
        table,
        columns=(*names, *table.columns),
        values=np.concatenate([zeros, table.values], axis=1),
    )


def write_commands(
    made: Compensation,
    robot: Machine,
    path: Path,
    *,
    orientation: bool,
    others: Mapping[str, FloatArray] | None = None,
    force: bool = False,
) -> None:
    """Joints and poses to command, one row for each target, as every verb reads them.

    ``others`` are columns that came with the targets.
    """
    data = Dataset(
        made.motors[:, : robot.joints],
        positions=made.positions[:, None],
        rotations=made.rotations if orientation else None,
    )
    columns = {**named_columns(data, robot), **(others or {})}
    table = {name: values.tolist() for name, values in columns.items()}
    rows = [
        [*(repr(float(value)) for value in row), outcome.value.replace(",", ";")]
        for row, outcome in zip(zip(*table.values(), strict=True), made.found.outcome, strict=True)
    ]
    lines = [",".join([*table, "outcome"]), *(",".join(row) for row in rows)]
    write_text(path, "\n".join(lines) + "\n", force=force)


def write_details(
    made: Compensation, robot: Machine, lines: IntArray, path: Path, *, force: bool = False
) -> None:
    """What became of each target: its correction, what is left, and the room to the limits."""
    kinds = dict(zip(robot.joint_names, robot.joint_types, strict=True))
    text = [
        "line,error_before_mm,error_before_mrad,correction_mm,correction_mrad,left_mm,left_mrad,"
        "expected_mm,joint_nearest_to_limit,room,unit,outcome"
    ]
    for row, outcome in enumerate(made.found.outcome):
        joint = made.found.nearest[row]
        turning = kinds[joint] is Joint.REVOLUTE
        room = made.found.margin[row]
        numbers = (
            *(1e3 * made.before[row], 1e3 * made.before_turn[row]),
            *(1e3 * made.shift[row], 1e3 * made.turn[row]),
            *(1e3 * made.found.distance[row], 1e3 * made.found.angle[row]),
        )
        expected = "" if made.expected is None else f"{1e3 * made.expected[row]:.9g}"
        cells = [str(int(lines[row])), *(f"{value:.9g}" for value in numbers), expected, joint]
        cells += [f"{np.degrees(room) if turning else 1e3 * room:.9g}", "deg" if turning else "mm"]
        text.append(",".join([*cells, outcome.value.replace(",", ";")]))
    write_text(path, "\n".join(text) + "\n", force=force)
