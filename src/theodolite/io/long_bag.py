"""Bags larger than memory: unpacked into Parquet files block by block, and read from there.

A bag can be read from its beginning only, and messages take long to decode, while a recording is
passed over several times and in pieces.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theodolite.arrays import FloatArray
from theodolite.io.bags import Bag, BagBlock, BagChoice, open_bag
from theodolite.io.optional import needed
from theodolite.io.parquet_recording import ParquetRecording, open_parquet_recording
from theodolite.model.conventions import Joint
from theodolite.model.machine import Machine

#: Bags with more messages than this are not read into memory.
MANY = 1 << 18
#: Messages that are in memory at a time.
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class LongBag:
    """A recording unpacked from a bag, and what is to be said about it."""

    recording: ParquetRecording
    notes: tuple[str, ...]


def is_long(path: Path, joints: Sequence[str], choice: BagChoice | None = None) -> bool:
    """Has the robot's topic more messages than should be in memory?"""
    with open_bag(path, joints, choice) as bag:
        return bag.messages > MANY


@contextlib.contextmanager
def unpacked(
    path: Path,
    robot: Machine,
    choice: BagChoice | None = None,
    *,
    skip_bad: bool = False,
    currents: bool = False,
    drive_gains: FloatArray | None = None,
    block: int = BLOCK,
) -> Iterator[LongBag]:
    """The recording in a bag, in files that are gone afterwards.

    Efforts are torques; ``currents`` says that they are currents instead.
    """
    with tempfile.TemporaryDirectory(prefix="theodolite-bag-") as folder:
        with open_bag(path, robot.joint_names, choice) as bag:
            _write(bag, Path(folder) / "part.parquet", robot, block, skip_bad, currents)
            unused, notes = bag.unused(), bag.notes()
        ignored = [name for what in unused for name in _names(what, robot, currents)]
        recording = open_parquet_recording(
            folder, robot, ignore=ignored, drive_gains=drive_gains, called=str(path)
        )
        yield LongBag(recording, notes)


def _write(
    bag: Bag, path: Path, robot: Machine, block: int, skip_bad: bool, currents: bool
) -> None:
    """All blocks of a bag as row groups of one file."""
    arrow = needed("pyarrow", "long bags", path)
    parquet = needed("pyarrow.parquet", "long bags", path)
    writer: Any = None
    try:
        for one in bag.blocks(block, skip_bad=skip_bad):
            table = arrow.table(_columns(one, robot, currents))
            if writer is None:
                writer = parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _columns(block: BagBlock, robot: Machine, currents: bool) -> dict[str, Any]:
    """Columns as recordings have them."""
    columns: dict[str, Any] = {"t_ns": block.nanoseconds}
    for what, table in block.tables.items():
        columns |= zip(_names(what, robot, currents), table.T, strict=True)
    return columns


def _names(what: str, robot: Machine, currents: bool) -> list[str]:
    """Names of the columns of all joints, SI."""
    slides = [kind is Joint.PRISMATIC for kind in robot.joint_types]
    if what == "efforts":
        units = ["A" if currents else "N" if slide else "Nm" for slide in slides]
        kind = "i" if currents else "tau"
    else:
        kind, ending = {"positions": ("q", ""), "velocities": ("qd", "_s")}[what]
        units = [("m" if slide else "rad") + ending for slide in slides]
    return [f"{kind}{number}_{unit}" for number, unit in enumerate(units, start=1)]
