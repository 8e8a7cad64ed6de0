"""Measurements that do not fit in memory, as the options say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.calibration.long_data import Pieces
    from theodolite.calibration.method import Method
    from theodolite.estimation.merging import Each
    from theodolite.model.machine import Machine


def open_pieces(
    paths: Sequence[Path],
    robot: Machine,
    method: Method,
    each: Each,
    refused: dict[str, bool],
    *,
    ignore: str,
    ignore_limits: bool,
) -> Pieces | None:
    """A folder of Parquet files that is read in pieces; None where all fits in memory."""
    from theodolite.calibration.long_data import Pieces
    from theodolite.errors import InputError
    from theodolite.io.long_measurements import is_long, open_long_measurements
    from theodolite.io.naming import name_list

    long = [path for path in paths if is_long(path)]
    if not long:
        return None
    for what, given in {**refused, "a second file": len(paths) > 1}.items():
        if given:
            raise InputError(
                f"{what} needs measurements that fit in memory", where=str(long[0]),
                remedy="Leave it out, or give a part of the measurements",
            )  # fmt: skip
    source = open_long_measurements(
        long[0],
        robot,
        needs=method.needs,
        own=method.columns,
        ignore=name_list(ignore),
        check_limits=not ignore_limits,
    )
    return Pieces(source, each)


def check_workers(paths: Sequence[Path], workers: int, scheduler: str | None) -> None:
    """Refuse workers that would have nothing to do, before any is started."""
    from theodolite.errors import InputError
    from theodolite.io.long_measurements import MANY, is_long

    wanted = workers > 1 or scheduler is not None
    if wanted and not any(is_long(path) for path in paths):
        raise InputError(
            f"--workers and --scheduler are for folders of Parquet files of more than {MANY} rows",
            remedy="Leave them out: data that fit in memory use a single process",
        )
