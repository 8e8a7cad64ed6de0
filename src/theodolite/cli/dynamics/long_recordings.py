"""Recordings that do not fit in memory, as the options say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.io.naming import name_list

if TYPE_CHECKING:
    from theodolite.cli.dynamics.options import RecordingReader
    from theodolite.dynamics.estimators import Model
    from theodolite.io.parquet_recording import ParquetRecording


def open_long(
    reader: RecordingReader, data: Sequence[Path], model: Model
) -> ParquetRecording | None:
    """The recording in a folder of Parquet files; None where none is given."""
    from theodolite.dynamics.estimators import Model
    from theodolite.errors import InputError
    from theodolite.io.parquet_recording import is_parquet_folder, open_parquet_recording

    folders = [path for path in data if is_parquet_folder(path)]
    if not folders:
        return None
    where = str(folders[0])
    if len(data) > 1:
        raise InputError(
            "a folder of Parquet files is read by pieces, and other recordings are not",
            where=where,
            remedy="Give it alone, or put all files into one folder",
        )
    refused = {
        f"--model {model.value}": model is not Model.TORQUE,
        "--columns": reader.columns is not None,
        "--skip-bad": reader.skip_bad,
    }
    for option, given in refused.items():
        if given:
            raise InputError(
                f"{option} needs a recording that fits in memory", where=where,
                remedy="Leave it out, or give single files of the folder",
            )  # fmt: skip
    return open_parquet_recording(
        folders[0],
        reader.dynamics.robot,
        ignore=name_list(reader.ignore),
        drive_gains=reader.gains[0],
    )
