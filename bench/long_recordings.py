"""Long torque recordings: time, memory of the process, and the difference to the one-piece result.

    python bench/long_recordings.py [--samples 10000000] [--folder DIR] [--compare 400000]

Writes a PUMA's torques at 1 kHz as a folder of Parquet files, a million rows each, and identifies
weighted base parameters from it by pieces. A part that fits in memory is identified both ways.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet

import theodolite as th
from theodolite.dynamics.drives import FRICTION, State
from theodolite.dynamics.estimators import Estimator
from theodolite.dynamics.identify import identify_dynamics
from theodolite.dynamics.identify_long import identify_long
from theodolite.dynamics.serial import Dynamics
from theodolite.io.parquet_recording import open_parquet_recording
from theodolite.io.recordings import read_recording

RATE, CUTOFF = 1000.0, 10.0
ROWS_PER_FILE, BLOCK = 1_000_000, 50_000
#: Noise of torques, N m, and of positions, rad.
TORQUE_NOISE, POSITION_NOISE = 0.5, 1e-6


def write(folder: Path, samples: int, dynamics: Dynamics) -> None:
    """Sums of sines whose amplitudes change from file to file only by their phase."""
    rng = np.random.default_rng(1)
    frequencies = 2 * np.pi * np.array([0.083, 0.21, 0.37, 0.59])
    amplitudes, phases = rng.uniform(-0.5, 0.5, (4, 6)), rng.uniform(0, 2 * np.pi, (4, 6))
    values = rng.uniform(0.1, 2.0, len(dynamics.names(FRICTION)))
    names = ["t_s", *(f"q{j}_rad" for j in range(1, 7)), *(f"tau{j}_Nm" for j in range(1, 7))]
    schema = arrow.schema([(name, arrow.float64()) for name in names])
    for number, first in enumerate(range(0, samples, ROWS_PER_FILE)):
        with parquet.ParquetWriter(folder / f"part{number}.parquet", schema) as file:
            for start in range(first, min(first + ROWS_PER_FILE, samples), BLOCK):
                t = np.arange(start, min(start + BLOCK, first + ROWS_PER_FILE, samples)) / RATE
                angles = frequencies[:, None] * t[:, None, None] + phases
                w = frequencies[:, None]
                state = State(
                    (amplitudes * np.sin(angles)).sum(axis=1),
                    (amplitudes * w * np.cos(angles)).sum(axis=1),
                    (-amplitudes * w**2 * np.sin(angles)).sum(axis=1),
                )
                torques = np.tensordot(values, dynamics.regressor(state, FRICTION), axes=1).T
                columns = [
                    t,
                    *(state.q + rng.normal(0, POSITION_NOISE, state.q.shape)).T,
                    *(torques + rng.normal(0, TORQUE_NOISE, torques.shape)).T,
                ]
                file.write_table(arrow.table(dict(zip(names, columns, strict=True)), schema))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--compare", type=int, default=400_000)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--tiny", action="store_true", help="so small that it only runs")
    parser.add_argument("--only", choices=["write", "long", "compare"], default=None)
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.samples, chosen.compare = 60_000, 30_000
    dynamics = Dynamics(th.robots.puma560())
    with tempfile.TemporaryDirectory() as temporary:
        found: dict[str, float] = {"samples": chosen.samples}
        folder = chosen.folder or Path(temporary) / "long"
        if chosen.only in (None, "write") and not folder.exists():
            folder.mkdir(parents=True)
            start = time.perf_counter()
            write(folder, chosen.samples, dynamics)
            found["write_s"] = time.perf_counter() - start
        if chosen.only in (None, "long"):
            before = peak()
            found |= measure(folder, dynamics)
            found["peak_MB"], found["peak_before_MB"] = peak(), before
        if chosen.only in (None, "compare"):
            part = Path(temporary) / "part"
            part.mkdir()
            write(part, min(chosen.compare, chosen.samples), dynamics)
            found["difference"] = difference(part, dynamics)
    print(json.dumps(found, indent=1))
    return 0 if found.get("difference", 0.0) < 1e-9 else 1


def peak() -> float:
    """Largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: Path, dynamics: Dynamics) -> dict[str, float]:
    source = open_parquet_recording(folder, dynamics.robot)
    passes: list[float] = []
    start = time.perf_counter()
    found = identify_long(
        dynamics,
        source,
        estimator=Estimator.WEIGHTED,
        drives=FRICTION,
        cutoff=CUTOFF,
        passed=lambda _: passes.append(time.perf_counter() - start),
    )
    whole = time.perf_counter() - start
    return {
        "rows": source.rows,
        "identify_s": whole,
        "passes": len(passes) + 1,
        "samples_per_s_and_pass": source.rows * (len(passes) + 1) / whole,
        "rank": found.result.identifiability.rank,
    }


def difference(folder: Path, dynamics: Dynamics) -> float:
    """Largest difference of a base parameter, relative to the largest of them."""
    options = {"estimator": Estimator.WEIGHTED, "drives": FRICTION, "cutoff": CUTOFF}
    source = open_parquet_recording(folder, dynamics.robot)
    many = identify_long(dynamics, source, **options).result
    recording = read_recording(folder, dynamics.robot)
    one = identify_dynamics(dynamics, recording, trim=False, **options)
    return float(np.abs(many.values - one.values).max() / np.abs(one.values).max())


if __name__ == "__main__":
    sys.exit(main())
