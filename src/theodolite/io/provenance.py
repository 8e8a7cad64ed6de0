"""Where a result came from: versions, files with their hashes, options."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import theodolite
from theodolite.io.reading import read_bytes


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
        "files": {str(path): hashlib.sha256(read_bytes(path)).hexdigest() for path in files},
        "options": options,
    }
