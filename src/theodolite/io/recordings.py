"""Recordings of a moving robot: tables with units in the column names, NumPy archives, or bags.

| columns | what |
|---|---|
| ``t_s`` (or ``t_ms``, ``t_us``, ``t_ns``) | time |
| ``q1_rad`` ... or ``q1_deg``, ``q1_m``, ``q1_mm`` | joint positions |
| ``qd1_rad_s`` ..., ``qdd1_rad_s2`` ... | velocities and accelerations, if recorded |
| ``tau1_Nm`` ... | torques (``N`` where the joint slides), or |
| ``i1_A`` ... | currents, to be multiplied by drive gains |
| ``temp1_C`` ... | temperatures of the joints, if friction depends on them |
| ``ax_m_s2 ay_m_s2 az_m_s2`` | acceleration of the tool in the world, without gravity |

An archive (``.npz``) has ``times positions torques``, or ``currents`` instead of ``torques``, and
perhaps ``velocities accelerations``; all in SI units. Bags are read by `theodolite.io.bags`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from theodolite.arrays import FloatArray
from theodolite.dynamics.recording import Recording
from theodolite.errors import InputError
from theodolite.io.archives import npz_arrays
from theodolite.io.bags import BagChoice, is_bag, read_bag
from theodolite.io.number_table import Table, read_table
from theodolite.io.units import LARGEST_NUMBER, joint_units
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine

_COLUMN = re.compile(r"(qdd|qd|q|tau|i|temp)(\d+)_(\w+)$")
_TOOL = ("ax_m_s2", "ay_m_s2", "az_m_s2")
TIMES = {"t_s": 1.0, "t_ms": 1e-3, "t_us": 1e-6, "t_ns": 1e-9}
#: A time is damaged if it is this many usual steps away from the median of so many rows before
#: and after it.
FAR_STEPS, AROUND = 20.0, 5
#: A number so many times further off than most are, or than its column ever changes, is wrong.
MOSTLY, FAR_AWAY = 0.99, 20.0
ALLOWED = (
    "t_s (t_ms, t_us, t_ns), q1_rad ..., qd1_rad_s ..., qdd1_rad_s2 ..., tau1_Nm ... or i1_A ..., "
    "temp1_C ..., ax_m_s2 ay_m_s2 az_m_s2"
)
#: Arrays of an archive, with how many dimensions they have.
_ARRAYS = {
    "times": 1,
    "positions": 2,
    "velocities": 2,
    "accelerations": 2,
    "torques": 2,
    "currents": 2,
}


def read_recording(
    path: Path | str,
    robot: Machine,
    *,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    drive_gains: FloatArray | None = None,
    currents: bool = False,
    motion: bool = False,
    skip_bad: bool = False,
    bag: BagChoice | None = None,
) -> Recording:
    """Read times, joints and torques from a file.

    With ``drive_gains``, N m/A, torques are the currents times the gains. With ``currents``, the
    currents themselves take the place of torques, which identifying gains needs. With ``motion``,
    the file need not hold any torques, and they are zero. With ``skip_bad``, damaged rows are left
    out and counted in a note. ``bag`` says what to take from a bag; its efforts are torques, or
    currents where ``drive_gains`` or ``currents`` ask for these.
    """
    path = Path(path)
    if drive_gains is not None:
        check_gains(drive_gains, robot)
    notes: tuple[str, ...] = ()
    if path.suffix.lower() == ".npz":
        tables = _archive(path, robot)
    elif is_bag(path):
        tables, notes = _bag(
            path, robot, bag, skip_bad=skip_bad, currents=currents or drive_gains is not None
        )
    else:
        tables, notes = _columns(path, robot, columns, ignore, skip_bad=skip_bad)
    if "times" not in tables:
        raise InputError("column t_s is missing", where=str(path))
    if "positions" not in tables:
        raise InputError("has no joint positions", where=str(path), allowed=ALLOWED)
    for name, table in tables.items():
        if np.abs(table).max(initial=0.0) > LARGEST_NUMBER:
            raise InputError(
                f"its {name} reach {np.abs(table).max():.1e}", where=str(path),
                allowed=f"at most {LARGEST_NUMBER:g}", remedy="Check the file and its units",
            )  # fmt: skip
    return recording_of(tables, path, robot, notes, drive_gains, currents=currents, motion=motion)


def recording_of(
    tables: dict[str, FloatArray],
    path: Path,
    robot: Machine,
    notes: tuple[str, ...] = (),
    drive_gains: FloatArray | None = None,
    *,
    currents: bool = False,
    motion: bool = False,
) -> Recording:
    """A recording from its tables."""
    return Recording(
        tables["times"],
        tables["positions"],
        np.zeros_like(tables["positions"])
        if motion
        else _torques(tables, drive_gains, path, currents=currents),
        tables.get("velocities"),
        tables.get("accelerations"),
        str(path),
        np.array([kind is Joint.PRISMATIC for kind in robot.joint_types]),
        notes,
        tables.get("temperatures"),
        tables.get("tool accelerations"),
    )


def _bag(
    path: Path, robot: Machine, choice: BagChoice | None, *, skip_bad: bool, currents: bool
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """The tables of a bag, by what they are, and what is to be said about it."""
    found = read_bag(path, robot.joint_names, choice, skip_bad=skip_bad)
    tables = dict(found.tables)
    if "efforts" in tables:
        tables["currents" if currents else "torques"] = tables.pop("efforts")
    return tables, found.notes


def _columns(
    path: Path,
    robot: Machine,
    columns: Sequence[str] | None,
    ignore: Sequence[str],
    *,
    skip_bad: bool,
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """The tables of a CSV file, by what they are, and what is to be said about it."""
    table = read_table(path, columns, ignore, skip_bad=skip_bad)
    if skip_bad:
        table = _without_jumps(_in_order(table))
    notes: tuple[str, ...] = ()
    if len(table.skipped):
        notes = (
            f"{len(table.skipped)} of {len(table.skipped) + len(table.lines)} rows of {path} are "
            f"damaged and left out; the first is line {table.skipped.min()}",
        )
    return tables_of(table, robot), notes


def tables_of(table: Table, robot: Machine) -> dict[str, FloatArray]:
    """What the columns of a table mean, SI, by what they are."""
    path = table.path
    kinds = {
        "q": ("positions", "rad"),
        "qd": ("velocities", "rad_s"),
        "qdd": ("accelerations", "rad_s2"),
        "tau": ("torques", "Nm"),
        "i": ("currents", "A"),
        "temp": ("temperatures", "C"),
    }
    by_joint: dict[str, dict[int, FloatArray]] = {kind: {} for kind in kinds}
    tables: dict[str, FloatArray] = {}
    for number, name in enumerate(table.columns):
        values = table.values[:, number]
        if name in TIMES:
            if "times" in tables:
                raise InputError("has two columns of time", where=str(path))
            tables["times"] = values * TIMES[name]
            _check_size(table, number, tables["times"])
            continue
        if name in _TOOL:
            continue
        kind, joint, factor = _meaning(name, robot, path)
        _check_size(table, number, values * factor)
        if joint in by_joint[kind]:
            raise InputError(f"column '{name}': {kind}{joint} is given twice", where=str(path))
        by_joint[kind][joint] = values * factor
    for kind, (what, unit) in kinds.items():
        if by_joint[kind]:
            tables[what] = _joined(by_joint[kind], kind, robot, path, unit)
    if any(name in table.columns for name in _TOOL):
        missing = [name for name in _TOOL if name not in table.columns]
        if missing:
            raise InputError(f"column {missing[0]} is missing", where=str(path), allowed=_TOOL)
        places = [table.columns.index(name) for name in _TOOL]
        tables["tool accelerations"] = table.values[:, places]
    return tables


def _check_size(table: Table, column: int, values: FloatArray) -> None:
    """Refuse numbers that cannot be, by their line."""
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST_NUMBER))
    if len(wrong):
        raise InputError(
            f"line {table.lines[wrong[0]]}, column '{table.columns[column]}': "
            f"{table.values[wrong[0], column]:.1e}",
            where=str(table.path),
            allowed=f"at most {LARGEST_NUMBER:g}",
            remedy="Check the file and its units, or have damaged rows left out",
        )


def _in_order(table: Table) -> Table:
    """Without rows whose time is far from that of the rows around it, or does not increase."""
    name = next((name for name in table.columns if name in TIMES), None)
    if name is None or len(table.lines) < 2 * AROUND:
        return table
    times = table.values[:, table.columns.index(name)]
    around = np.lib.stride_tricks.sliding_window_view(
        np.pad(times, AROUND, mode="edge"), 2 * AROUND + 1
    )
    usual = np.median(around, axis=1)
    step = np.median(np.abs(np.diff(usual)))
    good = np.abs(times - usual) <= FAR_STEPS * step
    highest = np.maximum.accumulate(np.where(good, times, -np.inf))
    good[1:] &= times[1:] > highest[:-1]
    return table.without(~good)


def _without_jumps(table: Table) -> Table:
    """Without rows in which one number is far from those of the rows around it.

    As far as no number of the column ever moves from one row to the next, but for such rows.
    """
    if len(table.lines) < 2 * AROUND:
        return table
    bad = np.zeros(len(table.lines), dtype=bool)
    for number, name in enumerate(table.columns):
        if name in TIMES:
            continue
        values = table.values[:, number]
        around = np.lib.stride_tricks.sliding_window_view(
            np.pad(values, AROUND, mode="edge"), 2 * AROUND + 1
        )
        away = np.abs(values - np.median(around, axis=1))
        # Noise and motion are within a few times this; a wrong number is alone.
        usual = max(float(np.quantile(away, MOSTLY)), float(np.ptp(np.median(around, axis=1))))
        if usual > 0:
            bad |= away > FAR_AWAY * usual
    return table.without(bad)


def _meaning(name: str, robot: Machine, path: Path) -> tuple[str, int, float]:
    """Kind, joint and factor of a column."""
    match = _COLUMN.match(name)
    if match is None:
        raise InputError(
            f"unknown column '{name}'", where=str(path), allowed=ALLOWED,
            remedy="Rename the column, or ignore it",
        )  # fmt: skip
    kind, joint, unit = match.group(1), int(match.group(2)), match.group(3)
    if not 1 <= joint <= robot.joints:
        raise InputError(
            f"column '{name}': robot '{robot.name}' has {robot.joints} joints",
            where=str(path),
            remedy="Check that the file is from this robot",
        )
    allowed = _units(kind, robot.joint_types[joint - 1])
    if unit not in allowed:
        raise InputError(
            f"column '{name}': joint {joint} of '{robot.name}' has no unit '{unit}'",
            where=str(path),
            allowed=[f"{kind}{joint}_{unit}" for unit in allowed],
        )
    return kind, joint, allowed[unit]


def _units(kind: str, joint: Joint) -> dict[str, float]:
    """The units that a column of a joint may have."""
    if kind == "tau":
        return {"Nm": 1.0, "mNm": 1e-3} if joint is Joint.REVOLUTE else {"N": 1.0}
    if kind == "i":
        return {"A": 1.0, "mA": 1e-3}
    if kind == "temp":
        return {"C": 1.0}
    suffix = {"q": "", "qd": "_s", "qdd": "_s2"}[kind]
    return {unit + suffix: factor for unit, factor in joint_units(joint).items()}


def _joined(
    columns: dict[int, FloatArray], kind: str, robot: Machine, path: Path, unit: str
) -> FloatArray:
    """One column for each joint, or the first that is missing."""
    missing = [joint for joint in range(1, robot.joints + 1) if joint not in columns]
    if missing:
        raise InputError(
            f"column {kind}{missing[0]}_{unit} is missing",
            where=str(path),
            allowed=f"one for each of the {robot.joints} joints",
        )
    return np.column_stack([columns[joint] for joint in range(1, robot.joints + 1)])


def _torques(
    tables: dict[str, FloatArray], gains: FloatArray | None, path: Path, *, currents: bool
) -> FloatArray:
    """Torques, or currents times gains, or the currents themselves."""
    recorded = tables.get("currents")
    if gains is None and not currents and "torques" in tables:
        return tables["torques"]
    if recorded is None:
        if "torques" in tables:
            raise InputError(
                "has torques but no currents", where=str(path),
                remedy="Drive gains are for currents: i1_A ..., or 'currents' in an archive",
            )  # fmt: skip
        raise InputError(
            "has neither torques nor currents", where=str(path),
            allowed="tau1_Nm ... or i1_A ...; effort in a bag",
        )  # fmt: skip
    if currents:
        return recorded
    if gains is None:
        raise InputError(
            "has currents but no torques", where=str(path),
            remedy=f"Give {recorded.shape[1]} drive gains, Nm/A",
        )  # fmt: skip
    return recorded * gains


def check_gains(gains: FloatArray, robot: Machine) -> None:
    if gains.shape != (robot.joints,) or not (np.isfinite(gains) & (gains != 0)).all():
        raise InputError(
            f"drive gains {', '.join(f'{gain:g}' for gain in gains.ravel())}",
            allowed=f"{robot.joints} numbers, Nm/A, none of them 0",
        )


def _archive(path: Path, robot: Machine) -> dict[str, FloatArray]:
    """The arrays of a NumPy archive that belong to a recording."""
    arrays = {
        name: array for name, array in npz_arrays(path, kinds="fiubc").items() if name in _ARRAYS
    }
    for name in ("times", "positions"):
        if name not in arrays:
            raise InputError(f"has no '{name}'", where=str(path), allowed="times positions torques")
    rows = arrays["times"].shape[0] if arrays["times"].ndim else 0
    for name, array in arrays.items():
        shape = (rows,) if _ARRAYS[name] == 1 else (rows, robot.joints)
        if array.shape != shape:
            raise InputError(
                f"'{name}' has the shape {array.shape}, for {rows} times and the {robot.joints} "
                f"joints of '{robot.name}'",
                where=str(path),
                allowed=f"{shape}",
            )
        if array.dtype.kind not in "fiu":
            raise InputError(f"'{name}' does not hold real numbers", where=str(path))
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0]) + 1
            raise InputError(
                f"'{name}', row {row}: not a finite number", where=str(path),
                remedy="Remove the row",
            )  # fmt: skip
    return {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}
