"""Monte Carlo of PUMA position calibrations: what a run costs, and what a second process gains.

- a bare calibration: `identify` on data that are there, without gains, terms or held-out part;
- a run of a study: draw a robot, measure it, calibrate it, judge it;
- the same without checks and verdicts, many fits at a time, against the loop over `identify`;
- the same runs in two processes (Dask);
- what Dask's own task stream shows of them: size and time of a piece, and how many pieces a second
  the scheduler can hand out, which limits how many workers it keeps busy.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter

import cloudpickle
import distributed
import numpy as np

import theodolite as th
from table import note
from theodolite.calibration.calibrate import identify
from theodolite.studies.monte_carlo import Piece, Study, rows_of
from theodolite.studies.workers import in_processes

POINTS, RUNS, PIECE, FITS = 30, 10_000, 50, 500
#: Tasks that do nothing, to see what the scheduler itself needs.
IDLE = 2000
NOISE = th.Noise(position=5e-5, known=True)


def bare(study: Study, runs: int) -> float:
    """Seconds of one calibration alone."""
    rng = np.random.default_rng(0)
    data = [
        th.simulate(study.drawn(rng), study.method, points=POINTS, rng=rng, noise=NOISE)
        for _ in range(min(runs, 100))
    ]
    start = perf_counter()
    for one in data:
        identify(study.robot, one, study.method, noise=NOISE, gains=False, terms=(), hold_out=0.0)
    return (perf_counter() - start) / len(data)


def studied(study: Study, runs: int, workers: int, size: int = PIECE) -> tuple[float, list]:
    """Seconds of all runs, and their rows in order."""
    pieces = [Piece(study, range(first, min(first + size, runs))) for first in range(0, runs, size)]
    rows: list = []
    with in_processes(workers) as each:
        # Workers load their modules before the clock starts.
        list(each(rows_of, [Piece(study, range(1))] * max(workers, 1)))
        start = perf_counter()
        for _, some in each(rows_of, pieces):
            rows += some
        seconds = perf_counter() - start
    return seconds, sorted(rows, key=lambda row: row["run"])


def on_the_scheduler(study: Study, pieces: int, idle: int) -> None:
    """What the figures of Dask's dashboard say."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
    )
    with cluster, distributed.Client(cluster) as client:
        tasks = [Piece(study, range(PIECE * n, PIECE * (n + 1))) for n in range(pieces)]
        with distributed.get_task_stream(client) as stream:
            distributed.wait([client.submit(rows_of, task, pure=False) for task in tasks])
        done = [one for one in stream.data if "rows_of" in str(one["key"])]
        spans = [span for one in done for span in one["startstops"]]
        each = {
            action: sum(s["stop"] - s["start"] for s in spans if s["action"] == action) / len(done)
            for action in ("compute", "transfer", "deserialize")
        }
        sent = len(cloudpickle.dumps(tasks[0]))
        returned = float(np.mean([one["nbytes"] for one in done]))
        start = perf_counter()
        client.gather([client.submit(int, n, pure=False) for n in range(idle)])
        overhead = (perf_counter() - start) / idle
    print(f"a piece of {PIECE} runs: {sent / 1e3:.0f} kB sent, {returned / 1e3:.0f} kB returned")
    print("  " + ", ".join(f"{action} {1e3 * took:.1f} ms" for action, took in each.items()))
    busy = each["compute"] / overhead
    print(f"scheduler and client: {1e3 * overhead:.2f} ms a task; enough for {busy:.0f} workers")


def main() -> None:
    runs = 20 if "--tiny" in sys.argv[1:] else RUNS
    study = Study(th.robots.puma560(), th.Position(), POINTS, NOISE, part=0.2)
    alone = bare(study, runs)
    one, rows = studied(study, runs, 0)
    two, others = studied(study, runs, 2)
    fits = replace(study, fit_only=True)
    quick, _ = studied(fits, runs, 0, FITS)
    same = all(
        a["run"] == b["run"] and a["after_m"] == b["after_m"]
        for a, b in zip(rows, others, strict=True)
    )
    note("a calibration of 30 positions, with checks", f"{1e3 * alone:.1f} ms")
    note("a run of a study", f"{1e3 * one / runs:.1f} ms", "a bare calibration", alone * runs / one)
    note(f"{runs} runs, two processes", f"{two:.1f} s", "one process", one / two)
    note(f"{runs} fits", f"{quick:.1f} s", "a loop over identify", alone * runs / quick)
    print(f"bare calibration   {1e3 * alone:8.2f} ms")
    print(f"run of a study     {1e3 * one / runs:8.2f} ms  {one / runs / alone:6.2f} x")
    print(f"two processes      {1e3 * two / runs:8.2f} ms  {one / two:6.2f} x as fast as one")
    print(
        f"fit only           {1e3 * quick / runs:8.2f} ms  {alone * runs / quick:6.2f} x the loop"
    )
    print(f"{runs} runs, the same numbers in both: {'yes' if same else 'NO'}")
    on_the_scheduler(study, min(-(-runs // 20), 40), min(10 * runs, IDLE))


if __name__ == "__main__":
    main()
