"""Recordings that do not fit in memory, as the options say."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.io.naming import name_list

if TYPE_CHECKING:
    from theodolite.cli.dynamics.options import RecordingReader
    from theodolite.dynamics.estimators import Model
    from theodolite.io.parquet_recording import ParquetRecording


@contextlib.contextmanager
def open_long(
    reader: RecordingReader, data: Sequence[Path], model: Model, *, elsewhere: bool
) -> Iterator[tuple[ParquetRecording | None, tuple[str, ...]]]:
    """A folder of Parquet files or a long bag, and what is to be said of it; None: it is neither.

    ``elsewhere``: workers on other machines would have to read it.
    """
    from theodolite.io.bags import is_bag
    from theodolite.io.long_bag import unpacked
    from theodolite.io.parquet_recording import open_parquet_recording
    from theodolite.io.parquet_rows import is_parquet_folder

    robot, gains = reader.dynamics.robot, reader.gains[0]
    long = [path for path in data if is_parquet_folder(path) or _is_long_bag(reader, path)]
    if not long:
        yield None, ()
    elif is_bag(long[0]):
        refused = {"--scheduler": elsewhere}
        _check_long(data, long[0], model, refused)
        with unpacked(
            long[0],
            robot,
            reader.bag,
            skip_bad=reader.skip_bad,
            currents=gains is not None,
            drive_gains=gains,
        ) as bag:
            yield bag.recording, bag.notes
    else:
        refused = {"--columns": reader.columns is not None, "--skip-bad": reader.skip_bad}
        _check_long(data, long[0], model, refused)
        ignore = name_list(reader.ignore)
        yield open_parquet_recording(long[0], robot, ignore=ignore, drive_gains=gains), ()


def _is_long_bag(reader: RecordingReader, path: Path) -> bool:
    from theodolite.io.bags import is_bag
    from theodolite.io.long_bag import is_long

    if not is_bag(path):
        return False
    with reader.naming_topics():
        return is_long(path, reader.dynamics.robot.joint_names, reader.bag)


def _check_long(data: Sequence[Path], path: Path, model: Model, refused: dict[str, bool]) -> None:
    """Refuse what needs a recording that fits in memory."""
    from theodolite.dynamics.estimators import Model
    from theodolite.errors import InputError

    if len(data) > 1:
        raise InputError(
            "a recording this long is read by pieces, and other recordings are not",
            where=str(path),
            remedy="Give it alone, or put Parquet files of all into one folder",
        )
    for option, given in {f"--model {model.value}": model is not Model.TORQUE, **refused}.items():
        if given:
            raise InputError(
                f"{option} needs a recording that fits in memory", where=str(path),
                remedy="Leave it out, or give a part of the recording",
            )  # fmt: skip
