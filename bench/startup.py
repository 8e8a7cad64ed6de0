"""What it costs to start: `import theodolite` over `import numpy`, and `theodolite --help`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from table import note


def seconds(*command: str, repeats: int = 9) -> float:
    """Median wall time of a command."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return sorted(times)[repeats // 2]


def main() -> None:
    numpy = seconds(sys.executable, "-c", "import numpy")
    ours = seconds(sys.executable, "-c", "import numpy, theodolite")
    note("import", f"{1e3 * (ours - numpy):.0f} ms over NumPy")
    print(f"import theodolite: {1e3 * (ours - numpy):.0f} ms over import numpy")
    program = Path(sys.executable).with_name("theodolite")
    print(f"theodolite --help: {seconds(str(program), '--help'):.2f} s")


if __name__ == "__main__":
    main()
