"""Where a result came from: versions, files with their hashes, options."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import theodolite
from theodolite.io.bags import is_bag
from theodolite.io.parquet import parquet_files
from theodolite.io.reading import is_folder, read_bytes

#: Kinds of files that may be larger than memory.
LARGE = (".parquet", ".bag", ".mcap", ".db3")


def provenance(files: Sequence[Path], **options: Any) -> dict[str, Any]:
    """Everything needed to repeat a run."""
    import numpy as np
    import scipy

    now = datetime.now(UTC)
    return {
        "date": now.date().isoformat(),
        "time": now.time().isoformat(timespec="milliseconds"),
        "theodolite": theodolite.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "files": {str(path): _hash(path) for given in files for path in _all_of(given)},
        "options": options,
    }


def _all_of(path: Path) -> Sequence[Path]:
    """A file, or the files of a folder: Parquet files, or a bag."""
    if not is_folder(path):
        return [path]
    if is_bag(path):
        return sorted(each for each in path.iterdir() if each.is_file())
    return parquet_files(path)


def _hash(path: Path) -> str:
    if path.suffix.lower() not in LARGE:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    # May be larger than memory.
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
